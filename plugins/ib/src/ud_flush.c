/* SPDX-License-Identifier: BSD-3-Clause */
/* Flush, fence, and the check of the peer. */
#include "ud_am.h"
#include "ud_send.h"

#include <stdlib.h>

int ud_ep_has_data(const ud_ep_t *ep)
{
    uint32_t fin = (ep->state & UD_EP_FIN_SENT) ? 1 : 0;

    return ep->window.tx_psn - ep->window.acked > fin;
}

/* Requests an acknowledgement of all sent packets, if this was not done
 * already. */
static void ask(ud_iface_t *iface, ud_ep_t *ep)
{
    ud_wire_ack_t packet;
    struct ibv_sge sge = {(uintptr_t)&packet, sizeof(packet), 0};

    if (!(ep->state & UD_EP_CONNECTED) ||
        (ep->asked_psn == ep->window.tx_psn) || !ud_has_queue(iface)) {
        return;
    }
    ud_wire_fill(&packet.head, ep, UD_ACK, 0);
    packet.head.kind |= UD_ASK;
    packet.sack = htole64(ucx_window_sack(&ep->window));
    if (ud_post(iface, ep->ah, ep->qpn, &sge, 1, 1, 0)) {
        ep->asked_psn = ep->window.tx_psn;
    }
}

/* Adds a flush of all packets sent so far. */
static ucs_status_t watch_all(ud_ep_t *ep, uct_completion_t *comp)
{
    ud_iface_t *iface = ud_iface_of(ep);
    ud_flush_t *flush;

    if (comp != NULL) {
        flush = ucx_mpool_get(iface->host, iface->flushes);
        if (flush == NULL) {
            return UCS_ERR_NO_MEMORY;
        }
        flush->comp       = comp;
        flush->psn        = ep->window.tx_psn;
        flush->next       = NULL;
        *ep->flushes_tail = flush;
        ep->flushes_tail  = &flush->next;
    }
    if (!(ep->state & UD_EP_FAILED)) {
        ask(iface, ep);
    }
    return UCS_INPROGRESS;
}

void ud_flush_end(ud_ep_t *ep, ucs_status_t status)
{
    ud_iface_t *iface = ud_iface_of(ep);
    uct_completion_t *comp;
    ud_flush_t *flush;

    if (iface->in_service) {
        ib_link_queue(&iface->ready, &ep->ready);
        return;
    }
    ++ep->busy;
    while (((flush = ep->flushes) != NULL) && (ep->leaving == 0) &&
           !ucx_psn_before(ep->window.acked, flush->psn)) {
        ep->flushes = flush->next;
        if (ep->flushes == NULL) {
            ep->flushes_tail = &ep->flushes;
        }
        comp = flush->comp;
        ucx_mpool_put(iface->flushes, flush);
        ucx_complete(comp, status);
    }
    --ep->busy;
}

/* Sends UD_RESET to the peer, and fails the endpoint with all outstanding
 * packets. */
static ucs_status_t cancel(ud_ep_t *ep, uct_completion_t *comp)
{
    ud_iface_t *iface = ud_iface_of(ep);

    if ((ep->state & (UD_EP_CONNECTED | UD_EP_FAILED)) == UD_EP_CONNECTED) {
        (void)ud_send_control(iface, ep, UD_RESET);
    }
    ud_ep_fail(ep, UCS_ERR_CANCELED, 0);
    return (ep->leaving == 0) ? UCS_OK : watch_all(ep, comp);
}

/* Returns whether all packets are acknowledged and released: the device uses
 * none of them, and the user's completions were called. */
static int is_done(const ud_ep_t *ep)
{
    return ucx_window_is_idle(&ep->window) && (ep->leaving == 0);
}

ucs_status_t ud_ep_flush(uct_ep_h uct_ep, unsigned flags,
                         uct_completion_t *comp)
{
    ud_ep_t *ep = (ud_ep_t *)uct_ep;

    UCX_EXCLUDE_SERVICE(&ud_iface_of(ep)->guard);

    if (flags & UCT_FLUSH_FLAG_CANCEL) {
        return cancel(ep, comp);
    }
    if (!ucx_pending_is_empty(&ep->pending)) {
        return UCS_ERR_NO_RESOURCE;
    }
    if (ep->state & UD_EP_FAILED) {
        return (ucs_status_t)ep->status;
    }
    return is_done(ep) ? UCS_OK : watch_all(ep, comp);
}

ucs_status_t ud_iface_flush(uct_iface_h uct_iface, unsigned flags,
                            uct_completion_t *comp)
{
    ud_iface_t *iface = (ud_iface_t *)uct_iface;
    ucx_count_t *all  = NULL;
    unsigned num      = 0;
    ucs_status_t status;
    ud_ep_t *ep;

    UCX_EXCLUDE_SERVICE(&iface->guard);

    if (comp != NULL) {
        all = ucx_count_create(comp);
        if (all == NULL) {
            return UCS_ERR_NO_MEMORY;
        }
    }
    for (uint32_t i = 0; i < iface->num_slots; ++i) {
        ep = iface->slots[i].ep;
        if ((ep == NULL) || (!ud_ep_has_data(ep) && (ep->leaving == 0))) {
            continue;
        }
        ++num;
        status = watch_all(ep, (all == NULL) ? NULL : ucx_count_add(all));
        if (all != NULL) {
            ucx_count_result(all, status);
        }
    }
    if (all != NULL) {
        return ucx_count_close(all);
    }
    return (num == 0) ? UCS_OK : UCS_INPROGRESS;
}

/* Does nothing: messages are delivered in order, and there are no other
 * operations. */
ucs_status_t ud_ep_fence(uct_ep_h uct_ep, unsigned flags)
{
    return UCS_OK;
}

ucs_status_t ud_ep_check(uct_ep_h uct_ep, unsigned flags,
                         uct_completion_t *comp)
{
    ud_ep_t *ep       = (ud_ep_t *)uct_ep;
    ud_iface_t *iface = ud_iface_of(ep);
    ucs_status_t status;

    UCX_EXCLUDE_SERVICE(&iface->guard);

    status = ud_check(iface, ep);
    if ((status == UCS_OK) && ucx_window_is_idle(&ep->window) &&
        (ep->state & UD_EP_CONNECTED)) {
        (void)ud_send_empty(iface, ep, UD_NOTHING);
    }
    /* An outstanding packet or connection request will show whether the peer
     * exists. */
    return (status == UCS_ERR_NO_RESOURCE) ? UCS_OK : status;
}

ucs_status_t ud_ep_invalidate(uct_ep_h uct_ep, unsigned flags)
{
    UCX_EXCLUDE_SERVICE(&ud_iface_of((ud_ep_t *)uct_ep)->guard);

    ud_ep_fail((ud_ep_t *)uct_ep, UCS_ERR_ENDPOINT_TIMEOUT, 1);
    return UCS_OK;
}
