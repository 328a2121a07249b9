/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Handles operations that are issued while a fence is incomplete.
 */
#ifndef UCP_FENCE_H
#define UCP_FENCE_H

#include "ucp/order/queue.h"
#include "ucp/proto/ep.h"

/** Queues a request until the endpoint's fence is complete. */
void ucp_fence_hold(ucp_ep_h ep, ucp_request_t *req);

/** Called when the flush that implements the fence is complete: moves the
 *  requests that it held back to the endpoint's pending queue, in order. */
void ucp_fence_done(ucp_request_t *fence);

/** Checks whether a fence allows this access to start. Returns UCS_INPROGRESS
 *  if the access must be held back, and an error if its order cannot be
 *  ensured. */
ucs_status_t ucp_fence_check(ucp_request_t *req);

/** Starts an access, holds it back, or completes it with an error. */
void ucp_fence_start(ucp_request_t *req);

/** Starts an operation of the user; if the endpoint has a fence, it is held
 *  back until that is complete. */
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
