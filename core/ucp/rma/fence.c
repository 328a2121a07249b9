/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fence: accesses issued after it take effect after those before.
 *
 * Emulated accesses are in order by themselves, and those of one lane by that
 * lane's fence. Where an endpoint has used several ways, the fence is a flush
 * in the background; what is issued meanwhile waits behind it:
 *
 *   (none) --fence--> FENCING: accesses, flushes and further fences are held
 *          <--flushed-- what is held starts, up to the next fence in it
 */
#include "ucp/rma/fence.h"

#include "ucp/core/flush.h"
#include "ucs/debug/log.h"

void ucp_rma_fence_hold(ucp_ep_h ep, ucp_request_t *req)
{
    ucs_queue_push(&ep->fence->send.flush.held, &req->send.queue);
}

void ucp_rma_fence_done(ucp_request_t *fence)
{
    ucp_ep_h ep = fence->send.ep;
    ucs_queue_elem_t *elem;
    ucs_queue_head_t held;
    ucp_request_t *req;

    ucs_queue_head_init(&held);
    ucs_queue_splice(&held, &fence->send.flush.held);
    ep->fence               = NULL;
    ep->flags              &= ~UCP_EP_FLAG_FENCING;
    fence->send.flush.fence = 0; /* its end may come after the endpoint's */
    while ((elem = ucs_queue_pull(&held)) != NULL) {
        req = ucs_container_of(elem, ucp_request_t, send.queue);
        if (ep->flags & UCP_EP_FLAG_FENCING) {
            ucp_rma_fence_hold(ep, req);
        } else {
            ucp_flush_begins(req);
            ucp_request_start(req);
        }
    }
}

/* Have accesses gone more than one way? */
static int is_mixed(ucp_ep_h ep)
{
    int ways = __builtin_popcount(ep->remote_lanes) +
               (ep->rma_issued != ep->rma_done);

    return ways > 1;
}

static ucs_status_t fence_ep(ucp_ep_h ep)
{
    ucs_status_t status = UCS_OK;
    uct_ep_h uct;

    if (!(ep->flags & (UCP_EP_FLAG_FENCING | UCP_EP_FLAG_BLOCKED)) &&
        !is_mixed(ep)) {
        if (ep->remote_lanes == 0) {
            return UCS_OK;
        }
        uct    = ucp_ep_lane(ep, (unsigned)__builtin_ctz(ep->remote_lanes));
        status = uct->ops->fence(uct, 0);
        if (status == UCS_OK) {
            return UCS_OK;
        }
    }
    /* by hand */
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
