/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Requests that are used in callbacks, requests in the user's memory,
 * operations that can no longer be cancelled, and the flags that force or
 * prevent immediate completion.
 */
#include "local.h"

static const ucp_request_param_t none = {0};

static char buffer[1 << 20], buffer2[1 << 20];

/* State of the running test, for its callbacks */
static struct {
    local_t *local;
    int calls;
    int left;     /* Number of operations that callbacks still start */
    void *memory; /* Contains the user's request; NULL: none */
    void *request;
} now;

static ucp_request_param_t with_call(ucp_send_nbx_callback_t send,
                                     ucp_tag_recv_nbx_callback_t recv)
{
    ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK};

    if (send != NULL) {
        param.cb.send = send;
    } else {
        param.cb.recv = recv;
    }
    return param;
}

static void open_test(local_t *local)
{
    local_open(local);
    memset(&now, 0, sizeof(now));
    now.local = local;
}

static void progress_until_calls(int calls)
{
    while (now.calls < calls) {
        ucp_worker_progress(now.local->worker);
    }
}

/* Sets `param` to use a request in memory of the test. Returns the memory,
 * which the test or its callback frees. */
static void *own_request(ucp_request_param_t *param)
{
    ucp_context_attr_t attr = {.field_mask = UCP_ATTR_FIELD_REQUEST_SIZE};
    char *memory;

    ck_assert_int_eq(ucp_context_query(now.local->context, &attr), UCS_OK);
    memory = malloc(attr.request_size);
    param->op_attr_mask |= UCP_OP_ATTR_FIELD_REQUEST;
    param->request = memory + attr.request_size;
    return memory;
}

static void on_recv_next(void *request, ucs_status_t status,
                         const ucp_tag_recv_info_t *info, void *user_data)
{
    ucp_request_param_t param = with_call(NULL, on_recv_next);

    ck_assert_int_eq(status, UCS_OK);
    ++now.calls;
    if (now.memory == NULL) {
        ucp_request_free(request);
    } else {
        param.op_attr_mask |= UCP_OP_ATTR_FIELD_REQUEST;
        param.request = request;
    }
    if (--now.left > 0) {
        now.request = ucp_tag_recv_nbx(now.local->worker, buffer2,
                                       sizeof(buffer2), 1, UINT64_MAX, &param);
        ck_assert(UCS_PTR_IS_PTR(now.request));
        ck_assert_int_eq(ucp_request_check_status(now.request), UCS_INPROGRESS);
    }
}

START_TEST(a_receive_callback_posts_the_next_receive)
{
    static const size_t sizes[] = {0, 100, 100000};
    ucp_request_param_t param;
    ucs_status_ptr_t send;
    local_t local;
    int own, i;

    for (own = 0; own < 2; ++own) {
        open_test(&local);
        param      = with_call(NULL, on_recv_next);
        now.left   = 30;
        now.memory = own ? own_request(&param) : NULL;
        ck_assert(UCS_PTR_IS_PTR(ucp_tag_recv_nbx(local.worker, buffer2,
                                                  sizeof(buffer2), 1,
                                                  UINT64_MAX, &param)));
        for (i = 0; i < 30; ++i) {
            send = local_send(&local, buffer, sizes[i % 3], 1);
            ucp_worker_progress(local.worker);
            if (now.calls == i) {
                /* the receive that the callback has posted cannot be complete
                 * yet */
                ck_assert(
                    (now.request == NULL) ||
                    (ucp_request_check_status(now.request) == UCS_INPROGRESS));
            }
            progress_until_calls(i + 1);
            ck_assert_int_eq(local_wait(&local, send), UCS_OK);
        }
        free(now.memory);
        local_close(&local);
    }
}
END_TEST

/* Frees the memory that contains the request, which a callback may do. */
static void on_send_free(void *request, ucs_status_t status, void *user_data)
{
    ++now.calls;
    free(now.memory);
    now.memory = NULL;
}

static void on_recv_free(void *request, ucs_status_t status,
                         const ucp_tag_recv_info_t *info, void *user_data)
{
    on_send_free(request, status, user_data);
    ck_assert_uint_eq(info->sender_tag, 1);
}

START_TEST(the_users_request_may_be_freed_in_its_callback)
{
    static const size_t sizes[] = {0, 100, 5000, 100000};
    ucp_request_param_t param;
    ucs_status_ptr_t other;
    local_t local;
    size_t i;

    open_test(&local);
    for (i = 0; i < 4; ++i) {
        param      = with_call(NULL, on_recv_free);
        now.memory = own_request(&param);
        now.calls  = 0;
        ck_assert_ptr_eq(ucp_tag_recv_nbx(local.worker, buffer2,
                                          sizeof(buffer2), 1, UINT64_MAX,
                                          &param),
                         param.request);
        other = local_send(&local, buffer, sizes[i], 1);
        progress_until_calls(1);
        ck_assert_int_eq(local_wait(&local, other), UCS_OK);

        param      = with_call(on_send_free, NULL);
        now.memory = own_request(&param);
        now.calls  = 0;
        ck_assert_ptr_eq(ucp_tag_send_sync_nbx(local.ep, buffer, sizes[i], 1,
                                               &param),
                         param.request);
        other = local_recv(&local, buffer2, sizeof(buffer2), 1);
        progress_until_calls(1);
        ck_assert_int_eq(local_wait(&local, other), UCS_OK);
    }

    param      = with_call(NULL, on_recv_free);
    now.memory = own_request(&param);
    now.calls  = 0;
    other      = local_send(&local, buffer, sizeof(buffer), 1);
    local_await(&local, 1);
    ck_assert_ptr_eq(ucp_tag_recv_nbx(local.worker, buffer2, 10, 1, 0, &param),
                     param.request);
    /* the buffer is too small: the receive ends within the call */
    ck_assert_int_eq(now.calls, 1);
    ck_assert_int_eq(local_wait(&local, other), UCS_OK);
    local_close(&local);
}
END_TEST

static void on_send_count(void *request, ucs_status_t status, void *user_data)
{
    ++now.calls;
    /* cancelling a request that is complete has no effect */
    ucp_request_cancel(now.local->worker, request);
    ucp_request_free(request);
}

static void on_recv_count(void *request, ucs_status_t status,
                          const ucp_tag_recv_info_t *info, void *user_data)
{
    on_send_count(request, status, user_data);
}

START_TEST(requests_are_cancelled_and_freed_inside_their_callbacks)
{
    ucp_request_param_t send = with_call(on_send_count, NULL);
    ucp_request_param_t recv = with_call(NULL, on_recv_count);
    ucs_status_ptr_t request;
    local_t local;

    open_test(&local);
    send.op_attr_mask |= UCP_OP_ATTR_FLAG_NO_IMM_CMPL;
    recv.op_attr_mask |= UCP_OP_ATTR_FLAG_NO_IMM_CMPL;
    ck_assert(!UCS_PTR_IS_ERR(ucp_tag_send_nbx(local.ep, "a", 1, 1, &send)));
    ck_assert(
        !UCS_PTR_IS_ERR(ucp_tag_send_sync_nbx(local.ep, "a", 1, 1, &send)));
    ck_assert(!UCS_PTR_IS_ERR(ucp_ep_flush_nbx(local.ep, &send)));
    ck_assert(!UCS_PTR_IS_ERR(ucp_worker_flush_nbx(local.worker, &send)));
    ucp_worker_progress(local.worker);
    ck_assert(!UCS_PTR_IS_ERR(
        ucp_tag_recv_nbx(local.worker, buffer2, 8, 1, UINT64_MAX, &recv)));
    ck_assert(!UCS_PTR_IS_ERR(
        ucp_tag_recv_nbx(local.worker, buffer2, 8, 1, UINT64_MAX, &recv)));
    progress_until_calls(6);

    request = ucp_tag_recv_nbx(local.worker, buffer2, 8, 1, 0, &recv);
    ucp_request_cancel(local.worker, request);
    ck_assert_int_eq(now.calls, 7);
    local_close(&local);
}
END_TEST

/* A matched receive is not cancelled, nor is a send that has started.
 * test_cancel.c tests sends that have not started. */
START_TEST(a_receive_that_has_begun_is_not_cancelled)
{
    static const size_t sizes[] = {10, 100000};
    ucs_status_ptr_t send, recv, flush;
    local_t local;
    size_t i;

    open_test(&local);
    for (i = 0; i < 2; ++i) {
        send = ucp_tag_send_sync_nbx(local.ep, buffer, sizes[i], 1, &none);
        local_await(&local, 1);
        recv = local_recv(&local, buffer2, sizeof(buffer2), 1);
        if (UCS_PTR_IS_PTR(recv)) {
            ucp_request_cancel(local.worker, recv);
        }
        ucp_request_cancel(local.worker, send);
        flush = ucp_ep_flush_nbx(local.ep, &none);
        if (UCS_PTR_IS_PTR(flush)) {
            ucp_request_cancel(local.worker, flush);
        }
        ck_assert_int_eq(local_wait(&local, recv), UCS_OK);
        ck_assert_int_eq(local_wait(&local, send), UCS_OK);
        ck_assert_int_eq(local_wait(&local, flush), UCS_OK);
    }
    local_close(&local);
}
END_TEST

START_TEST(freed_requests_of_every_kind_complete_without_a_call)
{
    static const size_t sizes[] = {0, 10, 5000, 100000};
    ucp_request_param_t send    = with_call(on_send_count, NULL);
    ucp_request_param_t recv    = with_call(NULL, on_recv_count);
    ucs_status_ptr_t request;
    local_t local;
    size_t i;

    open_test(&local);
    for (i = 0; i < 4; ++i) {
        request = ucp_tag_send_sync_nbx(local.ep, buffer, sizes[i], 1, &send);
        ucp_request_free(request);
        request = ucp_tag_recv_nbx(local.worker, buffer2, sizeof(buffer2), 1,
                                   UINT64_MAX, &recv);
        ucp_request_free(request);
    }
    ck_assert_int_eq(local_wait(&local, ucp_ep_close_nbx(local.ep, &none)),
                     UCS_OK);
    ck_assert_int_eq(now.calls, 0);
    /* would log a warning about a request that was not freed */
    ucp_worker_destroy(local.worker);
    ucp_cleanup(local.context);
}
END_TEST

START_TEST(an_announced_message_cannot_be_received_at_once)
{
    ucp_request_param_t forced = {
        .op_attr_mask = UCP_OP_ATTR_FLAG_FORCE_IMM_CMPL,
    };
    ucp_tag_recv_info_t info;
    ucp_tag_message_h message;
    ucs_status_ptr_t send;
    local_t local;

    open_test(&local);
    buffer[99999] = 'x';
    send          = local_send(&local, buffer, 100000, 1);
    local_await(&local, 1);
    ck_assert_int_eq(UCS_PTR_RAW_STATUS(ucp_tag_recv_nbx(local.worker, buffer2,
                                                         sizeof(buffer2), 1, 0,
                                                         &forced)),
                     UCS_ERR_NO_RESOURCE);
    message = ucp_tag_probe_nb(local.worker, 1, UINT64_MAX, 1, &info);
    /* the failed receive has left the message in the queue of unexpected
     * messages */
    ck_assert_ptr_nonnull(message);
    ck_assert_int_eq(UCS_PTR_RAW_STATUS(ucp_tag_msg_recv_nbx(local.worker,
                                                             buffer2,
                                                             sizeof(buffer2),
                                                             message, &forced)),
                     UCS_ERR_NO_RESOURCE);
    ck_assert_int_eq(local_wait(&local,
                                ucp_tag_msg_recv_nbx(local.worker, buffer2,
                                                     sizeof(buffer2), message,
                                                     &none)),
                     UCS_OK);
    ck_assert_int_eq(local_wait(&local, send), UCS_OK);
    ck_assert_int_eq(buffer2[99999], 'x');
    local_close(&local);
}
END_TEST

START_TEST(every_mix_of_completion_flags_delivers_or_refuses)
{
    static const size_t sizes[]   = {0, 10, 5000, 100000};
    static const uint32_t flags[] = {UCP_OP_ATTR_FLAG_NO_IMM_CMPL,
                                     UCP_OP_ATTR_FLAG_FAST_CMPL,
                                     UCP_OP_ATTR_FLAG_FORCE_IMM_CMPL,
                                     UCP_OP_ATTR_FLAG_MULTI_SEND};
    ucp_request_param_t param     = {0};
    ucs_status_ptr_t send, recv;
    local_t local;
    size_t i, mix, bit;

    open_test(&local);
    for (mix = 0; mix < 16; ++mix) {
        param.op_attr_mask = 0;
        for (bit = 0; bit < 4; ++bit) {
            param.op_attr_mask |= (mix & (1u << bit)) ? flags[bit] : 0;
        }
        for (i = 0; i < 4; ++i) {
            memset(buffer, (int)(mix * 4 + i), sizes[i]);
            send = ucp_tag_send_nbx(local.ep, buffer, sizes[i], 1, &param);
            if (UCS_PTR_RAW_STATUS(send) == UCS_ERR_NO_RESOURCE) {
                ck_assert(param.op_attr_mask & UCP_OP_ATTR_FLAG_FORCE_IMM_CMPL);
                continue;
            }
            local_await(&local, 1);
            recv = ucp_tag_recv_nbx(local.worker, buffer2, sizeof(buffer2), 1,
                                    UINT64_MAX, &param);
            ck_assert_int_eq(local_wait(&local, recv), UCS_OK);
            ck_assert_int_eq(local_wait(&local, send), UCS_OK);
            ck_assert_mem_eq(buffer, buffer2, sizes[i]);
        }
    }
    local_close(&local);
}
END_TEST

SUITE_MAIN("callbacks", a_receive_callback_posts_the_next_receive,
           the_users_request_may_be_freed_in_its_callback,
           requests_are_cancelled_and_freed_inside_their_callbacks,
           a_receive_that_has_begun_is_not_cancelled,
           freed_requests_of_every_kind_complete_without_a_call,
           an_announced_message_cannot_be_received_at_once,
           every_mix_of_completion_flags_delivers_or_refuses)
