/* SPDX-License-Identifier: BSD-3-Clause */
/* The deprecated functions for tagged messages and for queries of requests. */
#include "api.h"

/* the deprecated functions are under test */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

static char buffer[1 << 20], buffer2[1 << 20];

/* What the callbacks have recorded */
static struct {
    int sends, recvs;
    /* Set while a call runs that may call the callback before it returns */
    int inside;
    int was_inside; /* `inside` at the last receive callback */
    ucs_status_t status;
    ucp_tag_recv_info_t info;
} seen;

static void on_send(void *request, ucs_status_t status)
{
    ++seen.sends;
    seen.status = status;
    ck_assert(ucp_request_is_completed(request));
    ck_assert_int_eq(((char *)request)[7], 0x5a);
}

static void on_recv(void *request, ucs_status_t status,
                    ucp_tag_recv_info_t *info)
{
    ucp_tag_recv_info_t again;

    ++seen.recvs;
    seen.status     = status;
    seen.info       = *info;
    seen.was_inside = seen.inside;
    ck_assert(ucp_request_is_completed(request));
    ck_assert_int_eq(ucp_request_test(request, &again), status);
    ck_assert_uint_eq(again.length, info->length);
    ck_assert_int_eq(((char *)request)[7], 0x5a);
    info->length = 0; /* the callback may modify its information */
}

static void init_request(void *request)
{
    memset(request, 0x5a, 8);
}

static void open_old(local_t *local)
{
    ucp_params_t params = {
        .field_mask = UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_REQUEST_SIZE |
                      UCP_PARAM_FIELD_REQUEST_INIT,
        .features     = UCP_FEATURE_TAG,
        .request_size = 8,
        .request_init = init_request,
    };
    ucp_worker_params_t worker_params = {0};
    ucp_ep_params_t ep_params         = {0};
    size_t i;

    ck_assert_int_eq(ucp_init(&params, NULL, &local->context), UCS_OK);
    ck_assert_int_eq(ucp_worker_create(local->context, &worker_params,
                                       &local->worker),
                     UCS_OK);
    local->ep = connect_self(local->worker, &ep_params);
    memset(&seen, 0, sizeof(seen));
    memset(buffer2, 0, sizeof(buffer2));
    for (i = 0; i < sizeof(buffer); ++i) {
        buffer[i] = (char)(i * 7 + (i >> 8));
    }
}

static void finish(local_t *local, void *request)
{
    if (!UCS_PTR_IS_PTR(request)) {
        ck_assert_ptr_null(request);
        return;
    }
    while (!ucp_request_is_completed(request)) {
        ucp_worker_progress(local->worker);
    }
    ucp_request_release(request);
}

/* Progresses until there is no event. */
static void settle(local_t *local)
{
    while (ucp_worker_progress(local->worker) != 0) {
    }
}

static ucs_status_ptr_t old_recv(local_t *local, size_t length, ucp_tag_t tag)
{
    ucs_status_ptr_t request;

    seen.inside = 1;
    request     = ucp_tag_recv_nb(local->worker, buffer2, length,
                                  ucp_dt_make_contig(1), tag, UINT64_MAX, on_recv);
    seen.inside = 0;
    return request;
}

START_TEST(messages_of_all_sizes_arrive_with_one_call_each)
{
    static const size_t sizes[] = {0, 8, 5000, sizeof(buffer)};
    ucs_status_ptr_t send, recv;
    local_t local;
    size_t i;

    open_old(&local);
    for (i = 0; i < 4; ++i) {
        recv = old_recv(&local, sizeof(buffer2), 3);
        ck_assert(UCS_PTR_IS_PTR(recv));
        send = ucp_tag_send_nb(local.ep, buffer, sizes[i],
                               ucp_dt_make_contig(1), 3, on_send);
        finish(&local, recv);
        finish(&local, send);
        ck_assert_int_eq(seen.recvs, (int)i + 1);
        ck_assert_int_eq(seen.status, UCS_OK);
        ck_assert_int_eq(seen.was_inside, 0);
        ck_assert_uint_eq(seen.info.length, sizes[i]);
        ck_assert_uint_eq(seen.info.sender_tag, 3);
        ck_assert_mem_eq(buffer, buffer2, sizes[i]);
    }
    /* at least the send of the largest message did not complete at once */
    ck_assert_int_ge(seen.sends, 1);
    local_close(&local);
}
END_TEST

START_TEST(a_receive_of_an_early_message_gives_a_request_and_has_called)
{
    ucs_status_ptr_t send, recv;
    local_t local;

    open_old(&local);
    send = ucp_tag_send_nb(local.ep, buffer, 100, ucp_dt_make_contig(1), 3,
                           on_send);
    local_await(&local, 3);
    recv = old_recv(&local, sizeof(buffer2), 3);
    ck_assert(UCS_PTR_IS_PTR(recv));
    ck_assert_int_eq(seen.recvs, 1);
    ck_assert_int_eq(seen.was_inside, 1);
    ck_assert_uint_eq(seen.info.length, 100);
    finish(&local, recv);
    finish(&local, send);
    ck_assert_int_eq(seen.recvs, 1);
    local_close(&local);
}
END_TEST

START_TEST(a_probed_message_is_received_by_its_handle)
{
    static const size_t sizes[] = {100, sizeof(buffer)};
    ucp_tag_message_h message;
    ucs_status_ptr_t send, recv;
    ucp_tag_recv_info_t info;
    local_t local;
    size_t i;

    open_old(&local);
    for (i = 0; i < 2; ++i) {
        send = ucp_tag_send_nb(local.ep, buffer, sizes[i],
                               ucp_dt_make_contig(1), 4, on_send);
        local_await(&local, 4);
        message = ucp_tag_probe_nb(local.worker, 4, UINT64_MAX, 1, &info);
        ck_assert_ptr_nonnull(message);
        ck_assert_uint_eq(info.length, sizes[i]);
        recv = ucp_tag_msg_recv_nb(local.worker, buffer2, sizeof(buffer2),
                                   ucp_dt_make_contig(1), message, on_recv);
        ck_assert(UCS_PTR_IS_PTR(recv));
        finish(&local, recv);
        finish(&local, send);
        ck_assert_int_eq(seen.recvs, (int)i + 1);
        ck_assert_uint_eq(seen.info.length, sizes[i]);
        ck_assert_mem_eq(buffer, buffer2, sizes[i]);
    }
    local_close(&local);
}
END_TEST

START_TEST(a_synchronous_send_gives_a_request_and_waits_for_the_receive)
{
    static const size_t sizes[] = {0, 100, sizeof(buffer)};
    ucs_status_ptr_t send;
    local_t local;
    size_t i;

    open_old(&local);
    for (i = 0; i < 3; ++i) {
        send = ucp_tag_send_sync_nb(local.ep, buffer, sizes[i],
                                    ucp_dt_make_contig(1), 5, on_send);
        ck_assert(UCS_PTR_IS_PTR(send));
        settle(&local);
        ck_assert(!ucp_request_is_completed(send));
        ck_assert_int_eq(seen.sends, (int)i);
        finish(&local, old_recv(&local, sizeof(buffer2), 5));
        finish(&local, send);
        ck_assert_int_eq(seen.sends, (int)i + 1);
    }
    local_close(&local);
}
END_TEST

START_TEST(errors_and_truncation_are_told_as_by_the_new_form)
{
    ucs_status_ptr_t send, recv;
    local_t local;

    open_old(&local);
    recv = old_recv(&local, 10, 6);
    send = ucp_tag_send_nb(local.ep, buffer, 11, ucp_dt_make_contig(1), 6,
                           on_send);
    finish(&local, recv);
    finish(&local, send);
    ck_assert_int_eq(seen.status, UCS_ERR_MESSAGE_TRUNCATED);

    recv = old_recv(&local, 10, 6);
    ucp_request_cancel(local.worker, recv);
    finish(&local, recv);
    ck_assert_int_eq(seen.status, UCS_ERR_CANCELED);

    send = ucp_tag_send_nb(local.ep, buffer, 1, 5 /* no datatype */, 6,
                           on_send);
    ck_assert_int_eq(UCS_PTR_RAW_STATUS(send), UCS_ERR_INVALID_PARAM);
    recv = ucp_tag_recv_nb(local.worker, buffer2, 1, 5, 6, UINT64_MAX, on_recv);
    ck_assert_int_eq(UCS_PTR_RAW_STATUS(recv), UCS_ERR_INVALID_PARAM);
    ck_assert_int_eq(seen.recvs, 2);
    local_close(&local);
}
END_TEST

/* Allocates memory for a request and returns the pointer that the calls expect,
 * which is the end of the memory. The caller frees *memory. */
static char *own_request(local_t *local, char **memory)
{
    ucp_context_attr_t attr = {.field_mask = UCP_ATTR_FIELD_REQUEST_SIZE};

    ck_assert_int_eq(ucp_context_query(local->context, &attr), UCS_OK);
    *memory = malloc(attr.request_size);
    ck_assert_ptr_nonnull(*memory);
    return *memory + attr.request_size;
}

START_TEST(operations_in_the_callers_request)
{
    static const size_t sizes[] = {0, 8, 5000, sizeof(buffer)};
    char *send_memory, *recv_memory, *send, *recv;
    ucp_tag_recv_info_t info;
    ucs_status_t status;
    local_t local;
    double start;
    size_t i;

    open_old(&local);
    send = own_request(&local, &send_memory);
    recv = own_request(&local, &recv_memory);
    for (i = 0; i < 4; ++i) {
        /* the receive is posted before the message is sent; below, after
         * that */
        ck_assert_int_eq(ucp_tag_recv_nbr(local.worker, buffer2,
                                          sizeof(buffer2),
                                          ucp_dt_make_contig(1), 7, UINT64_MAX,
                                          recv),
                         UCS_OK);
        ck_assert_int_eq(ucp_request_test(recv, &info), UCS_INPROGRESS);
        status = ucp_tag_send_nbr(local.ep, buffer, sizes[i],
                                  ucp_dt_make_contig(1), 7, send);
        while (
            (ucp_tag_recv_request_test(recv, &info) == UCS_INPROGRESS) ||
            ((status == UCS_INPROGRESS) && !ucp_request_is_completed(send))) {
            ucp_worker_progress(local.worker);
        }
        ck_assert_int_eq(ucp_request_test(recv, &info), UCS_OK);
        ck_assert_uint_eq(info.length, sizes[i]);
        ck_assert_mem_eq(buffer, buffer2, sizes[i]);
    }

    status = ucp_tag_send_nbr(local.ep, buffer, 100, ucp_dt_make_contig(1), 7,
                              send);
    for (start = local_now();
         (status == UCS_INPROGRESS) && !ucp_request_is_completed(send);) {
        local_progress(&local, start);
    }
    local_await(&local, 7);
    ck_assert_int_eq(ucp_tag_recv_nbr(local.worker, buffer2, sizeof(buffer2),
                                      ucp_dt_make_contig(1), 7, UINT64_MAX,
                                      recv),
                     UCS_OK);
    ck_assert_int_eq(ucp_request_test(recv, &info), UCS_OK);
    ck_assert_uint_eq(info.length, 100);

    ck_assert_int_eq(ucp_tag_send_nbr(local.ep, buffer, 1, 5, 7, send),
                     UCS_ERR_INVALID_PARAM);
    ck_assert_int_eq(ucp_tag_recv_nbr(local.worker, buffer, 1, 5, 7, UINT64_MAX,
                                      recv),
                     UCS_ERR_INVALID_PARAM);
    free(send_memory);
    free(recv_memory);
    local_close(&local);
}
END_TEST

/* Sends 2000 bytes with a rendezvous threshold of 1000 and the variable `name`
 * set to `thresh`. `early`: whether the send must complete before its receive
 * is posted, that is, whether it is eager. */
static void send_is_early(const char *name, const char *thresh, int early)
{
    double start = local_now();
    char *memory, *request;
    ucs_status_t status;
    local_t local;

    setenv("UCX_RNDV_THRESH", "1000", 1);
    setenv(name, thresh, 1);
    open_old(&local);
    request = own_request(&local, &memory);
    status  = ucp_tag_send_nbr(local.ep, buffer, 2000, ucp_dt_make_contig(1), 8,
                               request);
    while (early && (status == UCS_INPROGRESS) &&
           !ucp_request_is_completed(request)) {
        local_progress(&local, start);
    }
    local_await(&local, 8);
    settle(&local);
    ck_assert_int_eq((status == UCS_OK) || ucp_request_is_completed(request),
                     early);
    finish(&local, old_recv(&local, sizeof(buffer2), 8));
    while ((status == UCS_INPROGRESS) && !ucp_request_is_completed(request)) {
        ucp_worker_progress(local.worker);
    }
    ck_assert_mem_eq(buffer, buffer2, 2000);
    free(memory);
    local_close(&local);
    unsetenv(name);
    unsetenv("UCX_RNDV_THRESH");
}

START_TEST(a_sender_that_waits_does_not_wait_for_the_receiver)
{
    send_is_early("UCX_SEND_NBR_RNDV_THRESH", "256k", 1);
    send_is_early("UCX_SEND_NBR_RNDV_THRESH", "1500", 0);
    send_is_early("UCX_RNDV_SEND_NBR_THRESH", "1500", 0);
}
END_TEST

START_TEST(requests_are_not_made_by_themselves)
{
    local_t local;

    open_old(&local);
    ck_assert_ptr_null(ucp_request_alloc(local.worker));
    local_close(&local);
}
END_TEST

START_TEST(a_released_request_completes_with_its_call)
{
    ucs_status_ptr_t send, recv;
    local_t local;
    double start;

    open_old(&local);
    recv = old_recv(&local, sizeof(buffer2), 9);
    ucp_request_release(recv);
    send = ucp_tag_send_nb(local.ep, buffer, 100, ucp_dt_make_contig(1), 9,
                           on_send);
    finish(&local, send);
    for (start = local_now(); seen.recvs == 0;) {
        local_progress(&local, start);
    }
    ck_assert_int_eq(seen.recvs, 1);
    ck_assert_mem_eq(buffer, buffer2, 100);
    local_close(&local);
}
END_TEST

START_TEST(a_freed_request_completes_in_silence)
{
    ucs_status_ptr_t send, recv;
    local_t local;
    double start;

    open_old(&local);
    recv = old_recv(&local, sizeof(buffer2), 9);
    ucp_request_free(recv);
    send = ucp_tag_send_nb(local.ep, buffer, 100, ucp_dt_make_contig(1), 9,
                           on_send);
    finish(&local, send);
    for (start = local_now(); memcmp(buffer, buffer2, 100) != 0;) {
        local_progress(&local, start);
    }
    settle(&local);
    ck_assert_int_eq(seen.recvs, 0);
    ck_assert_mem_eq(buffer, buffer2, 100);
    local_close(&local);
}
END_TEST

SUITE_MAIN("old tagged messages",
           messages_of_all_sizes_arrive_with_one_call_each,
           a_receive_of_an_early_message_gives_a_request_and_has_called,
           a_probed_message_is_received_by_its_handle,
           a_synchronous_send_gives_a_request_and_waits_for_the_receive,
           errors_and_truncation_are_told_as_by_the_new_form,
           operations_in_the_callers_request,
           a_sender_that_waits_does_not_wait_for_the_receiver,
           requests_are_not_made_by_themselves,
           a_released_request_completes_with_its_call,
           a_freed_request_completes_in_silence)
