/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ucp_request_cancel(): its effect depends on the state of the request.
 *
 *   state of the request                    | ucp_request_cancel
 *   ----------------------------------------+---------------------------------
 *   receive, no message has matched it      | completes with CANCELED
 *   send, no part of it is sent             | completes with CANCELED
 *   tagged send by rendezvous, announced    | asks the receiver to drop the
 *                                           | announcement. Completes with
 *                                           | CANCELED if no receive has
 *                                           | matched it, else as usual
 *   all others                              | no effect: completes as usual
 *
 * A send cannot be cancelled after one of its fragments is sent: the receiver
 * would wait for the remaining ones.
 */
#include "ucp/base/class.h"
#include "ucp/core/ep_life.h"
#include "ucp/order/flush.h"
#include "ucp/order/queue.h"
#include "ucp/proto/ep.h"

/* For a send in a queue: true if the peer has received a part of it or depends
 * on it. Also true for flushes, which cannot be cancelled. */
static int has_begun(const ucp_request_t *req)
{
    unsigned flags = req->send.proto->flags;

    return (flags & UCP_PROTO_FLAG_BEGUN) ||
           (!(flags & UCP_PROTO_FLAG_WHOLE) && (req->dt.offset > 0));
}

/* If the request is in the queue and has_begun() is false, removes it and
 * returns non-zero. Otherwise returns zero. */
static int take_from(ucs_queue_head_t *queue, ucp_request_t *req)
{
    ucs_queue_iter_t iter;

    for (iter = ucs_queue_iter_begin(queue); !ucs_queue_iter_end(queue, iter);
         iter = ucs_queue_iter_next(iter)) {
        if (*iter == &req->send.queue) {
            if (has_begun(req)) {
                return 0;
            }
            ucs_queue_del_iter(queue, iter);
            return 1;
        }
    }
    return 0;
}

static void cancel_send(ucp_request_t *req)
{
    ucp_ep_h ep = ucp_request_live_ep(req);
    int waits_for_copy;

    if ((ep == NULL) || (ep->flags & UCP_EP_FLAG_FAILED)) {
        return;
    }
    if (take_from(&ep->waiting, req)) {
        waits_for_copy = (req->lane == UCP_NULL_LANE);
        req->send.proto->abort(req, UCS_ERR_CANCELED);
        if (waits_for_copy) {
            /* req->lane was UCP_NULL_LANE: the request was the first in the
             * queue and blocked it while it waited for a copy of its data, or
             * for the peer to agree to tag offload. Continue with the next
             * request. */
            ucp_ep_resume(ep);
        }
    } else if ((ep->flags & UCP_EP_FLAG_FENCING) &&
               take_from(&ucp_send_flush(ep->fence)->held, req)) {
        req->send.proto->abort(req, UCS_ERR_CANCELED);
    } else if ((req->flags & UCP_REQUEST_FLAG_ANNOUNCED) &&
               (req->send.proto->withdraw != NULL)) {
        req->send.proto->withdraw(req);
    }
}

void ucp_request_cancel(ucp_worker_h worker, void *request)
{
    ucp_request_t *req = ucp_request_of(request);

    ucp_worker_enter(worker);
    if (req->flags & UCP_REQUEST_FLAG_RECV) {
        ucp_classes_cancel(req);
    } else if (!ucp_request_is_done(req) && (req->send.proto != NULL)) {
        cancel_send(req);
    }
    ucp_worker_leave(worker);
}
