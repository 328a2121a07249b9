/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Introductions: how a peer learns where to send answers.
 *
 * One-way messages need no set-up beyond the transport's own. Before the first
 * message that wants an answer an endpoint introduces itself: it names its
 * worker and itself and gives its worker's address, in an active message on
 * the same lane, so that it arrives first. The peer makes an endpoint of its
 * own, internal, for the answers; nobody waits for anybody.
 *
 *   INTRODUCE | sender's end 16 | flags 1 | worker address |
 *   FAREWELL  | sender's end 16 |
 *
 *   asker's endpoint          answerer
 *     plain --introduce--> makes a reply endpoint
 *     closed --farewell--> frees it
 *     lane lost            frees it, ends what it was waiting for
 *
 * An endpoint of the user's to its own worker (LOOPBACK) answers itself, and is
 * introduced without a message. Its lanes may still have an internal half.
 */
#ifndef UCP_INTRODUCE_H
#define UCP_INTRODUCE_H

#include "ucp/core/ep.h"

typedef struct {
    ucp_wire_end_t sender;
    uint8_t        flags;   /**< UCP_INTRODUCE_* */
} ucp_introduce_t;

enum {
    UCP_INTRODUCE_ERR_MODE = UCS_BIT(0)  /**< Peer failures are handled */
};

_Static_assert(sizeof(ucp_introduce_t) == 17, "wire layout");

/** Introduces the endpoint unless it has been done. */
ucs_status_t ucp_wireup_introduce(ucp_ep_h ep);

/** Takes leave of the peer if it was introduced. Best effort. */
void ucp_wireup_farewell(ucp_ep_h ep);

/** The endpoint that answers `sender`, or NULL. `sender` is foreign. */
ucp_ep_h
ucp_wireup_reply_ep(ucp_worker_h worker, const ucp_wire_end_t *sender);

/** Makes an internal endpoint the one that answers `sender`, behind one of the
 *  user's that was connected to that end. */
ucs_status_t ucp_wireup_remember(ucp_ep_h ep, const ucp_wire_end_t *sender);

/** Makes an endpoint of the user's the one that answers the end `peer_ep_id` of
 *  its peer, before an internal one. Another of the user's must not. */
ucs_status_t ucp_wireup_pair(ucp_ep_h ep, uint64_t peer_ep_id);

/** Makes an endpoint of the user's the one that answers it, if it leads to its
 *  own worker; the half that is made for its lanes serves these only. */
ucs_status_t ucp_wireup_loop(ucp_ep_h ep);

/** Non-zero: `end` has been given an internal endpoint. */
int ucp_wireup_has_half(ucp_worker_h worker, const ucp_wire_end_t *end);

/** Takes a reply endpoint that is being freed out of the table. */
void ucp_wireup_forget(ucp_ep_h ep);

/** Receive side: UCT callbacks, `arg` is the worker. */
ucs_status_t ucp_wireup_introduce_handler(void *arg, void *data, size_t length,
                                          unsigned flags);
ucs_status_t ucp_wireup_farewell_handler(void *arg, void *data, size_t length,
                                         unsigned flags);

#endif
