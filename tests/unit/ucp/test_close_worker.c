/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Workers that are destroyed, and workers whose endpoints are closed: all
 * operations end, a flush completes, and no object remains. The tests check the
 * internal state of the worker.
 */
#include "close.h"

#include <ucx/count.h>
#include "uct/base/worker.h"

/* Callback that posts its receive again whatever the status is, as a server
 * may do. */
static void on_recv_again(void *request, ucs_status_t status,
                          const ucp_tag_recv_info_t *info, void *user_data)
{
    ucp_request_param_t param = recv_call(user_data);
    seen_t *seen              = user_data;
    ucp_worker_h worker       = ucp_request_of(request)->worker;

    ++seen->calls;
    ucp_request_free(request);
    param.cb.recv = on_recv_again;
    ucp_request_free(
        ucp_tag_recv_nbx(worker, buffer2, 8, 100, UINT64_MAX, &param));
    /* another receive, with tag 101 */
    ucp_tag_recv_nbx(worker, buffer2, 8, 101, UINT64_MAX, &param);
}

START_TEST(a_worker_is_destroyed_with_everything_under_way)
{
    seen_t errors = {NULL}, seen = {NULL}, again = {NULL};
    ucp_request_param_t send_param = send_call(&seen);
    ucp_request_param_t recv_param = recv_call(&again);
    ucp_worker_params_t params     = {
            .field_mask = UCP_WORKER_PARAM_FIELD_FLAGS,
            .flags      = UCP_WORKER_FLAG_IGNORE_REQUEST_LEAK,
    };
    int pending = 0;
    local_t local;
    ucp_ep_h ep[4];
    int i;

    open_narrow(&local, "4");
    ucp_worker_destroy(local.worker);
    setenv("UCX_SELF_QUEUE_LEN", "4", 1);
    ck_assert_int_eq(ucp_worker_create(local.context, &params, &local.worker),
                     UCS_OK);
    unsetenv("UCX_SELF_QUEUE_LEN");

    recv_param.cb.recv = on_recv_again;
    for (i = 0; i < 4; ++i) {
        ep[i] = new_ep(&local, &errors);
        pending += UCS_PTR_IS_PTR(
            ucp_tag_send_sync_nbx(ep[i], buffer, 9, 5, &send_param));
        settle(&local);
        pending += UCS_PTR_IS_PTR(
            ucp_tag_send_nbx(ep[i], buffer, sizeof(buffer), 6, &send_param));
        pending += post_sends(ep[i], &seen, 5, 6000);
        pending += UCS_PTR_IS_PTR(ucp_ep_flush_nbx(ep[i], &send_param));
        ucp_tag_recv_nbx(local.worker, buffer2, 8, 100 + i, UINT64_MAX,
                         &recv_param);
        ucp_tag_recv_nbx(local.worker, buffer2, 8, 100 + i, 0xff, &recv_param);
    }
    pending += UCS_PTR_IS_PTR(ucp_worker_flush_nbx(local.worker, &send_param));
    pending += UCS_PTR_IS_PTR(ucp_ep_close_nbx(ep[0], &send_param));
    pending += UCS_PTR_IS_PTR(ucp_ep_close_nbx(ep[1], &send_param));
    ck_assert_ptr_null(ucp_ep_close_nbx(ep[3], &force));
    ck_assert_int_eq(uct_ep_invalidate(ep[2]->am, 0), UCS_OK);
    ucp_worker_destroy(local.worker);
    ck_assert_int_eq(seen.calls, pending);
    ck_assert_int_eq(again.calls, 8);
    ck_assert_int_eq(errors.calls, 0);
    ucp_cleanup(local.context);
}
END_TEST

START_TEST(a_send_from_a_callback_of_the_workers_end_is_refused)
{
    seen_t seen               = {NULL};
    ucp_request_param_t param = send_call(&seen);
    local_t local;
    ucp_ep_h other;

    local_open(&local);
    other      = new_ep(&local, NULL);
    /* the callback closes an endpoint that ucp_worker_destroy() has ended
     * before it */
    seen.close = local.ep;
    ck_assert(UCS_PTR_IS_PTR(ucp_tag_send_sync_nbx(other, "a", 1, 1, &param)));
    ucp_worker_destroy(local.worker);
    ck_assert_int_eq(seen.calls, 1);
    ucp_cleanup(local.context);
}
END_TEST

START_TEST(a_flush_of_the_worker_survives_the_close_of_an_endpoint)
{
    ucs_status_ptr_t close, flush;
    seen_t seen = {NULL};
    local_t local;
    ucp_ep_h ep;

    open_narrow(&local, "4");
    ep = new_ep(&local, NULL);
    post_sends(ep, &seen, 20, 8);
    close = ucp_ep_close_nbx(ep, &none);
    flush = ucp_worker_flush_nbx(local.worker, &none);
    ck_assert_int_eq(local_wait(&local, close), UCS_OK);
    ck_assert_int_eq(local_wait(&local, flush), UCS_OK);
    drop_early(&local);
    local_close(&local);
}
END_TEST

START_TEST(a_flush_of_the_worker_forgives_endpoints_that_only_answered)
{
    ucs_status_ptr_t flush;
    seen_t seen = {NULL};
    local_t local;
    ucp_ep_h ep;
    int answers;

    for (answers = 0; answers < 2; ++answers) {
        open_narrow(&local, "4");
        ep = new_ep(&local, NULL);
        post_sends(ep, &seen, 20, 8);
        if (answers) {
            ep->flags |= UCP_EP_FLAG_INTERNAL;
        }
        flush = ucp_worker_flush_nbx(local.worker, &none);
        ucp_ep_shut(ep, UCS_ERR_CONNECTION_RESET);
        ck_assert_int_eq(local_wait(&local, flush),
                         answers ? UCS_OK : UCS_ERR_CONNECTION_RESET);
        drop_early(&local);
        local_close(&local);
    }
}
END_TEST

static size_t count_eps(ucp_worker_h worker)
{
    size_t count = 0;
    ucp_ep_h ep;

    ucs_list_for_each(ep, &worker->eps, link) {
        ++count;
    }
    return count;
}

static struct {
    uct_completion_t *comps[4];
    unsigned num;
} held;

/* A flush of a transport that the test completes later. */
static ucs_status_t hold_flush(uct_ep_h ep, unsigned flags,
                               uct_completion_t *comp)
{
    if (flags & UCT_FLUSH_FLAG_CANCEL) {
        return UCS_OK;
    }
    if (comp == NULL) {
        return UCS_INPROGRESS; /* the caller flushes again */
    }
    ck_assert_uint_lt(held.num, 4);
    held.comps[held.num++] = comp;
    return UCS_INPROGRESS;
}

/* The address sanitizer detects an access to the endpoint, which is freed. */
START_TEST(flushes_at_the_transport_outlive_their_endpoint)
{
    ucp_request_attr_t attr = {
        .field_mask = UCP_REQUEST_ATTR_FIELD_INFO_STRING |
                      UCP_REQUEST_ATTR_FIELD_INFO_STRING_SIZE,
    };
    ucs_status_ptr_t flush, whole;
    char text[200];
    ucx_ep_ops_t ops;
    local_t local;
    size_t others;
    ucp_ep_h ep;

    open_narrow(&local, "4");
    others      = count_eps(local.worker);
    ep          = new_ep(&local, NULL);
    ops         = *ep->am->ops;
    ops.flush   = hold_flush;
    ep->am->ops = &ops;
    held.num    = 0;
    flush       = ucp_ep_flush_nbx(ep, &none);
    whole       = ucp_worker_flush_nbx(local.worker, &none);
    ck_assert_uint_eq(held.num, 2);
    ck_assert_ptr_null(ucp_ep_close_nbx(ep, &force));
    while (count_eps(local.worker) > others) {
        ucp_worker_progress(local.worker);
    }

    attr.debug_string      = text;
    attr.debug_string_size = sizeof(text);
    ck_assert_int_eq(ucp_request_query(flush, &attr), UCS_OK);
    ck_assert_int_eq(ucp_request_check_status(flush), UCS_INPROGRESS);
    for (unsigned i = 0; i < held.num; ++i) {
        ucx_complete(held.comps[i], UCS_ERR_CANCELED);
    }
    ck_assert_int_eq(local_wait(&local, flush), UCS_ERR_CANCELED);
    ck_assert_int_eq(local_wait(&local, whole), UCS_ERR_CANCELED);
    local_close(&local);
}
END_TEST

/* An endpoint to the worker itself is its own reply endpoint: a message that
 * needs a reply does not create a second endpoint. */
START_TEST(an_endpoint_that_answers_itself_needs_no_other)
{
    ucs_status_ptr_t send;
    local_t local;
    ucp_ep_h ep;
    size_t size;

    local_open(&local);
    ep = new_ep(&local, NULL);
    for (size = 8; size <= sizeof(buffer); size *= 8) {
        send = ucp_tag_send_sync_nbx(ep, buffer, size, 1, &none);
        ck_assert_int_eq(local_wait(&local,
                                    local_recv(&local, buffer2, size, 1)),
                         UCS_OK);
        ck_assert_int_eq(local_wait(&local, send), UCS_OK);
        ck_assert_uint_eq(count_eps(local.worker), 2);
    }
    ck_assert_int_eq(local_wait(&local, ucp_ep_close_nbx(ep, &none)), UCS_OK);
    settle(&local);
    ck_assert_uint_eq(count_eps(local.worker), 1);
    local_close(&local);
}
END_TEST

START_TEST(a_thousand_endpoints_leave_nothing_behind)
{
    ucs_status_ptr_t send, recv;
    local_t local;
    ucp_ep_h ep;
    int i;

    local_open(&local);
    for (i = 0; i < 1000; ++i) {
        ep   = new_ep(&local, NULL);
        recv = local_recv(&local, buffer2, sizeof(buffer2), 1);
        send = ucp_tag_send_sync_nbx(ep, buffer, (i % 2) ? 10 : 100000, 1,
                                     &none);
        ck_assert_int_eq(local_wait(&local, recv), UCS_OK);
        ck_assert_int_eq(local_wait(&local, send), UCS_OK);
        ck_assert_int_eq(local_wait(&local,
                                    ucp_ep_close_nbx(ep, (i % 4 < 2) ? &force :
                                                                       &none)),
                         UCS_OK);
    }
    settle(&local);
    ck_assert_uint_eq(count_eps(local.worker), 1);
    ck_assert_uint_eq(local.worker->num_configs, 1);
    ck_assert(!uct_worker_has_oneshots(local.worker->uct));
    local_close(&local);
}
END_TEST

SUITE_MAIN("closing workers", a_worker_is_destroyed_with_everything_under_way,
           a_send_from_a_callback_of_the_workers_end_is_refused,
           a_flush_of_the_worker_survives_the_close_of_an_endpoint,
           a_flush_of_the_worker_forgives_endpoints_that_only_answered,
           flushes_at_the_transport_outlive_their_endpoint,
           an_endpoint_that_answers_itself_needs_no_other,
           a_thousand_endpoints_leave_nothing_behind)
