/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Operations that the user issues after ucp_worker_fence: whether they may
 * start, or wait until the operations before the fence are complete.
 */
#ifndef UCP_FENCE_H
#define UCP_FENCE_H

#include "ucp/order/queue.h"
#include "ucp/proto/ep.h"

/** Appends a request to the queue of the flush that implements the endpoint's
 *  fence (UCP_EP_FLAG_FENCING). ucp_fence_done() removes it from there. */
void ucp_fence_hold(ucp_ep_h ep, ucp_request_t *req);

/** Called when the flush that implements the fence is complete: moves the
 *  requests that it held back to the endpoint's pending queue, in order. */
void ucp_fence_done(ucp_request_t *fence);

/** Checks whether a fence allows a put, get or atomic to start. If only
 *  accesses that messages carry out preceded the fence, the first access over
 *  a lane starts the flush that implements the fence. Returns UCS_INPROGRESS
 *  if the request must be held back, and an error if its order cannot be
 *  ensured. */
ucs_status_t ucp_fence_check(ucp_request_t *req);

/** Starts a request if ucp_fence_check() allows that; otherwise holds it back,
 *  or completes it with the error. */
void ucp_fence_start(ucp_request_t *req);

/** Starts an operation of the user. If the endpoint has a fence, the operation
 *  is held back until the fence is complete. */
static UCS_F_ALWAYS_INLINE void ucp_start_behind_fence(ucp_request_t *req)
{
    if (ucs_unlikely(req->send.ep->flags &
                     (UCP_EP_FLAG_FENCING | UCP_EP_FLAG_ORDERED))) {
        ucp_fence_start(req);
    } else {
        ucp_request_start(req);
    }
}

#endif
