/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a fence under way means to accesses and flushes that are issued then.
 */
#ifndef UCP_RMA_FENCE_H
#define UCP_RMA_FENCE_H

#include "ucp/core/ep.h"

/** Puts a request behind the endpoint's fence. */
void ucp_rma_fence_hold(ucp_ep_h ep, ucp_request_t *req);

/** The flush that is the fence is over: what it held starts. */
void ucp_rma_fence_done(ucp_request_t *fence);

/** May this request start, as far as fences go? UCS_INPROGRESS: it is to be held;
 *  an error: it cannot be kept in order. */
ucs_status_t ucp_rma_fence_look(ucp_request_t *req);

/** Starts it, or holds it, or ends it with an error. */
void ucp_rma_fence_start(ucp_request_t *req);

/** Starts an access or a flush, behind a fence if there is one. */
static UCS_F_ALWAYS_INLINE void ucp_rma_start_behind_fence(ucp_request_t *req)
{
    if (ucs_unlikely(req->send.ep->flags & (UCP_EP_FLAG_FENCING |
                                            UCP_EP_FLAG_ORDERED))) {
        ucp_rma_fence_start(req);
    } else {
        ucp_request_start(req);
    }
}

#endif
