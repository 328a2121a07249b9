/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Steps of the close and of the failure of an endpoint. ep_close.c and
 * ep_fail.c implement them, and call each other's.
 */
#ifndef UCP_EP_LIFE_H
#define UCP_EP_LIFE_H

#include "ucp/proto/ep.h"

/** Identifier of the message LOST: its sender sends no more replies to the
 *  endpoint that the message names. */
enum { UCP_AM_ID_LOST = 30 };

/** Sends the message FAREWELL, which says that this endpoint is closed, ahead
 *  of all waiting requests: over lane 0; over the auxiliary link while the
 *  handshake waits for its reply (wireup/handshake.h); or over another endpoint
 *  to the same worker if lane 0 cannot send. Best effort: the message may be
 *  lost. No effect without UCP_EP_FLAG_INTRODUCED. */
void ucp_ep_send_farewell(ucp_ep_h ep);

/** For an endpoint that the library has created for replies to a peer, and that
 *  has failed: sends the message LOST, so that the peer does not wait for
 *  further replies. Best effort: the message may be lost. */
void ucp_ep_send_lost(ucp_ep_h ep);

/** Returns the endpoint of a send. Returns NULL if the endpoint was freed: a
 *  request whose operation the transport still processes may outlive the
 *  endpoint. */
ucp_ep_h ucp_request_live_ep(const ucp_request_t *req);

/** Called for an endpoint that is closing and that ucp_ep_schedule() was called
 *  for: continues the close (states in ep_close.c). May free the endpoint. */
void ucp_ep_close_continue(ucp_ep_h ep);

/** Completes, with `status`, the operations of the endpoint except those that a
 *  transport still processes: these complete through their callbacks. */
void ucp_ep_abort_requests(ucp_ep_h ep, ucs_status_t status);

/** UCT callback for a received LOST message; `arg` is the worker. */
ucs_status_t ucp_ep_lost_handler(void *arg, void *data, size_t length,
                                 unsigned flags);

#endif
