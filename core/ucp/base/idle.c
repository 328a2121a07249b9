/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Interfaces without traffic, which progress polls rarely (idle.h): when an
 * interface becomes idle or active, and the rare polls of idle interfaces.
 */
#include "ucp/base/idle.h"

#include "ucs/sys/cycles.h"

enum {
    /* Rounds of progress between two reads of the clock */
    ROUNDS = 16,
    /* Calls of poll_iface(), at most one in POLL_SECONDS, after which an
     * interface without endpoints becomes idle */
    AWAKE  = 1000,
};

/* Interval in seconds between polls of an idle interface. A shorter interval
 * costs more, because a poll may be a system call; a longer one delays the
 * first message of a new peer. */
#define POLL_SECONDS 50e-6

void ucp_idle_init(ucp_worker_h worker)
{
    unsigned i;

    for (i = 0; i < worker->num_ifaces; ++i) {
        ucp_worker_iface_t *wiface = &worker->ifaces[i];

        if (uct_iface_can_idle(wiface->iface)) {
            wiface->may_idle = 1;
            wiface->is_idle  = 1;
            uct_iface_progress_disable(wiface->iface,
                                       UCT_PROGRESS_SEND | UCT_PROGRESS_RECV);
        }
    }
    worker->idle.rounds = ROUNDS;
}

void ucp_idle_wake(ucp_worker_iface_t *wiface)
{
    if (!wiface->may_idle) {
        return;
    }
    wiface->polls_left = AWAKE;
    if (wiface->is_idle) {
        wiface->is_idle = 0;
        uct_iface_progress_enable(wiface->iface,
                                  UCT_PROGRESS_SEND | UCT_PROGRESS_RECV);
    }
}

/* Counts down an active interface, and polls an idle one. Callbacks in
 * uct_iface_progress() may create and destroy endpoints, so that the interface
 * may become active here; they do not open or close interfaces. */
static unsigned poll_iface(ucp_worker_iface_t *wiface)
{
    unsigned count;

    if (!wiface->is_idle) {
        if (wiface->may_idle && (uct_iface_num_eps(wiface->iface) == 0) &&
            (--wiface->polls_left == 0)) {
            wiface->is_idle = 1;
            uct_iface_progress_disable(wiface->iface,
                                       UCT_PROGRESS_SEND | UCT_PROGRESS_RECV);
        }
        return 0;
    }

    count = uct_iface_progress(wiface->iface);
    if (count > 0) {
        ucp_idle_wake(wiface);
    }
    return count;
}

unsigned ucp_idle_poll(ucp_worker_h worker)
{
    uint64_t now   = ucs_cycles();
    unsigned count = 0;
    unsigned i;

    worker->idle.rounds = ROUNDS;
    if ((double)(now - worker->idle.polled_at) <
        POLL_SECONDS * ucs_cycles_per_sec()) {
        return 0;
    }

    worker->idle.polled_at = now;
    for (i = 0; i < worker->num_ifaces; ++i) {
        count += poll_iface(&worker->ifaces[i]);
    }
    return count;
}
