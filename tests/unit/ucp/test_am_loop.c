/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Active messages over an endpoint of a worker to itself: the reply endpoint
 * that the handler receives is that same endpoint. Also closes with messages in
 * flight, and other classes of messages over the same endpoint.
 */
#include "am.h"

enum { ID = 5, ANSWER = 6, NUM_EPS = 4 };

static const uint32_t REPLY = UCP_AM_SEND_FLAG_REPLY;

static const size_t lengths[] = {0, 8, 5000, 100000, 1 << 20};

/* Send flags, for UCP's choice, for a rendezvous, and for an eager message,
 * which is sent in fragments if it is long. */
static const uint32_t ways[] = {0, UCP_AM_SEND_FLAG_RNDV,
                                UCP_AM_SEND_FLAG_EAGER};

#define COUNT(_array) (sizeof(_array) / sizeof((_array)[0]))

static char am_in[1 << 20];

/* Sends one message over `ep`; the handler must receive `ep` as the reply
 * endpoint. */
static void check_reply_ep(local_t *local, ucp_ep_h ep, am_seen_t *seen,
                           size_t length, uint32_t flags)
{
    ucs_status_ptr_t send, recv;

    seen->calls    = 0;
    seen->reply_ep = NULL;
    send           = am_send_on(ep, ID, 16, length, REPLY | flags);
    am_await(local, seen, 1);
    ck_assert(seen->attr & UCP_AM_RECV_ATTR_FIELD_REPLY_EP);
    ck_assert_ptr_eq(seen->reply_ep, ep);
    if (seen->attr & UCP_AM_RECV_ATTR_FLAG_RNDV) {
        recv = ucp_am_recv_data_nbx(local->worker, seen->data, am_in,
                                    sizeof(am_in), &am_none);
        ck_assert_int_eq(local_wait(local, recv), UCS_OK);
        am_check(am_in, length, 2);
    }
    ck_assert_int_eq(local_wait(local, send), UCS_OK);
}

START_TEST(a_reply_endpoint_is_the_one_that_sent)
{
    am_seen_t seen = {
        .answer  = UCS_INPROGRESS,
        .only_if = UCP_AM_RECV_ATTR_FLAG_RNDV,
    };
    local_t local;
    size_t l, w;

    am_open(&local);
    am_set(&local, ID, 0, &seen);
    for (w = 0; w < COUNT(ways); ++w) {
        for (l = 0; l < COUNT(lengths); ++l) {
            check_reply_ep(&local, local.ep, &seen, lengths[l], ways[w]);
        }
    }
    local_close(&local);
}
END_TEST

START_TEST(each_endpoint_answers_itself)
{
    am_seen_t seen = {
        .answer  = UCS_INPROGRESS,
        .only_if = UCP_AM_RECV_ATTR_FLAG_RNDV,
    };
    ucp_ep_h eps[NUM_EPS];
    local_t local;
    int i, round;

    am_open(&local);
    am_set(&local, ID, 0, &seen);
    for (i = 0; i < NUM_EPS; ++i) {
        eps[i] = local_ep(&local, 0);
    }
    for (round = 0; round < 3; ++round) {
        for (i = 0; i < NUM_EPS; ++i) {
            check_reply_ep(&local, eps[i], &seen, 8, 0);
            check_reply_ep(&local, eps[i], &seen, 100000,
                           UCP_AM_SEND_FLAG_RNDV);
        }
    }
    /* after one endpoint is closed, the others continue to work */
    ck_assert_int_eq(local_wait(&local, ucp_ep_close_nbx(eps[0], &am_none)),
                     UCS_OK);
    for (i = 1; i < NUM_EPS; ++i) {
        check_reply_ep(&local, eps[i], &seen, 8, 0);
        ck_assert_int_eq(local_wait(&local, ucp_ep_close_nbx(eps[i], &am_none)),
                         UCS_OK);
    }
    check_reply_ep(&local, local.ep, &seen, 8, 0);
    local_close(&local);
}
END_TEST

static local_t answering;
static am_seen_t answered;

static void answer_on_reply_ep(void *arg, void *data)
{
    am_seen_t *seen           = arg;
    ucp_request_param_t param = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS,
        .flags        = REPLY | UCP_AM_SEND_FLAG_COPY_HEADER,
    };
    char header[8];
    ucs_status_ptr_t send;

    am_fill(header, sizeof(header), 1);
    send = ucp_am_send_nbx(seen->reply_ep, ANSWER, header, sizeof(header), NULL,
                           0, &param);
    ck_assert(!UCS_PTR_IS_ERR(send));
    if (send != NULL) {
        ucp_request_free(send);
    }
}

/* The close completes only when the handlers of earlier messages have run: each
 * handler receives the endpoint and can reply. */
START_TEST(messages_before_a_close_are_answered)
{
    am_seen_t seen = {.act = answer_on_reply_ep};
    ucs_status_ptr_t sends[20], close;
    int i;

    am_open(&answering);
    am_set(&answering, ID, 0, &seen);
    am_set(&answering, ANSWER, 0, &answered);
    answered.calls = 0;
    for (i = 0; i < 20; ++i) {
        sends[i] = am_send(&answering, ID, 8, 8 << (i % 10), REPLY);
    }
    close = ucp_ep_close_nbx(answering.ep, &am_none);
    ck_assert_int_eq(local_wait(&answering, close), UCS_OK);
    ck_assert_uint_eq(seen.calls, 20);
    ck_assert_ptr_eq(seen.reply_ep, answering.ep);
    for (i = 0; i < 20; ++i) {
        ck_assert_int_eq(local_wait(&answering, sends[i]), UCS_OK);
    }
    am_settle(&answering);
    ck_assert_uint_le(answered.calls, 20);
    ucp_worker_destroy(answering.worker);
    ucp_cleanup(answering.context);
}
END_TEST

/* Messages sent over an endpoint that is then closed by force may be lost, but
 * no handler receives the freed endpoint. */
START_TEST(a_forced_close_gives_nobody_the_endpoint)
{
    ucp_request_param_t force = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS,
        .flags        = UCP_EP_CLOSE_FLAG_FORCE,
    };
    am_seen_t seen = {0};
    ucs_status_ptr_t send;
    local_t local;
    ucp_ep_h ep;
    size_t l;

    am_open(&local);
    am_set(&local, ID, 0, &seen);
    for (l = 0; l < COUNT(lengths); ++l) {
        ep         = local_ep(&local, 0);
        seen.calls = 0;
        send       = am_send_on(ep, ID, 8, lengths[l], REPLY);
        ck_assert_ptr_null(ucp_ep_close_nbx(ep, &force));
        ck_assert_int_ne(local_wait(&local, send), UCS_INPROGRESS);
        ck_assert_uint_eq(seen.calls, 0);
        ucp_worker_progress(local.worker); /* frees the endpoint */
        am_settle(&local);
        check_reply_ep(&local, local.ep, &seen, 8, 0);
    }
    local_close(&local);
}
END_TEST

/* Eager and rendezvous active messages, tagged messages and streams, one after
 * the other over one endpoint. */
START_TEST(tags_and_streams_go_on_beside)
{
    static char out[100000], in[100000];
    am_seen_t seen = {
        .answer  = UCS_INPROGRESS,
        .only_if = UCP_AM_RECV_ATTR_FLAG_RNDV,
    };
    ucp_request_param_t all = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS,
        .flags        = UCP_STREAM_RECV_FLAG_WAITALL,
    };
    ucs_status_ptr_t send, recv;
    local_t local;
    size_t length;
    unsigned i;

    local_open_mode(&local,
                    UCP_FEATURE_AM | UCP_FEATURE_TAG | UCP_FEATURE_STREAM,
                    UCS_THREAD_MODE_SINGLE);
    am_set(&local, ID, 0, &seen);
    for (i = 0; i < 3; ++i) {
        am_fill(out, sizeof(out), i);
        check_reply_ep(&local, local.ep, &seen, 8, 0);

        send = ucp_tag_send_sync_nbx(local.ep, out, i ? sizeof(out) : 8, 1,
                                     &am_none);
        recv = local_recv(&local, in, sizeof(in), 1);
        ck_assert_int_eq(local_wait(&local, recv), UCS_OK);
        ck_assert_int_eq(local_wait(&local, send), UCS_OK);
        am_check(in, i ? sizeof(out) : 8, i);

        send = ucp_stream_send_nbx(local.ep, out, sizeof(out), &am_none);
        recv = ucp_stream_recv_nbx(local.ep, in, sizeof(in), &length, &all);
        ck_assert_int_eq(local_wait(&local, recv), UCS_OK);
        ck_assert_int_eq(local_wait(&local, send), UCS_OK);
        am_check(in, sizeof(in), i);
        check_reply_ep(&local, local.ep, &seen, 100000, UCP_AM_SEND_FLAG_RNDV);
    }
    local_close(&local);
}
END_TEST

SUITE_MAIN("active messages over the loopback",
           a_reply_endpoint_is_the_one_that_sent, each_endpoint_answers_itself,
           messages_before_a_close_are_answered,
           a_forced_close_gives_nobody_the_endpoint,
           tags_and_streams_go_on_beside)
