/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Placeholder for the transport's endpoint of a lane that is not connected yet.
 * Sends over it return UCS_ERR_NO_RESOURCE, so that they wait in the queue of
 * the UCP endpoint, in order, and the message path needs no special case.
 */
#ifndef UCP_WIREUP_STUB_H
#define UCP_WIREUP_STUB_H

#include <ucx/pending.h>

#include "ucp/wireup/link.h"

typedef struct ucp_wireup_stub {
    uct_ep_t super; /**< Must be first: the lane points to it */
    /** The transport's endpoint, which the stub owns until the lane is
     *  connected; NULL if the stub is not in use, or after
     *  ucp_wireup_stub_take() */
    uct_ep_h real;
    /** The auxiliary link of the handshake, which carries messages to the peer
     *  until the lane is connected; if it is not in use, lane 0 carries them */
    ucp_wireup_link_t *link;
    /** Pending requests that pending_add() of the stub has queued */
    ucx_pending_queue_t waiting;
} ucp_wireup_stub_t;

/** Initializes a stub for the transport's endpoint `real`, which is to be
 *  connected and which the stub owns from then on. */
void ucp_wireup_stub_init(ucp_wireup_stub_t *stub, uct_ep_h real,
                          ucp_wireup_link_t *link);

/** Returns the transport's endpoint, which replaces the stub and which the
 *  caller then owns. Returns NULL if the stub has none. */
uct_ep_h ucp_wireup_stub_take(ucp_wireup_stub_t *stub);

#endif
