/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Interfaces without traffic, which progress polls rarely. All functions
 * except ucp_idle_init() are called with the worker's lock held.
 *
 * An interface becomes active when it gets an endpoint, or when a poll finds an
 * event: a peer may send to an interface without endpoints. An active interface
 * becomes idle when it has been without endpoints for at least 50 ms. Idle
 * interfaces are polled about every 50 microseconds, or every 16 rounds of
 * progress if these take longer. ucp_worker_arm() makes the next progress poll
 * them at once, because a thread that is woken has to find the event.
 */
#ifndef UCP_IDLE_H
#define UCP_IDLE_H

#include "ucp/base/worker.h"

/** Makes idle those opened interfaces whose transport allows it
 *  (uct_iface_can_idle()). Without this call all interfaces stay active. */
void ucp_idle_init(ucp_worker_h worker);

/** Makes an interface active, for example because it gets an endpoint. */
void ucp_idle_wake(ucp_worker_iface_t *wiface);

/** Polls idle interfaces if the interval of 50 microseconds has passed. Returns
 *  the number of events. */
unsigned ucp_idle_poll(ucp_worker_h worker);

/** Makes the next progress poll idle interfaces. */
static inline void ucp_idle_poll_soon(ucp_worker_h worker)
{
    worker->idle.polled_at = 0;
    worker->idle.rounds    = 1;
}

/** Called by every progress. Returns non-zero if the caller shall call
 *  ucp_idle_poll(): once in 16 calls, and after ucp_idle_poll_soon(). Hot
 *  path. */
static UCS_F_ALWAYS_INLINE int ucp_idle_is_round(ucp_worker_h worker)
{
    return ucs_unlikely(--worker->idle.rounds == 0);
}

#endif
