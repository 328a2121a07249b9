/* SPDX-License-Identifier: BSD-3-Clause */
/* Flush, fence, and the check of the peer. */
#include "rc_join.h"
#include "rc_send.h"

int rc_ep_needs_empty(const rc_ep_t *ep)
{
    return !(ep->state & RC_EP_FAILED) &&
           ((ep->unsignaled > 0) || (ep->state & RC_EP_UNSEEN));
}

/* Posts a write of 0 bytes, which the peer's device acknowledges after all
 * earlier requests. iWARP does not acknowledge writes; there, the request is a
 * read of the bytes that the peer's rc_join_word_t describes. */
ucs_status_t rc_ep_post_empty(rc_ep_t *ep)
{
    rc_iface_t *iface   = rc_iface_of(ep);
    ucs_status_t status = rc_check(iface, ep);
    struct ibv_send_wr wr;
    struct ibv_sge sge;

    if (status != UCS_OK) {
        return status;
    }
    if (iface->join != NULL) {
        rc_join_sink(iface, &sge);
        rc_wr_init(&wr, IBV_WR_RDMA_READ, &sge, 1);
        rc_wr_remote(&wr, ep->word_address, ep->word_rkey);
    } else {
        rc_wr_init(&wr, IBV_WR_RDMA_WRITE, NULL, 0);
    }
    status = rc_post(iface, ep, &wr, 1);
    if (status == UCS_OK) {
        ep->state &= (uint16_t)~RC_EP_UNSEEN;
    }
    return status;
}

/* Returns whether a flush has nothing to wait for. */
static int is_flushed(const rc_ep_t *ep)
{
    return rc_ep_is_flushed(ep) && !rc_ep_needs_empty(ep);
}

/* Calls `comp`, unless it is NULL, when all requests up to the last one for
 * which a flush waits have completed. Makes the last request a signaled one, if
 * needed. */
static ucs_status_t watch_all(rc_ep_t *ep, uct_completion_t *comp)
{
    rc_iface_t *iface = rc_iface_of(ep);
    rc_user_op_t *op;
    ucs_status_t status;

    rc_poll_sends_soon(iface);
    op = (comp == NULL) ? NULL : ucx_mpool_get(iface->host, iface->user_ops);
    if ((comp != NULL) && (op == NULL)) {
        return UCS_ERR_NO_MEMORY;
    }
    if (rc_ep_needs_empty(ep)) {
        status = rc_ep_post_empty(ep);
        if (status != UCS_OK) {
            if (op != NULL) {
                ucx_mpool_put(iface->user_ops, op);
            }
            return status;
        }
    }
    if (op != NULL) {
        op->comp       = comp;
        op->super.done = rc_user_done;
        rc_op_add(ep, &op->super);
    }
    return UCS_INPROGRESS;
}

ucs_status_t rc_ep_flush(uct_ep_h uct_ep, unsigned flags,
                         uct_completion_t *comp)
{
    rc_ep_t *ep = (rc_ep_t *)uct_ep;

    if (flags & UCT_FLUSH_FLAG_CANCEL) {
        if (rc_linger_is_quiet(ep)) {
            return UCS_OK;
        }
        rc_ep_fail(ep, UCS_ERR_CANCELED, 0);
        return (ep->done_sn == ep->sn) ? UCS_OK : watch_all(ep, comp);
    }
    if (!ucx_pending_is_empty(&ep->pending)) {
        return UCS_ERR_NO_RESOURCE;
    }
    if (is_flushed(ep)) {
        return ((ep->state & (RC_EP_FAILED | RC_EP_LEFT)) == RC_EP_FAILED) ?
                   (ucs_status_t)ep->status :
                   UCS_OK;
    }
    return watch_all(ep, comp);
}

/* Starts the flush of one endpoint, if requests are outstanding. `all` is NULL
 * if the user has passed no completion. */
static ucs_status_t flush_one(rc_ep_t *ep, ucx_count_t *all)
{
    ucs_status_t status;

    if ((ep == NULL) || is_flushed(ep)) {
        return UCS_OK;
    }
    status = watch_all(ep, (all == NULL) ? NULL : ucx_count_add(all));
    if (all != NULL) {
        ucx_count_result(all, status);
    }
    return status;
}

/* Flushes all endpoints. Returns UCS_ERR_NO_RESOURCE if an endpoint cannot post
 * the request that its flush needs; the completion is not called then. */
ucs_status_t rc_iface_flush(uct_iface_h uct_iface, unsigned flags,
                            uct_completion_t *comp)
{
    rc_iface_t *iface   = (rc_iface_t *)uct_iface;
    ucs_status_t result = UCS_OK, status;
    ucx_count_t *all    = NULL;

    if (comp != NULL) {
        all = ucx_count_create(comp);
        if (all == NULL) {
            return UCS_ERR_NO_MEMORY;
        }
    }
    for (uint32_t i = 0; i < iface->eps_size; ++i) {
        status = flush_one(iface->eps[i], all);
        if (status == UCS_INPROGRESS) {
            result = (result == UCS_OK) ? status : result;
        } else if (status != UCS_OK) {
            result = status;
        }
    }
    return (all != NULL) ? ucx_count_close(all) : result;
}

/* A connection executes requests in order, except that the data of a read or of
 * an atomic may arrive after a later write was executed. Therefore the next
 * request waits for outstanding reads and atomics. */
ucs_status_t rc_ep_fence(uct_ep_h uct_ep, unsigned flags)
{
    rc_ep_t *ep = (rc_ep_t *)uct_ep;

    if (rc_iface_of(ep)->join != NULL) {
        rc_order_fence(ep);
    } else {
        ep->state |= RC_EP_FENCE;
    }
    return UCS_OK;
}

ucs_status_t rc_ep_check(uct_ep_h uct_ep, unsigned flags,
                         uct_completion_t *comp)
{
    rc_ep_t *ep = (rc_ep_t *)uct_ep;
    ucs_status_t status;

    if (ep->state & RC_EP_FAILED) {
        return (ucs_status_t)ep->status;
    }
    if ((ep->done_sn != ep->sn) && (ep->unsignaled == 0)) {
        return UCS_OK; /* The completion of the last outstanding request will
                        * show whether the peer is lost */
    }
    status = rc_ep_post_empty(ep);
    return (status == UCS_ERR_NO_RESOURCE) ? UCS_OK : status;
}

ucs_status_t rc_ep_invalidate(uct_ep_h uct_ep, unsigned flags)
{
    rc_ep_fail((rc_ep_t *)uct_ep, UCS_ERR_ENDPOINT_TIMEOUT, 1);
    return UCS_OK;
}
