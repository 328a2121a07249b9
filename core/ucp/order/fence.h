/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ucp_worker_fence: decides whether an operation that the user issues after a
 * fence may start, or has to wait until the operations before the fence are
 * complete.
 *
 * "Emulated" accesses are puts, gets and atomics that the peer carries out
 * because a message requests them. A flush in the background, which
 * UCP_EP_FLAG_FENCING indicates, implements a fence that cannot complete at
 * once.
 */
#ifndef UCP_FENCE_H
#define UCP_FENCE_H

#include "ucp/order/queue.h"
#include "ucp/proto/ep.h"

/** Appends a request to the queue `held` of the flush ep->fence.
 *  ucp_fence_done() removes it from there. */
void ucp_fence_hold(ucp_ep_h ep, ucp_request_t *req);

/** Called when the flush `fence` is complete, or the endpoint fails: moves the
 *  requests in its queue `held` to the queue of the endpoint, in order.
 *  Requests that follow a further fence move to the queue `held` of that
 *  fence. */
void ucp_fence_done(ucp_request_t *fence);

/** Checks whether a fence allows the operation `req` to start. If only emulated
 *  accesses preceded the fence (UCP_EP_FLAG_ORDERED), there is no flush yet:
 *  this function starts it for the first access over a lane. Returns
 *  UCS_INPROGRESS if `req` has to wait for the flush, and an error if the flush
 *  cannot be started. */
ucs_status_t ucp_fence_check(ucp_request_t *req);

/** Starts a request if ucp_fence_check() returns UCS_OK. Otherwise makes it
 *  wait for the flush, or completes it with the error. */
void ucp_fence_start(ucp_request_t *req);

/** Starts an operation of the user. If the endpoint has a fence, the operation
 *  may have to wait until the fence is complete. */
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
