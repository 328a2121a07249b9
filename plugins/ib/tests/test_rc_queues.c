/* SPDX-License-Identifier: BSD-3-Clause */
/* The completion queues of rc_verbs never overrun, whatever requests are
 * outstanding, even when all connections fail at once. Send completions are
 * polled until none is left, and receive buffers are added if the user keeps
 * too many. The simulated device (rc_device.h) fails the test if it has to add
 * a completion to a full queue. */
#include "../src/rc_am.h"
#include "../src/rc_send.h"
#include "pool.h"
#include "rc_device.h"
#include "suite.h"

#include <limits.h>

enum {
    SEND_CQ_LEN = 64, /* UCX_RC_TX_CQ_LEN: enough for two full send queues */
    SEND_LEN    = 32, /* UCX_RC_TX_QUEUE_LEN */
    RECV_LEN    = 64, /* UCX_RC_RX_QUEUE_LEN */
    NUM_EPS     = 8,
    STEPS       = 20000, /* Number of random actions of a test */
};

static ib_md_t md;
static uint64_t seed; /* State of below() */
/* Numbers of reported failures of endpoints, and of delivered messages */
static unsigned num_failed, num_received;
static unsigned num_to_keep;  /* Number of messages that the user will keep */
static rc_ep_t *eps[NUM_EPS]; /* Endpoints of the user; NULL: destroyed */
static rc_iface_t *iface;

/* Returns a random number from 0 to limit - 1. */
static unsigned below(unsigned limit)
{
    seed = (seed * 6364136223846793005u) + 1442695040888963407u;
    return (unsigned)((seed >> 33) % limit);
}

/* --- The host and the user ------------------------------------------------ */

static ucs_status_t ep_failed(uct_iface_h failed, uct_ep_h ep,
                              ucs_status_t status)
{
    ++num_failed;
    for (unsigned i = 0; i < NUM_EPS; ++i) {
        if ((uct_ep_h)eps[i] == ep) {
            rc_ep_destroy(ep);
            eps[i] = NULL;
            return UCS_OK;
        }
    }
    ck_abort_msg("an endpoint fails that does not exist");
    return UCS_OK;
}

static double now(void)
{
    static double seconds = 1;

    return seconds += 1e-6;
}

static int log_level = -1;

static const ucx_host_t host = {
    .size            = sizeof(host),
    .log_level       = &log_level,
    .mpool_create    = pool_create,
    .mpool_grow      = pool_grow,
    .mpool_destroy   = pool_destroy,
    .iface_ep_failed = ep_failed,
    .time            = now,
};

static ucs_status_t on_message(void *arg, void *data, size_t length,
                               unsigned flags)
{
    ++num_received;
    if (num_to_keep > 0) {
        --num_to_keep;
        return UCS_INPROGRESS;
    }
    return UCS_OK;
}

static void new_ep(unsigned i)
{
    const uct_ep_params_t params = {0};
    ib_wire_device_t device;
    uct_ep_h ep;
    char address[64];

    ck_assert_int_eq(rc_ep_create(&iface->super, &params, &ep), UCS_OK);
    ib_port_address(&iface->port, &device);
    ck_assert_int_eq(rc_ep_get_address(ep, (uct_ep_addr_t *)address), UCS_OK);
    ck_assert_int_eq(rc_ep_connect_to_ep(ep, (const uct_device_addr_t *)&device,
                                         sizeof(device),
                                         (const uct_ep_addr_t *)address,
                                         rc_ep_address_length(iface)),
                     UCS_OK);
    eps[i] = (rc_ep_t *)ep;
}

static void start(void)
{
    const ib_rc_config_t config = {
        .timeout         = 1,
        .retry_count     = 6,
        .rnr_timeout     = 1e-3,
        .rnr_retry_count = 7,
        .tx_queue_len    = SEND_LEN,
        .tx_moderation   = 64,
        .tx_cq_len       = SEND_CQ_LEN,
        .tx_min_inline   = 64,
        .rx_queue_len    = RECV_LEN,
        .max_rd_atomic   = 16,
        .seg_size        = 256,
        .tx_max_poll     = 16,
        .rx_max_poll     = 16,
        .credits         = 1,
        .credit_window   = 512,
    };
    uct_iface_params_t params  = {0};
    ucx_iface_open_args_t args = {
        .size     = sizeof(args),
        .params   = &params,
        .dev_name = "test0:1",
        .config   = &config,
    };
    uct_iface_h opened;

    seed       = 1;
    num_failed = num_received = 0;
    device_open(&host, &md);
    ck_assert_int_eq(rc_iface_open((uct_md_h)&md, &args, &opened), UCS_OK);
    iface = (rc_iface_t *)opened;
    for (unsigned id = 0; id < UCT_AM_ID_MAX; ++id) {
        opened->am[id].cb = on_message;
    }
    for (unsigned i = 0; i < NUM_EPS; ++i) {
        new_ep(i);
    }
}

/* Completes all outstanding requests. */
static void finish(void)
{
    for (unsigned round = 0; round < 1000; ++round) {
        for (uint32_t i = 0; i < iface->eps_size; ++i) {
            if (iface->eps[i] != NULL) {
                run((queue_pair_t *)iface->eps[i]->qp, UINT_MAX);
            }
        }
        (void)rc_iface_progress(&iface->super);
    }
}

/* --- The tests ------------------------------------------------------------ */

/* Sends over one endpoint after the other, over each until a send returns an
 * error. Returns the number of posted requests. */
static unsigned fill(void)
{
    unsigned count = 0;
    uint64_t data  = 1;

    for (unsigned i = 0; i < NUM_EPS; ++i) {
        while (rc_ep_put_short(&eps[i]->super, &data, sizeof(data), 0, 0) ==
               UCS_OK) {
            ++count;
        }
    }
    return count;
}

START_TEST(all_requests_may_fail_at_once)
{
    unsigned num_signaled = 0;

    start();
    ck_assert_uint_eq(fill(), SEND_CQ_LEN);
    for (unsigned i = 0; i < NUM_EPS; ++i) {
        queue_pair_t *qp = (queue_pair_t *)eps[i]->qp;

        for (unsigned k = 0; k < qp->count; ++k) {
            num_signaled += (unsigned)qp->sends[k].is_signaled;
        }
        /* Unsignaled requests have completions as well. */
        qp->has_failed = 1;
        run(qp, UINT_MAX);
    }
    ck_assert_uint_lt(num_signaled, SEND_CQ_LEN);
    ck_assert_uint_eq(((completions_t *)iface->send_cq)->count, SEND_CQ_LEN);
    finish();
    ck_assert_uint_eq(num_failed, SEND_CQ_LEN / SEND_LEN);
    ck_assert_uint_eq(iface->cq_free, SEND_CQ_LEN);
    rc_iface_close(&iface->super);
}
END_TEST

static int last_is_signaled(const rc_ep_t *ep)
{
    const queue_pair_t *qp = (const queue_pair_t *)ep->qp;

    return qp->sends[(qp->first + qp->count - 1) % MAX_QUEUE].is_signaled;
}

/* A connection fails while the last request is unsignaled and executed, and
 * send_cq has no free entry for the request that would show that. Then the user
 * destroys the endpoint. */
START_TEST(endpoint_that_fails_while_the_queue_is_full_ends)
{
    uint64_t data = 1;
    uint32_t index;
    rc_ep_t *ep;

    start();
    ep    = eps[0];
    index = ep->index;
    do {
        ck_assert_int_eq(rc_ep_put_short(&ep->super, &data, sizeof(data), 0, 0),
                         UCS_OK);
    } while (last_is_signaled(ep));
    for (unsigned i = 1; i < NUM_EPS; ++i) {
        while (rc_ep_put_short(&eps[i]->super, &data, sizeof(data), 0, 0) ==
               UCS_OK) {
        }
    }
    ck_assert_uint_eq(iface->cq_free, 0);
    run((queue_pair_t *)ep->qp, UINT_MAX);
    rc_ep_fail(ep, UCS_ERR_ENDPOINT_TIMEOUT, 1);
    rc_ep_pending_purge(&ep->super, NULL, NULL);
    rc_ep_destroy(&ep->super);
    eps[0] = NULL;
    finish();
    ck_assert_ptr_null(iface->eps[index]);
    ck_assert_uint_eq(iface->cq_free, SEND_CQ_LEN);
    rc_iface_close(&iface->super);
}
END_TEST

static size_t pack(void *to, void *arg)
{
    memset(to, 1, 100);
    return 100;
}

static void nothing(uct_completion_t *comp)
{
}

/* Does something random with endpoint `i`. */
static void act(unsigned i)
{
    static uct_completion_t comp = {.func = nothing};
    uint64_t data                = 1;

    comp.count = INT_MAX;
    switch (below(40)) {
    case 0: /* The connection fails */
        ((queue_pair_t *)eps[i]->qp)->has_failed = 1;
        break;
    case 1: /* The user destroys the endpoint */
        rc_ep_destroy(&eps[i]->super);
        eps[i] = NULL;
        break;
    case 2:
        (void)rc_ep_flush(&eps[i]->super, 0, &comp);
        break;
    case 3:
        (void)rc_ep_flush(&eps[i]->super, UCT_FLUSH_FLAG_CANCEL, &comp);
        break;
    case 4:
        (void)rc_ep_check(&eps[i]->super, 0, NULL);
        break;
    default:
        if (below(3) == 0) {
            (void)rc_ep_put_bcopy(&eps[i]->super, pack, NULL, 0, 0);
        } else if (below(2) == 0) {
            (void)rc_ep_am_short(&eps[i]->super, 1, 0, &data, sizeof(data));
        } else {
            (void)rc_ep_put_short(&eps[i]->super, &data, sizeof(data), 0, 0);
        }
        break;
    }
}

START_TEST(any_order_of_sends_failures_and_ends_fits)
{
    start();
    for (unsigned step = 0; step < STEPS; ++step) {
        unsigned i = below(NUM_EPS);

        if (eps[i] == NULL) {
            new_ep(i);
        }
        act(i);
        i = below(iface->eps_size);
        if ((iface->eps[i] != NULL) && (below(8) == 0)) {
            run((queue_pair_t *)iface->eps[i]->qp, below(2 * SEND_LEN));
        }
        if (below(8) == 0) {
            (void)arrive(iface, below(RECV_LEN));
            (void)rc_iface_progress(&iface->super);
        }
    }
    for (unsigned i = 0; i < NUM_EPS; ++i) {
        if (eps[i] != NULL) {
            rc_ep_destroy(&eps[i]->super);
            eps[i] = NULL;
        }
    }
    finish();
    ck_assert_uint_gt(num_failed, 0);
    ck_assert_uint_gt(num_received, 0);
    ck_assert_uint_eq(iface->cq_free, SEND_CQ_LEN);
    for (uint32_t i = 0; i < iface->eps_size; ++i) {
        ck_assert_ptr_null(iface->eps[i]);
    }
    rc_iface_close(&iface->super);
}
END_TEST

START_TEST(no_more_is_received_than_the_queue_has_entries_for)
{
    unsigned count;

    start();
    count = arrive(iface, UINT_MAX);
    ck_assert_uint_eq(count, RECV_LEN);
    /* Each call of progress posts buffers. Messages fill the buffers at
     * once. */
    for (unsigned round = 0; round < 100; ++round) {
        (void)rc_iface_progress(&iface->super);
        count += arrive(iface, UINT_MAX);
    }
    ck_assert_uint_gt(count, 100);
    (void)rc_iface_progress(&iface->super);
    finish();
    ck_assert_uint_eq(num_received, count);
    rc_iface_close(&iface->super);
}
END_TEST

/* If completions were left in the queue, a failure among them would be found
 * many rounds later, or only after the user's next event. */
START_TEST(send_completions_are_polled_until_none_is_left)
{
    enum { USED = 4, SENDS = 10 };

    completions_t *cq;
    uint64_t data = 1;

    start();
    cq = (completions_t *)iface->send_cq;
    for (unsigned i = 0; i < USED; ++i) {
        for (unsigned k = 0; k < SENDS; ++k) {
            ck_assert_int_eq(rc_ep_put_short(&eps[i]->super, &data,
                                             sizeof(data), 0, 0),
                             UCS_OK);
        }
        run((queue_pair_t *)eps[i]->qp, UINT_MAX);
    }
    ck_assert_uint_eq(cq->count, USED * SENDS);
    rc_poll_sends_soon(iface);
    while (cq->count > 0) {
        ck_assert_uint_gt(rc_iface_progress(&iface->super), 0);
    }
    ck_assert_uint_eq(iface->cq_free, SEND_CQ_LEN);
    rc_iface_close(&iface->super);
}
END_TEST

/* The user keeps all buffers that the credits of one connection leave. A second
 * connection needs more, even if no message arrives. */
START_TEST(new_connection_adds_buffers_if_the_user_keeps_too_many)
{
    start();
    for (unsigned i = 1; i < NUM_EPS; ++i) {
        rc_ep_destroy(&eps[i]->super);
        eps[i] = NULL;
    }
    finish();
    num_to_keep = RECV_LEN - (iface->num_given + RC_POST_BATCH);
    ck_assert_uint_gt(num_to_keep, 0);
    ck_assert_uint_eq(arrive(iface, num_to_keep), num_to_keep);
    while (num_to_keep > 0) {
        ck_assert_uint_gt(rc_iface_progress(&iface->super), 0);
    }
    ck_assert_uint_eq(iface->num_recv, RECV_LEN);
    new_ep(1);
    (void)rc_iface_progress(&iface->super);
    ck_assert_uint_eq(iface->num_recv, 2 * RECV_LEN);
    rc_iface_close(&iface->super);
}
END_TEST

/* Makes the endpoint owe its peer a grant, and send it as a separate
 * message. */
static void send_grant(rc_ep_t *ep)
{
    const struct ibv_wc wc = {.qp_num = ep->qp->qp_num};
    queue_pair_t *qp       = (queue_pair_t *)ep->qp;
    unsigned count         = qp->count;

    rc_credits_take(iface, &wc, RC_AM_ASK);
    (void)rc_iface_progress(&iface->super);
    ck_assert_uint_eq(qp->count, count + 1);
}

/* The peer may have closed the connection when a grant arrives, so a flush must
 * not wait for the grant. */
START_TEST(flush_waits_for_the_requests_of_the_user_only)
{
    uct_completion_t comp = {.func = nothing, .count = 2};
    uint64_t data         = 1;
    queue_pair_t *qp;
    rc_ep_t *ep;

    start();
    ep = eps[0];
    qp = (queue_pair_t *)ep->qp;
    /* More grants than there are sequence numbers */
    for (unsigned i = 0; i < 70000; ++i) {
        send_grant(ep);
        ck_assert_int_eq(rc_ep_flush(&ep->super, 0, NULL), UCS_OK);
        run(qp, qp->count - 1);
        rc_poll_sends_soon(iface);
        (void)rc_iface_progress(&iface->super);
    }
    run(qp, UINT_MAX);
    ck_assert_int_eq(rc_ep_put_short(&ep->super, &data, sizeof(data), 0, 0),
                     UCS_OK);
    send_grant(ep);
    send_grant(ep);
    ck_assert_int_eq(rc_ep_flush(&ep->super, 0, &comp), UCS_INPROGRESS);
    ck_assert_int_eq(rc_iface_flush(&iface->super, 0, NULL), UCS_INPROGRESS);
    run(qp, 1);
    rc_poll_sends_soon(iface);
    (void)rc_iface_progress(&iface->super);
    ck_assert_int_eq(comp.count, 1);
    ck_assert_int_eq(comp.status, UCS_OK);
    ck_assert_int_eq(rc_ep_flush(&ep->super, 0, NULL), UCS_OK);
    ck_assert_int_eq(rc_iface_flush(&iface->super, 0, NULL), UCS_OK);
    finish();
    rc_iface_close(&iface->super);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        all_requests_may_fail_at_once,
        endpoint_that_fails_while_the_queue_is_full_ends,
        any_order_of_sends_failures_and_ends_fits,
        no_more_is_received_than_the_queue_has_entries_for,
        send_completions_are_polled_until_none_is_left,
        new_connection_adds_buffers_if_the_user_keeps_too_many,
        flush_waits_for_the_requests_of_the_user_only,
    };

    return suite_run("rc_queues", tests, sizeof(tests) / sizeof(tests[0]), 60);
}
