/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Streams of an endpoint to the worker itself: data arrives complete and in
 * order, however sender and receiver divide it, by all forms of receive. Also
 * cancelled receives and the deprecated calls.
 */
#include "stream.h"

#include <ucp/api/ucp_compat.h>

static ucs_status_ptr_t recv_data(local_t *local, size_t *length)
{
    return ucp_stream_recv_data_nb(local->ep, length);
}

/* -------------------------------------------------------------- delivery -- */

START_TEST(bytes_of_any_number_arrive_before_and_after_the_receive)
{
    static const size_t sizes[] = {1,    2,     7,     8,      63,   64,
                                   65,   1023,  1024,  4096,   8183, 8184,
                                   8185, 65536, 65537, 1 << 20};
    ucs_status_ptr_t recv;
    size_t got, place = 0;
    local_t local;
    unsigned i;

    stream_open(&local);
    for (i = 0; i < 2 * sizeof(sizes) / sizeof(sizes[0]); ++i) {
        size_t size = sizes[i / 2];

        if (i & 1) {
            stream_send(&local, size, place);
            got = 0;
        } else {
            recv = stream_post(local.ep, stream_in, size, 0);
            stream_send(&local, size, place);
            got = stream_wait(&local, recv);
            ck_assert_uint_ge(got, 1);
        }
        ck_assert_uint_le(got, size);
        stream_take(&local, local.ep, stream_in + got, size - got, size - got);
        stream_check(stream_in, size, place);
        place += size;
    }
    local_close(&local);
}
END_TEST

START_TEST(receives_cross_the_boundaries_of_sends)
{
    local_t local;

    stream_open(&local);
    stream_send(&local, 10, 0);
    stream_send(&local, 3000, 10);
    stream_send(&local, 10, 3010);
    stream_take(&local, local.ep, stream_in, 7, 7);
    stream_take(&local, local.ep, stream_in + 7, 7, 7);
    stream_take(&local, local.ep, stream_in + 14, 5000, 3006);
    stream_check(stream_in, 3020, 0);
    local_close(&local);
}
END_TEST

START_TEST(posted_receives_are_served_in_order)
{
    ucs_status_ptr_t recvs[4];
    local_t local;
    size_t i;

    stream_open(&local);
    for (i = 0; i < 4; ++i) {
        recvs[i] = stream_post(local.ep, stream_in + 10 * i, 10, 0);
    }
    stream_send(&local, 25, 0);
    stream_send(&local, 10, 25);
    ck_assert_uint_eq(stream_wait(&local, recvs[0]), 10);
    ck_assert_uint_eq(stream_wait(&local, recvs[1]), 10);
    ck_assert_uint_eq(stream_wait(&local, recvs[2]), 5);
    ck_assert_uint_eq(stream_wait(&local, recvs[3]), 10);
    stream_check(stream_in, 25, 0);
    stream_check(stream_in + 30, 10, 25);
    local_close(&local);
}
END_TEST

START_TEST(wait_all_completes_when_the_buffer_is_full)
{
    ucs_status_ptr_t recv;
    local_t local;

    stream_open(&local);
    stream_send(&local, 40, 0);
    recv = stream_post(local.ep, stream_in, 100, UCP_STREAM_RECV_FLAG_WAITALL);
    stream_send(&local, 40, 40);
    ck_assert_int_eq(ucp_request_check_status(recv), UCS_INPROGRESS);
    stream_send(&local, 40, 80);
    ck_assert_uint_eq(stream_wait(&local, recv), 100);
    stream_take(&local, local.ep, stream_in + 100, 50, 20);
    stream_check(stream_in, 120, 0);
    local_close(&local);
}
END_TEST

START_TEST(a_receive_gets_whole_elements)
{
    ucp_request_param_t param = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE,
        .datatype     = ucp_dt_make_contig(8),
    };
    size_t length;
    ucs_status_ptr_t recv;
    local_t local;

    stream_open(&local);
    stream_send(&local, 20, 0);
    ck_assert_uint_eq(stream_recv(&local, local.ep, stream_in, 10, &param), 16);

    /* Four of the 20 bytes are left: less than an element. */
    recv = ucp_stream_recv_nbx(local.ep, stream_in + 16, 10, &length, &param);
    ck_assert(UCS_PTR_IS_PTR(recv));
    stream_send(&local, 3, 20);
    ck_assert_int_eq(ucp_request_check_status(recv), UCS_INPROGRESS);
    stream_send(&local, 10, 23);
    ck_assert_uint_eq(stream_wait(&local, recv), 16);
    stream_take(&local, local.ep, stream_in + 32, 10, 1);
    stream_check(stream_in, 33, 0);
    local_close(&local);
}
END_TEST

START_TEST(empty_stream_sends_have_no_effect)
{
    ucp_request_param_t param = {
        .op_attr_mask = UCP_OP_ATTR_FLAG_NO_IMM_CMPL,
    };
    ucs_status_ptr_t ret;
    size_t length;
    local_t local;

    stream_open(&local);
    stream_send(&local, 0, 0);
    ret = ucp_stream_send_nbx(local.ep, NULL, 0, &param);
    ck_assert(UCS_PTR_IS_PTR(ret));
    ck_assert_int_eq(local_wait(&local, ret), UCS_OK);
    stream_settle(&local);
    ck_assert_ptr_null(recv_data(&local, &length));
    stream_send(&local, 5, 0);
    stream_send(&local, 0, 0);
    ck_assert_uint_eq(stream_recv(&local, local.ep, stream_in, 0, &stream_none),
                      0);
    stream_take(&local, local.ep, stream_in, 10, 5);
    local_close(&local);
}
END_TEST

START_TEST(a_large_send_waits_for_room_and_stays_in_order)
{
    ucp_request_param_t fast = {.op_attr_mask = UCP_OP_ATTR_FLAG_FAST_CMPL};
    ucs_status_ptr_t send, after, recv;
    local_t local;

    setenv("UCX_SELF_QUEUE_LEN", "3", 1);
    stream_open(&local);
    unsetenv("UCX_SELF_QUEUE_LEN");
    stream_fill(stream_out, 1000020, 0);
    send = ucp_stream_send_nbx(local.ep, stream_out, 500000, &stream_none);
    ck_assert(UCS_PTR_IS_PTR(send));
    after = ucp_stream_send_nbx(local.ep, stream_out + 500000, 500000, &fast);
    ck_assert(UCS_PTR_IS_PTR(after));
    recv = stream_post(local.ep, stream_in, 1000020,
                       UCP_STREAM_RECV_FLAG_WAITALL);
    ck_assert_int_eq(local_wait(&local, after), UCS_OK);
    ck_assert_int_eq(ucp_request_check_status(send), UCS_OK);
    ck_assert_int_eq(local_wait(&local, send), UCS_OK);
    ck_assert_int_eq(
        local_wait(&local, ucp_stream_send_nbx(local.ep, stream_out + 1000000,
                                               20, &stream_none)),
        UCS_OK);
    ck_assert_uint_eq(stream_wait(&local, recv), 1000020);
    stream_check(stream_in, 1000020, 0);
    local_close(&local);
}
END_TEST

/* --------------------------------------------------- forms of completion -- */

typedef struct {
    int calls;
    ucs_status_t status;
    size_t length;
    void *request;
    void (*act)(void *seen);
    local_t *local;
} seen_t;

static void on_recv(void *request, ucs_status_t status, size_t length,
                    void *user_data)
{
    seen_t *seen = user_data;

    ++seen->calls;
    seen->status  = status;
    seen->length  = length;
    seen->request = request;
    if (seen->act != NULL) {
        seen->act(seen);
    }
}

static ucp_request_param_t call(seen_t *seen)
{
    memset(seen, 0, sizeof(*seen));
    return (ucp_request_param_t){
        .op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK |
                        UCP_OP_ATTR_FIELD_USER_DATA,
        .cb.recv_stream = on_recv,
        .user_data      = seen,
    };
}

START_TEST(a_callback_runs_once_and_only_for_a_request)
{
    ucp_request_param_t param;
    ucs_status_ptr_t recv;
    size_t length;
    local_t local;
    seen_t seen;

    stream_open(&local);
    param = call(&seen);
    recv  = ucp_stream_recv_nbx(local.ep, stream_in, 50, &length, &param);
    ck_assert(UCS_PTR_IS_PTR(recv));
    stream_send(&local, 30, 0);
    stream_await(&local, &seen.calls, 1);
    ck_assert_int_eq(seen.status, UCS_OK);
    ck_assert_uint_eq(seen.length, 30);
    ck_assert_ptr_eq(seen.request, recv);
    ucp_request_free(recv);

    stream_send(&local, 30, 30);
    stream_await_poll(&local);
    ck_assert_ptr_null(
        ucp_stream_recv_nbx(local.ep, stream_in, 50, &length, &param));
    ck_assert_uint_eq(length, 30);
    ck_assert_int_eq(seen.calls, 1);

    /* with NO_IMM_CMPL the call returns a request */
    stream_send(&local, 20, 60);
    stream_await_poll(&local);
    param.op_attr_mask |= UCP_OP_ATTR_FLAG_NO_IMM_CMPL;
    recv = ucp_stream_recv_nbx(local.ep, stream_in, 50, &length, &param);
    ck_assert(UCS_PTR_IS_PTR(recv));
    ck_assert_int_eq(seen.calls, 2);
    ck_assert_uint_eq(seen.length, 20);
    ck_assert_uint_eq(stream_wait(&local, recv), 20);
    local_close(&local);
}
END_TEST

START_TEST(a_request_may_lie_in_the_users_memory)
{
    ucp_context_attr_t attr = {.field_mask = UCP_ATTR_FIELD_REQUEST_SIZE};
    ucp_request_param_t param;
    ucs_status_ptr_t recv;
    size_t length;
    local_t local;
    seen_t seen;
    char *memory;

    stream_open(&local);
    ck_assert_int_eq(ucp_context_query(local.context, &attr), UCS_OK);
    memory = malloc(attr.request_size);
    param  = call(&seen);
    param.op_attr_mask |= UCP_OP_ATTR_FIELD_REQUEST;
    param.request = memory + attr.request_size;
    recv = ucp_stream_recv_nbx(local.ep, stream_in, 50, &length, &param);
    ck_assert_ptr_eq(recv, param.request);
    stream_send(&local, 50, 0);
    stream_await(&local, &seen.calls, 1);
    ck_assert_uint_eq(seen.length, 50);

    param.op_attr_mask = UCP_OP_ATTR_FIELD_REQUEST |
                         UCP_OP_ATTR_FLAG_NO_IMM_CMPL;
    recv = ucp_stream_send_nbx(local.ep, stream_out, 50, &param);
    ck_assert_ptr_eq(recv, param.request);
    while (ucp_request_check_status(recv) == UCS_INPROGRESS) {
        ucp_worker_progress(local.worker);
    }
    free(memory);
    local_close(&local);
}
END_TEST

START_TEST(what_must_be_done_at_once_is_done_or_refused)
{
    ucp_request_param_t param = {
        .op_attr_mask = UCP_OP_ATTR_FLAG_FORCE_IMM_CMPL |
                        UCP_OP_ATTR_FIELD_FLAGS,
    };
    ucs_status_ptr_t ret;
    size_t length;
    local_t local;

    stream_open(&local);
    stream_fill(stream_out, 1 << 20, 0);
    ret = ucp_stream_recv_nbx(local.ep, stream_in, 10, &length, &param);
    ck_assert_int_eq(stream_status(ret), UCS_ERR_NO_RESOURCE);
    ck_assert_ptr_null(ucp_stream_send_nbx(local.ep, stream_out, 30, &param));
    ret = ucp_stream_send_nbx(local.ep, stream_out, 1 << 20, &param);
    ck_assert_int_eq(stream_status(ret), UCS_ERR_NO_RESOURCE);
    stream_await_poll(&local);

    param.flags = UCP_STREAM_RECV_FLAG_WAITALL;
    ret         = ucp_stream_recv_nbx(local.ep, stream_in, 31, &length, &param);
    ck_assert_int_eq(stream_status(ret), UCS_ERR_NO_RESOURCE);
    ret = ucp_stream_recv_nbx(local.ep, stream_in, 30, &length, &param);
    ck_assert_ptr_null(ret);
    ck_assert_uint_eq(length, 30);
    stream_check(stream_in, 30, 0);
    local_close(&local);
}
END_TEST

static void post_more(void *arg)
{
    seen_t *seen              = arg;
    ucp_request_param_t param = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK |
                        UCP_OP_ATTR_FIELD_USER_DATA,
        .cb.recv_stream = on_recv,
        .user_data      = seen,
    };
    size_t length;
    void *ret;

    ucp_request_free(seen->request);
    if (seen->calls < 5) {
        ret = ucp_stream_recv_nbx(seen->local->ep, stream_in + 10 * seen->calls,
                                  10, &length, &param);
        ck_assert(UCS_PTR_IS_PTR(ret));
    }
}

START_TEST(a_callback_may_post_the_next_receive)
{
    ucp_request_param_t param;
    local_t local;
    size_t length;
    seen_t seen;

    stream_open(&local);
    param      = call(&seen);
    seen.act   = post_more;
    seen.local = &local;
    ck_assert(UCS_PTR_IS_PTR(
        ucp_stream_recv_nbx(local.ep, stream_in, 10, &length, &param)));
    stream_send(&local, 65, 0);
    stream_await(&local, &seen.calls, 5);
    stream_take(&local, local.ep, stream_in + 50, 100, 15);
    stream_check(stream_in, 65, 0);
    local_close(&local);
}
END_TEST

START_TEST(a_receive_can_be_freed_before_it_completes)
{
    local_t local;

    stream_open(&local);
    ucp_request_free(stream_post(local.ep, stream_in, 10, 0));
    stream_send(&local, 15, 0);
    stream_take(&local, local.ep, stream_in + 10, 10, 5);
    stream_check(stream_in, 15, 0);
    local_close(&local);
}
END_TEST

/* ---------------------------------------------------- the library's data -- */

START_TEST(data_is_handed_out_in_order)
{
    size_t length, place = 0;
    local_t local;
    char *data;

    stream_open(&local);
    ck_assert_ptr_null(recv_data(&local, &length));
    stream_send(&local, 10, 0);
    stream_send(&local, 100, 10);
    stream_send(&local, 100000, 110);
    stream_take(&local, local.ep, stream_in, 3, 3);
    place = 3;
    while (place < 100110) {
        data = stream_take_data(&local, local.ep, &length);
        ck_assert_uint_gt(length, 0);
        stream_check(data, length, place);
        place += length;
        ucp_stream_data_release(local.ep, data);
        if (place == 110) {
            stream_take(&local, local.ep, stream_in, 1, 1);
            ++place;
        }
    }
    ck_assert_uint_eq(place, 100110);
    ck_assert_ptr_null(recv_data(&local, &length));
    local_close(&local);
}
END_TEST

START_TEST(data_stays_while_the_user_has_it)
{
    size_t lengths[2], rest;
    char *data[2];
    local_t local;

    stream_open(&local);
    stream_send(&local, 5000, 0);
    data[0] = stream_take_data(&local, local.ep, &lengths[0]);
    stream_send(&local, 50, 5000);
    for (rest = 5050 - lengths[0]; rest > 0; rest -= lengths[1]) {
        /* the test does not release this data: the worker frees it */
        stream_take_data(&local, local.ep, &lengths[1]);
        ck_assert_uint_le(lengths[1], rest);
    }
    stream_send(&local, 50, 0);
    data[1] = stream_take_data(&local, local.ep, &lengths[1]);
    stream_check(data[0], lengths[0], 0);
    stream_check(data[1], lengths[1], 0);
    ucp_stream_data_release(local.ep, data[1]);
    ucp_stream_data_release(local.ep, data[0]);
    local_close(&local);
}
END_TEST

START_TEST(no_data_is_handed_out_past_posted_receives)
{
    ucs_status_ptr_t recv;
    size_t length;
    local_t local;

    stream_open(&local);
    recv = stream_post(local.ep, stream_in, 100, UCP_STREAM_RECV_FLAG_WAITALL);
    stream_send(&local, 60, 0);
    ck_assert_ptr_null(recv_data(&local, &length));
    stream_send(&local, 60, 60);
    ck_assert_uint_eq(stream_wait(&local, recv), 100);
    stream_take(&local, local.ep, stream_in + 100, 100, 20);
    stream_check(stream_in, 120, 0);
    local_close(&local);
}
END_TEST

/* ---------------------------------------------------------------- cancel -- */

START_TEST(what_a_cancelled_receive_had_goes_to_the_next)
{
    ucs_status_ptr_t first, second, third;
    local_t local;

    stream_open(&local);
    first  = stream_post(local.ep, stream_in, 1000,
                         UCP_STREAM_RECV_FLAG_WAITALL);
    second = stream_post(local.ep, stream_in + 1000, 1000, 0);
    third  = stream_post(local.ep, stream_in + 2000, 1000, 0);
    stream_send(&local, 600, 0);
    ucp_request_cancel(local.worker, first);
    ck_assert_int_eq(local_wait(&local, first), UCS_ERR_CANCELED);
    ck_assert_uint_eq(stream_wait(&local, second), 600);
    stream_check(stream_in + 1000, 600, 0);

    ucp_request_cancel(local.worker, third);
    ck_assert_int_eq(local_wait(&local, third), UCS_ERR_CANCELED);
    ucp_request_cancel(local.worker,
                       first = stream_post(local.ep, stream_in, 10, 0));
    ck_assert_int_eq(local_wait(&local, first), UCS_ERR_CANCELED);
    stream_send(&local, 10, 600);
    stream_take(&local, local.ep, stream_in, 100, 10);
    stream_check(stream_in, 10, 600);
    local_close(&local);
}
END_TEST

START_TEST(what_a_cancelled_receive_had_can_be_received_again)
{
    static char parts[3][50];
    ucp_dt_iov_t iov[] = {
        {parts[0], 50},
        {NULL, 0},
        {parts[1], 50},
        {parts[2], 50},
    };
    ucp_request_param_t param = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE | UCP_OP_ATTR_FIELD_FLAGS,
        .datatype     = ucp_dt_make_iov(),
        .flags        = UCP_STREAM_RECV_FLAG_WAITALL,
    };
    ucs_status_ptr_t recv;
    size_t length;
    local_t local;

    stream_open(&local);
    recv = ucp_stream_recv_nbx(local.ep, iov, 4, &length, &param);
    ck_assert(UCS_PTR_IS_PTR(recv));
    stream_send(&local, 70, 0);
    stream_send(&local, 17, 70);
    ucp_request_cancel(local.worker, recv);
    ck_assert_int_eq(local_wait(&local, recv), UCS_ERR_CANCELED);
    stream_send(&local, 13, 87);
    stream_take(&local, local.ep, stream_in, 200, 100);
    stream_check(stream_in, 100, 0);
    local_close(&local);
}
END_TEST

/* ------------------------------------------------------ deprecated calls -- */

static int old_calls;
static size_t old_length;

static void on_old_send(void *request, ucs_status_t status)
{
    ck_assert_int_eq(status, UCS_OK);
    ++old_calls;
}

static void on_old_recv(void *request, ucs_status_t status, size_t length)
{
    ck_assert_int_eq(status, UCS_OK);
    old_length = length;
    ++old_calls;
}

START_TEST(the_old_forms_do_the_same)
{
    ucp_datatype_t eights = ucp_dt_make_contig(8);
    ucs_status_ptr_t send, recv;
    size_t length, place;
    int calls = 2;
    local_t local;

    stream_open(&local);
    old_calls = 0;
    recv = ucp_stream_recv_nb(local.ep, stream_in, 1000, eights, on_old_recv,
                              &length, UCP_STREAM_RECV_FLAG_WAITALL);
    ck_assert(UCS_PTR_IS_PTR(recv));
    stream_fill(stream_out, 200000, 0);
    send = ucp_stream_send_nb(local.ep, stream_out, 25000, eights, on_old_send,
                              0);
    if (UCS_PTR_IS_PTR(send)) {
        ck_assert_int_eq(local_wait(&local, send), UCS_OK);
    } else {
        ck_assert_ptr_null(send);
        ++old_calls;
    }
    ck_assert_uint_eq(stream_wait(&local, recv), 8000);
    ck_assert_int_eq(old_calls, 2);
    ck_assert_uint_eq(old_length, 8000);
    stream_settle(&local);
    for (place = 8000; place < 200000; place += length) {
        recv = ucp_stream_recv_nb(local.ep, stream_in + place,
                                  25000 - place / 8, eights, on_old_recv,
                                  &length, 0);
        if (recv != NULL) {
            ck_assert(UCS_PTR_IS_PTR(recv) && !stream_is_at_once());
            length = stream_wait(&local, recv);
            ++calls;
        }
    }
    stream_check(stream_in, 200000, 0);
    ck_assert_int_eq(old_calls, calls);
    local_close(&local);
}
END_TEST

START_TEST(streams_that_were_not_asked_for_are_refused)
{
    ucp_stream_poll_ep_t poll;
    ucs_status_ptr_t ret;
    size_t length;
    local_t local;

    local_open(&local);
    ret = ucp_stream_send_nbx(local.ep, stream_out, 8, &stream_none);
    ck_assert_int_eq(stream_status(ret), UCS_ERR_INVALID_PARAM);
    ret = ucp_stream_recv_nbx(local.ep, stream_in, 8, &length, &stream_none);
    ck_assert_int_eq(stream_status(ret), UCS_ERR_INVALID_PARAM);
    ret = recv_data(&local, &length);
    ck_assert_int_eq(stream_status(ret), UCS_ERR_INVALID_PARAM);
    ck_assert_int_eq(ucp_stream_worker_poll(local.worker, &poll, 1, 0),
                     UCS_ERR_INVALID_PARAM);
    local_close(&local);
}
END_TEST

SUITE_MAIN("stream", bytes_of_any_number_arrive_before_and_after_the_receive,
           receives_cross_the_boundaries_of_sends,
           posted_receives_are_served_in_order,
           wait_all_completes_when_the_buffer_is_full,
           a_receive_gets_whole_elements, empty_stream_sends_have_no_effect,
           a_large_send_waits_for_room_and_stays_in_order,
           a_callback_runs_once_and_only_for_a_request,
           a_request_may_lie_in_the_users_memory,
           what_must_be_done_at_once_is_done_or_refused,
           a_callback_may_post_the_next_receive,
           a_receive_can_be_freed_before_it_completes,
           data_is_handed_out_in_order, data_stays_while_the_user_has_it,
           no_data_is_handed_out_past_posted_receives,
           what_a_cancelled_receive_had_goes_to_the_next,
           what_a_cancelled_receive_had_can_be_received_again,
           the_old_forms_do_the_same,
           streams_that_were_not_asked_for_are_refused)
