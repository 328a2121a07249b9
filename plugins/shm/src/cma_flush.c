/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Flush and fence. A copy that is complete here is complete in the other
 * process, so local and remote flushes are the same.
 */
#include "cma.h"

/* Returns whether nothing is outstanding: no operation to this peer is in
 * flight, and no completed operation waits in iface->done for the call of its
 * completion. */
static int is_idle(const cma_iface_t *iface, const cma_peer_t *peer)
{
    return (peer->head == NULL) && (iface->done == NULL);
}

ucs_status_t cma_ep_flush(uct_ep_h uct_ep, unsigned flags,
                          uct_completion_t *comp)
{
    cma_ep_t *ep       = cma_ep(uct_ep);
    cma_peer_t *peer   = ep->peer;
    cma_iface_t *iface = peer->iface;
    ucs_status_t status;

    if (flags & UCT_FLUSH_FLAG_CANCEL) {
        cma_ops_cancel(peer, ep, UCS_ERR_CANCELED);
    } else if (ep->status != UCS_OK) {
        return ep->status;
    }
    if (is_idle(iface, peer)) {
        return UCS_OK;
    }
    if (comp != NULL) {
        status = cma_ops_flush(iface, peer, ep, comp);
        if (status != UCS_OK) {
            return status;
        }
    }
    return UCS_INPROGRESS;
}

/* Makes operations that are posted from now on wait for those in flight
 * (op_may_begin() in cma_op.c). */
static void fence_peer(cma_peer_t *peer)
{
    if (peer->head != NULL) {
        ++peer->epoch;
    }
}

ucs_status_t cma_ep_fence(uct_ep_h uct_ep, unsigned flags)
{
    cma_ep_t *ep = cma_ep(uct_ep);

    fence_peer(ep->peer);
    return ep->status;
}

ucs_status_t cma_iface_fence(uct_iface_h uct_iface, unsigned flags)
{
    cma_iface_t *iface = cma_iface(uct_iface);

    for (cma_peer_t *peer = iface->busy; peer != NULL; peer = peer->next_busy) {
        fence_peer(peer);
    }
    return UCS_OK;
}

/* Errors of operations are reported by their own completions; a flush only
 * waits. */
ucs_status_t cma_iface_flush(uct_iface_h uct_iface, unsigned flags,
                             uct_completion_t *comp)
{
    cma_iface_t *iface  = cma_iface(uct_iface);
    ucs_status_t status = UCS_OK;
    ucx_count_t *flush;

    if (flags & UCT_FLUSH_FLAG_CANCEL) {
        return UCS_ERR_UNSUPPORTED;
    }
    if ((iface->busy == NULL) && (iface->done == NULL)) {
        return UCS_OK;
    }
    if (comp == NULL) {
        return UCS_INPROGRESS;
    }
    if (iface->busy == NULL) {
        status = cma_ops_flush(iface, NULL, NULL, comp);
        return (status == UCS_OK) ? UCS_INPROGRESS : status;
    }

    flush = ucx_count_create(comp);
    if (flush == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    for (cma_peer_t *peer = iface->busy; (peer != NULL) && (status == UCS_OK);
         peer             = peer->next_busy) {
        status = cma_ops_flush(iface, peer, NULL, ucx_count_add(flush));
        ucx_count_result(flush, (status == UCS_OK) ? UCS_INPROGRESS : status);
    }
    return ucx_count_close(flush);
}
