/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which interfaces ucp_worker_progress() polls (ucp/base/idle.h): an interface
 * without endpoints becomes idle and is polled rarely. The worker's loopback
 * interface counts its polls, and returns events when the test requests it.
 */
#include "local.h"

#include "ucp/base/idle.h"

static struct {
    ucx_iface_ops_t ops;
    unsigned calls;
    unsigned finds; /* The next `finds` polls return one event each */
} watched;

static unsigned counted_progress(uct_iface_h iface)
{
    ++watched.calls;
    if (watched.finds == 0) {
        return 0;
    }
    --watched.finds;
    return 1;
}

/* Closes the endpoint and progresses until it is freed. */
static void close_ep(local_t *local, ucp_ep_h ep)
{
    ucp_request_param_t none = {0};

    ck_assert_int_eq(local_wait(local, ucp_ep_close_nbx(ep, &none)), UCS_OK);
    while (ucp_worker_progress(local->worker) > 0) {
    }
}

/* Opens a worker without endpoints. Its only interface counts its polls. */
static ucp_worker_iface_t *open_watched(local_t *local)
{
    ucp_worker_iface_t *wiface;

    local_open(local);
    close_ep(local, local->ep);
    ck_assert_uint_eq(local->worker->num_ifaces, 1);

    wiface               = &local->worker->ifaces[0];
    watched.ops          = *wiface->iface->ops;
    watched.ops.progress = counted_progress;
    watched.calls        = 0;
    watched.finds        = 0;
    uct_iface_progress_disable(wiface->iface,
                               UCT_PROGRESS_SEND | UCT_PROGRESS_RECV);
    wiface->iface->ops = &watched.ops;
    uct_iface_progress_enable(wiface->iface,
                              UCT_PROGRESS_SEND | UCT_PROGRESS_RECV);
    return wiface;
}

static void close_watched(local_t *local)
{
    ucp_worker_destroy(local->worker);
    ucp_cleanup(local->context);
}

static unsigned calls_in(local_t *local, unsigned rounds)
{
    unsigned before = watched.calls;

    while (rounds-- > 0) {
        ucp_worker_progress(local->worker);
    }
    return watched.calls - before;
}

/* Makes the next poll the last one before the interface becomes idle, and polls
 * it. */
static void let_sleep(local_t *local, ucp_worker_iface_t *wiface)
{
    wiface->polls_left = 1;
    ucp_idle_poll_soon(local->worker);
    ucp_worker_progress(local->worker);
}

static ucp_ep_h connect_to_itself(local_t *local)
{
    ucp_worker_attr_t attr = {.field_mask = UCP_WORKER_ATTR_FIELD_ADDRESS};
    ucp_ep_params_t params = {
        .field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS,
    };
    ucp_ep_h ep;

    ck_assert_int_eq(ucp_worker_query(local->worker, &attr), UCS_OK);
    params.address = attr.address;
    ck_assert_int_eq(ucp_ep_create(local->worker, &params, &ep), UCS_OK);
    ucp_worker_release_address(local->worker, attr.address);
    return ep;
}

START_TEST(nobody_talks_nobody_asks)
{
    ucp_worker_iface_t *wiface;
    local_t local;

    wiface = open_watched(&local);
    let_sleep(&local, wiface);
    ck_assert_int_eq(wiface->is_idle, 1);
    /* An idle interface is polled rarely: progress reads the clock in every
     * 16th round only, to decide whether a poll is due. */
    ck_assert_uint_le(calls_in(&local, 1600), 100);
    close_watched(&local);
}
END_TEST

START_TEST(it_is_looked_at_now_and_then)
{
    ucp_worker_iface_t *wiface;
    local_t local;

    wiface = open_watched(&local);
    let_sleep(&local, wiface);
    watched.calls = 0;
    while (watched.calls < 3) {
        ucp_worker_progress(local.worker);
    }
    close_watched(&local);
}
END_TEST

START_TEST(who_is_found_busy_is_polled_for_a_while)
{
    ucp_worker_iface_t *wiface;
    local_t local;

    wiface = open_watched(&local);
    let_sleep(&local, wiface);
    watched.finds = 1;
    ucp_idle_poll_soon(local.worker);
    /* Progress returns the event of this poll. From then on every round polls
     * the interface. */
    ck_assert_uint_eq(ucp_worker_progress(local.worker), 1);
    ck_assert_uint_ge(calls_in(&local, 100), 100);
    let_sleep(&local, wiface);
    ck_assert_int_eq(wiface->is_idle, 1);
    close_watched(&local);
}
END_TEST

START_TEST(an_endpoint_keeps_it_awake)
{
    ucp_worker_iface_t *wiface;
    local_t local;
    ucp_ep_h ep;

    wiface = open_watched(&local);
    let_sleep(&local, wiface);
    ep = connect_to_itself(&local);
    ck_assert_uint_eq(calls_in(&local, 10), 10);
    let_sleep(&local, wiface);
    ck_assert_int_eq(wiface->is_idle, 0);
    ck_assert_uint_eq(uct_iface_num_eps(wiface->iface), 1);

    close_ep(&local, ep);
    ck_assert_uint_eq(uct_iface_num_eps(wiface->iface), 0);
    let_sleep(&local, wiface);
    ck_assert_int_eq(wiface->is_idle, 1);
    close_watched(&local);
}
END_TEST

START_TEST(who_armed_sees_what_woke_him)
{
    ucp_worker_iface_t *wiface;
    local_t local;

    wiface = open_watched(&local);
    let_sleep(&local, wiface);
    while (ucp_worker_arm(local.worker) == UCS_ERR_BUSY) {
        ucp_worker_progress(local.worker);
    }
    ck_assert_uint_eq(calls_in(&local, 1), 1);
    close_watched(&local);
}
END_TEST

START_TEST(it_can_be_turned_off)
{
    ucp_worker_iface_t *wiface;
    local_t local;

    setenv("UCX_ADAPTIVE_PROGRESS", "n", 1);
    wiface = open_watched(&local);
    unsetenv("UCX_ADAPTIVE_PROGRESS");
    let_sleep(&local, wiface);
    ck_assert_uint_eq(calls_in(&local, 100), 100);
    close_watched(&local);
}
END_TEST

SUITE_MAIN("idle", nobody_talks_nobody_asks, it_is_looked_at_now_and_then,
           who_is_found_busy_is_polled_for_a_while, an_endpoint_keeps_it_awake,
           who_armed_sees_what_woke_him, it_can_be_turned_off)
