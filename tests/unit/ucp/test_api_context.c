/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The library and contexts: versions, every parameter and attribute, the
 * printed form of a context, and the configuration.
 */
#include "api.h"

START_TEST(the_library_tells_its_version_and_what_threads_may_do)
{
    ucp_lib_attr_t attr = {.field_mask = UCP_LIB_ATTR_FIELD_MAX_THREAD_LEVEL};
    unsigned major, minor, release;
    char text[64];

    ucp_get_version(&major, &minor, &release);
    ck_assert_uint_eq(major, UCP_API_MAJOR);
    ck_assert_uint_eq(minor, UCP_API_MINOR);
    snprintf(text, sizeof(text), "%u.%u.%u", major, minor, release);
    ck_assert_str_eq(ucp_get_version_string(), text);
    ck_assert_int_eq(ucp_lib_query(&attr), UCS_OK);
    ck_assert_int_eq(attr.max_thread_level, UCS_THREAD_MODE_MULTI);

    attr.field_mask       = 0;
    attr.max_thread_level = UCS_THREAD_MODE_LAST;
    ck_assert_int_eq(ucp_lib_query(&attr), UCS_OK);
    ck_assert_int_eq(attr.max_thread_level, UCS_THREAD_MODE_LAST);
}
END_TEST

START_TEST(packed_versions_compare_in_order)
{
    ck_assert_uint_eq(UCP_API_VERSION,
                      UCP_VERSION(UCP_API_MAJOR, UCP_API_MINOR));
    ck_assert_uint_eq(UCP_API_VERSION >> UCP_VERSION_MAJOR_SHIFT,
                      UCP_API_MAJOR);
    ck_assert_uint_eq((UCP_API_VERSION >> UCP_VERSION_MINOR_SHIFT) & 0xff,
                      UCP_API_MINOR);
    ck_assert_uint_lt(UCP_VERSION(1, 9), UCP_VERSION(1, 10));
    ck_assert_uint_lt(UCP_VERSION(1, 255), UCP_VERSION(2, 0));
}
END_TEST

static ucp_context_h open_context(const ucp_params_t *params)
{
    ucp_context_h context;

    ck_assert_int_eq(ucp_init(params, NULL, &context), UCS_OK);
    return context;
}

START_TEST(a_context_for_several_threads_says_so)
{
    ucp_params_t params = {
        .field_mask = UCP_PARAM_FIELD_FEATURES |
                      UCP_PARAM_FIELD_MT_WORKERS_SHARED,
        .features          = UCP_FEATURE_TAG,
        .mt_workers_shared = 1,
    };
    ucp_context_attr_t attr = {.field_mask = UCP_ATTR_FIELD_THREAD_MODE};
    ucp_context_h context;

    context = open_context(&params);
    ck_assert_int_eq(ucp_context_query(context, &attr), UCS_OK);
    ck_assert_int_eq(attr.thread_mode, UCS_THREAD_MODE_MULTI);
    ucp_cleanup(context);

    params.mt_workers_shared = 0;
    context                  = open_context(&params);
    ck_assert_int_eq(ucp_context_query(context, &attr), UCS_OK);
    ck_assert_int_eq(attr.thread_mode, UCS_THREAD_MODE_SINGLE);
    ucp_cleanup(context);
}
END_TEST

START_TEST(a_context_query_fills_requested_fields_only)
{
    ucp_params_t params = {
        .field_mask = UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_NAME,
        .features   = UCP_FEATURE_TAG,
        .name       = "a name that is longer than any name of an entity may be",
    };
    ucp_context_attr_t attr = {
        .request_size        = 1,
        .device_counter_size = 2,
        .memory_types        = 3,
        .thread_mode         = UCS_THREAD_MODE_LAST,
        .name                = "x",
    };
    ucp_context_h context = open_context(&params);

    ck_assert_int_eq(ucp_context_query(context, &attr), UCS_OK);
    ck_assert_uint_eq(attr.request_size, 1);
    ck_assert_uint_eq(attr.device_counter_size, 2);
    ck_assert_uint_eq(attr.memory_types, 3);
    ck_assert_int_eq(attr.thread_mode, UCS_THREAD_MODE_LAST);
    ck_assert_str_eq(attr.name, "x");

    attr.field_mask = UCP_ATTR_FIELD_REQUEST_SIZE | UCP_ATTR_FIELD_NAME |
                      UCP_ATTR_FIELD_DEVICE_COUNTER_SIZE;
    ck_assert_int_eq(ucp_context_query(context, &attr), UCS_OK);
    ck_assert_uint_gt(attr.request_size, 1);
    ck_assert_uint_eq(attr.device_counter_size, 0);
    ck_assert_uint_eq(strlen(attr.name), UCP_ENTITY_NAME_MAX - 1);
    ck_assert_int_eq(strncmp(attr.name, params.name, strlen(attr.name)), 0);
    ucp_cleanup(context);
}
END_TEST

START_TEST(operations_from_device_code_are_refused)
{
    ucp_params_t params = {
        .field_mask = UCP_PARAM_FIELD_FEATURES,
        .features   = UCP_FEATURE_TAG | UCP_FEATURE_DEVICE,
    };
    taken_stderr_t taken = take_stderr();
    ucp_context_h context;

    ck_assert_int_eq(ucp_init(&params, NULL, &context), UCS_ERR_UNSUPPORTED);
    ck_assert_ptr_nonnull(strstr(text_of_stderr(&taken), "UCP_FEATURE_DEVICE"));
    params.features = UCP_FEATURE_DEVICE;
    ck_assert_int_eq(ucp_init(&params, NULL, &context), UCS_ERR_UNSUPPORTED);
    ck_assert_int_gt(give_stderr_back(&taken), 0);
}
END_TEST

/* Creates and uses a context like a program that was compiled for version
 * 1.`minor` of UCP. */
static void use_version(unsigned minor)
{
    ucp_params_t params = {
        .field_mask = UCP_PARAM_FIELD_FEATURES,
        .features   = UCP_FEATURE_TAG,
    };
    ucp_worker_params_t worker_params = {0};
    ucp_ep_params_t ep_params         = {0};
    local_t local;
    char in[4];

    ck_assert_int_eq(ucp_init_version(1, minor, &params, NULL, &local.context),
                     UCS_OK);
    ck_assert_int_eq(ucp_worker_create(local.context, &worker_params,
                                       &local.worker),
                     UCS_OK);
    local.ep = connect_self(local.worker, &ep_params);
    ck_assert_int_eq(local_wait(&local, local_send(&local, "abc", 4, 1)),
                     UCS_OK);
    ck_assert_int_eq(local_wait(&local, local_recv(&local, in, 4, 1)), UCS_OK);
    ck_assert_str_eq(in, "abc");
    local_close(&local);
}

START_TEST(programs_for_newer_minor_versions_are_warned_of_once)
{
    taken_stderr_t taken = take_stderr();
    long length;

    use_version(0);
    use_version(UCP_API_MINOR);
    ck_assert_str_eq(text_of_stderr(&taken), "");
    use_version(UCP_API_MINOR + 1);
    ck_assert_ptr_nonnull(strstr(text_of_stderr(&taken), "1.21"));
    length = (long)strlen(text_of_stderr(&taken));
    use_version(UCP_API_MINOR + 1);
    use_version(UCP_API_MINOR + 2);
    ck_assert_int_eq(give_stderr_back(&taken), length);
}
END_TEST

START_TEST(features_of_newer_versions_are_rejected)
{
    const uint64_t unknown = UINT64_C(1) << 37;
    ucp_params_t params    = {
           .field_mask = UCP_PARAM_FIELD_FEATURES | unknown,
           .features   = UCP_FEATURE_TAG,
    };
    ucp_worker_params_t worker_params     = {.field_mask = unknown};
    ucp_ep_params_t ep_params             = {.field_mask = unknown};
    ucp_listener_params_t listener_params = {.field_mask = unknown};
    ucp_mem_map_params_t map_params       = {
              .field_mask = UCP_MEM_MAP_PARAM_FIELD_LENGTH | unknown,
    };
    ucp_listener_h listener;
    ucp_worker_h worker;
    ucp_mem_h memh;
    taken_stderr_t taken;
    local_t local;

    /* unknown bits of field masks are ignored: a program for a newer version
     * may set them */
    ck_assert_int_eq(ucp_init(&params, NULL, &local.context), UCS_OK);
    ck_assert_int_eq(ucp_worker_create(local.context, &worker_params,
                                       &local.worker),
                     UCS_OK);
    local.ep = connect_self(local.worker, &ep_params);
    local_close(&local);

    taken = take_stderr();
    ck_assert_int_eq(ucp_init_version(1, UCP_API_MINOR + 1, &params, NULL,
                                      &local.context),
                     UCS_ERR_UNSUPPORTED);
    ck_assert_ptr_nonnull(strstr(text_of_stderr(&taken), "ucp_init: "));
    ck_assert_ptr_nonnull(strstr(text_of_stderr(&taken), "bit 37"));
    params.field_mask &= ~unknown;
    params.features |= unknown;
    ck_assert_int_eq(ucp_init_version(1, UCP_API_MINOR + 1, &params, NULL,
                                      &local.context),
                     UCS_ERR_INVALID_PARAM);
    params.features &= ~unknown;
    ck_assert_int_eq(ucp_init_version(1, UCP_API_MINOR + 1, &params, NULL,
                                      &local.context),
                     UCS_OK);
    ck_assert_int_eq(ucp_worker_create(local.context, &worker_params, &worker),
                     UCS_ERR_UNSUPPORTED);
    worker_params.field_mask = 0;
    ck_assert_int_eq(ucp_worker_create(local.context, &worker_params,
                                       &local.worker),
                     UCS_OK);
    ck_assert_int_eq(ucp_ep_create(local.worker, &ep_params, &local.ep),
                     UCS_ERR_UNSUPPORTED);
    ck_assert_int_eq(ucp_listener_create(local.worker, &listener_params,
                                         &listener),
                     UCS_ERR_UNSUPPORTED);
    ck_assert_int_eq(ucp_mem_map(local.context, &map_params, &memh),
                     UCS_ERR_UNSUPPORTED);
    ck_assert_ptr_nonnull(strstr(text_of_stderr(&taken), "ucp_mem_map: "));
    give_stderr_back(&taken);
    ucp_worker_destroy(local.worker);
    ucp_cleanup(local.context);
}
END_TEST

/* Returns the estimated time in seconds of a message of 1 MiB to the worker
 * itself. */
static double estimate(const ucp_params_t *params)
{
    ucp_ep_evaluate_perf_param_t question = {
        .field_mask   = UCP_EP_PERF_PARAM_FIELD_MESSAGE_SIZE,
        .message_size = 1 << 20,
    };
    ucp_ep_evaluate_perf_attr_t answer = {
        .field_mask = UCP_EP_PERF_ATTR_FIELD_ESTIMATED_TIME,
    };
    ucp_worker_params_t worker_params = {0};
    ucp_ep_params_t ep_params         = {0};
    local_t local;

    local.context = open_context(params);
    ck_assert_int_eq(ucp_worker_create(local.context, &worker_params,
                                       &local.worker),
                     UCS_OK);
    local.ep = connect_self(local.worker, &ep_params);
    ck_assert_int_eq(ucp_ep_evaluate_perf(local.ep, &question, &answer),
                     UCS_OK);
    local_close(&local);
    return answer.estimated_time;
}

START_TEST(processes_that_share_a_device_get_less_of_it)
{
    ucp_params_t params = {
        .field_mask = UCP_PARAM_FIELD_FEATURES |
                      UCP_PARAM_FIELD_ESTIMATED_NUM_PPN,
        .features          = UCP_FEATURE_TAG,
        .estimated_num_ppn = 1,
    };
    double alone, together;

    alone                    = estimate(&params);
    params.estimated_num_ppn = 64;
    together                 = estimate(&params);
    ck_assert_double_gt(together, alone * 4);

    /* UCX_NUM_PPN has priority over the parameter estimated_num_ppn */
    setenv("UCX_NUM_PPN", "1", 1);
    ck_assert_double_eq(estimate(&params), alone);
    setenv("UCX_NUM_PPN", "64", 1);
    params.estimated_num_ppn = 1;
    ck_assert_double_eq(estimate(&params), together);
    unsetenv("UCX_NUM_PPN");
}
END_TEST

START_TEST(hints_of_any_value_change_no_result)
{
    static const size_t values[] = {0, 1, 1000, SIZE_MAX};
    ucp_params_t params          = {
                 .field_mask = UCP_PARAM_FIELD_FEATURES |
                               UCP_PARAM_FIELD_TAG_SENDER_MASK |
                               UCP_PARAM_FIELD_ESTIMATED_NUM_EPS |
                               UCP_PARAM_FIELD_ESTIMATED_NUM_PPN |
                               UCP_PARAM_FIELD_NODE_LOCAL_ID,
                 .features = UCP_FEATURE_TAG,
    };
    ucp_worker_params_t worker_params = {0};
    ucp_ep_params_t ep_params         = {0};
    local_t local;
    char in[4];
    size_t i;

    for (i = 0; i < sizeof(values) / sizeof(values[0]); ++i) {
        params.tag_sender_mask   = values[i];
        params.estimated_num_eps = values[i];
        params.estimated_num_ppn = values[i];
        params.node_local_id     = values[i];
        local.context            = open_context(&params);
        ck_assert_int_eq(ucp_worker_create(local.context, &worker_params,
                                           &local.worker),
                         UCS_OK);
        local.ep = connect_self(local.worker, &ep_params);
        ck_assert_int_eq(local_wait(&local, local_send(&local, "abc", 4, i)),
                         UCS_OK);
        ck_assert_int_eq(local_wait(&local, local_recv(&local, in, 4, i)),
                         UCS_OK);
        ck_assert_str_eq(in, "abc");
        local_close(&local);
    }
}
END_TEST

START_TEST(a_context_prints_its_transports_as_tools_read_them)
{
    ucp_params_t params = {
        .field_mask = UCP_PARAM_FIELD_FEATURES,
        .features   = UCP_FEATURE_TAG,
    };
    ucp_context_h context = open_context(&params);
    char tl[32], device[32], *text, *next;
    const char *line;
    unsigned md, dev;
    print_t print;

    ucp_context_print_info(context, print_begin(&print));
    text = print_end(&print);
    line = strstr(text, "resource 0");
    ck_assert_ptr_nonnull(strstr(text, "# UCP context\n"));
    ck_assert_ptr_nonnull(strstr(text, "component 0  :  self\n"));
    ck_assert_ptr_nonnull(strstr(text, "md 0  :  component 0  self"));
    ck_assert_ptr_nonnull(line);
    ck_assert_int_eq(sscanf(line,
                            "resource 0 : md %u dev %u flags -- "
                            "%31[^/]/%31[^ \n]",
                            &md, &dev, tl, device),
                     4);
    ck_assert_str_eq(tl, "self");
    ck_assert_uint_gt(strlen(device), 0);
    for (next = text; *next != '\0'; next = strchr(next, '\n') + 1) {
        ck_assert_int_eq(*next, '#'); /* all lines are comments */
    }
    free(text);
    ucp_cleanup(context);
}
END_TEST

START_TEST(settings_are_printed_with_as_much_as_is_asked)
{
    ucp_config_t *config;
    print_t print;
    char *text;

    ck_assert_int_eq(ucp_config_read("APP", NULL, &config), UCS_OK);
    ucp_config_print(config, print_begin(&print), "the title",
                     UCS_CONFIG_PRINT_HEADER);
    text = print_end(&print);
    ck_assert_ptr_nonnull(strstr(text, "# the title\n"));
    ck_assert_ptr_null(strstr(text, "UCX_TLS"));
    free(text);

    ucp_config_print(config, print_begin(&print), NULL,
                     UCS_CONFIG_PRINT_CONFIG);
    text = print_end(&print);
    ck_assert_ptr_nonnull(strstr(text, "\nAPP_UCX_NUM_PPN=auto\n"));
    ck_assert_ptr_null(strstr(text, "#"));
    ck_assert_ptr_nonnull(
        strstr(text, "\nAPP_UCX_RNDV_SEND_NBR_THRESH=256K\n"));
    ck_assert_ptr_null(strstr(text, "SEND_NBR_RNDV_THRESH"));
    free(text);

    ucp_config_print(config, print_begin(&print), NULL,
                     UCS_CONFIG_PRINT_CONFIG | UCS_CONFIG_PRINT_DOC);
    text = print_end(&print);
    ck_assert_ptr_nonnull(
        strstr(text, "# Also:    UCX_SEND_NBR_RNDV_THRESH\n"));
    free(text);

    ck_assert_int_eq(ucp_config_modify(config, "NUM_PPN", "7"), UCS_OK);
    ucp_config_print(config, print_begin(&print), NULL,
                     UCS_CONFIG_PRINT_CONFIG | UCS_CONFIG_PRINT_DOC |
                         UCS_CONFIG_PRINT_COMMENT_DEFAULT);
    text = print_end(&print);
    ck_assert_ptr_nonnull(strstr(text, "\nAPP_UCX_NUM_PPN=7\n"));
    ck_assert_ptr_nonnull(strstr(text, "\n# APP_UCX_NUM_EPS=auto\n"));
    ck_assert_ptr_nonnull(strstr(text, "\n# Expected number of endpoints"));
    free(text);
    ucp_config_release(config);
}
END_TEST

/* Checks that a configuration contains `line`. `prefix` and `file` are the
 * arguments of ucp_config_read(). */
static void expect_setting(const char *prefix, const char *file,
                           const char *line)
{
    char *text = NULL;
    ucp_config_t *config;
    FILE *stream;
    size_t size;

    ck_assert_int_eq(ucp_config_read(prefix, file, &config), UCS_OK);
    stream = open_memstream(&text, &size);
    ucp_config_print(config, stream, NULL, UCS_CONFIG_PRINT_CONFIG);
    fclose(stream);
    ck_assert_msg(strstr(text, line) != NULL, "no %s in\n%s", line, text);
    free(text);
    ucp_config_release(config);
}

START_TEST(settings_come_from_variables_and_a_file_that_may_be_missing)
{
    char path[] = "/tmp/ucx-settings-XXXXXX";
    FILE *file;
    int fd;

    expect_setting(NULL, "/nonexistent/ucx.conf", "UCX_NUM_PPN=");
    fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    file = fdopen(fd, "w");
    fprintf(file, "UCX_NUM_PPN=3\nUCX_NUM_EPS=5\n");
    fclose(file);
    expect_setting(NULL, path, "UCX_NUM_PPN=3\n");
    unlink(path);

    /* a variable with the program's prefix has priority over the general one */
    setenv("UCX_NUM_PPN", "11", 1);
    expect_setting(NULL, NULL, "UCX_NUM_PPN=11\n");
    setenv("APP_UCX_NUM_PPN", "12", 1);
    expect_setting(NULL, NULL, "UCX_NUM_PPN=11\n");
    expect_setting("APP", NULL, "UCX_NUM_PPN=12\n");
    unsetenv("APP_UCX_NUM_PPN");
    unsetenv("UCX_NUM_PPN");
}
END_TEST

SUITE_MAIN("contexts", the_library_tells_its_version_and_what_threads_may_do,
           packed_versions_compare_in_order,
           a_context_for_several_threads_says_so,
           a_context_query_fills_requested_fields_only,
           operations_from_device_code_are_refused,
           programs_for_newer_minor_versions_are_warned_of_once,
           features_of_newer_versions_are_rejected,
           processes_that_share_a_device_get_less_of_it,
           hints_of_any_value_change_no_result,
           a_context_prints_its_transports_as_tools_read_them,
           settings_are_printed_with_as_much_as_is_asked,
           settings_come_from_variables_and_a_file_that_may_be_missing)
