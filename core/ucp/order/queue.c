/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The queue of an endpoint (ep->waiting): requests that cannot be sent yet, in
 * order. The pending callback of a transport continues the queue when a lane
 * has send resources. Also the start of requests.
 */
#include "ucp/order/queue.h"

#include "ucp/stats/stats.h"
#include "ucs/debug/log.h"


/* Sends the requests in the endpoint's queue, in order. Returns
 * UCS_ERR_NO_RESOURCE if the queue is not empty afterwards. */
static ucs_status_t drain(ucp_ep_h ep)
{
    ucs_queue_elem_t *elem;
    ucp_request_t *req;
    ucs_status_t status;

    ep->flags |= UCP_EP_FLAG_DRAINING;
    while ((elem = ucs_queue_pull(&ep->waiting)) != NULL) {
        req = ucs_container_of(elem, ucp_request_t, send.queue);
        do {
            status = req->send.proto->progress(req);
        } while (status == UCS_INPROGRESS);

        if (ep->flags & UCP_EP_FLAG_FAILED) {
            /* A callback of this request has made the endpoint fail, and the
             * failure has completed all other requests. */
            break;
        }
        if (status == UCS_ERR_NO_RESOURCE) {
            ucs_queue_push_head(&ep->waiting, elem);
            ep->flags &= ~UCP_EP_FLAG_DRAINING;
            return UCS_ERR_NO_RESOURCE;
        }
    }

    ep->flags &= ~(UCP_EP_FLAG_DRAINING | UCP_EP_FLAG_BLOCKED);
    return UCS_OK;
}

static uct_pending_req_t *pending_of(ucp_ep_h ep, unsigned lane)
{
    return (lane == UCP_AM_LANE) ? &ep->pending : &ep->more[lane - 1].pending;
}

/*
 * Makes the endpoint continue when the lane that the first request in its queue
 * waits for has send resources: adds the lane's member `pending` to the pending
 * queue of the transport. `from`: the lane whose pending callback calls this
 * function, or UCP_NULL_LANE. Returns
 *
 * - UCS_OK: `pending` was added, or the endpoint has failed, or the request
 *   waits for another event instead (ucp_ep_continue())
 * - UCS_ERR_BUSY: the lane has send resources now, the caller tries again
 * - UCS_ERR_NO_RESOURCE: the lane is `from`. Its callback returns this status,
 *   and so stays in the pending queue
 */
static ucs_status_t wait_for_lane(ucp_ep_h ep, unsigned from)
{
    ucp_request_t *first = ucs_queue_head_elem_non_empty(&ep->waiting,
                                                         ucp_request_t,
                                                         send.queue);
    unsigned lane        = first->lane;
    uct_ep_h uct;
    ucs_status_t status;

    if (lane == UCP_NULL_LANE) {
        ep->flags |= UCP_EP_FLAG_PENDING;
        return UCS_OK;
    }
    if (lane == from) {
        ep->flags |= UCP_EP_FLAG_PENDING;
        return UCS_ERR_NO_RESOURCE;
    }

    uct    = ucp_ep_lane(ep, lane);
    status = uct->ops->pending_add(uct, pending_of(ep, lane), 0);
    if (status == UCS_OK) {
        ep->flags |= UCP_EP_FLAG_PENDING;
    } else if (status != UCS_ERR_BUSY) {
        ucp_ep_fail(ep, status);
        status = UCS_OK;
    }
    return status;
}

static ucs_status_t lane_resume(ucp_ep_h ep, unsigned lane)
{
    ucs_status_t status;

    ep->flags &= ~UCP_EP_FLAG_PENDING;
    while (drain(ep) != UCS_OK) {
        status = wait_for_lane(ep, lane);
        if (status != UCS_ERR_BUSY) {
            return status;
        }
    }
    return UCS_OK;
}

static ucs_status_t am_resume(uct_pending_req_t *self)
{
    return lane_resume(ucs_container_of(self, ucp_ep_t, pending), UCP_AM_LANE);
}

ucs_status_t ucp_ep_lane_resume(uct_pending_req_t *self)
{
    ucp_ep_lane_t *lane = ucs_container_of(self, ucp_ep_lane_t, pending);

    return lane_resume(lane->ep, (unsigned)(lane - lane->ep->more) + 1);
}

void ucp_ep_queue_init(ucp_ep_h ep)
{
    ep->pending.func = am_resume;
    ucs_queue_head_init(&ep->waiting);
}

void ucp_ep_hold(ucp_ep_h ep)
{
    ep->flags |= UCP_EP_FLAG_BLOCKED | UCP_EP_FLAG_PENDING;
}

void ucp_ep_resume(ucp_ep_h ep)
{
    ep->flags &= ~UCP_EP_FLAG_PENDING;
    while ((drain(ep) != UCS_OK) &&
           (wait_for_lane(ep, UCP_NULL_LANE) == UCS_ERR_BUSY)) {
        /* The lane got send resources after drain() had found none: try
         * again. */
    }
}

void ucp_ep_continue(ucp_ep_h ep)
{
    ucp_request_t *first;

    if ((ep->flags & (UCP_EP_FLAG_FAILED | UCP_EP_FLAG_DRAINING)) ||
        ucs_queue_is_empty(&ep->waiting)) {
        return;
    }
    first = ucs_queue_head_elem_non_empty(&ep->waiting, ucp_request_t,
                                          send.queue);
    if (first->lane == UCP_NULL_LANE) {
        ucp_ep_resume(ep);
    }
}

void ucp_ep_wait_for_resources(ucp_ep_h ep, ucp_request_t *req)
{
    ucs_queue_push(&ep->waiting, &req->send.queue);
    ep->flags |= UCP_EP_FLAG_BLOCKED;
    if (ucs_unlikely(ucp_ep_stats(ep) != NULL)) {
        ucs_stats_add(ucp_stats_ep_record(ucp_ep_stats(ep)), UCP_STATS_WAITS,
                      1);
    }
    if (ep->flags & (UCP_EP_FLAG_PENDING | UCP_EP_FLAG_DRAINING)) {
        return;
    }

    while ((wait_for_lane(ep, UCP_NULL_LANE) == UCS_ERR_BUSY) &&
           (drain(ep) != UCS_OK)) {
        /* Some requests were sent. The first one in the queue may now wait for
         * another lane, which has send resources. */
    }
}

void ucp_ep_wait_in_front(ucp_ep_h ep, ucp_request_t *req)
{
    ucp_request_t *first = ucs_queue_head_elem_non_empty(&ep->waiting,
                                                         ucp_request_t,
                                                         send.queue);

    ucs_queue_push_head(&ep->waiting, &req->send.queue);
    if ((first->lane == UCP_NULL_LANE) && !(ep->flags & UCP_EP_FLAG_DRAINING)) {
        /* The former first request waits for an event, so no `pending` is in
         * a transport's queue: add the one of the new request's lane */
        ucp_ep_resume(ep);
    }
}

void ucp_request_start(ucp_request_t *req)
{
    ucp_ep_h ep = req->send.ep;
    ucs_status_t status;

    if (ucs_unlikely(ep->flags & UCP_EP_FLAGS_BUSY)) {
        if (ep->flags & UCP_EP_FLAG_FAILED) {
            req->send.proto->abort(req, ep->fail_status);
        } else {
            ucp_ep_wait_for_resources(ep, req);
        }
        return;
    }

    do {
        status = req->send.proto->progress(req);
    } while (status == UCS_INPROGRESS);

    if (status == UCS_ERR_NO_RESOURCE) {
        ucp_ep_wait_for_resources(ep, req);
    }
}
