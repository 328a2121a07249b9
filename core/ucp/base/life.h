/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The end of an endpoint, as all folders may request it. These functions are
 * calls upwards: core/ implements them, because it alone knows all folders that
 * take part in an end.
 */
#ifndef UCP_LIFE_H
#define UCP_LIFE_H

#include "ucp/base/ep.h"

/** Schedules the endpoint's pending work for the next progress. */
void ucp_ep_schedule(ucp_ep_h ep);

/** Marks the endpoint as failed: ends all operations and notifies the user. */
void ucp_ep_fail(ucp_ep_h ep, ucs_status_t status);

/** Makes the endpoint fail in the next progress, because data is lost that
 *  its peer waits for. May be called while requests of the endpoint are
 *  processed. */
void ucp_ep_fail_later(ucp_ep_h ep, ucs_status_t status);

/** Ends all operations with `status`, releases the lanes and schedules the
 *  rest. Operations that the transport still processes complete through
 *  their callbacks. */
void ucp_ep_shut(ucp_ep_h ep, ucs_status_t status);

/** Ends all operations with CANCELED. The next progress frees the endpoint,
 *  because users call this in callbacks while a caller on the stack still
 *  uses the endpoint. */
void ucp_ep_discard(ucp_ep_h ep);

/** Frees an endpoint that nothing refers to any more, including callers on
 *  the stack: except during creation, this holds only in progress. */
void ucp_ep_destroy_now(ucp_ep_h ep);

/** Reports the loss of a message that names no receive: calls the error
 *  handlers of the worker's endpoints and ends its tagged receives with
 *  UCS_ERR_NO_MEMORY. `what`: for the log. */
void ucp_worker_lost(ucp_worker_h worker, const char *what, size_t length);

/** Called when a request with UCP_REQUEST_FLAG_TIMED completes: implemented by
 *  learn/. */
void ucp_request_timed(ucp_request_t *req, ucs_status_t status);

/** Called after the endpoint has received what a close may wait for: the close
 *  may continue. */
static inline void ucp_ep_replied(ucp_ep_h ep)
{
    if (ucs_unlikely(ep->flags & UCP_EP_FLAG_CLOSING)) {
        ucp_ep_schedule(ep);
    }
}

#endif
