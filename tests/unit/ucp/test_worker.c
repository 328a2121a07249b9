/* SPDX-License-Identifier: BSD-3-Clause */
/* Contexts, workers and endpoints: attributes, invalid use, the user's part of
 * a request, wake-up, flush, forced close, and the configuration. */
#include "ucp/base/worker.h"
#include "uct/base/worker.h"
#include "local.h"

#include <poll.h>
#include <pthread.h>
#include <unistd.h>

START_TEST(a_context_refuses_versions_and_features_that_it_does_not_know)
{
    ucp_params_t params = {
        .field_mask = UCP_PARAM_FIELD_FEATURES,
        .features   = UCP_FEATURE_TAG,
    };
    ucp_context_h context;

    ck_assert_int_eq(ucp_init_version(2, 0, &params, NULL, &context),
                     UCS_ERR_NOT_IMPLEMENTED);
    params.features = UINT64_C(1) << 40;
    ck_assert_int_eq(ucp_init(&params, NULL, &context), UCS_ERR_INVALID_PARAM);
    params.field_mask = 0;
    ck_assert_int_eq(ucp_init(&params, NULL, &context), UCS_ERR_INVALID_PARAM);
}
END_TEST

static int inits, cleanups;

static void count_init(void *request)
{
    ++inits;
    memset(request, 0x5a, 24);
}

static void count_cleanup(void *request)
{
    ++cleanups;
    ck_assert_int_eq(*(char *)request, 0x5a);
}

START_TEST(the_users_area_of_a_request_is_initialised_and_cleaned_up)
{
    ucp_params_t params = {
        .field_mask = UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_REQUEST_SIZE |
                      UCP_PARAM_FIELD_REQUEST_INIT |
                      UCP_PARAM_FIELD_REQUEST_CLEANUP | UCP_PARAM_FIELD_NAME,
        .features        = UCP_FEATURE_TAG,
        .request_size    = 24,
        .request_init    = count_init,
        .request_cleanup = count_cleanup,
        .name            = "unit",
    };
    ucp_context_attr_t attr = {
        .field_mask = UCP_ATTR_FIELD_NAME | UCP_ATTR_FIELD_THREAD_MODE |
                      UCP_ATTR_FIELD_MEMORY_TYPES,
    };
    ucp_worker_params_t worker_params = {0};
    ucp_request_param_t none          = {0};
    ucp_context_h context;
    ucp_worker_h worker;
    char *request;
    char in[1];

    ck_assert_int_eq(ucp_init(&params, NULL, &context), UCS_OK);
    ck_assert_int_eq(ucp_context_query(context, &attr), UCS_OK);
    ck_assert_str_eq(attr.name, "unit");
    ck_assert_int_eq(attr.thread_mode, UCS_THREAD_MODE_SINGLE);
    ck_assert(attr.memory_types & UCS_BIT(UCS_MEMORY_TYPE_HOST));
    ck_assert_int_eq(ucp_worker_create(context, &worker_params, &worker),
                     UCS_OK);
    request = ucp_tag_recv_nbx(worker, in, 1, 0, 0, &none);
    ck_assert_int_eq(request[0], 0x5a);
    ck_assert_int_eq(request[23], 0x5a);
    ucp_request_cancel(worker, request);
    ucp_request_free(request);
    ucp_worker_destroy(worker);
    ck_assert_int_gt(inits, 0);
    ck_assert_int_eq(inits, cleanups);
    ucp_cleanup(context);
}
END_TEST

START_TEST(a_worker_tells_its_attributes)
{
    ucp_worker_attr_t attr = {
        .field_mask = UCP_WORKER_ATTR_FIELD_THREAD_MODE |
                      UCP_WORKER_ATTR_FIELD_NAME |
                      UCP_WORKER_ATTR_FIELD_MAX_AM_HEADER |
                      UCP_WORKER_ATTR_FIELD_MAX_INFO_STRING |
                      UCP_WORKER_ATTR_FIELD_ADDRESS,
    };
    ucp_worker_address_attr_t address_attr = {
        .field_mask = UCP_WORKER_ADDRESS_ATTR_FIELD_UID,
    };
    local_t local;

    local_open(&local);
    ck_assert_int_eq(ucp_worker_query(local.worker, &attr), UCS_OK);
    ck_assert_int_eq(attr.thread_mode, UCS_THREAD_MODE_SINGLE);
    ck_assert_uint_gt(strlen(attr.name), 0);
    ck_assert_uint_gt(attr.max_am_header, 100);
    ck_assert_int_eq(ucp_worker_address_query(attr.address, &address_attr),
                     UCS_OK);
    ck_assert_uint_ne(address_attr.worker_uid, 0);
    ucp_worker_release_address(local.worker, attr.address);
    local_close(&local);
}
END_TEST

START_TEST(a_damaged_address_is_refused)
{
    ucp_worker_attr_t attr    = {.field_mask = UCP_WORKER_ATTR_FIELD_ADDRESS};
    ucp_ep_params_t ep_params = {
        .field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS,
    };
    unsigned char *bytes;
    local_t local;
    ucp_ep_h ep;
    size_t i;

    local_open(&local);
    ck_assert_int_eq(ucp_worker_query(local.worker, &attr), UCS_OK);
    bytes             = (unsigned char *)attr.address;
    ep_params.address = attr.address;
    for (i = 0; i < attr.address_length; ++i) {
        bytes[i] ^= 0x41;
        ck_assert_int_eq(ucp_ep_create(local.worker, &ep_params, &ep),
                         UCS_ERR_INVALID_ADDR);
        bytes[i] ^= 0x41;
    }
    ucp_worker_release_address(local.worker, attr.address);
    ep_params.address = NULL;
    ck_assert_int_eq(ucp_ep_create(local.worker, &ep_params, &ep),
                     UCS_ERR_INVALID_PARAM);
    local_close(&local);
}
END_TEST

START_TEST(an_endpoint_tells_its_name_and_transport)
{
    ucp_transport_entry_t entry;
    ucp_ep_attr_t attr = {
        .field_mask = UCP_EP_ATTR_FIELD_NAME | UCP_EP_ATTR_FIELD_TRANSPORTS,
    };
    local_t local;

    local_open(&local);
    attr.transports.entries     = &entry;
    attr.transports.num_entries = 1;
    attr.transports.entry_size  = sizeof(entry);
    ck_assert_int_eq(ucp_ep_query(local.ep, &attr), UCS_OK);
    ck_assert_uint_eq(attr.transports.num_entries, 1);
    ck_assert_uint_gt(strlen(entry.transport_name), 0);
    ck_assert_uint_gt(strlen(attr.name), 0);
    local_close(&local);
}
END_TEST

START_TEST(a_signal_wakes_an_armed_worker)
{
    struct pollfd set = {.events = POLLIN};
    local_t local;

    local_open(&local);
    ck_assert(!local.worker->uct->is_polled);
    ck_assert_int_eq(ucp_worker_get_efd(local.worker, &set.fd), UCS_OK);
    while (ucp_worker_arm(local.worker) == UCS_ERR_BUSY) {
        ucp_worker_progress(local.worker);
    }
    ck_assert_int_eq(poll(&set, 1, 0), 0);
    ck_assert_int_eq(ucp_worker_signal(local.worker), UCS_OK);
    ck_assert_int_eq(poll(&set, 1, 0), 1);
    ck_assert_int_eq(ucp_worker_arm(local.worker), UCS_ERR_BUSY);
    ck_assert_int_eq(ucp_worker_arm(local.worker), UCS_OK);
    ck_assert_int_eq(poll(&set, 1, 0), 0);
    local_close(&local);
}
END_TEST

static void *signal_later(void *arg)
{
    ck_assert_int_eq(ucp_worker_signal(arg), UCS_OK);
    return NULL;
}

START_TEST(a_waiting_worker_returns_on_a_signal_of_another_thread)
{
    pthread_t thread;
    local_t local;

    local_open(&local);
    while (ucp_worker_progress(local.worker) != 0) {
    }
    ck_assert_int_eq(pthread_create(&thread, NULL, signal_later, local.worker),
                     0);
    ck_assert_int_eq(ucp_worker_wait(local.worker), UCS_OK);
    pthread_join(thread, NULL);
    local_close(&local);
}
END_TEST

START_TEST(waking_up_needs_its_feature)
{
    local_t local;
    int fd;

    local_open_mode(&local, UCP_FEATURE_TAG, UCS_THREAD_MODE_SINGLE);
    ck_assert(local.worker->uct->is_polled);
    ck_assert_int_eq(ucp_worker_get_efd(local.worker, &fd),
                     UCS_ERR_INVALID_PARAM);
    ck_assert_int_eq(ucp_worker_arm(local.worker), UCS_ERR_INVALID_PARAM);
    ck_assert_int_eq(ucp_worker_signal(local.worker), UCS_ERR_INVALID_PARAM);
    local_close(&local);
}
END_TEST

START_TEST(a_forced_close_cancels_what_is_under_way)
{
    ucp_request_param_t force = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS,
        .flags        = UCP_EP_CLOSE_FLAG_FORCE,
    };
    ucp_worker_attr_t attr    = {.field_mask = UCP_WORKER_ATTR_FIELD_ADDRESS};
    ucp_ep_params_t ep_params = {
        .field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS,
    };
    ucp_request_param_t none = {0};
    ucs_status_ptr_t request;
    local_t local;
    ucp_ep_h ep;

    local_open(&local);
    ck_assert_int_eq(ucp_worker_query(local.worker, &attr), UCS_OK);
    ep_params.address = attr.address;
    ck_assert_int_eq(ucp_ep_create(local.worker, &ep_params, &ep), UCS_OK);
    request = ucp_tag_send_sync_nbx(ep, "abc", 3, 1, &none);
    ck_assert(UCS_PTR_IS_PTR(request));
    ck_assert_ptr_null(ucp_ep_close_nbx(ep, &force));
    /* the send may end later than the close, as a transport may still use its
     * data */
    ck_assert_int_eq(local_wait(&local, request), UCS_ERR_CANCELED);
    ucp_worker_release_address(local.worker, attr.address);
    local_close(&local);
}
END_TEST

START_TEST(flushes_complete)
{
    ucp_request_param_t none = {0};
    local_t local;
    char in[8];
    int i;

    local_open(&local);
    for (i = 0; i < 100; ++i) {
        ck_assert(!UCS_PTR_IS_ERR(local_send(&local, "abc", 3, 1)));
    }
    ck_assert_int_eq(local_wait(&local, ucp_ep_flush_nbx(local.ep, &none)),
                     UCS_OK);
    ck_assert_int_eq(local_wait(&local,
                                ucp_worker_flush_nbx(local.worker, &none)),
                     UCS_OK);
    for (i = 0; i < 100; ++i) {
        ck_assert_int_eq(local_wait(&local, local_recv(&local, in, 8, 1)),
                         UCS_OK);
    }
    local_close(&local);
}
END_TEST

START_TEST(configuration_is_read_changed_printed_and_refused)
{
    ucp_config_t *config;
    char *text = NULL;
    size_t size;
    FILE *stream;

    ck_assert_int_eq(ucp_config_read("APP", NULL, &config), UCS_OK);
    ck_assert_int_eq(ucp_config_modify(config, "RNDV_THRESH", "12k"), UCS_OK);
    ck_assert_int_eq(ucp_config_modify(config, "UCX_PROTO_INFO", "maybe"),
                     UCS_ERR_INVALID_PARAM);
    stream = open_memstream(&text, &size);
    ucp_config_print(config, stream, "title", UCS_CONFIG_PRINT_CONFIG);
    fclose(stream);
    ck_assert_ptr_nonnull(strstr(text, "RNDV_THRESH=12K"));
    free(text);
    ucp_config_release(config);
}
END_TEST

SUITE_MAIN("workers",
           a_context_refuses_versions_and_features_that_it_does_not_know,
           the_users_area_of_a_request_is_initialised_and_cleaned_up,
           a_worker_tells_its_attributes, a_damaged_address_is_refused,
           an_endpoint_tells_its_name_and_transport,
           a_signal_wakes_an_armed_worker,
           a_waiting_worker_returns_on_a_signal_of_another_thread,
           waking_up_needs_its_feature,
           a_forced_close_cancels_what_is_under_way, flushes_complete,
           configuration_is_read_changed_printed_and_refused)
