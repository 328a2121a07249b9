/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The deadlines of the handshakes of a worker: a timer, and a check in
 * progress that fails endpoints whose peers do not answer (deadline.h).
 */
#include "ucp/wireup/deadline.h"

#include "ucp/proto/ep.h"
#include "ucp/wireup/handshake.h"
#include "ucp/wireup/state.h"
#include "ucs/async/async.h"
#include "ucs/debug/log.h"

#include <math.h>

/* The timer fires this many times within one timeout. Each time, progress
 * checks the handshakes. */
enum { ROUNDS = 4 };

static ucp_wireup_deadlines_t *deadlines_of(ucp_worker_h worker)
{
    return &ucp_worker_wireup(worker)->deadlines;
}

static double timeout_of(ucp_worker_h worker)
{
    return worker->context->options.wireup_timeout;
}

static void stop_timer(ucp_wireup_deadlines_t *deadlines)
{
    if (deadlines->timer != 0) {
        ucs_async_remove_handler(deadlines->timer, 1);
        deadlines->timer = 0;
    }
}

/* Returns the oldest handshake if it has exceeded the timeout, else NULL. */
static ucp_wireup_t *find_late(ucp_worker_h worker, ucs_time_t now)
{
    ucs_list_link_t *list = &deadlines_of(worker)->list;
    ucp_wireup_t *oldest;

    if (ucs_list_is_empty(list)) {
        return NULL;
    }
    oldest = ucs_list_head(list, ucp_wireup_t, deadline.link);
    return (now - oldest->deadline.started >=
            ucs_time_from_sec(timeout_of(worker))) ?
               oldest :
               NULL;
}

/* Fails the endpoints whose peers have not answered in time. ucp_ep_fail()
 * frees no endpoint (the next progress does that), so that the list stays
 * valid. */
static void deadline_round(void *arg)
{
    ucp_worker_h worker               = arg;
    ucp_wireup_deadlines_t *deadlines = deadlines_of(worker);
    ucs_time_t now                    = ucs_get_time();
    ucp_wireup_t *late;
    ucp_ep_h ep;

    atomic_store(&deadlines->due, false);
    while ((late = find_late(worker, now)) != NULL) {
        ep = late->ep;
        ucs_diag("ep %p: worker %lx has not connected its lanes within %g s "
                 "(UCX_WIREUP_TIMEOUT)",
                 ep, ep->peer_uuid, timeout_of(worker));
        ucp_wireup_deadline_stop(ep);
        ucp_ep_fail(ep, UCS_ERR_ENDPOINT_TIMEOUT);
    }
    if (ucs_list_is_empty(&deadlines->list)) {
        stop_timer(deadlines);
    }
}

/* Called in the timer thread of the library: makes the next progress run
 * deadline_round(), and wakes a sleeping worker. */
static void timer_fired(int id, ucs_event_set_types_t events, void *arg)
{
    ucp_worker_h worker               = arg;
    ucp_wireup_deadlines_t *deadlines = deadlines_of(worker);

    if (!atomic_exchange(&deadlines->due, true)) {
        uct_worker_oneshot_post(worker->uct, &deadlines->round, deadline_round,
                                worker);
    }
}

void ucp_wireup_deadline_start(ucp_ep_h ep)
{
    ucp_worker_h worker               = ep->worker;
    ucp_wireup_deadlines_t *deadlines = deadlines_of(worker);
    double timeout                    = timeout_of(worker);

    if (!(timeout > 0) || !isfinite(timeout)) {
        return;
    }
    ucp_ep_wireup(ep)->handshake->deadline.started = ucs_get_time();
    ucs_list_add_tail(&deadlines->list,
                      &ucp_ep_wireup(ep)->handshake->deadline.link);
    if ((deadlines->timer == 0) &&
        (ucs_async_add_timer(UCS_ASYNC_MODE_THREAD_MUTEX,
                             ucs_time_from_sec(timeout / ROUNDS), timer_fired,
                             worker, worker->async,
                             &deadlines->timer) != UCS_OK)) {
        deadlines->timer = 0;
        ucs_warn("no timer for the connections of worker %s: one that is "
                 "never answered waits without end",
                 worker->name);
    }
}

void ucp_wireup_deadline_stop(ucp_ep_h ep)
{
    if (ucp_ep_wireup(ep)->handshake->deadline.link.next != NULL) {
        ucs_list_del(&ucp_ep_wireup(ep)->handshake->deadline.link);
        ucp_ep_wireup(ep)->handshake->deadline.link.next = NULL;
    }
}

void ucp_wireup_deadlines_init(ucp_worker_h worker)
{
    ucs_list_head_init(&deadlines_of(worker)->list);
}

void ucp_wireup_deadlines_cleanup(ucp_worker_h worker)
{
    stop_timer(deadlines_of(worker));
    uct_worker_oneshot_cancel(worker->uct, deadline_round, worker);
}
