/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Keepalive: finding peers that have gone without a word. Only endpoints whose
 * failures are the user's to know, and whose transport does not notice by
 * itself, take part; while a worker has none there is no timer. Rounds run from
 * progress and cost nothing in between.
 *
 *   a timer (library thread) --one-shot, wakes who sleeps--> a round (progress)
 *
 * A round asks the transport to check its peer, if it can. Else it sends
 *
 *   KEEPALIVE  | sender's end 16 |
 *
 * for the transport to fail with. Nobody answers, and silence proves nothing: a
 * process that computes for an hour without progress is alive.
 */
#ifndef UCP_KEEPALIVE_H
#define UCP_KEEPALIVE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <ucp/api/ucp.h>

#include "uct/base/worker.h"

typedef struct ucp_keepalive {
    int           timer; /**< 0: none runs */
    atomic_bool   due;   /**< A round waits for progress */
    uct_oneshot_t round; /**< While it is due */
    ucp_ep_h      next;  /**< The next round begins here; NULL: at the first */
} ucp_keepalive_t;

/** A new endpoint: it may be one that has to be looked after. */
void ucp_keepalive_watch(ucp_ep_h ep);

/** Checks the peer of a new endpoint, if its failures are the user's to know. A
 *  transport that connects late opens the connection for it, so that a peer is
 *  watched to which nothing is sent. A dead peer reaches the error handler from
 *  a later progress. UCS_ERR_NO_MEMORY, UCS_ERR_NO_RESOURCE: the peer cannot be
 *  watched now. */
ucs_status_t ucp_keepalive_connect(ucp_ep_h ep);

/** Looks after an endpoint now, as it has lost a lane: its peer may have gone.
 *  Only where failures are the user's to know. */
void ucp_keepalive_look(ucp_ep_h ep);

/** An endpoint is about to be freed. */
void ucp_keepalive_forget(ucp_ep_h ep);

/** Stops rounds for good. */
void ucp_keepalive_cleanup(ucp_worker_h worker);

/** Receive side: a UCT callback, `arg` is the worker. */
ucs_status_t ucp_keepalive_handler(void *arg, void *data, size_t length,
                                   unsigned flags);

#endif
