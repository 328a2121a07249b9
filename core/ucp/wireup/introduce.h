/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Introductions: they give a peer an endpoint for its replies.
 *
 * One-way messages need no set-up beyond that of the transport. Before the
 * first message that requires a reply, an endpoint sends an introduction: its
 * worker's UUID, its own id and its worker's address. The introduction is an
 * active message on the same lane, so that it arrives before that message. The
 * peer creates an internal endpoint for the replies. The endpoint does not wait
 * for an answer. Numbers are bytes:
 *
 *   INTRODUCE | sender's end 16 | flags 1 | worker address |
 *   FAREWELL  | sender's end 16 |
 *
 *   endpoint                  peer
 *     plain --introduce--> creates a reply endpoint
 *     closed --farewell--> frees the reply endpoint
 *
 * If lane 0 is lost, the endpoint ends the operations that wait for replies,
 * and the peer frees the reply endpoint.
 *
 * A user's endpoint to its own worker (UCP_EP_FLAG_LOOPBACK) is its own reply
 * endpoint and is introduced without a message. If its lanes need a handshake,
 * the other side of these lanes is an internal endpoint of the same worker.
 *
 * A sender's end is a ucp_wire_end_t: the UUID of its worker and the id of its
 * endpoint.
 */
#ifndef UCP_INTRODUCE_H
#define UCP_INTRODUCE_H

#include "ucp/proto/ep.h"
#include "ucp/wireup/ids.h"

typedef struct {
    ucp_wire_end_t sender;
    uint8_t flags; /**< UCP_INTRODUCE_* */
} ucp_introduce_t;

enum {
    UCP_INTRODUCE_ERR_MODE = UCS_BIT(0), /**< Error handling mode is PEER */
};

_Static_assert(sizeof(ucp_introduce_t) == 17, "wire layout");

/** Introduces the endpoint to its peer, if that has not been done. Without an
 *  error, messages that need a reply may follow. */
ucs_status_t ucp_wireup_introduce(ucp_ep_h ep);

/** Prepares a request that completes with a reply: introduces the endpoint,
 *  assigns an id to the request, and makes a close wait for it from now on,
 *  even while the request waits for send resources. */
ucs_status_t ucp_wireup_expect_reply(ucp_request_t *req);

/** Sends FAREWELL if the endpoint was introduced. Best effort. */
void ucp_wireup_farewell(ucp_ep_h ep);

/** Called when all operations of a closing endpoint are flushed. If the peer
 *  gets a FAREWELL, sends it and passes `req` to a second flush, and returns
 *  non-zero. Does nothing for an endpoint to its own worker, or by socket
 *  address, which send the FAREWELL at other times (core/ep_close.c). */
int ucp_wireup_leave(ucp_ep_h ep, ucp_request_t *req);

/** Returns the endpoint for replies to `sender`, or NULL. `sender` may be any
 *  value that a peer has sent. */
ucp_ep_h ucp_wireup_reply_ep(ucp_worker_h worker, const ucp_wire_end_t *sender);

/** Adds an internal endpoint to the table of reply endpoints, for replies to
 *  the peer's endpoint `sender`. If the user has an endpoint that is connected
 *  to `sender`, replies still go over the user's endpoint. */
ucs_status_t ucp_wireup_remember(ucp_ep_h ep, const ucp_wire_end_t *sender);

/** Adds a user's endpoint as the reply endpoint of the peer's endpoint
 *  `peer_ep_id`, ahead of an internal one. Returns UCS_ERR_ALREADY_EXISTS if
 *  another endpoint of the user has been added for it. */
ucs_status_t ucp_wireup_pair(ucp_ep_h ep, uint64_t peer_ep_id);

/** Adds a user's endpoint to its own worker as its own reply endpoint. An
 *  internal endpoint that is created for its lanes serves only these lanes.
 *  Does nothing for other endpoints. */
ucs_status_t ucp_wireup_loop(ucp_ep_h ep);

/** Returns non-zero if there is an internal endpoint that replies to the peer's
 *  endpoint `end`. */
int ucp_wireup_has_half(ucp_worker_h worker, const ucp_wire_end_t *end);

/** Removes a reply endpoint from the table, before it is freed. No effect if it
 *  is not in the table. */
void ucp_wireup_forget(ucp_ep_h ep);

/** UCT callbacks for received messages; `arg` is the worker. */
ucs_status_t ucp_wireup_introduce_handler(void *arg, void *data, size_t length,
                                          unsigned flags);
ucs_status_t ucp_wireup_farewell_handler(void *arg, void *data, size_t length,
                                         unsigned flags);

#endif
