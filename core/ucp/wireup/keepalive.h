/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Keepalive: detects lost peers. It covers only endpoints whose failures the
 * user handles (UCP_ERR_HANDLING_MODE_PEER) and whose transport does not detect
 * failures itself; without such endpoints a worker has no timer. The timer
 * starts rounds: in a round, progress checks the peers of some endpoints.
 * Between two rounds progress has no extra cost.
 *
 *   a timer (library thread) --posts a call, wakes a sleeping worker-->
 *   a round (in the next progress)
 *
 * A round calls the transport's check of the peer, if there is one. Otherwise
 * it sends (numbers are bytes)
 *
 *   KEEPALIVE  | sender's end 16 |
 *
 * which makes the transport detect a failure; over an auxiliary link (link.h)
 * one zero byte instead. There is no reply: a process that computes for an hour
 * without calling progress sends nothing, but is not a lost peer.
 *
 * A sender's end is a ucp_wire_end_t: the UUID of its worker and the id of its
 * endpoint.
 */
#ifndef UCP_KEEPALIVE_H
#define UCP_KEEPALIVE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <ucp/api/ucp.h>

#include "ucp/wireup/ids.h"
#include "uct/base/worker.h"

typedef struct ucp_keepalive {
    /** Id of the timer (ucs_async_add_timer()); 0 if it is not running */
    int timer;
    atomic_bool due;     /**< The timer has fired, and progress has not run the
                          *   round since */
    uct_oneshot_t round; /**< Makes progress run a round; registered while
                          *   `due` is set */
    /** Endpoint with which the next round starts; NULL: the first endpoint in
     *  the worker's list */
    ucp_ep_h next;
} ucp_keepalive_t;

/** Called for a new endpoint: starts the worker's timer if the endpoint needs
 *  keepalive and the timer is not running. */
void ucp_keepalive_watch(ucp_ep_h ep);

/** Checks the peer of a new endpoint, if the user handles its failures and the
 *  transport can check a peer. This makes a transport that otherwise connects
 *  on first use open the connection, so that it detects a lost peer even if
 *  nothing is sent. A later progress calls the error handler for a lost peer.
 *  Returns UCS_ERR_NO_MEMORY or UCS_ERR_NO_RESOURCE if the check is not
 *  possible now. */
ucs_status_t ucp_keepalive_connect(ucp_ep_h ep);

/** Checks the peer of an endpoint that has lost a lane, if the user handles
 *  its failures: the peer may be lost. */
void ucp_keepalive_check(ucp_ep_h ep);

/** Called before an endpoint is freed: the next round does not start with
 *  it. */
void ucp_keepalive_forget(ucp_ep_h ep);

/** Stops the timer, and cancels a round that has not run. Called when the
 *  worker is destroyed. */
void ucp_keepalive_cleanup(ucp_worker_h worker);

/** UCT callback for received messages; `arg` is the worker. */
ucs_status_t ucp_keepalive_handler(void *arg, void *data, size_t length,
                                   unsigned flags);

#endif
