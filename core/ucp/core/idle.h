/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Interfaces that nobody talks through, and which progress therefore does not
 * poll. Worker's thread, with its lock.
 *
 * An interface is awake while it has endpoints, and for some time after a look
 * at it has found something: a peer may talk to us without any endpoint of
 * ours. The others are looked at every fiftieth of a millisecond or so, by a
 * worker that polls less often every so many rounds, and in the first progress
 * after arming, so that whoever is woken sees what woke him.
 */
#ifndef UCP_IDLE_H
#define UCP_IDLE_H

#include "ucp/core/worker.h"

/** Puts to sleep what has been opened; no call, and all of them stay awake. */
void ucp_idle_init(ucp_worker_h worker);

/** Something is going to be sent here, and answered. */
void ucp_idle_wake(ucp_worker_iface_t *wiface);

/** Looks at those asleep if it is time. Returns what was done. */
unsigned ucp_idle_look(ucp_worker_h worker);

/** The next progress looks. */
static inline void ucp_idle_look_soon(ucp_worker_h worker)
{
    worker->idle.looked_at = 0;
    worker->idle.rounds    = 1;
}

/** From every progress: non-zero now and then. Hot path. */
static UCS_F_ALWAYS_INLINE int ucp_idle_is_round(ucp_worker_h worker)
{
    return ucs_unlikely(--worker->idle.rounds == 0);
}

#endif
