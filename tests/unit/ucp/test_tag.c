/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tagged messages within one process: completion, status, information,
 * truncation, probes, cancellation, and requests in the user's memory.
 */
#include "local.h"

static int calls;
static ucs_status_t called_with;
static ucp_tag_recv_info_t called_info;

static void on_send(void *request, ucs_status_t status, void *user_data)
{
    ++calls;
    called_with = status;
    ck_assert_ptr_eq(user_data, &calls);
}

static void on_recv(void *request, ucs_status_t status,
                    const ucp_tag_recv_info_t *info, void *user_data)
{
    ++calls;
    called_with = status;
    called_info = *info;
    ck_assert_ptr_eq(user_data, &calls);
}

static const ucp_request_param_t recv_call = {
    .op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA,
    .cb           = {.recv = on_recv},
    .user_data    = &calls,
};

START_TEST(messages_of_all_sizes_arrive_expected_and_early)
{
    enum { MAX = 3 * 1024 * 1024 };
    char *out = malloc(MAX), *in = malloc(MAX);
    ucs_status_ptr_t send, recv;
    size_t size, i;
    local_t local;
    int early;

    local_open(&local);
    for (i = 0; i < MAX; ++i) {
        out[i] = (char)(i * 31);
    }
    for (size = 0; size <= MAX; size = size * 3 + 1) {
        for (early = 0; early < 2; ++early) {
            memset(in, 0, size);
            if (early) {
                send = local_send(&local, out, size, size);
                local_await(&local, size);
                recv = local_recv(&local, in, MAX, size);
            } else {
                recv = local_recv(&local, in, MAX, size);
                send = local_send(&local, out, size, size);
            }
            ck_assert_int_eq(local_wait(&local, recv), UCS_OK);
            ck_assert_int_eq(local_wait(&local, send), UCS_OK);
            ck_assert_mem_eq(in, out, size);
        }
    }
    local_close(&local);
    free(in);
    free(out);
}
END_TEST

START_TEST(an_immediate_receive_fills_the_information_and_calls_nobody)
{
    ucp_tag_recv_info_t info  = {0};
    ucp_request_param_t param = recv_call;
    local_t local;
    char in[16];

    local_open(&local);
    calls = 0;
    ck_assert_int_eq(local_wait(&local, local_send(&local, "abc", 3, 0x77)),
                     UCS_OK);
    local_await(&local, 0x77);
    param.op_attr_mask |= UCP_OP_ATTR_FIELD_RECV_INFO;
    param.recv_info.tag_info = &info;
    ck_assert_ptr_null(
        ucp_tag_recv_nbx(local.worker, in, sizeof(in), 0x70, 0xf0, &param));
    ck_assert_uint_eq(info.length, 3);
    ck_assert_uint_eq(info.sender_tag, 0x77);
    ck_assert_int_eq(calls, 0);
    local_close(&local);
}
END_TEST

START_TEST(no_immediate_completion_gives_a_request_and_a_call)
{
    ucp_request_param_t param = recv_call;
    ucs_status_ptr_t request;
    ucp_tag_recv_info_t info;
    local_t local;
    char in[16];

    local_open(&local);
    calls = 0;
    param.op_attr_mask |= UCP_OP_ATTR_FLAG_NO_IMM_CMPL;
    ck_assert_int_eq(local_wait(&local, local_send(&local, "abcd", 4, 5)),
                     UCS_OK);
    local_await(&local, 5);
    request = ucp_tag_recv_nbx(local.worker, in, sizeof(in), 5, UINT64_MAX,
                               &param);
    ck_assert(UCS_PTR_IS_PTR(request));
    ck_assert_int_eq(calls, 1);
    ck_assert_int_eq(ucp_tag_recv_request_test(request, &info), UCS_OK);
    ck_assert_uint_eq(info.length, 4);
    ucp_request_free(request);

    calls         = 0;
    param.cb.send = on_send;
    request       = ucp_tag_send_nbx(local.ep, "x", 1, 6, &param);
    ck_assert(UCS_PTR_IS_PTR(request));
    while (calls == 0) {
        ucp_worker_progress(local.worker);
    }
    ck_assert_int_eq(called_with, UCS_OK);
    ucp_request_free(request);
    ck_assert_int_eq(local_wait(&local, local_recv(&local, in, 1, 6)), UCS_OK);
    local_close(&local);
}
END_TEST

START_TEST(forced_immediate_completion_fails_when_it_cannot_be)
{
    ucp_request_param_t param = {
        .op_attr_mask = UCP_OP_ATTR_FLAG_FORCE_IMM_CMPL,
    };
    size_t large = 64 * 1024 * 1024;
    char *buffer = malloc(large);
    local_t local;
    char in[8];

    local_open(&local);
    ck_assert_int_eq(UCS_PTR_RAW_STATUS(ucp_tag_recv_nbx(local.worker, in, 8, 1,
                                                         UINT64_MAX, &param)),
                     UCS_ERR_NO_RESOURCE);
    ck_assert_int_eq(UCS_PTR_RAW_STATUS(
                         ucp_tag_send_nbx(local.ep, buffer, large, 1, &param)),
                     UCS_ERR_NO_RESOURCE);
    ck_assert_ptr_null(ucp_tag_send_nbx(local.ep, "hi", 2, 1, &param));
    local_await(&local, 1);
    ck_assert_ptr_null(
        ucp_tag_recv_nbx(local.worker, in, 8, 1, UINT64_MAX, &param));
    ck_assert_mem_eq(in, "hi", 2);
    local_close(&local);
    free(buffer);
}
END_TEST

START_TEST(a_message_that_is_too_long_is_truncated_and_said_so)
{
    static const size_t sizes[] = {10, 4000, 1 << 20};
    char *out                   = calloc(1, 1 << 20);
    ucs_status_ptr_t send, recv;
    local_t local;
    char in[9];
    size_t i;

    local_open(&local);
    for (i = 0; i < 3; ++i) {
        memset(in, 'q', sizeof(in));
        recv = local_recv(&local, in, 8, 1);
        send = local_send(&local, out, sizes[i], 1);
        ck_assert_int_eq(local_wait(&local, recv), UCS_ERR_MESSAGE_TRUNCATED);
        ck_assert_int_eq(local_wait(&local, send), UCS_OK);
        ck_assert_int_eq(in[8], 'q');

        send = local_send(&local, out, sizes[i], 1);
        local_await(&local, 1);
        ck_assert_int_eq(local_wait(&local, local_recv(&local, in, 8, 1)),
                         UCS_ERR_MESSAGE_TRUNCATED);
        ck_assert_int_eq(local_wait(&local, send), UCS_OK);
    }
    local_close(&local);
    free(out);
}
END_TEST

START_TEST(a_probe_tells_and_a_removed_message_is_received_by_its_handle)
{
    static const size_t sizes[] = {5, 1 << 20};
    ucp_request_param_t none    = {0};
    char *out = malloc(1 << 20), *in = malloc(1 << 20);
    ucp_tag_recv_info_t info;
    ucp_tag_message_h message;
    ucs_status_ptr_t send;
    local_t local;
    size_t i;

    local_open(&local);
    memset(out, 'p', 1 << 20);
    for (i = 0; i < 2; ++i) {
        ck_assert_ptr_null(
            ucp_tag_probe_nb(local.worker, 9, UINT64_MAX, 1, &info));
        send = local_send(&local, out, sizes[i], 9);
        local_await(&local, 9);
        ck_assert_ptr_nonnull(ucp_tag_probe_nb(local.worker, 0, 0, 0, &info));
        ck_assert_uint_eq(info.length, sizes[i]);
        ck_assert_uint_eq(info.sender_tag, 9);
        message = ucp_tag_probe_nb(local.worker, 9, UINT64_MAX, 1, &info);
        ck_assert_ptr_nonnull(message);
        ck_assert_ptr_null(
            ucp_tag_probe_nb(local.worker, 9, UINT64_MAX, 0, &info));
        memset(in, 0, sizes[i]);
        ck_assert_int_eq(
            local_wait(&local, ucp_tag_msg_recv_nbx(local.worker, in, sizes[i],
                                                    message, &none)),
            UCS_OK);
        ck_assert_int_eq(local_wait(&local, send), UCS_OK);
        ck_assert_mem_eq(in, out, sizes[i]);
    }
    local_close(&local);
    free(in);
    free(out);
}
END_TEST

START_TEST(a_cancelled_receive_completes_and_matches_nothing)
{
    ucs_status_ptr_t request;
    local_t local;
    char in[8];

    local_open(&local);
    calls   = 0;
    request = ucp_tag_recv_nbx(local.worker, in, 8, 3, UINT64_MAX, &recv_call);
    ucp_request_cancel(local.worker, request);
    while (ucp_request_check_status(request) == UCS_INPROGRESS) {
        ucp_worker_progress(local.worker);
    }
    ck_assert_int_eq(calls, 1);
    ck_assert_int_eq(called_with, UCS_ERR_CANCELED);
    ucp_request_free(request);
    ck_assert_int_eq(local_wait(&local, local_send(&local, "a", 1, 3)), UCS_OK);
    ck_assert_int_eq(local_wait(&local, local_recv(&local, in, 8, 3)), UCS_OK);
    local_close(&local);
}
END_TEST

START_TEST(a_synchronous_send_completes_only_with_its_receive)
{
    static const size_t sizes[] = {0, 8, 5000, 1 << 20};
    ucp_request_param_t none    = {0};
    char *buffer                = calloc(2, 1 << 20);
    ucs_status_ptr_t send;
    local_t local;
    size_t i;
    int k;

    local_open(&local);
    for (i = 0; i < 4; ++i) {
        send = ucp_tag_send_sync_nbx(local.ep, buffer, sizes[i], 4, &none);
        ck_assert(UCS_PTR_IS_PTR(send));
        for (k = 0; k < 100; ++k) {
            ucp_worker_progress(local.worker);
        }
        ck_assert_int_eq(ucp_request_check_status(send), UCS_INPROGRESS);
        ck_assert_int_eq(local_wait(&local,
                                    local_recv(&local, buffer + (1 << 20),
                                               1 << 20, 4)),
                         UCS_OK);
        ck_assert_int_eq(local_wait(&local, send), UCS_OK);
    }
    local_close(&local);
    free(buffer);
}
END_TEST

START_TEST(a_request_in_the_users_memory_is_used_and_not_freed)
{
    ucp_context_attr_t attr   = {.field_mask = UCP_ATTR_FIELD_REQUEST_SIZE};
    ucp_request_param_t param = recv_call;
    local_t local;
    char *memory;
    char in[8];

    local_open(&local);
    calls = 0;
    ck_assert_int_eq(ucp_context_query(local.context, &attr), UCS_OK);
    memory = malloc(attr.request_size);
    param.op_attr_mask |= UCP_OP_ATTR_FIELD_REQUEST;
    param.request = memory + attr.request_size;
    ck_assert_ptr_eq(ucp_tag_recv_nbx(local.worker, in, 8, 1, UINT64_MAX,
                                      &param),
                     param.request);
    ck_assert_int_eq(local_wait(&local, local_send(&local, "z", 1, 1)), UCS_OK);
    while (calls == 0) {
        ucp_worker_progress(local.worker);
    }
    ck_assert_int_eq(ucp_request_check_status(param.request), UCS_OK);
    ck_assert_uint_eq(called_info.length, 1);
    free(memory);
    local_close(&local);
}
END_TEST

START_TEST(a_users_request_tells_of_an_immediate_receive_too)
{
    ucp_context_attr_t attr   = {.field_mask = UCP_ATTR_FIELD_REQUEST_SIZE};
    ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_REQUEST};
    ucp_tag_recv_info_t info  = {0};
    ucp_tag_message_h message = NULL;
    local_t local;
    char *memory;
    char in[8];
    int probed;

    local_open(&local);
    ck_assert_int_eq(ucp_context_query(local.context, &attr), UCS_OK);
    memory        = malloc(attr.request_size);
    param.request = memory + attr.request_size;
    for (probed = 0; probed < 2; ++probed) {
        memset(memory, 0x55, attr.request_size);
        ck_assert_int_eq(local_wait(&local, local_send(&local, "zyx", 3, 1)),
                         UCS_OK);
        while (message == NULL) {
            ucp_worker_progress(local.worker);
            message = ucp_tag_probe_nb(local.worker, 1, UINT64_MAX, probed,
                                       &info);
        }
        memset(&info, 0, sizeof(info));
        ck_assert_ptr_null(
            probed ?
                ucp_tag_msg_recv_nbx(local.worker, in, 8, message, &param) :
                ucp_tag_recv_nbx(local.worker, in, 8, 1, UINT64_MAX, &param));
        ck_assert_int_eq(ucp_tag_recv_request_test(param.request, &info),
                         UCS_OK);
        ck_assert_uint_eq(info.length, 3);
        ck_assert_uint_eq(info.sender_tag, 1);
        message = NULL;
    }
    free(memory);
    local_close(&local);
}
END_TEST

START_TEST(a_freed_request_still_receives_and_calls_nobody)
{
    local_t local;
    char in[8] = "";

    local_open(&local);
    calls = 0;
    ucp_request_free(
        ucp_tag_recv_nbx(local.worker, in, 8, 1, UINT64_MAX, &recv_call));
    ck_assert_int_eq(local_wait(&local, local_send(&local, "z", 1, 1)), UCS_OK);
    while (in[0] == '\0') {
        ucp_worker_progress(local.worker);
    }
    ck_assert_int_eq(in[0], 'z');
    ck_assert_int_eq(calls, 0);
    local_close(&local);
}
END_TEST

START_TEST(scattered_data_of_all_sizes_arrives)
{
    enum { NUM = 40, EACH = 3000 };
    char *out = malloc(NUM * EACH), *in = malloc(NUM * EACH);
    ucp_dt_iov_t out_iov[NUM], in_iov[NUM];
    ucp_request_param_t param = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE,
        .datatype     = ucp_dt_make_iov(),
    };
    ucs_status_ptr_t send, recv;
    local_t local;
    size_t each, i;

    local_open(&local);
    for (i = 0; i < NUM * EACH; ++i) {
        out[i] = (char)(i * 7);
    }
    for (each = 1; each <= EACH; each = each * 5 + 1) {
        memset(in, 0, NUM * EACH);
        for (i = 0; i < NUM; ++i) {
            out_iov[i] = (ucp_dt_iov_t){out + i * EACH, each};
            in_iov[i]  = (ucp_dt_iov_t){in + i * EACH, each};
        }
        recv = ucp_tag_recv_nbx(local.worker, in_iov, NUM, 2, UINT64_MAX,
                                &param);
        send = ucp_tag_send_nbx(local.ep, out_iov, NUM, 2, &param);
        ck_assert_int_eq(local_wait(&local, recv), UCS_OK);
        ck_assert_int_eq(local_wait(&local, send), UCS_OK);
        for (i = 0; i < NUM; ++i) {
            ck_assert_mem_eq(in + i * EACH, out + i * EACH, each);
        }
    }
    local_close(&local);
    free(in);
    free(out);
}
END_TEST

SUITE_MAIN("tagged messages", messages_of_all_sizes_arrive_expected_and_early,
           an_immediate_receive_fills_the_information_and_calls_nobody,
           no_immediate_completion_gives_a_request_and_a_call,
           forced_immediate_completion_fails_when_it_cannot_be,
           a_message_that_is_too_long_is_truncated_and_said_so,
           a_probe_tells_and_a_removed_message_is_received_by_its_handle,
           a_cancelled_receive_completes_and_matches_nothing,
           a_synchronous_send_completes_only_with_its_receive,
           a_request_in_the_users_memory_is_used_and_not_freed,
           a_users_request_tells_of_an_immediate_receive_too,
           a_freed_request_still_receives_and_calls_nobody,
           scattered_data_of_all_sizes_arrives)
