/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counters of messages between an endpoint and the worker itself: which
 * contexts count, the exact values, endpoints that are closed while their
 * counters are in use, and more endpoints than there is memory for.
 * tests/integration compares the counters of two processes.
 */
#include "api.h"

#include <sys/wait.h>

#include "ucs/stats/view.h"

enum { HUGE = 1 << 20, EAGER = 200000 };

static const ucp_request_param_t none = {0};

static char buffer[HUGE], buffer2[HUGE];

/* Opens a context whose variable UCX_STATS the program sets to `value`: "y"
 * enables counters. */
static void open_counting(local_t *local, uint64_t features, const char *value)
{
    ucp_params_t params = {
        .field_mask = UCP_PARAM_FIELD_FEATURES,
        .features   = features,
    };
    ucp_worker_params_t all = {0};
    ucp_ep_params_t to_self = {0};
    ucp_config_t *config;

    ck_assert_int_eq(ucp_config_read(NULL, NULL, &config), UCS_OK);
    ck_assert_int_eq(ucp_config_modify(config, "STATS", value), UCS_OK);
    ck_assert_int_eq(ucp_init(&params, config, &local->context), UCS_OK);
    ucp_config_release(config);
    ck_assert_int_eq(ucp_worker_create(local->context, &all, &local->worker),
                     UCS_OK);
    local->ep = connect_self(local->worker, &to_self);
}

static ucs_stats_view_t *look(void)
{
    ucs_stats_view_t *view;

    ck_assert_int_eq(ucs_stats_view_self(&view), UCS_OK);
    return view;
}

/* Returns the sum of a counter over all records of a type: the number of
 * messages, or with `bytes` the number of their bytes. */
static uint64_t counted(const ucs_stats_view_t *view, const char *type,
                        const char *name, int bytes)
{
    uint64_t sum = 0;
    unsigned i, j;

    for (i = 0; i < view->num_records; ++i) {
        const ucs_stats_view_record_t *record = &view->records[i];
        const ucs_stats_view_type_t *of       = &view->types[record->type];

        if (strcmp(of->name, type) != 0) {
            continue;
        }
        for (j = 0; j < of->num_counters; ++j) {
            const ucs_stats_layout_counter_t *counter =
                &view->counters[of->first_counter + j];

            if ((strcmp(counter->name, name) == 0) &&
                ((counter->unit == UCS_STATS_BYTES) == bytes)) {
                sum += record->values[j];
            }
        }
    }
    return sum;
}

/* Returns the increase of a counter since `before`. */
static uint64_t more(const ucs_stats_view_t *before, const char *type,
                     const char *name, int bytes)
{
    ucs_stats_view_t *view = look();
    uint64_t change        = counted(view, type, name, bytes) -
                      counted(before, type, name, bytes);

    ucs_stats_view_free(view);
    return change;
}

static void exchange(local_t *local, size_t length)
{
    ucs_status_ptr_t receive = local_recv(local, buffer2, length, 1);

    ck_assert_int_eq(local_wait(local, local_send(local, buffer, length, 1)),
                     UCS_OK);
    ck_assert_int_eq(local_wait(local, receive), UCS_OK);
}

/* -------------------------------------------------------------- enabling -- */

START_TEST(only_a_context_that_is_asked_to_counts)
{
    ucs_stats_view_t *before;
    local_t quiet, local;

    open_counting(&quiet, UCP_FEATURE_TAG, "n");
    open_counting(&local, UCP_FEATURE_TAG, "y");
    before = look();
    exchange(&quiet, 8);
    ck_assert_uint_eq(more(before, "endpoint", "eager/short", 0), 0);
    ck_assert_uint_eq(more(before, "worker", "progress", 0), 0);
    exchange(&local, 8);
    ck_assert_uint_eq(more(before, "endpoint", "eager/short", 0), 1);
    ck_assert_uint_gt(more(before, "worker", "progress", 0), 0);
    ucs_stats_view_free(before);
    local_close(&local);
    local_close(&quiet);
}
END_TEST

/* --------------------------------------------------------------- counted -- */

START_TEST(tagged_messages_are_counted_to_the_byte)
{
    ucp_request_param_t fast = {.op_attr_mask = UCP_OP_ATTR_FLAG_FAST_CMPL};
    ucs_stats_view_t *before;
    ucs_status_ptr_t receive;
    local_t local;

    open_counting(&local, UCP_FEATURE_TAG, "y");
    before = look();
    exchange(&local, 0);
    exchange(&local, 8);
    ck_assert_uint_eq(more(before, "endpoint", "eager/short", 0), 2);
    ck_assert_uint_eq(more(before, "endpoint", "eager/short", 1), 8);
    ck_assert_uint_eq(more(before, "worker", "recv/tag", 1), 8);
    ck_assert_uint_eq(more(before, "worker", "recv/early", 0), 0);

    /* an unexpected message */
    ck_assert_int_eq(local_wait(&local, local_send(&local, buffer, 5, 2)),
                     UCS_OK);
    while (more(before, "worker", "recv/early", 1) == 0) {
        ucp_worker_progress(local.worker);
    }
    ck_assert_uint_eq(more(before, "worker", "recv/early", 1), 5);
    receive = local_recv(&local, buffer2, 5, 2);
    ck_assert_int_eq(local_wait(&local, receive), UCS_OK);

    exchange(&local, HUGE);
    ck_assert_uint_eq(more(before, "endpoint", "rndv", 0), 1);
    ck_assert_uint_eq(more(before, "endpoint", "rndv", 1), HUGE);
    ck_assert_uint_eq(more(before, "worker", "recv/rndv", 1), HUGE);
    ck_assert_uint_eq(more(before, "endpoint", "rndv_by/get", 1) +
                          more(before, "endpoint", "rndv_by/put", 1) +
                          more(before, "endpoint", "rndv_by/am", 1),
                      HUGE);
    ucs_stats_view_free(before);
    before = look();

    receive = local_recv(&local, buffer2, EAGER, 3);
    ck_assert_int_eq(local_wait(&local, ucp_tag_send_nbx(local.ep, buffer,
                                                         EAGER, 3, &fast)),
                     UCS_OK);
    ck_assert_int_eq(local_wait(&local, receive), UCS_OK);
    ck_assert_uint_eq(more(before, "endpoint", "eager/multi", 0), 1);
    ck_assert_uint_eq(more(before, "endpoint", "eager/multi", 1), EAGER);
    ck_assert_uint_eq(more(before, "worker", "recv/tag", 0), 1);
    ck_assert_uint_eq(more(before, "worker", "recv/tag", 1), EAGER);
    ck_assert_uint_gt(more(before, "worker", "recv/fragments", 0), 1);
    ucs_stats_view_free(before);
    local_close(&local);
}
END_TEST

START_TEST(an_endpoint_that_is_closed_has_not_failed)
{
    ucs_stats_view_t *before;
    ucp_ep_params_t params = {0};
    local_t local;
    ucp_ep_h ep;

    open_counting(&local, UCP_FEATURE_TAG, "y");
    before = look();
    ep     = connect_self(local.worker, &params);
    ck_assert_uint_eq(more(before, "worker", "endpoints", 0), 1);
    close_ep(&local, ep);
    ck_assert_uint_eq(more(before, "worker", "endpoints_failed", 0), 0);
    ucs_stats_view_free(before);
    local_close(&local);
}
END_TEST

/* --------------------------------------------------------------- closing -- */

static local_t *closing;

static ucs_status_t close_in_handler(void *arg, const void *header,
                                     size_t header_length, void *data,
                                     size_t length,
                                     const ucp_am_recv_param_t *param)
{
    ucp_request_param_t force = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS,
        .flags        = UCP_EP_CLOSE_FLAG_FORCE,
    };

    if (closing->ep != NULL) {
        ucp_ep_close_nbx(closing->ep, &force);
        closing->ep = NULL;
    }
    return UCS_OK;
}

START_TEST(an_endpoint_ends_while_its_lane_is_counting)
{
    ucp_am_handler_param_t handler = {
        .field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID |
                      UCP_AM_HANDLER_PARAM_FIELD_CB,
        .id = 1,
        .cb = close_in_handler,
    };
    ucs_stats_view_t *before;
    ucs_status_ptr_t send;
    local_t local;
    int i;

    open_counting(&local, UCP_FEATURE_AM, "y");
    closing = &local;
    ck_assert_int_eq(ucp_worker_set_am_recv_handler(local.worker, &handler),
                     UCS_OK);
    before = look();
    send   = ucp_am_send_nbx(local.ep, 1, NULL, 0, buffer, 8, &none);
    for (i = 0; (local.ep != NULL) && (i < 1000); ++i) {
        ucp_worker_progress(local.worker);
    }
    ck_assert_ptr_null(local.ep);
    local_wait(&local, send);
    ck_assert_uint_eq(more(before, "endpoint", "am/short", 1), 8);
    ucs_stats_view_free(before);
    ucp_worker_destroy(local.worker);
    ucp_cleanup(local.context);
}
END_TEST

/* Uses more endpoints than there is memory for their counters. Runs in a child
 * process, because a process allocates the memory for counters only once. */
static void count_without_record(void)
{
    enum { ENDPOINTS = 60 };
    ucp_ep_params_t params = {0};
    ucs_stats_view_t *view;
    local_t local;
    int i;

    setenv("UCX_STATS_MAX_SIZE", "16k", 1);
    open_counting(&local, UCP_FEATURE_TAG, "y");
    for (i = 0; i < ENDPOINTS; ++i) {
        local.ep = connect_self(local.worker, &params);
        exchange(&local, 8);
    }
    view = look();
    ck_assert_uint_gt(view->lost, 0);
    ck_assert_uint_eq(counted(view, "endpoint", "eager/short", 0), ENDPOINTS);
    ck_assert_uint_eq(counted(view, "lane", "am_short", 0), ENDPOINTS);
    ck_assert_uint_eq(counted(view, "worker", "recv/tag", 0), ENDPOINTS);
    ucs_stats_view_free(view);
    ucp_worker_destroy(local.worker);
    ucp_cleanup(local.context);
}

START_TEST(endpoints_without_a_record_are_counted_together)
{
    int status;
    pid_t pid;

    fflush(NULL);
    pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        alarm(60);
        count_without_record();
        _exit(0);
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_int_eq(status, 0);
}
END_TEST

/* endpoints_without_a_record_are_counted_together runs first, because it forks
 * and this process must not have allocated counters before. */
SUITE_MAIN("counting", endpoints_without_a_record_are_counted_together,
           only_a_context_that_is_asked_to_counts,
           tagged_messages_are_counted_to_the_byte,
           an_endpoint_that_is_closed_has_not_failed,
           an_endpoint_ends_while_its_lane_is_counting)
