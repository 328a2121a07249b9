/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Listing components loads no plugin's code, as the data comes from manifests;
 * the code is loaded when a memory domain is opened. UCX_PLUGIN_PATH contains
 * only the plugin "fake" of this folder.
 */
#include "common.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "uct/base/component.h"

static int fake_is_mapped(void)
{
    void *handle = dlopen(FAKE_LIBRARY, RTLD_LAZY | RTLD_NOLOAD);

    if (handle == NULL) {
        return 0;
    }
    dlclose(handle);
    return 1;
}

START_TEST(listing_and_asking_load_nothing)
{
    uct_component_attr_t attr = {
        .field_mask = UCT_COMPONENT_ATTR_FIELD_NAME |
                      UCT_COMPONENT_ATTR_FIELD_FLAGS,
    };
    uct_component_h *components, fake;
    unsigned count;

    ck_ok(uct_query_components(&components, &count));
    ck_assert_uint_eq(count, 2);
    ck_ok(uct_component_query(components[0], &attr));
    ck_assert_str_eq(attr.name, "self");
    ck_assert_uint_eq(attr.flags, UCT_COMPONENT_FLAG_RKEY_PTR);
    fake = components[1];
    ck_ok(uct_component_query(fake, &attr));
    ck_assert_str_eq(attr.name, "fake");
    ck_assert_uint_eq(attr.flags, UCT_COMPONENT_FLAG_CM);
    uct_release_component_list(components);
    uct_release_component_list(NULL);

    ck_assert_ptr_eq(uct_component_find("fake"), fake);
    ck_assert_ptr_null(uct_component_find("nobody"));
    ck_assert_ptr_eq(uct_component_find_by_tl("longfk", NULL), fake);
    ck_assert_ptr_null(uct_component_find_by_tl("longfk", fake));
    ck_assert_ptr_eq(uct_component_find_by_tl("fakes", NULL), fake);
    ck_assert_ptr_null(uct_component_find_by_tl("nothing", NULL));

    ck_assert(!uct_component_is_loaded(fake));
    ck_assert(!fake_is_mapped());
}
END_TEST

START_TEST(declaration_matches_the_manifest)
{
    const uct_component_decl_t *decl;
    const uct_tl_decl_t *tl;

    decl = uct_component_decl(uct_component_find("fake"));
    ck_assert_str_eq(decl->name, "fake");
    ck_assert_str_eq(decl->plugin, "fake");
    ck_assert_int_eq(decl->priority, 5);
    ck_assert_int_eq(decl->by_name_only, 0);
    ck_assert_uint_eq(decl->md_flags, UCT_MD_FLAG_ALLOC);
    ck_assert_uint_eq(decl->mem_types, UCS_BIT(UCS_MEMORY_TYPE_HOST) |
                                           UCS_BIT(UCS_MEMORY_TYPE_CUDA));
    ck_assert_uint_eq(decl->num_transports, 2);

    tl = &decl->transports[0];
    ck_assert_str_eq(tl->name, "fk");
    ck_assert(uct_tl_decl_is_called(tl, "fk"));
    ck_assert(uct_tl_decl_is_called(tl, "fakes"));
    ck_assert(!uct_tl_decl_is_called(tl, "f"));
    ck_assert_uint_eq(tl->cap_flags, UCT_IFACE_FLAG_AM_SHORT |
                                         UCT_IFACE_FLAG_CB_SYNC |
                                         UCT_IFACE_FLAG_CONNECT_TO_EP);
    ck_assert_uint_eq(tl->event_flags, UCT_IFACE_FLAG_EVENT_FD);
    ck_assert_uint_eq(tl->features, UCT_IFACE_FEATURE_AM);
    ck_assert_uint_eq(tl->reach, UCT_TL_REACH_SELF | UCT_TL_REACH_NODE);
    ck_assert_int_eq(tl->dev_type, UCT_DEVICE_TYPE_ACC);
    ck_assert_double_eq_tol(tl->latency, 1e-6, 1e-12);
    ck_assert_double_eq_tol(tl->bandwidth, 5e9, 1);
    ck_assert(!fake_is_mapped());
}
END_TEST

START_TEST(opening_loads_the_one_that_is_opened)
{
    uct_component_h fake = uct_component_find("fake");
    uct_md_attr_t attr;
    uct_md_h md;

    ck_assert(uct_component_is_loaded(fake) == fake_is_mapped());
    ck_ok(uct_md_open(fake, "fake0", NULL, &md));
    ck_assert(uct_component_is_loaded(fake));
    ck_assert(fake_is_mapped());
    ck_ok(uct_md_query(md, &attr));
    ck_assert_str_eq(attr.component_name, "fake");
    ck_assert_uint_eq(attr.cap.max_alloc, 1 << 20);
    ck_status(uct_md_query(md, NULL), UCS_ERR_INVALID_PARAM);
    uct_md_close(md);
}
END_TEST

START_TEST(bad_arguments_are_refused)
{
    uct_component_attr_t attr = {0};
    uct_component_h *components;
    unsigned count;
    uct_md_h md;

    ck_status(uct_query_components(NULL, &count), UCS_ERR_INVALID_PARAM);
    ck_status(uct_query_components(&components, NULL), UCS_ERR_INVALID_PARAM);
    ck_status(uct_component_query(NULL, &attr), UCS_ERR_INVALID_PARAM);
    ck_status(uct_md_open(NULL, "self", NULL, &md), UCS_ERR_INVALID_PARAM);
    ck_status(uct_md_open(uct_component_find("self"), NULL, NULL, &md),
              UCS_ERR_INVALID_PARAM);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("components");
    TCase *tc    = tcase_create("all");

    setenv("UCX_PLUGIN_PATH", FAKE_FOLDER, 1);
    tcase_add_test(tc, listing_and_asking_load_nothing);
    tcase_add_test(tc, declaration_matches_the_manifest);
    tcase_add_test(tc, opening_loads_the_one_that_is_opened);
    tcase_add_test(tc, bad_arguments_are_refused);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
