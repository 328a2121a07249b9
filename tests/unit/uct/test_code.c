/* SPDX-License-Identifier: BSD-3-Clause */
/* The code object of a component (uct_code_t): if it cannot be created, nothing
 * that was created for it is left, and the plugin is unloaded. The checking
 * layer is on; its tl_create() and tl_destroy() are replaced by functions that
 * count the objects. The tests can make tl_create() fail. */
#include "common.h"

#include <stdlib.h>

#include "fake.h"
#include "ucs/debug/log.h"
#include "uct/base/component_list.h"
#include "uct/base/state.h"

static unsigned num_checks;     /* uct_check_tl_t objects that exist */
static ucs_status_t tl_failure; /* What creating a transport's checks returns */

static ucs_status_t
counted_tl_create(const char *name, ucx_iface_ops_t *iface_ops,
                  const ucx_iface_ops_t *iface_defaults, ucx_ep_ops_t *ep_ops,
                  const ucx_ep_ops_t *ep_defaults, uct_check_tl_t **check_p)
{
    if (tl_failure != UCS_OK) {
        return tl_failure;
    }
    ++num_checks;
    return ucx_check_layer.tl_create(name, iface_ops, iface_defaults, ep_ops,
                                     ep_defaults, check_p);
}

static void counted_tl_destroy(uct_check_tl_t *check)
{
    num_checks -= (check != NULL);
    ucx_check_layer.tl_destroy(check);
}

static void watch_checks(void)
{
    static uct_check_layer_t layer;

    layer            = ucx_check_layer;
    layer.tl_create  = counted_tl_create;
    layer.tl_destroy = counted_tl_destroy;
    setenv("UCX_PLUGIN_CHECK", "y", 1);
    uct_checks_set(&layer);
}

/* Returns the component "fake" without its connection manager. It has only
 * copies of the first two transports, which are stored in tls[0] and tls[1]. */
static ucx_component_t fake_component(ucx_transport_t *tls)
{
    static const ucx_transport_t *transports[2];
    const ucx_plugin_args_t args = {.size = sizeof(args), .host = &uct_host};
    const ucx_plugin_t *plugin;
    ucx_component_t component;
    unsigned i;

    ck_ok(fake_plugin_entry(&args, &plugin));
    component                = *plugin->components[0];
    component.cm_ops         = NULL;
    component.transports     = transports;
    component.num_transports = 2;
    for (i = 0; i < 2; ++i) {
        tls[i]        = *plugin->components[0]->transports[i];
        transports[i] = &tls[i];
    }
    return component;
}

START_TEST(a_bad_table_of_variables_leaves_no_checks)
{
    /* the size of the fields is missing */
    static const ucx_config_table_t bad = {.size = sizeof(bad)};
    ucx_transport_t tls[2];
    const ucx_component_t component = fake_component(tls);
    uct_code_t *code;

    ck_ok(uct_code_create(&component, &code));
    ck_assert_uint_eq(num_checks, 2);
    uct_code_destroy(code);
    ck_assert_uint_eq(num_checks, 0);

    tls[1].config = &bad;
    ucs_log_level_set(UCS_LOG_LEVEL_FATAL);
    ck_status(uct_code_create(&component, &code), UCS_ERR_INVALID_PARAM);
    ucs_log_level_set(UCS_LOG_LEVEL_WARN);
    ck_assert_uint_eq(num_checks, 0);
}
END_TEST

static ucx_component_t loaded; /* What load() returns */
static unsigned num_loads;     /* Calls of load() minus those of unload() */

static ucs_status_t load(void *arg, const uct_component_decl_t *wanted,
                         const ucx_component_t **desc_p)
{
    ++num_loads;
    *desc_p = &loaded;
    return UCS_OK;
}

static void unload(const uct_component_decl_t *unwanted)
{
    --num_loads;
}

START_TEST(a_failed_load_is_undone)
{
    const uct_component_decl_t decl = {.name = "fake"};
    uct_component_h component;
    ucx_transport_t tls[2];

    loaded = fake_component(tls);
    ck_ok(uct_component_add(&decl, load, unload, NULL, &component));
    tl_failure = UCS_ERR_NO_MEMORY;
    ucs_log_level_set(UCS_LOG_LEVEL_FATAL);
    ck_status(uct_component_load(component), UCS_ERR_NO_MEMORY);
    ucs_log_level_set(UCS_LOG_LEVEL_WARN);
    ck_assert_uint_eq(num_loads, 0);

    tl_failure = UCS_OK;
    ck_ok(uct_component_load(component));
    ck_assert_uint_eq(num_loads, 1);
    uct_component_remove(component);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("code of components");
    TCase *tc    = tcase_create("all");

    watch_checks();
    tcase_add_test(tc, a_bad_table_of_variables_leaves_no_checks);
    tcase_add_test(tc, a_failed_load_is_undone);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
