/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Creates endpoints, for users and for replies to peers.
 */
#ifndef UCP_WIREUP_CREATE_H
#define UCP_WIREUP_CREATE_H

#include "ucp/proto/ep.h"
#include "ucp/wireup/address.h"
#include "ucp/wireup/records.h"

/** Creates an endpoint to the worker of a packed address of `length` bytes.
 *  `flags`: UCP_EP_FLAG_*, of the new endpoint, in all functions below. */
ucs_status_t ucp_ep_create_to_address(ucp_worker_h worker, const void *address,
                                      size_t length, uint16_t flags,
                                      ucp_ep_h *ep_p);

/** Creates an endpoint to the worker of an unpacked address. `request`: a
 *  peer's request to connect lanes, which the new endpoint answers
 *  (handshake.h); or NULL. */
ucs_status_t ucp_ep_create_to_peer(ucp_worker_h worker,
                                   const ucp_address_info_t *peer,
                                   uint16_t flags,
                                   const ucp_wireup_request_t *request,
                                   ucp_ep_h *ep_p);

/** Creates an endpoint without lanes, for a peer whose address is not known
 *  yet. Operations wait in its queue until it is connected; their protocols
 *  are such that any lanes can carry them out. */
ucs_status_t ucp_ep_create_unconnected(ucp_worker_h worker, uint16_t flags,
                                       ucp_ep_h *ep_p);

/** Creates the lanes of an endpoint from ucp_ep_create_unconnected(), to the
 *  worker of a packed address of `length` bytes. The waiting operations stay
 *  in the queue; the caller sends them by ucp_ep_resume(). */
ucs_status_t ucp_ep_connect(ucp_ep_h ep, const void *address, size_t length);

#endif
