/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Endpoints of the loopback transport (self.h), and pending requests, which
 * wait until the interface's message queue has space.
 */
#include "self.h"

#include <stdlib.h>

static self_pending_priv_t *self_pending_priv(uct_pending_req_t *req)
{
    return (self_pending_priv_t *)(void *)req->priv;
}

ucs_status_t self_ep_create(uct_iface_h iface, const uct_ep_params_t *params,
                            uct_ep_h *ep_p)
{
    ucx_reachable_args_t peer = {
        .size              = sizeof(peer),
        .iface_addr_length = sizeof(uint64_t),
    };
    self_ep_t *ep;

    if (!(params->field_mask & UCT_EP_PARAM_FIELD_IFACE_ADDR)) {
        return UCS_ERR_UNSUPPORTED; /* There is no connection of endpoint to
                                     * endpoint; the caller must give the
                                     * address of an interface */
    }

    peer.iface_addr = params->iface_addr;
    if (params->field_mask & UCT_EP_PARAM_FIELD_IFACE_ADDR_LENGTH) {
        peer.iface_addr_length = params->iface_addr_length;
    }

    if (!uct_self_iface_ops.is_reachable(iface, &peer)) {
        return UCS_ERR_UNREACHABLE;
    }

    ep = malloc(sizeof(*ep));
    if (ep == NULL) {
        return UCS_ERR_NO_MEMORY;
    }

    ucx_ep_init(&ep->super, iface);
    ep->status = UCS_OK;
    *ep_p      = &ep->super;

    return UCS_OK;
}

/* Calls the error handler of the interface for the endpoint `arg`. The worker
 * calls this function in the next progress after uct_ep_invalidate(), because
 * uct_ep_invalidate() itself must not call the error handler. */
static void self_ep_report_failure(void *arg)
{
    self_ep_t *ep = arg;

    uct_self_host->iface_ep_failed(ep->super.iface, &ep->super, ep->status);
}

static void self_ep_destroy(uct_ep_h super)
{
    self_ep_t *ep = (self_ep_t *)super;

    if (ep->status != UCS_OK) {
        uct_self_host->progress_cancel(super->iface->worker,
                                       self_ep_report_failure, ep);
    }
    free(ep);
}

static ucs_status_t self_ep_invalidate(uct_ep_h super, unsigned flags)
{
    self_ep_t *ep = (self_ep_t *)super;
    ucs_status_t status;

    if (ep->status != UCS_OK) {
        return UCS_OK; /* already invalidated: the failure is reported once */
    }

    status = uct_self_host->progress_oneshot(super->iface->worker,
                                             self_ep_report_failure, ep);
    if (status == UCS_OK) {
        ep->status = UCS_ERR_CONNECTION_RESET;
    }
    return status;
}

static ucs_status_t self_ep_check(uct_ep_h ep, unsigned flags,
                                  uct_completion_t *comp)
{
    return self_ep_status(ep); /* the peer is this process, so it is
                                * reachable */
}

static ucs_status_t self_ep_flush(uct_ep_h ep, unsigned flags,
                                  uct_completion_t *comp)
{
    /* Every operation has completed or copied its data when its call returns,
     * so there is nothing to wait for. With UCT_FLUSH_FLAG_CANCEL, there is
     * nothing to cancel either, and the flush succeeds on an invalidated
     * endpoint, too. */
    return (flags & UCT_FLUSH_FLAG_CANCEL) ? UCS_OK : self_ep_status(ep);
}

static ucs_status_t self_ep_fence(uct_ep_h ep, unsigned flags)
{
    return self_ep_status(ep);
}

static int self_ep_is_connected(uct_ep_h ep, const uct_device_addr_t *dev_addr,
                                const uct_iface_addr_t *iface_addr,
                                const uct_ep_addr_t *ep_addr)
{
    ucx_reachable_args_t peer = {
        .size              = sizeof(peer),
        .iface_addr        = iface_addr,
        .iface_addr_length = sizeof(uint64_t),
    };

    return (self_ep_status(ep) == UCS_OK) &&
           uct_self_iface_ops.is_reachable(ep->iface, &peer);
}

static void self_pending_push_tail(self_iface_t *iface, uct_pending_req_t *req)
{
    self_pending_priv(req)->next = NULL;
    *iface->pending_tail         = req;
    iface->pending_tail          = &self_pending_priv(req)->next;
}

static void self_pending_push_head(self_iface_t *iface, uct_pending_req_t *req)
{
    self_pending_priv(req)->next = iface->pending_head;
    if (iface->pending_head == NULL) {
        iface->pending_tail = &self_pending_priv(req)->next;
    }
    iface->pending_head = req;
}

static uct_pending_req_t *self_pending_pop(self_iface_t *iface)
{
    uct_pending_req_t *req = iface->pending_head;

    if (req != NULL) {
        iface->pending_head = self_pending_priv(req)->next;
        if (iface->pending_head == NULL) {
            iface->pending_tail = &iface->pending_head;
        }
    }
    return req;
}

/* UCS_ERR_BUSY means that the caller can send now: the message queue has space,
 * and no earlier request waits. */
static ucs_status_t self_pending_add(uct_ep_h super, uct_pending_req_t *req,
                                     unsigned flags)
{
    self_iface_t *iface = self_ep_iface(super);

    if ((iface->queued < iface->queue_len) && (iface->pending_head == NULL)) {
        return UCS_ERR_BUSY;
    }

    self_pending_priv(req)->ep = (self_ep_t *)super;
    self_pending_push_tail(iface, req);
    return UCS_OK;
}

/*
 * Calls the callbacks of pending requests in order, until the message queue is
 * full. If a callback does not return UCS_OK, its request returns to the front
 * of the pending queue, the loop ends, and the next progress calls it again.
 * Returns the number of callbacks that returned UCS_OK or UCS_INPROGRESS.
 */
unsigned self_pending_dispatch(self_iface_t *iface)
{
    unsigned count = 0;
    uct_pending_req_t *req;
    ucs_status_t status;
    self_ep_t *ep;

    while ((iface->queued < iface->queue_len) &&
           ((req = self_pending_pop(iface)) != NULL)) {
        ep     = self_pending_priv(req)->ep;
        status = req->func(req);
        if (status != UCS_OK) {
            self_pending_priv(req)->ep = ep;
            self_pending_push_head(iface, req);
            count += (status == UCS_INPROGRESS);
            break;
        }
        ++count;
    }

    return count;
}

static void self_pending_purge(uct_ep_h super, uct_pending_purge_callback_t cb,
                               void *arg)
{
    self_iface_t *iface     = self_ep_iface(super);
    uct_pending_req_t *todo = iface->pending_head;
    uct_pending_req_t *req;

    /* The pending queue is emptied first; requests of other endpoints are then
     * added again, in the same order. Thus the queue never contains a request
     * that the callback may have freed. */
    iface->pending_head = NULL;
    iface->pending_tail = &iface->pending_head;
    while ((req = todo) != NULL) {
        todo = self_pending_priv(req)->next;
        if (self_pending_priv(req)->ep == (self_ep_t *)super) {
            cb(req, arg);
        } else {
            self_pending_push_tail(iface, req);
        }
    }
}

const ucx_ep_ops_t uct_self_ep_ops = {
    .size           = sizeof(uct_self_ep_ops),
    .am_short       = self_am_short,
    .am_bcopy       = self_am_bcopy,
    .am_zcopy       = self_am_zcopy,
    .am_short_iov   = self_am_short_iov,
    .put_short      = self_put_short,
    .put_bcopy      = self_put_bcopy,
    .put_zcopy      = self_put_zcopy,
    .get_short      = self_get_short,
    .get_bcopy      = self_get_bcopy,
    .get_zcopy      = self_get_zcopy,
    .flush          = self_ep_flush,
    .fence          = self_ep_fence,
    .pending_add    = self_pending_add,
    .pending_purge  = self_pending_purge,
    .atomic32_post  = self_atomic32_post,
    .atomic64_post  = self_atomic64_post,
    .atomic32_fetch = self_atomic32_fetch,
    .atomic64_fetch = self_atomic64_fetch,
    .atomic_cswap32 = self_atomic_cswap32,
    .atomic_cswap64 = self_atomic_cswap64,
    .destroy        = self_ep_destroy,
    .check          = self_ep_check,
    .invalidate     = self_ep_invalidate,
    .is_connected   = self_ep_is_connected,
};
