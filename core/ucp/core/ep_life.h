/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Steps of the close and the failure of an endpoint, which ep_close.c and
 * ep_fail.c call in each other.
 */
#ifndef UCP_EP_LIFE_H
#define UCP_EP_LIFE_H

#include "ucp/proto/ep.h"

/** Identifier of the message: the receiver will get no replies. */
enum { UCP_AM_ID_LOST = 30 };

/** Notifies the peer that this endpoint is closed. The message is sent ahead of
 *  all waiting requests, and over another endpoint if necessary. Best
 *  effort. */
void ucp_ep_send_farewell(ucp_ep_h ep);

/** For an endpoint that replies to a peer and has failed: notifies the peer
 *  that its endpoint gets no more replies from here, so that the peer does not
 *  wait for them. Best effort. */
void ucp_ep_send_lost(ucp_ep_h ep);

/** Continues the close of a scheduled endpoint (see ep_close.c). May free the
 *  endpoint. */
void ucp_ep_close_continue(ucp_ep_h ep);

/** Completes all incomplete operations of the endpoint with `status`. */
void ucp_ep_abort_requests(ucp_ep_h ep, ucs_status_t status);

/** UCT callback for a received LOST message; `arg` is the worker. */
ucs_status_t ucp_ep_lost_handler(void *arg, void *data, size_t length,
                                 unsigned flags);

#endif
