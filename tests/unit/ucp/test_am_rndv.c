/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Active messages by rendezvous over an endpoint to the worker itself: the
 * descriptor that the handler receives instead of data, its use, and the
 * completion of the send.
 */
#include "am.h"

#include <ucp/api/ucp_compat.h>

enum { ID = 5, NOBODY = 77 };

static const size_t lengths[] = {0, 1, 1000, 10000, 100000, (1 << 20) + 1};

#define COUNT(_array) (sizeof(_array) / sizeof((_array)[0]))

static char am_in[(1 << 20) + 1];

static const uint32_t RNDV = UCP_AM_SEND_FLAG_RNDV;

static struct {
    unsigned calls;
    ucs_status_t status;
    size_t length;
} received;

static void on_received(void *request, ucs_status_t status, size_t length,
                        void *user_data)
{
    ck_assert_ptr_eq(user_data, &received);
    ++received.calls;
    received.status = status;
    received.length = length;
}

static const ucp_request_param_t tell = {
    .op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA,
    .cb.recv_am   = on_received,
    .user_data    = &received,
};

START_TEST(a_descriptor_is_fetched_when_the_user_wants)
{
    am_seen_t seen = {
        .answer  = UCS_INPROGRESS,
        .only_if = UCP_AM_RECV_ATTR_FLAG_RNDV,
    };
    ucs_status_ptr_t send, recv;
    local_t local;
    size_t l;

    am_open(&local);
    am_set(&local, ID, UCP_AM_FLAG_PERSISTENT_DATA, &seen);
    for (l = 0; l < COUNT(lengths); ++l) {
        seen.calls     = 0;
        received.calls = 0;
        send           = am_send(&local, ID, 100, lengths[l], RNDV);
        memset(am_in, 0, lengths[l]);
        am_await(&local, &seen, 1);
        ck_assert_uint_eq(seen.attr, UCP_AM_RECV_ATTR_FLAG_RNDV);
        ck_assert_uint_eq(seen.length, lengths[l]);
        ck_assert_uint_eq(seen.header_length, 100);
        am_settle(&local);
        ck_assert_int_eq(am_status(send), UCS_INPROGRESS);
        ck_assert_int_eq(ucp_request_check_status(send), UCS_INPROGRESS);
        recv = ucp_am_recv_data_nbx(local.worker, seen.data, am_in,
                                    sizeof(am_in), &tell);
        ck_assert(UCS_PTR_IS_PTR(recv));
        ck_assert_int_eq(local_wait(&local, recv), UCS_OK);
        ck_assert_int_eq(local_wait(&local, send), UCS_OK);
        ck_assert_uint_eq(received.calls, 1);
        ck_assert_int_eq(received.status, UCS_OK);
        ck_assert_uint_eq(received.length, lengths[l]);
        am_check(am_in, lengths[l], 2);
    }
    local_close(&local);
}
END_TEST

static local_t *acting;
static ucs_status_ptr_t acting_recv;

static void fetches(void *arg, void *data)
{
    acting_recv = ucp_am_recv_data_nbx(acting->worker, data, am_in,
                                       sizeof(am_in), &tell);
}

static void releases(void *arg, void *data)
{
    ucp_am_data_release(acting->worker, data);
}

START_TEST(a_handler_may_fetch_at_once)
{
    static const ucs_status_t answers[] = {UCS_OK, UCS_INPROGRESS,
                                           UCS_ERR_IO_ERROR};
    am_seen_t seen                      = {.act = fetches};
    ucs_status_ptr_t send;
    local_t local;
    size_t l, a;

    am_open(&local);
    acting = &local;
    am_set(&local, ID, 0, &seen);
    for (a = 0; a < COUNT(answers); ++a) {
        /* the handler has fetched the data: its return value has no effect */
        seen.answer = answers[a];
        for (l = 0; l < COUNT(lengths); ++l) {
            seen.calls = received.calls = 0;
            send = am_send(&local, ID, 8, lengths[l], RNDV);
            am_await(&local, &seen, 1);
            ck_assert(UCS_PTR_IS_PTR(acting_recv));
            ck_assert_int_eq(local_wait(&local, acting_recv), UCS_OK);
            ck_assert_int_eq(local_wait(&local, send), UCS_OK);
            ck_assert_uint_eq(received.calls, 1);
            am_check(am_in, lengths[l], 2);
        }
    }
    local_close(&local);
}
END_TEST

START_TEST(data_that_is_not_fetched_completes_the_send)
{
    static const struct {
        ucs_status_t answer;
        void (*act)(void *seen, void *data);
        ucs_status_t sender;
    } ways[] = {
        {UCS_OK, NULL, UCS_OK},
        {UCS_ERR_NO_MEMORY, NULL, UCS_ERR_NO_MEMORY},
        {UCS_ERR_REJECTED, NULL, UCS_ERR_REJECTED},
        {UCS_OK, releases, UCS_OK},
        {UCS_INPROGRESS, releases, UCS_OK},
    };
    am_seen_t seen = {0};
    ucs_status_ptr_t send;
    local_t local;
    size_t l, w;

    am_open(&local);
    acting = &local;
    am_set(&local, ID, 0, &seen);
    for (w = 0; w < COUNT(ways); ++w) {
        seen.answer = ways[w].answer;
        seen.act    = ways[w].act;
        for (l = 0; l < COUNT(lengths); ++l) {
            seen.calls = 0;
            send       = am_send(&local, ID, 8, lengths[l], RNDV);
            ck_assert_int_eq(local_wait(&local, send), ways[w].sender);
            ck_assert_uint_eq(seen.calls, 1);
        }
    }

    /* First without a handler, then with a handler that keeps the descriptor;
     * the test releases it later without fetching the data. */
    ck_assert_int_eq(local_wait(&local, am_send(&local, NOBODY, 8, 100, RNDV)),
                     UCS_ERR_REJECTED);
    seen = (am_seen_t){.answer = UCS_INPROGRESS};
    send = am_send(&local, ID, 8, 100000, RNDV);
    am_await(&local, &seen, 1);
    am_settle(&local);
    ck_assert_int_eq(ucp_request_check_status(send), UCS_INPROGRESS);
    ucp_am_data_release(local.worker, seen.data);
    ck_assert_int_eq(local_wait(&local, send), UCS_OK);
    local_close(&local);
}
END_TEST

START_TEST(a_failed_fetch_releases_the_descriptor)
{
    ucp_request_param_t wrong_type = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE,
        .datatype     = 5, /* invalid class */
    };
    ucp_request_param_t at_once = {
        .op_attr_mask = UCP_OP_ATTR_FLAG_FORCE_IMM_CMPL,
    };
    am_seen_t seen = {.answer = UCS_INPROGRESS};
    ucs_status_ptr_t send;
    local_t local;

    am_open(&local);
    am_set(&local, ID, 0, &seen);
    send = am_send(&local, ID, 8, 100000, RNDV);
    am_await(&local, &seen, 1);
    ck_assert_int_eq(am_status(ucp_am_recv_data_nbx(local.worker, seen.data,
                                                    am_in, 1, &wrong_type)),
                     UCS_ERR_INVALID_PARAM);
    ck_assert_int_eq(local_wait(&local, send), UCS_ERR_INVALID_PARAM);

    send = am_send(&local, ID, 8, 100000, RNDV);
    am_await(&local, &seen, 2);
    ck_assert_int_eq(am_status(ucp_am_recv_data_nbx(local.worker, seen.data,
                                                    am_in, 100000, &at_once)),
                     UCS_ERR_NO_RESOURCE);
    ck_assert_int_eq(local_wait(&local, send), UCS_ERR_NO_RESOURCE);

    send = am_send(&local, ID, 8, 100000, RNDV);
    am_await(&local, &seen, 3);
    ck_assert_int_eq(local_wait(&local,
                                ucp_am_recv_data_nbx(local.worker, seen.data,
                                                     am_in, 99999, &am_none)),
                     UCS_ERR_MESSAGE_TRUNCATED);
    ck_assert_int_eq(local_wait(&local, send), UCS_OK);
    local_close(&local);
}
END_TEST

START_TEST(a_whole_message_is_data_whatever_its_size)
{
    am_seen_t seen       = {.answer = UCS_OK};
    const uint32_t eager = UCP_AM_SEND_FLAG_EAGER;
    ucs_status_ptr_t send;
    local_t local;
    size_t l;
    int kept;

    am_open(&local);
    am_set(&local, ID, 0, &seen);
    for (kept = 0; kept < 2; ++kept) {
        seen.answer  = kept ? UCS_INPROGRESS : UCS_OK;
        seen.only_if = UCP_AM_RECV_ATTR_FLAG_DATA;
        for (l = 0; l < COUNT(lengths); ++l) {
            seen.calls = 0;
            send       = am_send(&local, ID, 777, lengths[l],
                                 eager | (kept ? UCP_AM_SEND_FLAG_REPLY : 0));
            am_await(&local, &seen, 1);
            ck_assert_int_eq(local_wait(&local, send), UCS_OK);
            ck_assert_uint_eq(seen.attr & UCP_AM_RECV_ATTR_FLAG_RNDV, 0);
            ck_assert_int_eq(!!(seen.attr & UCP_AM_RECV_ATTR_FIELD_REPLY_EP),
                             kept);
            ck_assert_uint_eq(seen.header_length, 777);
            if (kept && (seen.attr & UCP_AM_RECV_ATTR_FLAG_DATA)) {
                ucp_am_data_release(local.worker, seen.data);
            }
        }
    }
    ck_assert_ptr_null(am_send(&local, NOBODY, 8, 1000, eager));
    /* the send of a message in several fragments succeeds as well */
    ck_assert_int_eq(local_wait(&local,
                                am_send(&local, NOBODY, 8, 100000, eager)),
                     UCS_OK);
    local_close(&local);
}
END_TEST

static unsigned old_calls;

static ucs_status_t on_old(void *arg, void *data, size_t length,
                           ucp_ep_h reply_ep, unsigned flags)
{
    ck_assert_uint_eq(length, 100000);
    ck_assert_ptr_ne(reply_ep, NULL);
    am_check(data, length, 2);
    ++old_calls;
    return UCS_OK;
}

START_TEST(old_handlers_are_never_given_descriptors)
{
    static const unsigned flags[] = {0, UCP_AM_SEND_FLAG_EAGER,
                                     UCP_AM_SEND_FLAG_RNDV};
    ucs_status_ptr_t send;
    local_t local;
    double start;
    size_t i;

    am_open(&local);
    ck_assert_int_eq(ucp_worker_set_am_handler(local.worker, ID, on_old, NULL,
                                               0),
                     UCS_OK);
    am_fill(am_data, 100000, 2);
    old_calls = 0;
    for (i = 0; i < COUNT(flags); ++i) {
        send = ucp_am_send_nb(local.ep, ID, am_data, 12500,
                              ucp_dt_make_contig(8), NULL,
                              flags[i] | UCP_AM_SEND_REPLY);
        ck_assert_int_eq(local_wait(&local, send), UCS_OK);
        for (start = local_now(); old_calls <= i;) {
            local_progress(&local, start);
        }
        am_settle(&local);
        ck_assert_uint_eq(old_calls, i + 1);
    }
    local_close(&local);
}
END_TEST

/* ------------------------------------------------------------- datatypes -- */

static void *start_pack(void *context, const void *buffer, size_t count)
{
    return (void *)buffer;
}

static void *start_unpack(void *context, void *buffer, size_t count)
{
    return buffer;
}

static size_t packed_size(void *state)
{
    return 100000;
}

static size_t pack(void *state, size_t offset, void *dest, size_t max)
{
    size_t length = (max > 3000) ? 3000 : max;

    memcpy(dest, (char *)state + offset, length);
    return length;
}

static ucs_status_t unpack(void *state, size_t offset, const void *src,
                           size_t length)
{
    memcpy((char *)state + offset, src, length);
    return UCS_OK;
}

static void finish(void *state)
{
}

START_TEST(any_datatype_is_sent_and_fetched)
{
    static const ucp_generic_dt_ops_t ops = {start_pack,  start_unpack,
                                             packed_size, pack,
                                             unpack,      finish};
    ucp_request_param_t params[3]         = {{0}, {0}, {0}};
    ucp_dt_iov_t iov[2][100];
    ucp_datatype_t generic;
    ucs_status_ptr_t send, recv;
    void *out[3]     = {am_data, iov[0], am_data};
    void *in[3]      = {am_in, iov[1], am_in};
    size_t counts[3] = {100000, 100, 1};
    am_seen_t seen   = {.answer = UCS_INPROGRESS};
    local_t local;
    int i, from, to;

    for (i = 0; i < 100; ++i) {
        iov[0][i] = (ucp_dt_iov_t){am_data + i * 1000, 1000};
        iov[1][i] = (ucp_dt_iov_t){am_in + i * 1000, 1000};
    }
    ck_assert_int_eq(ucp_dt_create_generic(&ops, NULL, &generic), UCS_OK);
    for (i = 0; i < 3; ++i) {
        params[i].op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS |
                                 UCP_OP_ATTR_FIELD_DATATYPE;
        params[i].flags = UCP_AM_SEND_FLAG_RNDV;
    }
    params[0].datatype = ucp_dt_make_contig(1);
    params[1].datatype = ucp_dt_make_iov();
    params[2].datatype = generic;
    am_fill(am_data, 100000, 2);
    am_open(&local);
    am_set(&local, ID, 0, &seen);
    for (from = 0; from < 3; ++from) {
        for (to = 0; to < 3; ++to) {
            seen.calls = 0;
            memset(am_in, 0, 100000);
            send = ucp_am_send_nbx(local.ep, ID, NULL, 0, out[from],
                                   counts[from], &params[from]);
            am_await(&local, &seen, 1);
            ck_assert_uint_eq(seen.attr, UCP_AM_RECV_ATTR_FLAG_RNDV);
            recv = ucp_am_recv_data_nbx(local.worker, seen.data, in[to],
                                        counts[to], &params[to]);
            ck_assert_int_eq(local_wait(&local, recv), UCS_OK);
            ck_assert_int_eq(local_wait(&local, send), UCS_OK);
            am_check(am_in, 100000, 2);
        }
    }
    local_close(&local);
    ucp_dt_destroy(generic);
}
END_TEST

/* -------------------------------------------------- endpoints are closed -- */

START_TEST(a_descriptor_outlives_its_sender)
{
    ucp_request_param_t force = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS,
        .flags        = UCP_EP_CLOSE_FLAG_FORCE,
    };
    am_seen_t seen = {.answer = UCS_INPROGRESS};
    ucs_status_ptr_t send, recv;
    local_t local;
    int fetch;

    for (fetch = 0; fetch < 2; ++fetch) {
        am_open(&local);
        am_set(&local, ID, 0, &seen);
        seen.calls = 0;
        send = am_send(&local, ID, 8, 100000, RNDV | UCP_AM_SEND_FLAG_REPLY);
        am_await(&local, &seen, 1);
        ck_assert_ptr_null(ucp_ep_close_nbx(local.ep, &force));
        ck_assert_int_eq(local_wait(&local, send), UCS_ERR_CANCELED);
        am_settle(&local);
        if (fetch) {
            received.calls = 0;
            recv = ucp_am_recv_data_nbx(local.worker, seen.data, am_in,
                                        sizeof(am_in), &tell);
            ck_assert_int_lt(local_wait(&local, recv), UCS_OK);
            ck_assert_uint_eq(received.calls, 1);
            ck_assert_int_ne(received.status, UCS_OK);
        } else {
            ucp_am_data_release(local.worker, seen.data);
        }
        ucp_worker_destroy(local.worker);
        ucp_cleanup(local.context);
    }
}
END_TEST

START_TEST(a_close_waits_until_its_message_is_fetched)
{
    am_seen_t seen = {.answer = UCS_INPROGRESS};
    ucs_status_ptr_t send, recv, close;
    local_t local;

    am_open(&local);
    am_set(&local, ID, 0, &seen);
    send  = am_send(&local, ID, 8, 100000, RNDV);
    close = ucp_ep_close_nbx(local.ep, &am_none);
    am_await(&local, &seen, 1);
    am_settle(&local);
    ck_assert_int_eq(ucp_request_check_status(close), UCS_INPROGRESS);
    recv = ucp_am_recv_data_nbx(local.worker, seen.data, am_in, sizeof(am_in),
                                &am_none);
    ck_assert_int_eq(local_wait(&local, close), UCS_OK);
    ck_assert_int_eq(local_wait(&local, recv), UCS_OK);
    ck_assert_int_eq(local_wait(&local, send), UCS_OK);
    ucp_worker_destroy(local.worker);
    ucp_cleanup(local.context);
}
END_TEST

START_TEST(held_descriptors_are_freed_with_the_worker)
{
    am_seen_t seen = {.answer = UCS_INPROGRESS};
    ucs_status_ptr_t sends[6];
    local_t local;
    int i;

    am_open(&local);
    am_set(&local, ID, 0, &seen);
    for (i = 0; i < 6; ++i) {
        sends[i] = am_send(&local, ID, 8, (i < 3) ? 100 : 100000, RNDV);
    }
    am_await(&local, &seen, 6);
    /* one message's data is being fetched while the worker is destroyed */
    ucp_request_free(ucp_am_recv_data_nbx(local.worker, seen.data, am_in,
                                          sizeof(am_in), &am_none));
    for (i = 0; i < 6; ++i) {
        ucp_request_free(sends[i]);
    }
    ucp_worker_destroy(local.worker);
    ucp_cleanup(local.context);
}
END_TEST

START_TEST(a_cancelled_fetch_still_ends)
{
    am_seen_t seen = {.answer = UCS_INPROGRESS};
    ucs_status_ptr_t send, recv;
    ucs_status_t status;
    local_t local;

    am_open(&local);
    am_set(&local, ID, 0, &seen);
    send = am_send(&local, ID, 8, 100000, RNDV);
    am_await(&local, &seen, 1);
    recv = ucp_am_recv_data_nbx(local.worker, seen.data, am_in, sizeof(am_in),
                                &am_none);
    ucp_request_cancel(local.worker, recv);
    status = local_wait(&local, recv);
    ck_assert((status == UCS_OK) || (status == UCS_ERR_CANCELED));
    ck_assert_int_eq(local_wait(&local, send), UCS_OK);
    local_close(&local);
}
END_TEST

SUITE_MAIN("active messages, rendezvous",
           a_descriptor_is_fetched_when_the_user_wants,
           a_handler_may_fetch_at_once,
           data_that_is_not_fetched_completes_the_send,
           a_failed_fetch_releases_the_descriptor,
           a_whole_message_is_data_whatever_its_size,
           old_handlers_are_never_given_descriptors,
           any_datatype_is_sent_and_fetched, a_descriptor_outlives_its_sender,
           a_close_waits_until_its_message_is_fetched,
           held_descriptors_are_freed_with_the_worker,
           a_cancelled_fetch_still_ends)
