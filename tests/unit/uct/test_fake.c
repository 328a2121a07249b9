/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tables of a plugin (fake.h): tables that are shorter or longer than the
 * core's work, missing operations return UCS_ERR_UNSUPPORTED or have a default,
 * and variables of every type reach the plugin. Also its memory domains, memory
 * types and connection manager.
 */
#include "common.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ucs/debug/log.h"
#include "fake.h"
#include "uct/base/component_list.h"
#include "uct/base/iface.h"
#include "uct/base/md.h"
#include <ucs/memory/memtype_cache.h>

#include "uct/base/memtype.h"
#include "uct/base/state.h"
#include <ucx/inspect.h>

static const uct_component_decl_t decl = {.name = "fake"};

static uct_component_h component;
static ucs_async_context_t *async;
static uct_worker_h worker;
static uct_md_h md;

static ucs_status_t load_fake(void *arg, const uct_component_decl_t *wanted,
                              const ucx_component_t **desc_p)
{
    const ucx_plugin_args_t args = {.size = sizeof(args), .host = &uct_host};
    const ucx_plugin_t *plugin;

    ++*(unsigned *)arg;
    ck_ok(fake_plugin_entry(&args, &plugin));
    *desc_p = plugin->components[0];
    return UCS_OK;
}

static unsigned num_loads;

static void setup(void)
{
    memset(&fake_log, 0, sizeof(fake_log));
    num_loads = 0;
    ck_ok(uct_component_add(&decl, load_fake, NULL, &num_loads, &component));
    ck_ok(ucs_async_context_create(UCS_ASYNC_MODE_THREAD, &async));
    ck_ok(uct_worker_create(async, UCS_THREAD_MODE_SINGLE, &worker));
    ck_ok(uct_md_open(component, "fake0", NULL, &md));
}

static void teardown(void)
{
    uct_md_close(md);
    uct_worker_destroy(worker);
    ucs_async_context_destroy(async);
    uct_component_remove(component);
    ck_assert_uint_eq(fake_log.opened_mds, fake_log.closed_mds);
    ck_assert_uint_eq(fake_log.opened_ifaces, fake_log.closed_ifaces);
}

static ucs_status_t open_tl(const char *tl_name, const char *dev_name,
                            const uct_iface_config_t *config,
                            uct_iface_h *iface_p)
{
    const uct_iface_params_t params = {
        .field_mask = UCT_IFACE_PARAM_FIELD_OPEN_MODE |
                      UCT_IFACE_PARAM_FIELD_DEVICE,
        .open_mode   = UCT_IFACE_OPEN_MODE_DEVICE,
        .mode.device = {.tl_name = tl_name, .dev_name = dev_name},
    };

    return uct_iface_open(md, worker, &params, config, iface_p);
}

static uct_ep_h new_ep(uct_iface_h iface)
{
    const uct_ep_params_t params = {
        .field_mask = UCT_EP_PARAM_FIELD_IFACE,
        .iface      = iface,
    };
    uct_ep_h ep;

    ck_ok(uct_ep_create(&params, &ep));
    return ep;
}

START_TEST(short_tables_are_completed)
{
    uct_iface_h iface;
    uct_ep_h ep;
    char addr[8];
    int fd;

    ck_ok(open_tl("fk", "dev0", NULL, &iface));
    ck_assert_uint_eq(iface->ops->size, sizeof(ucx_iface_ops_t));
    ck_assert_uint_eq(iface->ep_ops->size, sizeof(ucx_ep_ops_t));

    /* an operation that the plugin has */
    ck_status(uct_iface_flush(iface, 0, NULL), UCS_INPROGRESS);
    /* operations beyond the end of the plugin's table, or NULL in it */
    ck_status(uct_iface_fence(iface, 0), UCS_ERR_UNSUPPORTED);
    ck_status(uct_iface_event_fd_get(iface, &fd), UCS_ERR_UNSUPPORTED);
    ck_status(uct_iface_event_arm(iface, 0), UCS_ERR_UNSUPPORTED);
    ck_status(uct_iface_set_am_tracer(iface, NULL, NULL), UCS_ERR_UNSUPPORTED);
    ck_status(uct_iface_get_address(iface, (void *)addr), UCS_ERR_UNSUPPORTED);
    ck_assert_int_eq(uct_iface_is_reachable(iface, NULL, NULL), 0);
    ck_assert_uint_eq(uct_iface_progress(iface), 0);

    ep = new_ep(iface);
    /* uct_ep_am_short() returns UCS_OK where the plugin returns
     * UCS_INPROGRESS */
    ck_ok(uct_ep_am_short(ep, 0, 0, NULL, 0));
    ck_status(ep->ops->am_short(ep, 0, 0, NULL, 0), UCS_INPROGRESS);
    ck_status(uct_ep_am_short(ep, 0, 0, addr, 57), UCS_ERR_INVALID_PARAM);
    ck_status(uct_ep_put_short(ep, addr, 8, 0, 0), UCS_ERR_UNSUPPORTED);
    ck_status(uct_ep_flush(ep, 0, NULL), UCS_ERR_UNSUPPORTED);
    ck_assert_int_eq(uct_ep_is_connected(ep, NULL, NULL, NULL), 0);
    ck_status(uct_ep_check(ep, 0, NULL), UCS_ERR_UNSUPPORTED);
    uct_ep_pending_purge(ep, NULL, NULL);
    ck_ok(uct_ep_connect_to_ep(ep, NULL, (void *)addr));
    ck_assert_uint_eq(fake_log.connect_ep_addr_length, 6);
    uct_ep_destroy(ep);
    uct_iface_close(iface);
}
END_TEST

START_TEST(long_tables_are_cut)
{
    ucx_perf_t perf = {.size = sizeof(perf), .op = UCX_OP_AM_SHORT};
    uct_iface_h iface;
    uct_ep_h ep;

    ck_ok(open_tl("longfk", "dev0", NULL, &iface));
    ck_assert_uint_eq(iface->ops->size, sizeof(ucx_iface_ops_t));
    ck_ok(uct_iface_estimate(iface, &perf));
    ck_assert(perf.send_pre_overhead == 42);
    ck_assert(perf.recv_overhead == 1e-6);
    ep = new_ep(iface);
    ck_status(uct_ep_am_short(ep, 0, 0, NULL, 0), UCS_ERR_UNSUPPORTED);
    uct_ep_destroy(ep);
    uct_iface_close(iface);
}
END_TEST

START_TEST(no_slot_of_a_completed_table_is_null)
{
    uct_iface_h iface;
    const void *const *slots;
    size_t i;

    ck_ok(open_tl("fk", "dev0", NULL, &iface));
    slots = (const void *const *)iface->ops;
    for (i = 1; i < sizeof(*iface->ops) / sizeof(void *); ++i) {
        ck_assert_ptr_nonnull(slots[i]);
    }
    slots = (const void *const *)iface->ep_ops;
    for (i = 1; i < sizeof(*iface->ep_ops) / sizeof(void *); ++i) {
        ck_assert_ptr_nonnull(slots[i]);
    }
    slots = (const void *const *)md->ops;
    for (i = 1; i < sizeof(*md->ops) / sizeof(void *); ++i) {
        ck_assert_ptr_nonnull(slots[i]);
    }
    uct_iface_close(iface);
}
END_TEST

START_TEST(transport_without_required_slot_is_left_out)
{
    uct_tl_resource_desc_t *resources;
    unsigned count;
    uct_iface_h iface;

    ck_ok(uct_md_query_tl_resources(md, &resources, &count));
    ck_assert_uint_eq(count, 2);
    ck_assert_str_eq(resources[0].tl_name, "fk");
    ck_assert_str_eq(resources[0].dev_name, "dev0");
    ck_assert_int_eq(resources[0].dev_type, UCT_DEVICE_TYPE_ACC);
    ck_assert_int_eq(resources[0].sys_device, 3);
    ck_assert_str_eq(resources[1].tl_name, "longfk");
    uct_release_tl_resource_list(resources);
    ck_status(open_tl("badfk", "dev0", NULL, &iface), UCS_ERR_NO_DEVICE);
    ck_status(open_tl("fk", "dev1", NULL, &iface), UCS_ERR_NO_DEVICE);
}
END_TEST

START_TEST(operations_behind_the_end_of_md_ops_refuse)
{
    char buffer[8];
    uct_mem_h memh;

    ck_status(uct_md_mkey_pack(md, buffer, buffer), UCS_ERR_UNSUPPORTED);
    ck_status(uct_md_mem_reg(md, buffer, 8, 0, &memh), UCS_ERR_UNSUPPORTED);
    ck_status(uct_md_mem_advise(md, buffer, buffer, 8, UCT_MADV_WILLNEED),
              UCS_ERR_UNSUPPORTED);
    ck_status(uct_md_mem_attach(md, buffer, 8, &memh), UCS_ERR_UNSUPPORTED);
}
END_TEST

START_TEST(component_without_keys_has_empty_ones)
{
    uct_rkey_bundle_t bundle;
    void *pointer;
    int result;

    ck_ok(uct_rkey_unpack_sized(component, NULL, 0, UCS_SYS_DEVICE_ID_UNKNOWN,
                                &bundle));
    ck_status(uct_rkey_ptr(component, &bundle, 0, &pointer),
              UCS_ERR_UNSUPPORTED);
    ck_ok(uct_rkey_compare(component, 1, 2, &result));
    ck_assert_int_lt(result, 0);
    ck_ok(uct_rkey_release(component, &bundle));
}
END_TEST

START_TEST(code_is_loaded_once)
{
    uct_md_h second;

    ck_ok(uct_md_open(component, "fake1", NULL, &second));
    uct_md_close(second);
    ck_assert_uint_eq(num_loads, 1);
    ck_status(uct_md_open(component, "other", NULL, &second),
              UCS_ERR_NO_DEVICE);
    ck_status(uct_md_open(component, "a-name-that-is-too-long", NULL, &second),
              UCS_ERR_NO_DEVICE);
}
END_TEST

START_TEST(domains_are_listed)
{
    uct_md_resource_desc_t names[2];
    uct_component_attr_t attr = {
        .field_mask = UCT_COMPONENT_ATTR_FIELD_MD_RESOURCE_COUNT,
    };

    ck_ok(uct_component_query(component, &attr));
    ck_assert_uint_eq(attr.md_resource_count, 2);
    attr.field_mask   = UCT_COMPONENT_ATTR_FIELD_MD_RESOURCES;
    attr.md_resources = names;
    ck_ok(uct_component_query(component, &attr));
    ck_assert_str_eq(names[1].md_name, "fake1");
    attr.md_resources = NULL;
    ck_status(uct_component_query(component, &attr), UCS_ERR_INVALID_PARAM);
}
END_TEST

START_TEST(interface_memory_goes_back_where_it_came_from)
{
    uct_allocated_memory_t mem, other;
    uct_iface_h own, plain;

    ck_ok(open_tl("longfk", "dev0", NULL, &own));
    ck_ok(open_tl("fk", "dev0", NULL, &plain));
    ck_ok(uct_iface_mem_alloc(own, 100, 0, "own", &mem));
    ck_ok(uct_iface_mem_alloc(plain, 100, 0, NULL, &other));
    ck_assert_int_eq(other.method, UCT_ALLOC_METHOD_MD);
    uct_iface_mem_free(&other);
    ck_assert_uint_eq(fake_log.iface_freed, 0);
    ck_assert_uint_eq(fake_log.freed, 1);
    uct_iface_mem_free(&mem);
    ck_assert_uint_eq(fake_log.iface_freed, 1);
    ck_status(uct_iface_mem_alloc(own, 0, 0, NULL, &mem),
              UCS_ERR_INVALID_PARAM);
    uct_iface_close(plain);
    uct_iface_close(own);
}
END_TEST

START_TEST(memory_types_are_told_by_domains)
{
    ucx_mem_info_t info = {.size = sizeof(info)};
    ucs_memory_info_t told;
    ucs_memory_type_t type;
    uct_md_mem_attr_t attr = {
        .field_mask = UCT_MD_MEM_ATTR_FIELD_MEM_TYPE |
                      UCT_MD_MEM_ATTR_FIELD_DMABUF_FD,
    };

    ck_ok(uct_mem_detect((void *)0x2000, 16, &info));
    ck_assert_int_eq(info.type, UCS_MEMORY_TYPE_CUDA);
    ck_assert_int_eq(info.sys_dev, 3);
    ck_assert_ptr_eq(info.base, (void *)0x1000);
    /* the function for programs (UCS API) returns the same */
    ck_ok(ucs_memtype_cache_lookup((void *)0x2000, 16, &told));
    ck_assert_int_eq(told.type, UCS_MEMORY_TYPE_CUDA);
    ck_assert_ptr_eq(told.base_address, (void *)0x1000);
    ck_status(ucs_memtype_cache_lookup(&info, sizeof(info), &told),
              UCS_ERR_NO_ELEM);
    ck_ok(uct_mem_detect(&info, sizeof(info), &info));
    ck_assert_int_eq(info.type, UCS_MEMORY_TYPE_HOST);
    ck_ok(uct_md_detect_memory_type(md, (void *)0x2000, 16, &type));
    ck_assert_int_eq(type, UCS_MEMORY_TYPE_CUDA);
    ck_status(uct_md_detect_memory_type(md, &info, 1, &type),
              UCS_ERR_INVALID_ADDR);
    ck_ok(uct_md_mem_query(md, (void *)0x2000, 16, &attr));
    ck_assert_int_eq(attr.dmabuf_fd, UCT_DMABUF_FD_INVALID);
    ck_status(uct_md_mem_query(md, NULL, 16, &attr), UCS_ERR_INVALID_PARAM);
    ck_status(uct_md_mem_query(md, &attr, 0, &attr), UCS_ERR_INVALID_PARAM);
}
END_TEST

/* --- Connection manager ---------------------------------------------------- */

START_TEST(connection_manager_is_completed)
{
    uct_cm_attr_t attr       = {.field_mask = UCT_CM_ATTR_FIELD_MAX_CONN_PRIV};
    struct sockaddr addr     = {.sa_family = AF_INET};
    ucs_sock_addr_t sockaddr = {.addr = &addr, .addrlen = sizeof(addr)};
    uct_listener_params_t listener     = {0};
    uct_ep_connect_params_t connecting = {0};
    uct_ep_params_t params             = {.field_mask = UCT_EP_PARAM_FIELD_CM};
    uct_listener_h listener_h;
    uct_cm_config_t *config;
    uct_cm_h cm;
    uct_ep_h ep;

    ck_ok(uct_cm_config_read(component, NULL, NULL, &config));
    ck_ok(uct_cm_open(component, worker, config, &cm));
    uct_config_release(config);
    ck_status(uct_cm_query(cm, &attr), UCS_ERR_UNSUPPORTED);
    ck_status(uct_listener_create(cm, &addr, sizeof(addr), &listener,
                                  &listener_h),
              UCS_ERR_INVALID_PARAM);
    params.cm = cm;
    ck_status(uct_ep_create(&params, &ep), UCS_ERR_INVALID_PARAM);
    params.field_mask |= UCT_EP_PARAM_FIELD_SOCKADDR;
    params.sockaddr = &sockaddr;
    ck_ok(uct_ep_create(&params, &ep));
    ck_status(uct_ep_connect(ep, &connecting), UCS_ERR_UNSUPPORTED);
    ck_status(uct_cm_client_ep_conn_notify(ep), UCS_ERR_UNSUPPORTED);
    ck_status(uct_ep_disconnect(ep, 0), UCS_ERR_UNSUPPORTED);
    /* an endpoint of a connection manager has no interface and sends no
     * messages */
    ck_status(uct_ep_am_short(ep, 0, 0, NULL, 0), UCS_ERR_UNSUPPORTED);
    ck_status(uct_ep_connect_to_ep(ep, NULL, NULL), UCS_ERR_UNSUPPORTED);
    uct_ep_destroy(ep);
    uct_cm_close(cm);
}
END_TEST

/* --- Variables ---------------------------------------------------------------- */

static void expect(void *config, const char *name, const char *value)
{
    char text[64];

    ck_ok(uct_config_get(config, name, text, sizeof(text)));
    ck_assert_str_eq(text, value);
}

START_TEST(defaults_of_every_type_are_parsed)
{
    const fake_options_t *options;
    uct_iface_config_t *config;
    void *own;

    ck_ok(uct_md_iface_config_read(md, "fk", NULL, NULL, &config));
    ck_ok(uct_config_options(uct_md_state(md)->code->tls[0].config, config,
                             &own, (const void **)&options));
    ck_assert_ptr_null(own);
    ck_assert_int_eq(options->number, 7);
    ck_assert_uint_eq(options->count, UINT32_MAX);
    ck_assert_uint_eq(options->big, 5000000000ul);
    ck_assert(options->ratio == 0.5);
    ck_assert_int_eq(options->on, 1);
    ck_assert_int_eq(options->ternary, UCS_TRY);
    ck_assert_int_eq(options->on_off, UCS_CONFIG_AUTO);
    ck_assert_str_eq(options->text, "hello");
    ck_assert_uint_eq(options->color, 1);
    ck_assert_uint_eq(options->colors, 5);
    ck_assert_uint_eq(options->bytes, 4096);
    ck_assert_double_eq_tol(options->seconds, 5e-3, 1e-12);
    ck_assert(options->bandwidth == 0);
    ck_assert_uint_eq(options->list.count, 2);
    ck_assert_str_eq(options->list.names[1], "b");
    ck_assert_int_eq(options->allow.mode, UCS_CONFIG_ALLOW_LIST_NEGATE);
    uct_config_release(config);
}
END_TEST

/* A variable of a transport exists with two prefixes: that of the component,
 * which has priority, and the name of the transport. */
START_TEST(variables_have_the_prefix_of_the_transport_too)
{
    uct_iface_config_t *config;

    setenv("UCX_FK_NUMBER", "3", 1);
    setenv("UCX_FAKE_COUNT", "4", 1);
    setenv("UCX_FK_COUNT", "5", 1);
    ck_ok(uct_md_iface_config_read(md, "fk", NULL, NULL, &config));
    unsetenv("UCX_FK_NUMBER");
    unsetenv("UCX_FAKE_COUNT");
    unsetenv("UCX_FK_COUNT");
    expect(config, "NUMBER", "3");
    expect(config, "COUNT", "4");
    uct_config_release(config);
}
END_TEST

START_TEST(values_are_got_and_changed)
{
    static const char *const bad[][2] = {
        {"NUMBER", "11"}, {"NUMBER", "x"},    {"RATIO", "1.5"},
        {"ON", "maybe"},  {"COLOR", "pink"},  {"COLORS", "red,pink"},
        {"BYTES", "16k"}, {"SECONDS", "1us"}, {"SECONDS", "11"},
        {"BW", "1Bps"},   {"COUNT", "-1"},
    };
    uct_iface_config_t *config;
    char text[4];
    unsigned i;

    ck_ok(uct_md_iface_config_read(md, "fk", NULL, NULL, &config));
    expect(config, "COUNT", "inf");
    expect(config, "BW", "auto");
    expect(config, "COLORS", "red,blue");
    ck_ok(uct_config_modify(config, "NUMBER", "-10"));
    ck_ok(uct_config_modify(config, "FAKE_TEXT", "other"));
    ck_ok(uct_config_modify(config, "COUNT", "12"));
    ck_ok(uct_config_modify(config, "BW", "100MBps"));
    expect(config, "NUMBER", "-10");
    expect(config, "TEXT", "other");
    expect(config, "COUNT", "12");
    ck_ok(uct_config_get(config, "TEXT", text, sizeof(text)));
    ck_assert_str_eq(text, "oth");

    /* suppresses the errors about invalid values */
    ucs_log_level_set(UCS_LOG_LEVEL_FATAL);
    for (i = 0; i < ucs_static_array_size(bad); ++i) {
        ck_assert_msg(uct_config_modify(config, bad[i][0], bad[i][1]) ==
                          UCS_ERR_INVALID_PARAM,
                      "%s=%s was taken", bad[i][0], bad[i][1]);
    }
    ucs_log_level_set(UCS_LOG_LEVEL_ERROR);
    expect(config, "NUMBER", "-10");
    ck_status(uct_config_modify(config, "NOTHING", "1"), UCS_ERR_NO_ELEM);
    ck_status(uct_config_get(config, "NOTHING", text, 4), UCS_ERR_NO_ELEM);
    ck_status(uct_config_get(NULL, "TEXT", text, 4), UCS_ERR_INVALID_PARAM);
    uct_config_release(config);
    uct_config_release(NULL);
}
END_TEST

START_TEST(environment_and_prefix_count)
{
    uct_md_config_t *md_options;
    uct_iface_config_t *config;
    uct_iface_h iface;
    uct_md_h second;

    setenv("UCX_FAKE_NUMBER", "3", 1);
    setenv("APP_UCX_FAKE_TEXT", "from app", 1);
    setenv("UCX_FAKE_MD_TEXT", "of md", 1);
    ck_ok(uct_md_iface_config_read(md, "fk", "APP", NULL, &config));
    ck_ok(open_tl("fk", "dev0", config, &iface));
    ck_assert_int_eq(fake_log.number, 3);
    ck_assert_str_eq(fake_log.text, "from app");
    ck_assert_str_eq(fake_log.dev_name, "dev0");
    uct_iface_close(iface);
    uct_config_release(config);

    ck_ok(uct_md_config_read(component, NULL, NULL, &md_options));
    expect(md_options, "COLOR", "blue");
    ck_ok(uct_md_open(component, "fake0", md_options, &second));
    ck_assert_str_eq(fake_log.md_text, "of md");
    uct_md_close(second);
    uct_config_release(md_options);

    unsetenv("UCX_FAKE_NUMBER");
    unsetenv("APP_UCX_FAKE_TEXT");
    unsetenv("UCX_FAKE_MD_TEXT");
}
END_TEST

/* Variables are read from a configuration file; the environment has
 * priority. */
START_TEST(configuration_is_read_from_a_file)
{
    char path[] = "/tmp/ucx-test-XXXXXX";
    int fd      = mkstemp(path);
    FILE *file  = fdopen(fd, "w");
    uct_iface_config_t *config;
    uct_md_config_t *md_options;

    ck_assert_ptr_nonnull(file);
    fputs("UCX_FAKE_NUMBER=4\nUCX_FAKE_TEXT=of a file\n"
          "UCX_FAKE_MD_TEXT=of a file\n",
          file);
    fclose(file);

    ck_ok(uct_md_config_read(component, NULL, path, &md_options));
    expect(md_options, "TEXT", "of a file");
    uct_config_release(md_options);
    setenv("UCX_FAKE_TEXT", "of the environment", 1);
    ck_ok(uct_md_iface_config_read(md, "fk", NULL, path, &config));
    expect(config, "NUMBER", "4");
    expect(config, "TEXT", "of the environment");
    uct_config_release(config);
    unsetenv("UCX_FAKE_TEXT");
    unlink(path);

    ck_ok(uct_md_config_read(component, NULL, path, &md_options));
    uct_config_release(md_options);
    ck_ok(uct_md_iface_config_read(md, "fk", NULL, path, &config));
    uct_config_release(config);
}
END_TEST

START_TEST(configuration_of_another_kind_is_refused)
{
    uct_iface_config_t *config, *empty;
    uct_iface_h iface;
    uct_md_h second;

    ck_ok(uct_md_iface_config_read(md, "fk", NULL, NULL, &config));
    ck_ok(uct_md_iface_config_read(md, "longfk", NULL, NULL, &empty));
    ucs_log_level_set(UCS_LOG_LEVEL_FATAL);
    ck_status(uct_md_open(component, "fake0", (uct_md_config_t *)config,
                          &second),
              UCS_ERR_INVALID_PARAM);
    ck_status(open_tl("fk", "dev0", empty, &iface), UCS_ERR_INVALID_PARAM);
    ucs_log_level_set(UCS_LOG_LEVEL_ERROR);
    ck_ok(open_tl("longfk", "dev0", empty, &iface));
    uct_iface_close(iface);
    ck_status(uct_config_modify(empty, "TEXT", "x"), UCS_ERR_NO_ELEM);
    uct_config_release(empty);
    uct_config_release(config);
    ck_status(uct_md_iface_config_read(md, "nothing", NULL, NULL, &config),
              UCS_ERR_NO_ELEM);
    ck_status(uct_md_iface_config_read(md, NULL, NULL, NULL, &config),
              UCS_ERR_INVALID_PARAM);
}
END_TEST

START_TEST(iface_parameters_are_checked)
{
    uct_iface_params_t params = {
        .field_mask  = UCT_IFACE_PARAM_FIELD_DEVICE,
        .mode.device = {.tl_name = "fk", .dev_name = "dev0"},
    };
    uct_iface_h iface;

    ck_status(uct_iface_open(md, worker, &params, NULL, &iface),
              UCS_ERR_INVALID_PARAM);
    params.field_mask |= UCT_IFACE_PARAM_FIELD_OPEN_MODE;
    ck_status(uct_iface_open(md, worker, &params, NULL, &iface),
              UCS_ERR_INVALID_PARAM);
    params.open_mode = UCT_IFACE_OPEN_MODE_SOCKADDR_SERVER;
    ck_status(uct_iface_open(md, worker, &params, NULL, &iface),
              UCS_ERR_UNSUPPORTED);
    params.open_mode = UCT_IFACE_OPEN_MODE_DEVICE;
    params.field_mask |= UCT_IFACE_PARAM_FIELD_AM_ALIGNMENT;
    params.am_alignment = 3;
    ck_status(uct_iface_open(md, worker, &params, NULL, &iface),
              UCS_ERR_INVALID_PARAM);
    params.am_alignment = 8;
    params.field_mask |= UCT_IFACE_PARAM_FIELD_AM_ALIGN_OFFSET;
    params.am_align_offset = 8;
    ck_status(uct_iface_open(md, worker, &params, NULL, &iface),
              UCS_ERR_INVALID_PARAM);
}
END_TEST

START_TEST(interfaces_of_a_polled_worker_are_told)
{
    uct_iface_h iface;

    ck_ok(open_tl("fk", "dev0", NULL, &iface));
    ck_assert(!fake_log.is_polled);
    uct_iface_close(iface);
    ucx_inspect_worker_polled(worker);
    ck_ok(open_tl("fk", "dev0", NULL, &iface));
    ck_assert(fake_log.is_polled);
    uct_iface_close(iface);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("plugin tables");
    TCase *tc    = tcase_create("all");

    /* suppresses the warnings about the transport "badfk" */
    ucs_log_level_set(UCS_LOG_LEVEL_ERROR);
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, short_tables_are_completed);
    tcase_add_test(tc, long_tables_are_cut);
    tcase_add_test(tc, no_slot_of_a_completed_table_is_null);
    tcase_add_test(tc, transport_without_required_slot_is_left_out);
    tcase_add_test(tc, operations_behind_the_end_of_md_ops_refuse);
    tcase_add_test(tc, component_without_keys_has_empty_ones);
    tcase_add_test(tc, code_is_loaded_once);
    tcase_add_test(tc, domains_are_listed);
    tcase_add_test(tc, interface_memory_goes_back_where_it_came_from);
    tcase_add_test(tc, memory_types_are_told_by_domains);
    tcase_add_test(tc, connection_manager_is_completed);
    tcase_add_test(tc, defaults_of_every_type_are_parsed);
    tcase_add_test(tc, variables_have_the_prefix_of_the_transport_too);
    tcase_add_test(tc, values_are_got_and_changed);
    tcase_add_test(tc, environment_and_prefix_count);
    tcase_add_test(tc, configuration_is_read_from_a_file);
    tcase_add_test(tc, configuration_of_another_kind_is_refused);
    tcase_add_test(tc, iface_parameters_are_checked);
    tcase_add_test(tc, interfaces_of_a_polled_worker_are_told);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
