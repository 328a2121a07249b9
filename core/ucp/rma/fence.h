/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a fence under way means to operations that are issued then.
 */
#ifndef UCP_RMA_FENCE_H
#define UCP_RMA_FENCE_H

#include "ucp/core/ep.h"

/** Queues a request behind the endpoint's fence. */
void ucp_rma_fence_hold(ucp_ep_h ep, ucp_request_t *req);

/** The flush that is the fence is complete: what it held back is queued with the
 *  endpoint's other requests, in order. */
void ucp_rma_fence_done(ucp_request_t *fence);

/** May this access start, as far as fences go? UCS_INPROGRESS: it has to be held
 *  back; an error: it cannot be kept in order. */
ucs_status_t ucp_rma_fence_look(ucp_request_t *req);

/** Starts an access, or holds it back, or ends it with an error. */
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

/** Starts a message of the user's, behind a fence if there is one. Messages are
 *  in order with emulated accesses, so FLAG_ORDERED does not concern them. */
static UCS_F_ALWAYS_INLINE void ucp_rma_fence_start_message(ucp_request_t *req)
{
    if (ucs_unlikely(req->send.ep->flags & UCP_EP_FLAG_FENCING)) {
        ucp_rma_fence_hold(req->send.ep, req);
    } else {
        ucp_request_start(req);
    }
}

#endif
