/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Streams between two endpoints: which endpoints are connected to each other,
 * which have data, and which data can be received after an endpoint is closed.
 * Also IOV and generic datatypes, and generic datatypes that fail.
 */
#include "stream.h"

enum { FORCE = UCP_EP_CLOSE_FLAG_FORCE };

typedef struct {
    local_t local;
    ucp_ep_h a, b;
} pair_t;

static void open_pair(pair_t *pair)
{
    stream_open(&pair->local);
    pair->a = stream_half(&pair->local, &pair->a);
    pair->b = stream_half(&pair->local, &pair->b);
}

static void close_pair(pair_t *pair)
{
    if (pair->a != NULL) {
        stream_close(&pair->local, pair->a, 0);
    }
    if (pair->b != NULL) {
        stream_close(&pair->local, pair->b, 0);
    }
    local_close(&pair->local);
}

static ucs_status_t take_status(ucp_ep_h ep, size_t count)
{
    size_t length;
    ucs_status_ptr_t ret = ucp_stream_recv_nbx(ep, stream_in, count, &length,
                                               &stream_none);

    return UCS_PTR_STATUS(ret);
}

/* --------------------------------------------------------------- pairing -- */

START_TEST(two_endpoints_without_loopback_are_a_pair)
{
    ucs_status_ptr_t recv;
    pair_t pair;

    open_pair(&pair);
    recv = stream_post(pair.a, stream_in, 100, 0);
    stream_send_on(&pair.local, pair.a, 30, 0);
    stream_send_on(&pair.local, pair.b, 40, 1000);
    ck_assert_uint_eq(stream_wait(&pair.local, recv), 40);
    stream_check(stream_in, 40, 1000);
    stream_take(&pair.local, pair.b, stream_in, 100, 30);
    stream_check(stream_in, 30, 0);

    /* the endpoint to the worker itself has its own stream */
    stream_send(&pair.local, 10, 500);
    stream_take(&pair.local, pair.local.ep, stream_in, 100, 10);
    stream_check(stream_in, 10, 500);
    close_pair(&pair);
}
END_TEST

START_TEST(what_comes_before_the_endpoint_waits_for_it)
{
    pair_t pair;

    stream_open(&pair.local);
    pair.a = stream_half(&pair.local, NULL);
    stream_send_on(&pair.local, pair.a, 3000, 0);
    stream_send_on(&pair.local, pair.a, 100, 3000);
    pair.b = stream_half(&pair.local, NULL);
    stream_take(&pair.local, pair.b, stream_in, 5000, 3100);
    stream_check(stream_in, 3100, 0);
    stream_send_on(&pair.local, pair.a, 100, 3100);
    stream_take(&pair.local, pair.b, stream_in, 5000, 100);
    close_pair(&pair);
}
END_TEST

START_TEST(unreceived_data_is_freed_with_the_worker)
{
    pair_t pair;
    size_t length;

    stream_open(&pair.local);
    pair.a = stream_half(&pair.local, NULL);
    pair.b = NULL;
    stream_send_on(&pair.local, pair.a, 100000, 0);
    stream_send(&pair.local, 100000, 0);
    stream_take_data(&pair.local, pair.local.ep, &length);
    close_pair(&pair);
}
END_TEST

START_TEST(what_comes_after_the_endpoint_has_gone_is_dropped)
{
    pair_t pair;

    open_pair(&pair);
    stream_close(&pair.local, pair.b, 0);
    pair.b = NULL;
    stream_settle(&pair.local);
    stream_send_on(&pair.local, pair.a, 100, 0);
    stream_close(&pair.local, pair.a, 0);

    /* two more endpoints form another pair */
    pair.a = stream_half(&pair.local, NULL);
    pair.b = stream_half(&pair.local, NULL);
    stream_send_on(&pair.local, pair.a, 7, 70);
    stream_take(&pair.local, pair.b, stream_in, 100, 7);
    stream_check(stream_in, 7, 70);
    close_pair(&pair);
}
END_TEST

/* --------------------------------------------------------------- polling -- */

static void send_and_see(pair_t *pair, ucp_ep_h ep, ucp_ep_h peer,
                         void *user_data)
{
    ucp_stream_poll_ep_t poll;

    stream_send_on(&pair->local, ep, 10, 0);
    poll = stream_await_poll(&pair->local);
    ck_assert_ptr_eq(poll.ep, peer);
    ck_assert_ptr_eq(poll.user_data, user_data);
}

START_TEST(polling_shows_an_endpoint_for_all_that_comes)
{
    ucp_stream_poll_ep_t poll;
    pair_t pair;
    int i;

    open_pair(&pair);
    for (i = 0; i < 3; ++i) {
        send_and_see(&pair, pair.a, pair.b, &pair.b);
        send_and_see(&pair, pair.b, pair.a, &pair.a);
        send_and_see(&pair, pair.local.ep, pair.local.ep, NULL);
    }
    ck_assert_int_eq(ucp_stream_worker_poll(pair.local.worker, &poll, 1, 0), 0);
    close_pair(&pair);
}
END_TEST

START_TEST(polling_shows_an_endpoint_once_for_what_has_come)
{
    ucp_stream_poll_ep_t polls[4];
    ucp_worker_h worker;
    pair_t pair;

    if (!stream_is_at_once()) {
        /* with other transports only polling itself would show whether all data
         * has arrived */
        return;
    }
    open_pair(&pair);
    worker = pair.local.worker;
    ck_assert_int_eq(ucp_stream_worker_poll(worker, polls, 4, 0), 0);
    stream_send_on(&pair.local, pair.a, 10, 0);
    stream_send_on(&pair.local, pair.a, 10, 10);
    ck_assert_int_eq(ucp_stream_worker_poll(worker, polls, 4, 0), 1);
    ck_assert_ptr_eq(polls[0].ep, pair.b);
    ck_assert_ptr_eq(polls[0].user_data, &pair.b);
    ck_assert_int_eq(ucp_stream_worker_poll(worker, polls, 4, 0), 0);

    stream_send_on(&pair.local, pair.a, 10, 20);
    stream_send_on(&pair.local, pair.b, 10, 0);
    stream_send(&pair.local, 10, 0);
    ck_assert_int_eq(ucp_stream_worker_poll(worker, polls, 2, 0), 2);
    ck_assert_ptr_eq(polls[0].ep, pair.b);
    ck_assert_ptr_eq(polls[1].ep, pair.a);
    ck_assert_ptr_eq(polls[1].user_data, &pair.a);
    ck_assert_int_eq(ucp_stream_worker_poll(worker, polls, 2, 0), 1);
    ck_assert_ptr_eq(polls[0].ep, pair.local.ep);
    stream_take(&pair.local, pair.b, stream_in, 100, 30);
    close_pair(&pair);
}
END_TEST

START_TEST(polling_shows_none_whose_data_was_taken)
{
    ucp_stream_poll_ep_t poll;
    ucs_status_ptr_t recv;
    size_t length;
    pair_t pair;
    void *data;

    open_pair(&pair);
    stream_send_on(&pair.local, pair.a, 10, 0);
    stream_take(&pair.local, pair.b, stream_in, 10, 10);
    ck_assert_int_eq(ucp_stream_worker_poll(pair.local.worker, &poll, 1, 0), 0);

    stream_send_on(&pair.local, pair.a, 10, 0);
    data = stream_take_data(&pair.local, pair.b, &length);
    ck_assert_int_eq(ucp_stream_worker_poll(pair.local.worker, &poll, 1, 0), 0);
    ucp_stream_data_release(pair.b, data);

    recv = stream_post(pair.b, stream_in, 10, 0);
    stream_send_on(&pair.local, pair.a, 10, 0);
    ck_assert_int_eq(ucp_stream_worker_poll(pair.local.worker, &poll, 1, 0), 0);
    ck_assert_uint_eq(stream_wait(&pair.local, recv), 10);

    /* polling does not return an endpoint that is closed */
    stream_send_on(&pair.local, pair.a, 10, 0);
    stream_close(&pair.local, pair.b, FORCE);
    pair.b = NULL;
    stream_settle(&pair.local);
    ck_assert_int_eq(ucp_stream_worker_poll(pair.local.worker, &poll, 1, 0), 0);
    close_pair(&pair);
}
END_TEST

START_TEST(polling_shows_an_endpoint_whose_data_was_there_before_it)
{
    ucp_stream_poll_ep_t poll;
    pair_t pair;

    stream_open(&pair.local);
    pair.a = stream_half(&pair.local, NULL);
    stream_send_on(&pair.local, pair.a, 10, 0);
    ck_assert_int_eq(ucp_stream_worker_poll(pair.local.worker, &poll, 1, 0), 0);
    pair.b = stream_half(&pair.local, &pair);
    poll   = stream_await_poll(&pair.local);
    ck_assert_ptr_eq(poll.ep, pair.b);
    ck_assert_ptr_eq(poll.user_data, &pair);
    close_pair(&pair);
}
END_TEST

/* --------------------------------------------------------------- closing -- */

START_TEST(closing_ends_what_is_posted)
{
    static const uint32_t flags[] = {0, FORCE};
    ucs_status_ptr_t recvs[3];
    pair_t pair;
    int i, n;

    for (n = 0; n < 2; ++n) {
        open_pair(&pair);
        for (i = 0; i < 3; ++i) {
            recvs[i] = stream_post(pair.b, stream_in, 100,
                                   UCP_STREAM_RECV_FLAG_WAITALL);
        }
        stream_send_on(&pair.local, pair.a, 50, 0);
        stream_close(&pair.local, pair.b, flags[n]);
        pair.b = NULL;
        for (i = 0; i < 3; ++i) {
            ck_assert_int_eq(local_wait(&pair.local, recvs[i]),
                             UCS_ERR_CANCELED);
        }
        close_pair(&pair);
    }
}
END_TEST

START_TEST(a_peers_close_comes_after_its_data)
{
    ucs_status_ptr_t recv;
    size_t length;
    pair_t pair;

    open_pair(&pair);
    stream_send_on(&pair.local, pair.a, 100, 0);
    stream_close(&pair.local, pair.a, 0);
    pair.a = NULL;
    stream_settle(&pair.local);
    stream_take(&pair.local, pair.b, stream_in, 70, 70);

    /* 30 bytes are left, fewer than the receive requires. The close
     * notification may arrive later and then ends the receive. */
    recv = ucp_stream_recv_nbx(pair.b, stream_in + 70, 100, &length,
                               &(ucp_request_param_t){
                                   .op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS,
                                   .flags        = UCP_STREAM_RECV_FLAG_WAITALL,
                               });
    ck_assert(!UCS_PTR_IS_PTR(recv) || !stream_is_at_once());
    ck_assert_int_eq(local_wait(&pair.local, recv), UCS_ERR_CONNECTION_RESET);
    stream_take(&pair.local, pair.b, stream_in + 70, 100, 30);
    stream_check(stream_in, 100, 0);
    ck_assert_int_eq(take_status(pair.b, 10), UCS_ERR_CONNECTION_RESET);
    recv = ucp_stream_recv_data_nb(pair.b, &length);
    ck_assert_int_eq(stream_status(recv), UCS_ERR_CONNECTION_RESET);
    close_pair(&pair);
}
END_TEST

START_TEST(a_peers_close_ends_what_is_posted_even_if_it_never_sent)
{
    ucs_status_ptr_t recvs[2];
    pair_t pair;

    open_pair(&pair);
    recvs[0] = stream_post(pair.b, stream_in, 100, 0);
    recvs[1] = stream_post(pair.b, stream_in, 100, 0);
    stream_settle(&pair.local);
    stream_close(&pair.local, pair.a, 0);
    pair.a = NULL;
    ck_assert_int_eq(local_wait(&pair.local, recvs[0]),
                     UCS_ERR_CONNECTION_RESET);
    ck_assert_int_eq(local_wait(&pair.local, recvs[1]),
                     UCS_ERR_CONNECTION_RESET);
    close_pair(&pair);
}
END_TEST

START_TEST(what_a_receive_had_when_the_peer_closed_is_not_lost)
{
    ucs_status_ptr_t recv;
    pair_t pair;

    open_pair(&pair);
    recv = stream_post(pair.b, stream_in, 100, UCP_STREAM_RECV_FLAG_WAITALL);
    stream_send_on(&pair.local, pair.a, 60, 0);
    stream_close(&pair.local, pair.a, 0);
    pair.a = NULL;
    ck_assert_int_eq(local_wait(&pair.local, recv), UCS_ERR_CONNECTION_RESET);
    memset(stream_in, 0, 100);
    stream_take(&pair.local, pair.b, stream_in, 100, 60);
    stream_check(stream_in, 60, 0);
    close_pair(&pair);
}
END_TEST

static ucp_ep_h closed_in_callback;

static void close_it(void *request, ucs_status_t status, size_t length,
                     void *user_data)
{
    ucp_request_param_t param = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS,
        .flags        = FORCE,
    };

    ++*(int *)user_data;
    ucp_request_free(request);
    if (closed_in_callback != NULL) {
        ucp_ep_h ep = closed_in_callback;

        closed_in_callback = NULL;
        ck_assert_ptr_null(ucp_ep_close_nbx(ep, &param));
    }
}

START_TEST(a_callback_may_close_the_endpoint)
{
    int calls                 = 0;
    ucp_request_param_t param = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK |
                        UCP_OP_ATTR_FIELD_USER_DATA,
        .cb.recv_stream = close_it,
        .user_data      = &calls,
    };
    size_t length;
    pair_t pair;
    int i;

    open_pair(&pair);
    for (i = 0; i < 4; ++i) {
        ck_assert(UCS_PTR_IS_PTR(
            ucp_stream_recv_nbx(pair.b, stream_in, 10, &length, &param)));
    }
    closed_in_callback = pair.b;
    pair.b             = NULL;
    stream_send_on(&pair.local, pair.a, 4000, 0);
    stream_await(&pair.local, &calls, 4);
    close_pair(&pair);
}
END_TEST

START_TEST(sends_that_wait_end_with_a_forced_close)
{
    ucs_status_ptr_t send;
    pair_t pair;

    setenv("UCX_SELF_QUEUE_LEN", "2", 1);
    open_pair(&pair);
    unsetenv("UCX_SELF_QUEUE_LEN");
    send = ucp_stream_send_nbx(pair.a, stream_out, 1 << 20, &stream_none);
    ck_assert(UCS_PTR_IS_PTR(send));
    stream_close(&pair.local, pair.a, FORCE);
    pair.a = NULL;
    ck_assert_int_eq(local_wait(&pair.local, send), UCS_ERR_CANCELED);
    close_pair(&pair);
}
END_TEST

START_TEST(a_flushing_close_delivers_what_waits)
{
    ucs_status_ptr_t send, recv;
    pair_t pair;

    setenv("UCX_SELF_QUEUE_LEN", "2", 1);
    open_pair(&pair);
    unsetenv("UCX_SELF_QUEUE_LEN");
    recv = stream_post(pair.b, stream_in, 1 << 20,
                       UCP_STREAM_RECV_FLAG_WAITALL);
    stream_fill(stream_out, 1 << 20, 0);
    send = ucp_stream_send_nbx(pair.a, stream_out, 1 << 20, &stream_none);
    ck_assert(UCS_PTR_IS_PTR(send));
    stream_close(&pair.local, pair.a, 0);
    pair.a = NULL;
    ck_assert_int_eq(local_wait(&pair.local, send), UCS_OK);
    ck_assert_uint_eq(stream_wait(&pair.local, recv), 1 << 20);
    stream_check(stream_in, 1 << 20, 0);
    ck_assert_int_eq(take_status(pair.b, 1), UCS_ERR_CONNECTION_RESET);
    close_pair(&pair);
}
END_TEST

/* ------------------------------------------------------------- datatypes -- */

enum { PIECES = 300 };

static size_t make_iov(ucp_dt_iov_t *iov, char *memory)
{
    size_t length = 0;
    unsigned i;

    for (i = 0; i < PIECES; ++i) {
        iov[i].buffer = memory + length;
        iov[i].length = (i % 7 == 0) ? 0 : (i % 50 == 1) ? 20000 : i % 13;
        length += iov[i].length;
    }
    return length;
}

START_TEST(pieces_of_memory_are_sent_and_received)
{
    static ucp_dt_iov_t out[PIECES], in[PIECES];
    ucp_request_param_t param = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE,
        .datatype     = ucp_dt_make_iov(),
    };
    size_t total = make_iov(out, stream_out);
    ucs_status_ptr_t recv;
    size_t length;
    local_t local;
    int wait_all;

    make_iov(in, stream_in);
    for (wait_all = 0; wait_all < 2; ++wait_all) {
        setenv("UCX_ZCOPY_THRESH", wait_all ? "1" : "inf", 1);
        stream_open(&local);
        stream_fill(stream_out, total, 0);
        memset(stream_in, 0, total);
        param.op_attr_mask |= UCP_OP_ATTR_FIELD_FLAGS;
        param.flags = wait_all ? UCP_STREAM_RECV_FLAG_WAITALL : 0;
        recv = ucp_stream_recv_nbx(local.ep, in, PIECES, &length, &param);
        ck_assert(UCS_PTR_IS_PTR(recv));
        param.op_attr_mask &= ~UCP_OP_ATTR_FIELD_FLAGS;
        ck_assert_int_eq(local_wait(&local,
                                    ucp_stream_send_nbx(local.ep, out, PIECES,
                                                        &param)),
                         UCS_OK);
        length = stream_wait(&local, recv);
        stream_settle(&local);
        if (length < total) {
            ck_assert(!wait_all);
            stream_take(&local, local.ep, stream_in + length, total,
                        total - length);
        }
        stream_check(stream_in, total, 0);
        local_close(&local);
    }
    unsetenv("UCX_ZCOPY_THRESH");
}
END_TEST

/* A generic datatype whose data is `length` bytes at `bytes` */
typedef struct {
    char *bytes;
    size_t length;
    size_t most; /* Most bytes that one call packs */
    size_t bad;  /* Offset of the byte whose unpacking fails */
} generic_t;

static int generic_started, generic_finished;

static void *start_pack(void *context, const void *buffer, size_t count)
{
    ++generic_started;
    return (void *)buffer;
}

static void *start_unpack(void *context, void *buffer, size_t count)
{
    ++generic_started;
    return buffer;
}

static size_t packed_size(void *state)
{
    return ((generic_t *)state)->length;
}

static size_t pack(void *state, size_t offset, void *dest, size_t max)
{
    generic_t *generic = state;
    size_t length      = (max < generic->most) ? max : generic->most;

    memcpy(dest, generic->bytes + offset, length);
    return length;
}

static ucs_status_t unpack(void *state, size_t offset, const void *src,
                           size_t length)
{
    generic_t *generic = state;

    memcpy(generic->bytes + offset, src, length);
    return ((offset <= generic->bad) && (generic->bad - offset < length)) ?
               UCS_ERR_OUT_OF_RANGE :
               UCS_OK;
}

static void finish(void *state)
{
    ++generic_finished;
}

static ucp_request_param_t make_generic(void)
{
    static const ucp_generic_dt_ops_t ops = {
        start_pack, start_unpack, packed_size, pack, unpack, finish,
    };
    ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE};

    generic_started = generic_finished = 0;
    ck_assert_int_eq(ucp_dt_create_generic(&ops, NULL, &param.datatype),
                     UCS_OK);
    return param;
}

START_TEST(generic_data_is_sent_and_received)
{
    ucp_request_param_t param = make_generic();
    generic_t out             = {stream_out, 100000, 999, SIZE_MAX};
    generic_t in              = {stream_in, 100000, 0, SIZE_MAX};
    ucs_status_ptr_t recv;
    size_t length;
    local_t local;

    stream_open(&local);
    stream_fill(stream_out, out.length, 0);
    param.op_attr_mask |= UCP_OP_ATTR_FIELD_FLAGS;
    param.flags = UCP_STREAM_RECV_FLAG_WAITALL;
    recv        = ucp_stream_recv_nbx(local.ep, &in, 1, &length, &param);
    ck_assert(UCS_PTR_IS_PTR(recv));
    param.op_attr_mask &= ~UCP_OP_ATTR_FIELD_FLAGS;
    ck_assert_int_eq(local_wait(&local,
                                ucp_stream_send_nbx(local.ep, &out, 1, &param)),
                     UCS_OK);
    ck_assert_uint_eq(stream_wait(&local, recv), in.length);
    stream_check(stream_in, in.length, 0);

    /* a receive of data that has arrived, and a receive that is cancelled
     * before data arrives */
    stream_send(&local, 50, 0);
    ck_assert_uint_eq(stream_recv(&local, local.ep, &in, 1, &param), 50);
    recv = ucp_stream_recv_nbx(local.ep, &in, 1, &length, &param);
    ucp_request_cancel(local.worker, recv);
    ck_assert_int_eq(local_wait(&local, recv), UCS_ERR_CANCELED);
    local_close(&local);
    ck_assert_int_eq(generic_started, 4);
    ck_assert_int_eq(generic_finished, 4);
    ucp_dt_destroy(param.datatype);
}
END_TEST

START_TEST(generic_data_that_fails_fails_its_operation_alone)
{
    ucp_request_param_t param = make_generic();
    generic_t out             = {stream_out, 100, 0, SIZE_MAX};
    generic_t in              = {stream_in, 100, 0, 20};
    ucs_status_ptr_t ret;
    size_t length;
    local_t local;

    stream_open(&local);
    ret = ucp_stream_send_nbx(local.ep, &out, 1, &param);
    ck_assert_int_eq(local_wait(&local, ret), UCS_ERR_IO_ERROR);

    ret = ucp_stream_recv_nbx(local.ep, &in, 1, &length, &param);
    stream_send(&local, 50, 0);
    ck_assert_int_eq(local_wait(&local, ret), UCS_ERR_OUT_OF_RANGE);
    stream_send(&local, 50, 0);
    stream_await_poll(&local);
    ret = ucp_stream_recv_nbx(local.ep, &in, 1, &length, &param);
    ck_assert_int_eq(stream_status(ret), UCS_ERR_OUT_OF_RANGE);

    stream_send(&local, 10, 100);
    stream_take(&local, local.ep, stream_in, 20, 10);
    stream_check(stream_in, 10, 100);
    local_close(&local);
    ck_assert_int_eq(generic_started, 3);
    ck_assert_int_eq(generic_finished, 3);
    ucp_dt_destroy(param.datatype);
}
END_TEST

SUITE_MAIN("stream ends", two_endpoints_without_loopback_are_a_pair,
           what_comes_before_the_endpoint_waits_for_it,
           unreceived_data_is_freed_with_the_worker,
           what_comes_after_the_endpoint_has_gone_is_dropped,
           polling_shows_an_endpoint_for_all_that_comes,
           polling_shows_an_endpoint_once_for_what_has_come,
           polling_shows_none_whose_data_was_taken,
           polling_shows_an_endpoint_whose_data_was_there_before_it,
           closing_ends_what_is_posted, a_peers_close_comes_after_its_data,
           a_peers_close_ends_what_is_posted_even_if_it_never_sent,
           what_a_receive_had_when_the_peer_closed_is_not_lost,
           a_callback_may_close_the_endpoint,
           sends_that_wait_end_with_a_forced_close,
           a_flushing_close_delivers_what_waits,
           pieces_of_memory_are_sent_and_received,
           generic_data_is_sent_and_received,
           generic_data_that_fails_fails_its_operation_alone)
