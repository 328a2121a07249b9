/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Wire-up messages that the peer receives but does not answer: the endpoint
 * fails after UCX_WIREUP_TIMEOUT. An answer or a close before that ends the
 * deadline.
 */
#include "wireup.h"

static const ucp_request_param_t none  = {0};
static const ucp_request_param_t force = {
    .op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS,
    .flags        = UCP_EP_CLOSE_FLAG_FORCE,
};

static void open_with(local_t *local, const char *timeout)
{
    setenv("UCX_WIREUP_TIMEOUT", timeout, 1);
    wireup_open(local, UCP_FEATURE_TAG, 1, 0);
    unsetenv("UCX_WIREUP_TIMEOUT");
}

static ucp_wireup_deadlines_t *deadlines_of(const local_t *local)
{
    return &ucp_worker_wireup(local->worker)->deadlines;
}

static ucs_status_t drop(void *arg, void *data, size_t length, unsigned flags)
{
    return UCS_OK;
}

/* Connects to the worker itself, which drops all messages with this id. */
static ucp_ep_h connect_deaf(local_t *local, const char *timeout, uint8_t id)
{
    ucp_ep_h ep;

    open_with(local, timeout);
    local->worker->ifaces[0].iface->am[id].cb = drop;
    ck_assert_int_eq(wireup_connect(local, &ep), UCS_OK);
    return ep;
}

static void end(local_t *local, ucp_ep_h ep)
{
    (void)local_wait(local, ucp_ep_close_nbx(ep, &force));
    wireup_end(local);
}

START_TEST(a_request_that_is_never_answered_fails_the_endpoint)
{
    uint64_t value = 0;
    ucs_status_ptr_t send, flush;
    local_t local;
    ucp_ep_h ep = connect_deaf(&local, "50ms", UCP_AM_ID_WIREUP_REQUEST);

    send  = ucp_tag_send_nbx(ep, &value, sizeof(value), 1, &none);
    flush = ucp_ep_flush_nbx(ep, &none);
    ck_assert(UCS_PTR_IS_PTR(flush));
    ck_assert_int_eq(local_wait(&local, flush), UCS_ERR_ENDPOINT_TIMEOUT);
    if (UCS_PTR_IS_PTR(send)) {
        ck_assert_int_eq(local_wait(&local, send), UCS_ERR_ENDPOINT_TIMEOUT);
    }
    ck_assert_int_eq(ep->fail_status, UCS_ERR_ENDPOINT_TIMEOUT);
    ck_assert_int_eq(deadlines_of(&local)->timer, 0);
    end(&local, ep);
}
END_TEST

/* The acknowledgement is dropped: the responder's endpoint fails. */
START_TEST(an_answer_that_is_never_acknowledged_fails_the_other_half)
{
    local_t local;
    ucp_ep_h ep = connect_deaf(&local, "50ms", UCP_AM_ID_WIREUP_ACK);

    while (deadlines_of(&local)->timer != 0) {
        ucp_worker_progress(local.worker);
    }
    ck_assert(ucs_list_is_empty(&deadlines_of(&local)->list));
    ck_assert_uint_eq(pairs.connects, 2);
    /* The responder's endpoint is destroyed. The requester's endpoint, which
     * was connected, may exist. */
    ck_assert((pairs.halves == NULL) || (pairs.halves->next == NULL));
    end(&local, ep);
}
END_TEST

START_TEST(an_answer_in_time_ends_the_deadline)
{
    local_t local;
    ucp_ep_h ep;

    open_with(&local, "30m");
    ck_assert_int_eq(wireup_connect(&local, &ep), UCS_OK);
    ck_assert(!ucs_list_is_empty(&deadlines_of(&local)->list));
    wireup_settle(&local);
    ck_assert(ucs_list_is_empty(&deadlines_of(&local)->list));
    ck_assert_int_eq(local_wait(&local, ucp_ep_close_nbx(ep, &none)), UCS_OK);
    wireup_end(&local);
}
END_TEST

START_TEST(without_a_timeout_there_is_no_timer)
{
    static const char *const values[] = {"0", "inf"};
    local_t local;
    ucp_ep_h ep;

    for (unsigned i = 0; i < 2; ++i) {
        ep = connect_deaf(&local, values[i], UCP_AM_ID_WIREUP_REQUEST);
        wireup_settle(&local);
        ck_assert_int_eq(deadlines_of(&local)->timer, 0);
        ck_assert(!(ep->flags & UCP_EP_FLAG_FAILED));
        end(&local, ep);
    }
}
END_TEST

START_TEST(closing_ends_the_deadline)
{
    local_t local;
    ucp_ep_h ep = connect_deaf(&local, "30m", UCP_AM_ID_WIREUP_REQUEST);

    (void)local_wait(&local, ucp_ep_close_nbx(ep, &force));
    ck_assert(ucs_list_is_empty(&deadlines_of(&local)->list));
    wireup_end(&local);
}
END_TEST

SUITE_MAIN("wireup_deadline",
           a_request_that_is_never_answered_fails_the_endpoint,
           an_answer_that_is_never_acknowledged_fails_the_other_half,
           an_answer_in_time_ends_the_deadline,
           without_a_timeout_there_is_no_timer, closing_ends_the_deadline)
