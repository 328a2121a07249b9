/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Flush of endpoints of the connection manager. A flush completes when the
 * kernel has accepted all messages and, after a disconnect by this side, the
 * user of the peer's endpoint was notified.
 *
 * The peer answers DISCONNECT with LEFT after its callback has run. A peer that
 * disconnects itself, or whose stream ends, needs no notification.
 */
#include "cm.h"

#include <stdlib.h>

/* An outstanding flush. It is completed from progress, possibly after the
 * endpoint was destroyed. */
typedef struct cm_flush {
    tcp_list_t node; /* Node in the endpoint's list while the flush is
                      * outstanding, then in the manager's list of ended
                      * flushes */
    uct_completion_t *comp;
    ucs_status_t status;
} cm_flush_t;

static int flush_is_over(const tcp_cm_ep_t *ep)
{
    return (ep->link == NULL) ||
           ((ep->link->out_length == 0) && (!(ep->flags & TCP_CM_EP_LEFT) ||
                                            (ep->flags & TCP_CM_EP_LEFT_TOLD)));
}

void tcp_cm_flush_end(tcp_cm_ep_t *ep, ucs_status_t status)
{
    cm_flush_t *flush;

    while (!tcp_list_is_empty(&ep->flushes)) {
        flush         = tcp_list_first(&ep->flushes, cm_flush_t, node);
        flush->status = status;
        tcp_list_del(&flush->node);
        tcp_list_add_tail(&ep->cm->flushed, &flush->node);
        if (!ep->cm->in_progress) {
            tcp_cm_wake(ep->cm);
        }
    }
}

void tcp_cm_flush_check(tcp_cm_ep_t *ep)
{
    if (flush_is_over(ep)) {
        tcp_cm_flush_end(ep, UCS_OK);
    }
}

void tcp_cm_flush_dispatch(tcp_cm_t *cm)
{
    uct_completion_t *comp;
    cm_flush_t *flush;
    ucs_status_t status;

    while (!tcp_list_is_empty(&cm->flushed)) {
        flush  = tcp_list_first(&cm->flushed, cm_flush_t, node);
        comp   = flush->comp;
        status = flush->status;
        tcp_list_del(&flush->node);
        free(flush);
        ucx_complete(comp, status);
    }
}

static ucs_status_t flush_add(tcp_list_t *list, uct_completion_t *comp)
{
    cm_flush_t *flush = malloc(sizeof(*flush));

    if (flush == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    flush->comp   = comp;
    flush->status = UCS_OK;
    tcp_list_init(&flush->node);
    tcp_list_add_tail(list, &flush->node);
    return UCS_INPROGRESS;
}

/* Closes the connection, which cancels the outstanding flushes. If there are
 * any, completes `comp` after them, otherwise returns UCS_OK. */
static ucs_status_t flush_cancel(tcp_cm_ep_t *ep, uct_completion_t *comp)
{
    int waited = !tcp_list_is_empty(&ep->flushes);

    tcp_cm_ep_cancel(ep);
    if (!waited) {
        return UCS_OK;
    }
    return (comp == NULL) ? UCS_INPROGRESS : flush_add(&ep->cm->flushed, comp);
}

ucs_status_t tcp_cm_ep_flush(uct_ep_h uct_ep, unsigned flags,
                             uct_completion_t *comp)
{
    tcp_cm_ep_t *ep = (tcp_cm_ep_t *)uct_ep;

    if (flags & UCT_FLUSH_FLAG_CANCEL) {
        return flush_cancel(ep, comp);
    }
    if (ep->link == NULL) {
        /* After a disconnect of either side there is nothing to wait for.
         * Otherwise return the reason why there is no connection */
        return (ep->flags & (TCP_CM_EP_PEER_LEFT | TCP_CM_EP_LEFT)) ?
                   UCS_OK :
                   ep->status;
    }
    if (flush_is_over(ep)) {
        return UCS_OK;
    }
    return (comp == NULL) ? UCS_INPROGRESS : flush_add(&ep->flushes, comp);
}
