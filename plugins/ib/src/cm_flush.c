/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Flush of connection manager endpoints. A flush completes when the peer's
 * device has acknowledged all messages. If this side has disconnected, the
 * flush also waits until the peer's user was notified (the message LEFT) or the
 * connection has ended.
 */
#include "cm.h"

#include <stdlib.h>

/* An outstanding flush. Progress calls the completion. The endpoint may be
 * destroyed before that call. */
typedef struct cm_flush {
    /* Node in the endpoint's list `flushes`, then in the manager's list
     * `flushed` */
    ib_link_t node;
    uct_completion_t *comp;
    ucs_status_t status; /* For `comp`; set when the flush has ended */
} cm_flush_t;

/* Returns whether a flush has nothing to wait for. */
static int is_over(const ib_cm_ep_t *ep)
{
    return (ep->link == NULL) ||
           ((ep->link->unsent == 0) &&
            ((ep->flags & (IB_CM_EP_LEFT | IB_CM_EP_LEFT_TOLD)) !=
             IB_CM_EP_LEFT));
}

static ucs_status_t add(ib_link_t *list, uct_completion_t *comp)
{
    cm_flush_t *flush = malloc(sizeof(*flush));

    if (flush == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    flush->comp   = comp;
    flush->status = UCS_OK;
    ib_link_init(&flush->node);
    ib_link_queue(list, &flush->node);
    return UCS_INPROGRESS;
}

void ib_cm_flush_end(ib_cm_ep_t *ep, ucs_status_t status)
{
    ib_cm_t *cm = ep->cm;
    cm_flush_t *flush;

    if (ib_link_is_alone(&ep->flushes)) {
        return;
    }
    while (!ib_link_is_alone(&ep->flushes)) {
        flush         = ib_container_of(ep->flushes.next, cm_flush_t, node);
        flush->status = status;
        ib_link_remove(&flush->node);
        ib_link_queue(&cm->flushed, &flush->node);
    }
    if (!cm->in_progress) {
        ib_cm_wake(cm);
    }
}

void ib_cm_flush_check(ib_cm_ep_t *ep)
{
    if (is_over(ep)) {
        ib_cm_flush_end(ep, UCS_OK);
    }
}

void ib_cm_flush_dispatch(ib_cm_t *cm)
{
    uct_completion_t *comp;
    cm_flush_t *flush;
    ucs_status_t status;

    while (!ib_link_is_alone(&cm->flushed)) {
        flush  = ib_container_of(cm->flushed.next, cm_flush_t, node);
        comp   = flush->comp;
        status = flush->status;
        ib_link_remove(&flush->node);
        free(flush);
        ucx_complete(comp, status);
    }
}

/* Closes the connection, and ends the outstanding flushes with
 * UCS_ERR_CANCELED. If there are any, `comp` is called after their
 * completions. */
static ucs_status_t cancel(ib_cm_ep_t *ep, uct_completion_t *comp)
{
    int waited = !ib_link_is_alone(&ep->flushes);

    if (ep->link != NULL) {
        ep->status = UCS_ERR_CANCELED;
    }
    ib_cm_ep_drop_link(ep, UCS_ERR_CANCELED);
    if (!waited) {
        return UCS_OK;
    }
    return (comp == NULL) ? UCS_INPROGRESS : add(&ep->cm->flushed, comp);
}

ucs_status_t ib_cm_ep_flush(uct_ep_h uct_ep, unsigned flags,
                            uct_completion_t *comp)
{
    ib_cm_ep_t *ep = (ib_cm_ep_t *)uct_ep;

    if (flags & UCT_FLUSH_FLAG_CANCEL) {
        return cancel(ep, comp);
    }
    if (ep->link == NULL) {
        /* After a disconnect there is nothing to flush. Otherwise the
         * connection has failed or was cancelled; `status` is the reason. */
        return (ep->flags & (IB_CM_EP_PEER_LEFT | IB_CM_EP_LEFT)) ? UCS_OK :
                                                                    ep->status;
    }
    if (is_over(ep)) {
        return UCS_OK;
    }
    return (comp == NULL) ? UCS_INPROGRESS : add(&ep->flushes, comp);
}
