/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Queries of a request: its status, also from its callback, the memory type,
 * and its textual description. Also many sends at once, and reuse of requests.
 */
#include "api.h"

static const ucp_request_param_t none = {0};
static char buffer[1 << 20], buffer2[1 << 20];

static int inits;

static void count_init(void *request)
{
    ++inits;
}

static void open_tag(local_t *local)
{
    local_open_mode(local, UCP_FEATURE_TAG | UCP_FEATURE_RMA,
                    UCS_THREAD_MODE_SINGLE);
}

/* Returns the description of a request, valid until the next call. Checks its
 * status and memory type. */
static char *described_as(void *request, ucs_status_t status,
                          ucs_memory_type_t mem_type)
{
    static char text[1024];
    ucp_request_attr_t attr = {
        .field_mask = UCP_REQUEST_ATTR_FIELD_INFO_STRING |
                      UCP_REQUEST_ATTR_FIELD_INFO_STRING_SIZE |
                      UCP_REQUEST_ATTR_FIELD_STATUS |
                      UCP_REQUEST_ATTR_FIELD_MEM_TYPE,
        .debug_string      = text,
        .debug_string_size = sizeof(text),
    };

    ck_assert_int_eq(ucp_request_query(request, &attr), UCS_OK);
    ck_assert_int_eq(attr.status, status);
    ck_assert_int_eq(attr.mem_type, mem_type);
    ck_assert_ptr_nonnull(strstr(text, ucs_status_string(status)));
    return text;
}

static char *described(void *request, ucs_status_t status)
{
    return described_as(request, status, UCS_MEMORY_TYPE_HOST);
}

START_TEST(a_request_is_described_with_its_protocol_and_transport)
{
    ucp_worker_attr_t attr = {
        .field_mask = UCP_WORKER_ATTR_FIELD_MAX_INFO_STRING,
    };
    ucs_status_ptr_t send, recv;
    local_t local;
    char *text;

    open_tag(&local);
    ck_assert_int_eq(ucp_worker_query(local.worker, &attr), UCS_OK);
    send = local_send(&local, buffer, sizeof(buffer), 1);
    ck_assert(UCS_PTR_IS_PTR(send));
    text = described(send, UCS_INPROGRESS);
    ck_assert_ptr_nonnull(strstr(text, "send of 1048576 bytes of host"));
    ck_assert_ptr_nonnull(strstr(text, "by rndv over self/"));
    ck_assert_ptr_nonnull(strstr(text, "..inf)"));
    ck_assert_uint_lt(strlen(text), attr.max_debug_string);

    recv = local_recv(&local, buffer2, sizeof(buffer2), 2);
    text = described(recv, UCS_INPROGRESS);
    ck_assert_ptr_nonnull(strstr(text, "tag_recv of 1048576 bytes of host"));
    ck_assert_ptr_nonnull(strstr(text, "not matched"));
    ucp_request_cancel(local.worker, recv);
    described(recv, UCS_ERR_CANCELED);
    ucp_request_free(recv);

    recv = local_recv(&local, buffer2, sizeof(buffer2), 1);
    while (ucp_request_check_status(send) == UCS_INPROGRESS) {
        ucp_worker_progress(local.worker);
    }
    described(send, UCS_OK);
    ucp_request_free(send);
    while (ucp_request_check_status(recv) == UCS_INPROGRESS) {
        ucp_worker_progress(local.worker);
    }
    text = described(recv, UCS_OK);
    ck_assert_ptr_nonnull(strstr(text, "tag_recv of 1048576 bytes of host"));
    ck_assert_ptr_nonnull(strstr(text, "by rndv/"));
    ck_assert_ptr_nonnull(strstr(text, " over self/"));
    ucp_request_free(recv);
    local_close(&local);
}
END_TEST

static char *without_buffer(void *request)
{
    char *text;

    ck_assert(UCS_PTR_IS_PTR(request));
    text = described_as(request, ucp_request_check_status(request),
                        UCS_MEMORY_TYPE_UNKNOWN);
    ck_assert_ptr_null(strstr(text, "bytes"));
    return text;
}

START_TEST(other_requests_are_described_as_well)
{
    ucp_mem_map_params_t map = {
        .field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS |
                      UCP_MEM_MAP_PARAM_FIELD_LENGTH,
        .address = buffer,
        .length  = sizeof(buffer),
    };
    ucp_request_param_t never = {
        .op_attr_mask = UCP_OP_ATTR_FLAG_NO_IMM_CMPL,
    };
    ucs_status_ptr_t request;
    local_t local;
    ucp_rkey_h rkey;
    ucp_mem_h memh;
    size_t size;
    void *key;

    open_tag(&local);
    ck_assert_int_eq(ucp_mem_map(local.context, &map, &memh), UCS_OK);
    ck_assert_int_eq(ucp_memh_pack(memh, NULL, &key, &size), UCS_OK);
    ck_assert_int_eq(ucp_ep_rkey_unpack(local.ep, key, &rkey), UCS_OK);
    ucp_memh_buffer_release(key, NULL);

    request = ucp_get_nbx(local.ep, buffer2, 100, (uintptr_t)buffer, rkey,
                          &never);
    ck_assert(UCS_PTR_IS_PTR(request));
    ck_assert_ptr_nonnull(
        strstr(described(request, ucp_request_check_status(request)),
               "of 100 bytes"));
    ck_assert_int_eq(local_wait(&local, request), UCS_OK);
    ucp_rkey_destroy(rkey);
    ck_assert_int_eq(ucp_mem_unmap(local.context, memh), UCS_OK);

    /* Operations without a buffer have no memory type, even if the request was
     * used before for an operation with a buffer. */
    request = ucp_worker_flush_nbx(local.worker, &never);
    ck_assert_ptr_nonnull(strstr(without_buffer(request), "flush"));
    ck_assert_int_eq(local_wait(&local, request), UCS_OK);
    request = ucp_ep_flush_nbx(local.ep, &never);
    ck_assert_ptr_nonnull(strstr(without_buffer(request), "flush"));
    ck_assert_int_eq(local_wait(&local, request), UCS_OK);
    request = ucp_ep_close_nbx(local.ep, &never);
    ck_assert_ptr_nonnull(strstr(without_buffer(request), "close"));
    ck_assert_int_eq(local_wait(&local, request), UCS_OK);
    ucp_worker_destroy(local.worker);
    ucp_cleanup(local.context);
}
END_TEST

START_TEST(a_description_keeps_to_its_space_and_needs_one)
{
    char text[16]           = "xxxxxxxxxxxxxxx";
    ucp_request_attr_t attr = {
        .field_mask   = UCP_REQUEST_ATTR_FIELD_INFO_STRING,
        .debug_string = text,
    };
    ucs_status_ptr_t recv;
    local_t local;

    open_tag(&local);
    recv = local_recv(&local, buffer2, 8, 1);
    ck_assert_int_eq(ucp_request_query(recv, &attr), UCS_ERR_INVALID_PARAM);
    attr.field_mask |= UCP_REQUEST_ATTR_FIELD_INFO_STRING_SIZE;
    attr.debug_string_size = 5;
    ck_assert_int_eq(ucp_request_query(recv, &attr), UCS_OK);
    ck_assert_str_eq(text, "tag_");
    ck_assert_int_eq(text[5], 'x');

    /* attributes that are not requested are not written */
    attr.field_mask = 0;
    attr.status     = UCS_ERR_LAST;
    attr.mem_type   = UCS_MEMORY_TYPE_LAST;
    text[0]         = 'y';
    ck_assert_int_eq(ucp_request_query(recv, &attr), UCS_OK);
    ck_assert_int_eq(attr.status, UCS_ERR_LAST);
    ck_assert_int_eq(attr.mem_type, UCS_MEMORY_TYPE_LAST);
    ck_assert_int_eq(text[0], 'y');
    ucp_request_cancel(local.worker, recv);
    ucp_request_free(recv);
    local_close(&local);
}
END_TEST

static int calls;

static void on_send(void *request, ucs_status_t status, void *user_data)
{
    ++calls;
    ck_assert_int_eq(ucp_request_check_status(request), status);
    if (user_data != NULL) {
        ucp_request_free(request);
    }
}

static void on_recv(void *request, ucs_status_t status,
                    const ucp_tag_recv_info_t *info, void *user_data)
{
    ucp_tag_recv_info_t again;

    ck_assert_int_eq(ucp_tag_recv_request_test(request, &again), status);
    ck_assert_uint_eq(again.length, info->length);
    ck_assert_uint_eq(again.sender_tag, info->sender_tag);
    on_send(request, status, user_data);
}

START_TEST(a_request_is_complete_in_its_callback)
{
    static const size_t sizes[] = {1, 100, sizeof(buffer)};
    ucp_request_param_t recv    = {
           .op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK |
                           UCP_OP_ATTR_FIELD_USER_DATA,
           .cb.recv = on_recv,
    };
    ucp_request_param_t send = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK |
                        UCP_OP_ATTR_FIELD_USER_DATA,
        .cb.send = on_send,
    };
    ucs_status_ptr_t requests[2];
    local_t local;
    int frees;
    size_t i;

    open_tag(&local);
    for (i = 0; i < 6; ++i) {
        frees          = (i >= 3);
        calls          = 0;
        recv.user_data = frees ? &calls : NULL;
        send.user_data = recv.user_data;
        requests[0] = ucp_tag_recv_nbx(local.worker, buffer2, sizeof(buffer2),
                                       1, UINT64_MAX, &recv);
        requests[1] = ucp_tag_send_sync_nbx(local.ep, buffer, sizes[i % 3], 1,
                                            &send);
        ck_assert(UCS_PTR_IS_PTR(requests[0]));
        ck_assert(UCS_PTR_IS_PTR(requests[1]));
        while (calls < 2) {
            ucp_worker_progress(local.worker);
        }
        if (!frees) {
            ck_assert_int_eq(ucp_request_check_status(requests[0]), UCS_OK);
            ck_assert_int_eq(ucp_request_check_status(requests[1]), UCS_OK);
            ucp_request_free(requests[0]);
            ucp_request_free(requests[1]);
        }
    }
    local_close(&local);
}
END_TEST

START_TEST(the_kind_of_memory_may_be_told)
{
    ucp_request_param_t told = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_MEMORY_TYPE |
                        UCP_OP_ATTR_FLAG_NO_IMM_CMPL,
        .memory_type = UCS_MEMORY_TYPE_HOST,
    };
    ucs_status_ptr_t send, recv;
    local_t local;

    open_tag(&local);
    memcpy(buffer, "abc", 4);
    recv = ucp_tag_recv_nbx(local.worker, buffer2, 4, 1, UINT64_MAX, &told);
    described(recv, UCS_INPROGRESS);
    send = ucp_tag_send_nbx(local.ep, buffer, 4, 1, &told);
    described(send, ucp_request_check_status(send));
    ck_assert_int_eq(local_wait(&local, send), UCS_OK);
    ck_assert_int_eq(local_wait(&local, recv), UCS_OK);
    ck_assert_str_eq(buffer2, "abc");
    local_close(&local);
}
END_TEST

START_TEST(many_sends_at_once_all_arrive)
{
    enum { COUNT = 200 };
    ucp_request_param_t multi = {
        .op_attr_mask = UCP_OP_ATTR_FLAG_MULTI_SEND,
    };
    ucs_status_ptr_t sends[COUNT];
    local_t local;
    int in, i;

    open_tag(&local);
    for (i = 0; i < COUNT; ++i) {
        memcpy(buffer + i * sizeof(i), &i, sizeof(i));
        sends[i] = ucp_tag_send_nbx(local.ep, buffer + i * sizeof(i), sizeof(i),
                                    1, &multi);
        ck_assert(!UCS_PTR_IS_ERR(sends[i]));
    }
    for (i = 0; i < COUNT; ++i) {
        ck_assert_int_eq(
            local_wait(&local, ucp_tag_recv_nbx(local.worker, &in, sizeof(in),
                                                1, UINT64_MAX, &none)),
            UCS_OK);
        ck_assert_int_eq(in, i);
        ck_assert_int_eq(local_wait(&local, sends[i]), UCS_OK);
    }
    local_close(&local);
}
END_TEST

/* The library reuses freed requests, and calls request_init only once for
 * each. */
START_TEST(a_request_that_is_used_again_is_not_initialised_again)
{
    enum { SIZE = 16, ROUNDS = 50 };
    ucp_params_t params = {
        .field_mask = UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_REQUEST_SIZE |
                      UCP_PARAM_FIELD_REQUEST_INIT,
        .features     = UCP_FEATURE_TAG,
        .request_size = SIZE,
        .request_init = count_init,
    };
    ucp_worker_params_t empty = {0};
    ucp_context_h context;
    ucp_worker_h worker;
    void *first = NULL;
    char *request;
    int made = 0, i;

    inits = 0;
    ck_assert_int_eq(ucp_init(&params, NULL, &context), UCS_OK);
    ck_assert_int_eq(ucp_worker_create(context, &empty, &worker), UCS_OK);
    for (i = 0; i < ROUNDS; ++i) {
        request = ucp_tag_recv_nbx(worker, buffer, 1, 0, 0, &none);
        ck_assert(UCS_PTR_IS_PTR(request));
        if (i == 0) {
            first = request;
            made  = inits;
            ck_assert_int_gt(made, 0);
            memset(request, 'u', SIZE);
        }
        ck_assert_ptr_eq(request, first);
        ck_assert_int_eq(request[0], 'u');
        ck_assert_int_eq(request[SIZE - 1], 'u');
        ucp_request_cancel(worker, request);
        ucp_request_free(request);
    }
    ck_assert_int_eq(inits, made);
    ucp_worker_destroy(worker);
    ucp_cleanup(context);
}
END_TEST

SUITE_MAIN("requests", a_request_is_described_with_its_protocol_and_transport,
           other_requests_are_described_as_well,
           a_description_keeps_to_its_space_and_needs_one,
           a_request_is_complete_in_its_callback,
           the_kind_of_memory_may_be_told, many_sends_at_once_all_arrive,
           a_request_that_is_used_again_is_not_initialised_again)
