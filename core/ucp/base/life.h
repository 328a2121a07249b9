/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Failure and release of endpoints: functions that any folder of core/ucp may
 * call. The folder core/ implements them, because only it may include the
 * headers of all folders whose state has to be released. Also
 * ucp_request_timed(), which the folder learn/ implements.
 */
#ifndef UCP_LIFE_H
#define UCP_LIFE_H

#include "ucp/base/ep.h"

/** Makes the next progress handle the endpoint: progress closes lanes that have
 *  failed, continues a close, frees the endpoint, or calls the user's error
 *  handler, whatever is due. */
void ucp_ep_schedule(ucp_ep_h ep);

/** Marks the endpoint as failed and completes its operations with `status`,
 *  except those that a transport still processes: these complete through their
 *  callbacks. The next progress calls the user's error handler if the error
 *  handling mode is PEER and the endpoint is not being closed. No effect if the
 *  endpoint has failed already. */
void ucp_ep_fail(ucp_ep_h ep, ucs_status_t status);

/** Makes the endpoint fail in the next progress, because a message to the peer
 *  or from it was lost. May be called while requests of the endpoint are
 *  processed. */
void ucp_ep_fail_later(ucp_ep_h ep, ucs_status_t status);

/** As ucp_ep_fail(), but sends no messages to the peer: for an endpoint that
 *  the peer, or the user, has closed. */
void ucp_ep_shut(ucp_ep_h ep, ucs_status_t status);

/** Closes the endpoint by force: makes it fail with UCS_ERR_CANCELED, as by
 *  ucp_ep_shut(), but notifies the peer if possible. Progress frees the
 *  endpoint later: the next one, or, if the flush of an earlier close is in
 *  flight, the one after its completion. It is not freed here, because a user's
 *  callback may close it while a caller on the stack still uses it. */
void ucp_ep_discard(ucp_ep_h ep);

/** Frees an endpoint that no caller on the stack uses. Called only where this
 *  is certain: by progress, after a failed creation, and by
 *  ucp_worker_destroy(). */
void ucp_ep_destroy_now(ucp_ep_h ep);

/** Reports the loss of a message whose receive is not known: all endpoints of
 *  the worker fail in the next progress, and the tagged receives of the worker
 *  complete, with UCS_ERR_NO_MEMORY. `what`: the kind of message, for the
 *  log. */
void ucp_worker_lost(ucp_worker_h worker, const char *what, size_t length);

/** Called when a send with UCP_REQUEST_FLAG_TIMED completes: records the
 *  duration of the transfer. */
void ucp_request_timed(ucp_request_t *req, ucs_status_t status);

/** Called after the endpoint has received data or a reply. If the endpoint is
 *  closing, the close may have waited for this, and the next progress continues
 *  it. */
static inline void ucp_ep_replied(ucp_ep_h ep)
{
    if (ucs_unlikely(ep->flags & UCP_EP_FLAG_CLOSING)) {
        ucp_ep_schedule(ep);
    }
}

#endif
