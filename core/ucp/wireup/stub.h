/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Placeholder for the transport's endpoint of a lane that is not connected yet.
 * It never has send resources, so that the endpoint's own queue keeps all sends
 * in order and the message path needs no special case.
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
    /** Carries messages to the peer until the lane is connected; if it is not
     *  in use, lane 0 carries them */
    ucp_wireup_link_t *link;
    ucx_pending_queue_t waiting;
} ucp_wireup_stub_t;

/** Takes ownership of an endpoint that is to be connected. */
void ucp_wireup_stub_init(ucp_wireup_stub_t *stub, uct_ep_h real,
                          ucp_wireup_link_t *link);

/** Returns the endpoint, which replaces the stub, and gives up ownership. */
uct_ep_h ucp_wireup_stub_take(ucp_wireup_stub_t *stub);

#endif
