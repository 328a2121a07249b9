/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Posting datagrams: the common part of all sends. Hot path: no allocation
 * beyond a pool, no lock, no system call.
 */
#ifndef IB_UD_SEND_H
#define IB_UD_SEND_H

#include "ud.h"

#include <endian.h>
#include <string.h>

enum { UD_QKEY = 0x1ee7d47a };

/* Returns whether the send queue has a free entry and the queue pair works. */
static inline int ud_has_queue(const ud_iface_t *iface)
{
    return (iface->sn - iface->done_sn < iface->queue_len) && !iface->is_down;
}

/* Returns the number of unacknowledged packets. If the endpoint is not yet
 * connected, these are the packets that wait for the connection. */
static inline uint32_t ud_ep_has_kept(const ud_ep_t *ep)
{
    return ep->window.tx_psn - ep->window.acked;
}

/* Returns UCS_OK if the endpoint can send a packet, otherwise the status that
 * the send operation must return. */
static inline ucs_status_t ud_check(const ud_iface_t *iface, ud_ep_t *ep)
{
    if (ib_unlikely((ep->state & (UD_EP_CONNECTED | UD_EP_FAILED |
                                  UD_EP_GONE)) != UD_EP_CONNECTED)) {
        if (ep->state & UD_EP_FAILED) {
            return (ucs_status_t)ep->status;
        }
        if (ep->state & UD_EP_GONE) {
            ud_ep_fail(ep, UCS_ERR_CONNECTION_RESET, 1);
            return UCS_ERR_CONNECTION_RESET;
        }
        /* The window can keep a few packets until the endpoint is
         * connected. */
        return (ud_ep_has_kept(ep) < UCX_WINDOW_MIN) ? UCS_OK :
                                                       UCS_ERR_NO_RESOURCE;
    }
    if (ib_unlikely(!ucx_window_is_open(&ep->window) || !ud_has_queue(iface))) {
        return UCS_ERR_NO_RESOURCE;
    }
    return UCS_OK;
}

/* Returns whether the work request with this sequence number has completed. */
static inline int ud_has_left(const ud_iface_t *iface, uint32_t sn)
{
    return (int32_t)(iface->done_sn - sn) > 0;
}

/* Posts one datagram; the caller has checked that the send queue has a free
 * entry. With `signal` the request is always signaled. Returns 0 if the device
 * rejects the request. */
static inline int ud_post(ud_iface_t *iface, struct ibv_ah *ah, uint32_t qpn,
                          struct ibv_sge *sge, int num_sge, int is_inline,
                          int signal)
{
    struct ibv_send_wr wr, *bad;

    wr.wr_id             = iface->sn;
    wr.next              = NULL;
    wr.sg_list           = sge;
    wr.num_sge           = num_sge;
    wr.opcode            = IBV_WR_SEND;
    wr.send_flags        = is_inline ? IBV_SEND_INLINE : 0;
    wr.wr.ud.ah          = ah;
    wr.wr.ud.remote_qpn  = qpn;
    wr.wr.ud.remote_qkey = UD_QKEY;
    if (signal || (iface->unsignaled + 1 >= iface->moderation)) {
        wr.send_flags |= IBV_SEND_SIGNALED;
    }
    if (ib_unlikely(ibv_post_send(iface->qp, &wr, &bad) != 0)) {
        ud_qp_failed(iface);
        return 0;
    }
    if (wr.send_flags & IBV_SEND_SIGNALED) {
        iface->unsignaled = 0;
        ++iface->num_signaled;
    } else {
        ++iface->unsignaled;
    }
    ++iface->sn;
    return 1;
}

/* Posts a packet with a sequence number: for the first time, or again because
 * it counts as lost. */
static inline int ud_post_desc(ud_iface_t *iface, ud_ep_t *ep, ud_desc_t *desc,
                               int signal)
{
    struct ibv_sge sge[1 + UD_MAX_IOV];

    sge[0].addr   = (uintptr_t)desc->data;
    sge[0].length = desc->length;
    sge[0].lkey   = desc->lkey;
    if (desc->num_sge > 0) {
        memcpy(sge + 1, desc->sge, desc->num_sge * sizeof(*sge));
    }
    desc->sn = iface->sn;
    return ud_post(iface, ep->ah, ep->qpn, sge, 1 + desc->num_sge,
                   (desc->num_sge == 0) && (desc->length <= iface->max_inline),
                   signal);
}

static inline void ud_wire_fill(ud_wire_t *wire, const ud_ep_t *ep,
                                ud_kind_t kind, uint8_t id)
{
    wire->kind  = (uint8_t)kind;
    wire->id    = id;
    wire->magic = htole16(UD_MAGIC);
    wire->conn  = htole32(ep->remote);
    wire->psn   = htole32(ep->window.tx_psn);
    wire->ack   = htole32(ep->window.rx_psn);
}

/*
 * Sends a new packet, or keeps it in the window until the endpoint is
 * connected. desc->data contains space for the ud_wire_t, then the packet's
 * data; desc->length includes both. If `ask` is set, the packet requests an
 * acknowledgement. Returns 0 if the device rejects the packet; the caller then
 * owns the buffer.
 */
static inline int ud_send(ud_iface_t *iface, ud_ep_t *ep, ud_desc_t *desc,
                          ud_kind_t kind, uint8_t id, int ask)
{
    ud_wire_t *wire = (ud_wire_t *)desc->data;
    double now      = iface->now;
    int was_idle    = ucx_window_is_idle(&ep->window);

    ud_wire_fill(wire, ep, kind, id);
    if (ib_unlikely(!(ep->state & UD_EP_CONNECTED))) {
        desc->sn = iface->done_sn - 1; /* The device does not use the buffer */
        ucx_window_keep(&ep->window, &desc->tx, now);
        return 1;
    }
    if (ucx_window_asks(&ep->window) || ask) {
        wire->kind |= UD_ASK;
        ep->asked_psn = ep->window.tx_psn + 1;
    }
    if (ib_unlikely(!ud_post_desc(iface, ep, desc, desc->comp != NULL))) {
        return 0;
    }
    if (was_idle) {
        now = ud_time(iface); /* The deadline counts from now */
    }
    ucx_window_sent(&ep->window, &desc->tx, now);
    if (was_idle) {
        ud_watch(iface, ep, ep->window.deadline);
    }
    /* The packet has carried the acknowledgement rx_psn, but has no field for
     * packets received out of order. If there are such packets, UD_ACK must
     * still be sent. */
    if ((ep->window.owed > 0) && ib_likely(ep->window.rx_head == NULL)) {
        ucx_window_acked(&ep->window);
        ib_link_remove(&ep->owing);
    }
    return 1;
}

/* Returns an empty packet for this endpoint, or NULL. */
static inline ud_desc_t *ud_desc_get(ud_iface_t *iface, ud_ep_t *ep)
{
    ud_desc_t *desc = ucx_mpool_get(iface->host, iface->descs);

    if (ib_likely(desc != NULL)) {
        desc->ep      = ep;
        desc->comp    = NULL;
        desc->num_sge = 0;
    }
    return desc;
}

#endif
