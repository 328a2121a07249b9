/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fence: puts, gets and atomics that were issued on an endpoint before the
 * fence are complete before any operation that is issued on this endpoint after
 * the fence: accesses, tagged and active messages, streams. There is no order
 * between endpoints.
 *
 * Emulated puts and atomics (rma/rma.h) are messages that request the access
 * from the peer; they are in order with all other messages. If an endpoint uses
 * only lane 0, the lane of messages, for accesses, then the transport's fence
 * on that lane is enough. Otherwise the fence is a flush in the background, and
 * later operations wait until it is complete (they are "held back"). This is so
 * if an endpoint has used both lanes and messages for accesses, if it has used
 * a lane and this or another usable lane is not lane 0, if requests still wait
 * in its queue, or if the peer may still have to read its memory for an
 * emulated get. If there were only emulated accesses, the flush starts later,
 * when an access uses a lane, which is rare.
 *
 * The state of an endpoint (flags UCP_EP_FLAG_ORDERED and _FENCING):
 *
 *   (none) --fence, accesses over lanes--------------------> FENCING
 *          --fence, emulated accesses--> ORDERED --access over a lane--^
 *   ORDERED --all emulated accesses acknowledged--> (none)
 *   FENCING: all operations of the user and further fences are held back
 *          --flushed--> they are queued, up to the next fence among them
 *
 * Messages of the library itself are not held back, except those of
 * ucp_ep_send_in_order(), because operations of the peer, including its own
 * fence, may wait for them.
 */
#include "ucp/order/fence.h"

#include "ucp/order/flush.h"
#include "ucs/debug/log.h"

void ucp_fence_hold(ucp_ep_h ep, ucp_request_t *req)
{
    ucs_queue_push(&ucp_send_flush(ep->fence)->held, &req->send.queue);
}

void ucp_fence_done(ucp_request_t *fence)
{
    ucp_ep_h ep = fence->send.ep;
    ucs_queue_elem_t *elem;
    ucs_queue_head_t held;
    ucp_request_t *req;

    ucs_queue_head_init(&held);
    ucs_queue_splice(&held, &ucp_send_flush(fence)->held);
    ep->fence = NULL;
    ep->flags &= ~UCP_EP_FLAG_FENCING;
    /* A failing endpoint calls this function before the flush is complete. The
     * completion of the flush must not call it again, because the endpoint may
     * then be freed. */
    fence->flags &= ~UCP_REQUEST_FLAG_FENCE;
    if (ucs_queue_is_empty(&held)) {
        return;
    }

    /* Queue all requests before the first one is sent. The first one may
     * complete, and its callback may start operations, which must not overtake
     * the remaining requests. */
    while ((elem = ucs_queue_pull(&held)) != NULL) {
        req = ucs_container_of(elem, ucp_request_t, send.queue);
        if (ep->flags & UCP_EP_FLAG_FENCING) {
            ucp_fence_hold(ep, req);
        } else {
            ucp_flush_begins(req);
            ucs_queue_push(&ep->waiting, &req->send.queue);
        }
    }
    /* If the endpoint has failed, the code that handles the failure completes
     * the queued requests with an error. */
    if (!(ep->flags & UCP_EP_FLAG_FAILED)) {
        ep->flags |= UCP_EP_FLAG_BLOCKED;
        if (!(ep->flags & (UCP_EP_FLAG_PENDING | UCP_EP_FLAG_DRAINING))) {
            ucp_ep_resume(ep);
        }
    }
}

ucs_status_t ucp_fence_check(ucp_request_t *req)
{
    ucp_ep_h ep = req->send.ep;
    ucs_status_t status;

    if (!(ep->flags & UCP_EP_FLAG_FENCING)) {
        if (req->send.proto->flags & UCP_PROTO_FLAG_MESSAGES) {
            return UCS_OK;
        }
        if (ep->rma_issued != ep->rma_done) {
            status = ucp_flush_as_fence(ep);
            if (status != UCS_OK) {
                return status;
            }
        }
        ep->flags &= ~UCP_EP_FLAG_ORDERED;
    }
    return (ep->flags & UCP_EP_FLAG_FENCING) ? UCS_INPROGRESS : UCS_OK;
}

void ucp_fence_start(ucp_request_t *req)
{
    ucs_status_t status = ucp_fence_check(req);

    if (status == UCS_INPROGRESS) {
        ucp_fence_hold(req->send.ep, req);
    } else if (status == UCS_OK) {
        ucp_request_start(req);
    } else {
        req->send.proto->abort(req, status);
    }
}

/* True if the puts, gets and atomics over lanes have used only lane 0, which
 * also carries the messages, and later ones will use only this lane. The
 * transport's fence then orders them. `lanes`: the lanes that were used. */
static int is_only_way(ucp_ep_h ep, ucp_lane_map_t lanes)
{
    return (lanes == UCS_BIT(UCP_AM_LANE)) &&
           (((ep->config->rma_lanes | ep->config->amo_lanes) & ~lanes) == 0);
}

/* True if the peer may still have to read its memory for an emulated get. */
static int is_fetching(ucp_ep_h ep)
{
    return (int32_t)(ep->rma_fetch - ep->rma_done) > 0;
}

static ucs_status_t fence_ep(ucp_ep_h ep)
{
    ucp_lane_map_t lanes = ep->remote_lanes;
    int emulated         = (ep->rma_issued != ep->rma_done);
    ucs_status_t status;

    if (!(ep->flags & (UCP_EP_FLAG_FENCING | UCP_EP_FLAG_BLOCKED)) &&
        !is_fetching(ep)) {
        if (lanes == 0) {
            if (emulated &&
                ((ep->config->rma_lanes | ep->config->amo_lanes) != 0)) {
                ep->flags |= UCP_EP_FLAG_ORDERED;
            }
            return UCS_OK;
        }
        if (!emulated && is_only_way(ep, lanes)) {
            status = ep->am->ops->fence(ep->am, 0);
            if (status == UCS_OK) {
                return UCS_OK;
            }
        }
    }
    return ucp_flush_as_fence(ep);
}

ucs_status_t ucp_worker_fence(ucp_worker_h worker)
{
    ucs_status_t result = UCS_OK;
    ucs_status_t status;
    ucp_ep_h ep, next;

    ucp_worker_enter(worker);
    ucs_list_for_each_safe(ep, next, &worker->eps, link) {
        if (!(ep->flags & UCP_EP_FLAG_FAILED)) {
            status = fence_ep(ep);
            result = (status == UCS_OK) ? result : status;
        }
    }
    ucp_worker_leave(worker);
    return result;
}
