/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What stands in for the transport's endpoint of a lane that is not connected
 * yet. It has no room for anything, so that the endpoint's own queue keeps what
 * is sent in order; the message path need not know.
 */
#ifndef UCP_WIREUP_STUB_H
#define UCP_WIREUP_STUB_H

#include <ucx/pending.h>

#include "ucp/wireup/link.h"

typedef struct ucp_wireup_stub {
    uct_ep_t            super;    /**< First: what the lane points to */
    uct_ep_h            real;     /**< Not connected yet; ours. NULL: not in
                                       use, or handed out */
    ucp_wireup_link_t   *link;    /**< The way to the peer meanwhile; if it is
                                       not in use, lane 0 is */
    ucx_pending_queue_t waiting;
} ucp_wireup_stub_t;

/** Takes over an endpoint that is to be connected. */
void ucp_wireup_stub_init(ucp_wireup_stub_t *stub, uct_ep_h real,
                          ucp_wireup_link_t *link);

/** Hands the endpoint out: it takes the stub's place. */
uct_ep_h ucp_wireup_stub_take(ucp_wireup_stub_t *stub);

#endif
