/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Closing endpoints and workers with outstanding operations, and from
 * callbacks. The tests check the internal state of the worker for leaks.
 */
#include "local.h"

#include "ucp/proto/ep.h"
#include "uct/base/worker.h"

static const ucp_request_param_t none  = {0};
static const ucp_request_param_t force = {
    .op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS,
    .flags        = UCP_EP_CLOSE_FLAG_FORCE
};

static char buffer[1 << 20], buffer2[1 << 20];

/* State of a callback, and what it must do. */
typedef struct {
    ucp_ep_h     close;      /* Endpoint to close by force in the first call */
    int          calls;
    int          cancelled;
    ucs_status_t status;
} seen_t;

static void note(seen_t *seen, ucs_status_t status)
{
    ucp_ep_h ep = seen->close;

    ++seen->calls;
    seen->cancelled += (status == UCS_ERR_CANCELED);
    seen->status     = status;
    seen->close      = NULL;
    if (ep != NULL) {
        ck_assert_ptr_null(ucp_ep_close_nbx(ep, &force));
    }
}

static void on_send(void *request, ucs_status_t status, void *user_data)
{
    note(user_data, status);
    ucp_request_free(request);
}

static void on_recv(void *request, ucs_status_t status,
                    const ucp_tag_recv_info_t *info, void *user_data)
{
    note(user_data, status);
    ucp_request_free(request);
}

static ucp_request_param_t send_call(seen_t *seen)
{
    return (ucp_request_param_t){
        .op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK |
                        UCP_OP_ATTR_FIELD_USER_DATA,
        .cb.send      = on_send,
        .user_data    = seen
    };
}

static ucp_request_param_t recv_call(seen_t *seen)
{
    ucp_request_param_t param = send_call(seen);

    param.cb.recv = on_recv;
    return param;
}

static void on_failure(void *arg, ucp_ep_h ep, ucs_status_t status)
{
    seen_t *seen = arg;

    ck_assert_ptr_eq(seen->close, ep);
    note(seen, status);
}

/* Creates another endpoint to the worker itself. `errors` is the argument of
 * its error handler, `data` the user data of the endpoint; either may be
 * NULL. */
static ucp_ep_h new_ep_of(local_t *local, seen_t *errors, seen_t *data)
{
    ucp_worker_attr_t attr = {.field_mask = UCP_WORKER_ATTR_FIELD_ADDRESS};
    ucp_ep_params_t params = {
        .field_mask      = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS |
                           UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE |
                           UCP_EP_PARAM_FIELD_ERR_HANDLER,
        .err_mode        = UCP_ERR_HANDLING_MODE_PEER,
        .err_handler.cb  = on_failure,
        .err_handler.arg = errors,
        .user_data       = data
    };
    ucp_ep_h ep;

    if (errors == NULL) {
        params.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS;
    }
    if (data != NULL) {
        params.field_mask |= UCP_EP_PARAM_FIELD_USER_DATA;
    }
    ck_assert_int_eq(ucp_worker_query(local->worker, &attr), UCS_OK);
    params.address = attr.address;
    ck_assert_int_eq(ucp_ep_create(local->worker, &params, &ep), UCS_OK);
    ucp_worker_release_address(local->worker, attr.address);
    return ep;
}

static ucp_ep_h new_ep(local_t *local, seen_t *errors)
{
    return new_ep_of(local, errors, NULL);
}

/* A worker whose queue is full after `queue` messages. Messages up to 7000
 * bytes are eager, longer ones are sent in fragments. */
static void open_narrow(local_t *local, const char *queue)
{
    setenv("UCX_SELF_QUEUE_LEN", queue, 1);
    setenv("UCX_RNDV_THRESH", "7000", 1);
    setenv("UCX_RNDV_SCHEME", "am", 1);
    local_open(local);
    unsetenv("UCX_RNDV_SCHEME");
    unsetenv("UCX_RNDV_THRESH");
    unsetenv("UCX_SELF_QUEUE_LEN");
}

static void settle(local_t *local)
{
    int i;

    for (i = 0; i < 1000; ++i) {
        ucp_worker_progress(local->worker);
    }
}

static void drop_early(local_t *local)
{
    ucp_tag_recv_info_t info;
    ucs_status_ptr_t request;

    while (ucp_tag_probe_nb(local->worker, 0, 0, 0, &info) != NULL) {
        request = ucp_tag_recv_nbx(local->worker, buffer2, sizeof(buffer2), 0,
                                   0, &none);
        if (UCS_PTR_IS_PTR(request)) {
            ucp_request_free(request);
        }
    }
}

/* Posts `count` sends of `size` bytes, most of which wait for send
 * resources. */
static int post_sends(ucp_ep_h ep, seen_t *seen, int count, size_t size)
{
    ucp_request_param_t param = send_call(seen);
    int pending               = 0;
    int i;

    for (i = 0; i < count; ++i) {
        pending += UCS_PTR_IS_PTR(ucp_tag_send_nbx(ep, buffer, size, 1,
                                                   &param));
    }
    return pending;
}

START_TEST(a_forced_close_ends_what_waits_for_room)
{
    static const size_t sizes[] = {0, 8, 5000, 100000};
    seen_t seen;
    local_t local;
    ucp_ep_h ep;
    int pending;
    size_t i;

    for (i = 0; i < 4; ++i) {
        open_narrow(&local, "4");
        ep      = new_ep(&local, NULL);
        seen    = (seen_t){NULL};
        pending = post_sends(ep, &seen, 20, sizes[i]);
        ck_assert_int_gt(pending, 10);
        ck_assert_ptr_null(ucp_ep_close_nbx(ep, &force));
        ck_assert_int_eq(seen.calls, pending);
        ck_assert_int_eq(seen.cancelled, pending);
        settle(&local);
        ck_assert_int_eq(seen.calls, pending);
        drop_early(&local);
        local_close(&local);
    }
}
END_TEST

START_TEST(a_send_callback_may_close_its_endpoint)
{
    static const size_t sizes[] = {0, 8, 5000};
    seen_t seen;
    local_t local;
    ucp_ep_h ep;
    int pending;
    size_t i;

    for (i = 0; i < 3; ++i) {
        open_narrow(&local, "4");
        ep         = new_ep(&local, NULL);
        seen       = (seen_t){NULL};
        pending    = post_sends(ep, &seen, 20, sizes[i]);
        seen.close = ep;
        settle(&local);
        ck_assert_int_eq(seen.calls, pending);
        ck_assert_int_eq(seen.cancelled, pending - 1);
        drop_early(&local);
        local_close(&local);
    }
}
END_TEST

START_TEST(a_flush_callback_may_close_its_endpoint)
{
    seen_t sends = {NULL}, flushes;
    ucp_request_param_t param = send_call(&flushes);
    local_t local;
    ucp_ep_h ep;
    int pending;

    open_narrow(&local, "4");
    ep      = new_ep(&local, NULL);
    flushes = (seen_t){ep};
    pending = post_sends(ep, &sends, 10, 8);
    ck_assert(UCS_PTR_IS_PTR(ucp_ep_flush_nbx(ep, &param)));
    ck_assert(UCS_PTR_IS_PTR(ucp_ep_flush_nbx(ep, &param)));
    ck_assert(UCS_PTR_IS_PTR(ucp_worker_flush_nbx(local.worker, &param)));
    settle(&local);
    ck_assert_int_eq(sends.calls, pending);
    ck_assert_int_eq(sends.cancelled, 0);
    ck_assert_int_eq(flushes.calls, 3);
    ck_assert_int_eq(flushes.cancelled, 2);
    drop_early(&local);
    local_close(&local);
}
END_TEST

START_TEST(a_receive_callback_may_close_the_endpoint_that_sends)
{
    static const size_t sizes[] = {0, 8, 5000, 1 << 20};
    ucp_request_param_t recv_param, send_param;
    seen_t recv, send;
    local_t local;
    ucp_ep_h ep;
    size_t i;
    int sync;

    local_open(&local);
    for (i = 0; i < 8; ++i) {
        sync       = (i >= 4);
        ep         = new_ep(&local, NULL);
        recv       = (seen_t){ep};
        send       = (seen_t){NULL};
        recv_param = recv_call(&recv);
        send_param = send_call(&send);
        ck_assert(UCS_PTR_IS_PTR(ucp_tag_recv_nbx(
                local.worker, buffer2, sizeof(buffer2), 2, UINT64_MAX,
                &recv_param)));
        if (!UCS_PTR_IS_PTR((sync ? ucp_tag_send_sync_nbx : ucp_tag_send_nbx)(
                    ep, buffer, sizes[i % 4], 2, &send_param))) {
            send.calls = 1;
        }
        settle(&local);
        ck_assert_int_eq(recv.calls, 1);
        ck_assert_int_eq(recv.status, UCS_OK);
        ck_assert_int_eq(send.calls, 1);
    }
    local_close(&local);
}
END_TEST

START_TEST(a_close_waits_for_an_answer_to_a_send_that_waits_for_room)
{
    static const size_t sizes[] = {8, 5000, 1 << 20};
    ucs_status_ptr_t close, send;
    seen_t seen;
    local_t local;
    ucp_ep_h ep;
    size_t i;

    for (i = 0; i < 3; ++i) {
        open_narrow(&local, "4");
        ep   = new_ep(&local, NULL);
        seen = (seen_t){NULL};
        post_sends(ep, &seen, 20, 8);
        send  = ucp_tag_send_sync_nbx(ep, buffer, sizes[i], 7, &none);
        close = ucp_ep_close_nbx(ep, &none);
        ck_assert(UCS_PTR_IS_PTR(send) && UCS_PTR_IS_PTR(close));
        settle(&local);
        ck_assert_int_eq(ucp_request_check_status(send), UCS_INPROGRESS);
        ck_assert_int_eq(ucp_request_check_status(close), UCS_INPROGRESS);
        ck_assert_int_eq(local_wait(&local, local_recv(&local, buffer2,
                                                       sizeof(buffer2), 7)),
                         UCS_OK);
        ck_assert_int_eq(local_wait(&local, send), UCS_OK);
        ck_assert_int_eq(local_wait(&local, close), UCS_OK);
        drop_early(&local);
        local_close(&local);
    }
}
END_TEST

START_TEST(a_forced_close_resets_the_receive_that_waits_for_its_data)
{
    ucs_status_ptr_t send, recv;
    local_t local;
    ucp_ep_h ep;

    setenv("UCX_RNDV_SCHEME", "am", 1);
    local_open(&local);
    unsetenv("UCX_RNDV_SCHEME");
    ep   = new_ep(&local, NULL);
    recv = local_recv(&local, buffer2, sizeof(buffer2), 1);
    send = ucp_tag_send_nbx(ep, buffer, sizeof(buffer), 1, &none);
    ucp_worker_progress(local.worker); /* announced and matched */
    ck_assert_ptr_null(ucp_ep_close_nbx(ep, &force));
    ck_assert_int_eq(local_wait(&local, send), UCS_ERR_CANCELED);
    ck_assert_int_eq(local_wait(&local, recv), UCS_ERR_CONNECTION_RESET);
    local_close(&local);
}
END_TEST

START_TEST(a_failure_ends_everything_and_calls_the_error_handler_once)
{
    seen_t errors = {NULL}, sends = {NULL};
    ucp_request_param_t param = send_call(&sends);
    local_t local;
    ucp_ep_h ep;
    int pending;

    open_narrow(&local, "4");
    ep           = new_ep(&local, &errors);
    errors.close = ep;
    pending      = post_sends(ep, &sends, 20, 5000);
    pending     += UCS_PTR_IS_PTR(ucp_tag_send_sync_nbx(ep, "a", 1, 2, &param));
    pending     += UCS_PTR_IS_PTR(ucp_tag_send_nbx(ep, buffer, sizeof(buffer),
                                                   2, &param));
    ck_assert_int_eq(uct_ep_invalidate(ep->am, 0), UCS_OK);
    settle(&local);
    ck_assert_int_eq(errors.calls, 1);
    ck_assert_int_eq(sends.calls, pending);
    ck_assert_int_ne(sends.status, UCS_OK);
    drop_early(&local);
    local_close(&local);
}
END_TEST

/* With error handling and without, as far as the transport detects it. */
START_TEST(a_failure_without_an_error_handler_ends_everything_too)
{
    ucp_worker_attr_t attr = {.field_mask = UCP_WORKER_ATTR_FIELD_ADDRESS};
    ucp_ep_params_t params = {
        .field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS |
                      UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE
    };
    local_t local;
    int k;

    for (k = 0; k < 2; ++k) {
        seen_t sends = {NULL};
        int pending;
        ucp_ep_h ep;

        open_narrow(&local, "4");
        ck_assert_int_eq(ucp_worker_query(local.worker, &attr), UCS_OK);
        params.address  = attr.address;
        params.err_mode = k ? UCP_ERR_HANDLING_MODE_PEER :
                              UCP_ERR_HANDLING_MODE_NONE;
        ck_assert_int_eq(ucp_ep_create(local.worker, &params, &ep), UCS_OK);
        ucp_worker_release_address(local.worker, attr.address);
        pending = post_sends(ep, &sends, 20, 5000);
        ck_assert_int_gt(pending, 0);
        ck_assert_int_eq(uct_ep_invalidate(ep->am, 0), UCS_OK);
        settle(&local);
        ck_assert_int_eq(sends.calls, pending);
        ck_assert_int_ne(sends.status, UCS_OK);
        ck_assert(UCS_PTR_IS_ERR(ucp_tag_send_nbx(ep, "a", 1, 1, &none)));
        drop_early(&local);
        local_close(&local);
    }
}
END_TEST

/* If an endpoint has user data, its error handler receives that. */
START_TEST(the_error_handler_is_given_the_data_of_the_endpoint)
{
    seen_t errors = {NULL}, others = {NULL};
    local_t local;
    int k;

    open_narrow(&local, "4");
    for (k = 0; k < 2; ++k) {
        errors.close = new_ep_of(&local, k ? &others : &errors,
                                 k ? &errors : NULL);
        ck_assert_int_eq(uct_ep_invalidate(errors.close->am, 0), UCS_OK);
        settle(&local);
        ck_assert_int_eq(errors.calls, k + 1);
        ck_assert_int_eq(others.calls, 0);
    }
    local_close(&local);
}
END_TEST

START_TEST(an_endpoint_closed_while_it_fails_does_not_call_its_error_handler)
{
    seen_t errors = {NULL}, sends = {NULL};
    local_t local;
    ucp_ep_h ep;
    int pending;

    open_narrow(&local, "4");
    ep      = new_ep(&local, &errors);
    pending = post_sends(ep, &sends, 20, 5000);
    ck_assert_int_eq(uct_ep_invalidate(ep->am, 0), UCS_OK);
    sends.close = ep;
    settle(&local);
    ck_assert_int_eq(errors.calls, 0);
    ck_assert_int_eq(sends.calls, pending);
    drop_early(&local);
    local_close(&local);
}
END_TEST

START_TEST(a_close_that_waits_ends_with_the_failure)
{
    seen_t errors = {NULL};
    ucs_status_ptr_t close, send;
    local_t local;
    ucp_ep_h ep;

    local_open(&local);
    ep    = new_ep(&local, &errors);
    send  = ucp_tag_send_sync_nbx(ep, "a", 1, 2, &none);
    close = ucp_ep_close_nbx(ep, &none);
    settle(&local);
    ck_assert_int_eq(ucp_request_check_status(close), UCS_INPROGRESS);
    ck_assert_int_eq(uct_ep_invalidate(ep->am, 0), UCS_OK);
    ck_assert_int_eq(local_wait(&local, send), UCS_ERR_CONNECTION_RESET);
    ck_assert_int_eq(local_wait(&local, close), UCS_ERR_CONNECTION_RESET);
    settle(&local);
    ck_assert_int_eq(errors.calls, 0);
    drop_early(&local);
    local_close(&local);
}
END_TEST

/* Posts the receive again for any status, like a server. */
static void on_recv_again(void *request, ucs_status_t status,
                          const ucp_tag_recv_info_t *info, void *user_data)
{
    ucp_request_param_t param = recv_call(user_data);
    seen_t *seen              = user_data;
    ucp_worker_h worker       = ucp_request_of(request)->worker;

    ++seen->calls;
    ucp_request_free(request);
    param.cb.recv = on_recv_again;
    ucp_request_free(ucp_tag_recv_nbx(worker, buffer2, 8, 100, UINT64_MAX,
                                      &param));
    /* and one with a callback */
    ucp_tag_recv_nbx(worker, buffer2, 8, 101, UINT64_MAX, &param);
}

START_TEST(a_worker_is_destroyed_with_everything_under_way)
{
    seen_t errors = {NULL}, seen = {NULL}, again = {NULL};
    ucp_request_param_t send_param = send_call(&seen);
    ucp_request_param_t recv_param = recv_call(&again);
    ucp_worker_params_t params     = {
        .field_mask = UCP_WORKER_PARAM_FIELD_FLAGS,
        .flags      = UCP_WORKER_FLAG_IGNORE_REQUEST_LEAK
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
        ep[i]    = new_ep(&local, &errors);
        pending += UCS_PTR_IS_PTR(ucp_tag_send_sync_nbx(ep[i], buffer, 9, 5,
                                                        &send_param));
        settle(&local);
        pending += UCS_PTR_IS_PTR(ucp_tag_send_nbx(ep[i], buffer,
                                                   sizeof(buffer), 6,
                                                   &send_param));
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
    seen_t seen = {NULL};
    ucp_request_param_t param = send_call(&seen);
    local_t local;
    ucp_ep_h other;

    local_open(&local);
    other = new_ep(&local, NULL);
    /* the callback closes an endpoint that was already handled */
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
        flush = ucp_worker_flush_nbx(local.worker, &none);
        if (answers) {
            ep->flags |= UCP_EP_FLAG_INTERNAL;
        }
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

/* Messages that need a reply do not create a second endpoint. */
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
        ck_assert_int_eq(local_wait(&local, local_recv(&local, buffer2, size,
                                                       1)), UCS_OK);
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
        ck_assert_int_eq(local_wait(&local, ucp_ep_close_nbx(
                                 ep, (i % 4 < 2) ? &force : &none)), UCS_OK);
    }
    settle(&local);
    ck_assert_uint_eq(count_eps(local.worker), 1);
    ck_assert_uint_eq(local.worker->num_configs, 1);
    ck_assert(!uct_worker_has_oneshots(local.worker->uct));
    local_close(&local);
}
END_TEST

SUITE_MAIN("closing",
           a_forced_close_ends_what_waits_for_room,
           a_send_callback_may_close_its_endpoint,
           a_flush_callback_may_close_its_endpoint,
           a_receive_callback_may_close_the_endpoint_that_sends,
           a_close_waits_for_an_answer_to_a_send_that_waits_for_room,
           a_forced_close_resets_the_receive_that_waits_for_its_data,
           a_failure_ends_everything_and_calls_the_error_handler_once,
           a_failure_without_an_error_handler_ends_everything_too,
           the_error_handler_is_given_the_data_of_the_endpoint,
           an_endpoint_closed_while_it_fails_does_not_call_its_error_handler,
           a_close_that_waits_ends_with_the_failure,
           a_worker_is_destroyed_with_everything_under_way,
           a_send_from_a_callback_of_the_workers_end_is_refused,
           a_flush_of_the_worker_survives_the_close_of_an_endpoint,
           a_flush_of_the_worker_forgives_endpoints_that_only_answered,
           an_endpoint_that_answers_itself_needs_no_other,
           a_thousand_endpoints_leave_nothing_behind)
