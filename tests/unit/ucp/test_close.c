/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Closing endpoints with outstanding operations and from callbacks, and
 * failures of endpoints, which end all operations.
 */
#include "close.h"

START_TEST(a_forced_close_completes_sends_that_wait_for_resources)
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
    seen_t sends              = {NULL}, flushes;
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
        ck_assert(UCS_PTR_IS_PTR(ucp_tag_recv_nbx(local.worker, buffer2,
                                                  sizeof(buffer2), 2,
                                                  UINT64_MAX, &recv_param)));
        if (!UCS_PTR_IS_PTR((sync ? ucp_tag_send_sync_nbx :
                                    ucp_tag_send_nbx)(ep, buffer, sizes[i % 4],
                                                      2, &send_param))) {
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
    /* receives the rendezvous announcement */
    ucp_worker_progress(local.worker);
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
    pending += UCS_PTR_IS_PTR(ucp_tag_send_sync_nbx(ep, "a", 1, 2, &param));
    pending += UCS_PTR_IS_PTR(
        ucp_tag_send_nbx(ep, buffer, sizeof(buffer), 2, &param));
    ck_assert_int_eq(uct_ep_invalidate(ep->am, 0), UCS_OK);
    settle(&local);
    ck_assert_int_eq(errors.calls, 1);
    ck_assert_int_eq(sends.calls, pending);
    ck_assert_int_ne(sends.status, UCS_OK);
    drop_early(&local);
    local_close(&local);
}
END_TEST

/* The transport reports a failure of an endpoint without an error handler, once
 * with error handling mode NONE and once with PEER: all sends end. */
START_TEST(a_failure_without_an_error_handler_ends_everything_too)
{
    ucp_worker_attr_t attr = {.field_mask = UCP_WORKER_ATTR_FIELD_ADDRESS};
    ucp_ep_params_t params = {
        .field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS |
                      UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE,
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

/* The error handler receives the user data of the endpoint if that was set,
 * otherwise the handler's own argument. */
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

/* The flushes of a lane: number `last` does not complete by itself. */
static struct {
    ucx_ep_ops_t ops;
    unsigned calls, last;
    uct_completion_t *comp;
} flushes;

static ucs_status_t count_flush(uct_ep_h ep, unsigned flags,
                                uct_completion_t *comp)
{
    if (++flushes.calls < flushes.last) {
        return UCS_OK;
    }
    flushes.comp = comp;
    return UCS_INPROGRESS;
}

/* A close flushes the user's operations, sends a FAREWELL, and flushes again.
 * The peer may free its endpoint before the FAREWELL is acknowledged. */
START_TEST(a_close_fails_with_the_flush_of_the_users_operations_only)
{
    ucs_status_ptr_t close;
    local_t local;
    ucp_ep_h ep;

    local_open(&local);
    for (flushes.last = 1; flushes.last <= 2; ++flushes.last) {
        ep = new_ep(&local, NULL);
        ep->flags &= (uint16_t)~UCP_EP_FLAG_LOOPBACK;
        ep->flags |= UCP_EP_FLAG_INTRODUCED;
        flushes.ops       = *ep->am->ops;
        flushes.ops.flush = count_flush;
        flushes.calls     = 0;
        ep->am->ops       = &flushes.ops;
        close             = ucp_ep_close_nbx(ep, &none);
        settle(&local);
        ck_assert_int_eq(ucp_request_check_status(close), UCS_INPROGRESS);
        ck_assert_uint_eq(flushes.calls, flushes.last);
        uct_completion_update_status(flushes.comp, UCS_ERR_ENDPOINT_TIMEOUT);
        --flushes.comp->count;
        flushes.comp->func(flushes.comp);
        ck_assert_int_eq(local_wait(&local, close),
                         (flushes.last == 1) ? UCS_ERR_ENDPOINT_TIMEOUT :
                                               UCS_OK);
    }
    local_close(&local);
}
END_TEST

SUITE_MAIN("closing", a_forced_close_completes_sends_that_wait_for_resources,
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
           a_close_fails_with_the_flush_of_the_users_operations_only)
