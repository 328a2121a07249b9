/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Failure and release of endpoints: functions that any folder may call. core/
 * implements them, because only core/ may include all folders that take part.
 */
#ifndef UCP_LIFE_H
#define UCP_LIFE_H

#include "ucp/base/ep.h"

/** Schedules the endpoint's pending work for the next progress. */
void ucp_ep_schedule(ucp_ep_h ep);

/** Marks the endpoint as failed: completes all its operations with `status` and
 *  notifies the user. */
void ucp_ep_fail(ucp_ep_h ep, ucs_status_t status);

/** Makes the endpoint fail in the next progress, because data is lost that
 *  its peer waits for. May be called while requests of the endpoint are
 *  processed. */
void ucp_ep_fail_later(ucp_ep_h ep, ucs_status_t status);

/** Completes all operations with `status`, releases the lanes and schedules the
 *  remaining work for the next progress. Operations that the transport still
 *  processes complete through their callbacks. */
void ucp_ep_shut(ucp_ep_h ep, ucs_status_t status);

/** Completes all operations with UCS_ERR_CANCELED. The next progress frees the
 *  endpoint, because users call this in callbacks while a caller on the stack
 *  still uses the endpoint. */
void ucp_ep_discard(ucp_ep_h ep);

/** Frees an endpoint that nothing refers to any more, not even callers on the
 *  stack. Only creation and progress can ensure that. */
void ucp_ep_destroy_now(ucp_ep_h ep);

/** Reports the loss of a message whose receive is not known: calls the error
 *  handlers of the worker's endpoints and completes its tagged receives with
 *  UCS_ERR_NO_MEMORY. `what`: the kind of message, for the log. */
void ucp_worker_lost(ucp_worker_h worker, const char *what, size_t length);

/** Called when a request with UCP_REQUEST_FLAG_TIMED completes. learn/
 *  implements it. */
void ucp_request_timed(ucp_request_t *req, ucs_status_t status);

/** Called after the endpoint has received data or a reply that a close may wait
 *  for: the close may continue. */
static inline void ucp_ep_replied(ucp_ep_h ep)
{
    if (ucs_unlikely(ep->flags & UCP_EP_FLAG_CLOSING)) {
        ucp_ep_schedule(ep);
    }
}

#endif
