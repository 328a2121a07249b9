/* SPDX-License-Identifier: BSD-3-Clause */
/* Receive buffers and received datagrams. */
#include "ud_send.h"

enum {
    MAX_POLL   = 256,
    POST_BATCH = 16, /* Number of free buffers at which progress posts them, and
                      * maximum of one call of ibv_post_recv() */
    DATA_ALIGN = 64, /* Alignment of a message in its buffer, in bytes */
    /* Bytes that the device writes before the message */
    FRONT      = UD_GRH_LENGTH + sizeof(ud_wire_t),
};

/* --- Buffers -------------------------------------------------------------- */

void ud_recv_put(ud_iface_t *iface, ud_recv_t *recv)
{
    recv->rx.next    = (ucx_window_rx_t *)iface->recv_free;
    iface->recv_free = recv;
    ++iface->num_recv_free;
}

static ud_recv_t *recv_take(ud_iface_t *iface)
{
    ud_recv_t *recv = iface->recv_free;

    iface->recv_free = (ud_recv_t *)recv->rx.next;
    --iface->num_recv_free;
    return recv;
}

void ud_recv_post(ud_iface_t *iface)
{
    struct ibv_recv_wr wr[POST_BATCH], *bad;
    struct ibv_sge sge[POST_BATCH];
    unsigned num = 1;
    ud_recv_t *recv;

    while ((num > 0) && !iface->is_down) {
        for (num = 0; (num < POST_BATCH) && (iface->recv_free != NULL) &&
                      (iface->num_recv_posted < iface->config.rx_queue_len);
             ++num) {
            recv            = recv_take(iface);
            sge[num].addr   = (uintptr_t)recv + iface->recv_data - FRONT;
            sge[num].length = (uint32_t)(UD_GRH_LENGTH + iface->mtu);
            sge[num].lkey   = recv->lkey;
            wr[num].wr_id   = (uintptr_t)recv;
            wr[num].sg_list = &sge[num];
            wr[num].num_sge = 1;
            wr[num].next    = &wr[num + 1];
            ++iface->num_recv_posted;
        }
        if (num == 0) {
            return;
        }
        wr[num - 1].next = NULL;
        if (ibv_post_recv(iface->qp, wr, &bad) != 0) {
            for (; bad != NULL; bad = bad->next) {
                ud_recv_put(iface, (ud_recv_t *)(uintptr_t)bad->wr_id);
                --iface->num_recv_posted;
            }
            return;
        }
    }
}

/* Called when the user releases a buffer that was kept. */
static void recv_release(ucx_recv_desc_owner_t *self, void *desc)
{
    ud_iface_t *iface = ib_container_of(self, ud_iface_t, recv_owner);

    UCX_EXCLUDE_SERVICE(&iface->guard);

    --iface->num_recv_kept;
    ud_recv_put(iface, (ud_recv_t *)((char *)desc + iface->headroom -
                                     iface->recv_data));
}

/* Adds as many buffers as the receive queue has entries. */
static ucs_status_t recv_grow(ud_iface_t *iface)
{
    size_t stride     = iface->recv_data + iface->mtu;
    unsigned count    = iface->config.rx_queue_len;
    ib_chunk_t *chunk = ib_chunk_map(iface->md, count * stride);
    ud_recv_t *recv;

    if (chunk == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    chunk->next        = iface->recv_chunks;
    iface->recv_chunks = chunk;
    for (unsigned i = 0; i < count; ++i) {
        recv = (ud_recv_t *)((char *)chunk + IB_CHUNK_HEAD + (i * stride));
        recv->lkey = chunk->mr->lkey;
        ud_recv_put(iface, recv);
    }
    iface->num_recv += count;
    return UCS_OK;
}

ucs_status_t ud_recv_init(ud_iface_t *iface)
{
    size_t front = iface->headroom + sizeof(void *);
    ucs_status_t status;

    front            = (front > FRONT) ? front : FRONT;
    iface->recv_data = (sizeof(ud_recv_t) + front + DATA_ALIGN - 1) &
                       ~(size_t)(DATA_ALIGN - 1);
    iface->recv_owner.release = recv_release;
    status                    = recv_grow(iface);
    if (status == UCS_OK) {
        ud_recv_post(iface);
    }
    return status;
}

void ud_recv_cleanup(ud_iface_t *iface)
{
    ib_chunk_t *chunk;

    while ((chunk = iface->recv_chunks) != NULL) {
        iface->recv_chunks = chunk->next;
        ib_chunk_unmap(chunk);
    }
}

/* --- Datagrams ------------------------------------------------------------ */

/* Passes a message to the user's handler. The buffer stays with the user if the
 * handler returns UCS_INPROGRESS. */
static void deliver(ud_iface_t *iface, ud_recv_t *recv)
{
    char *data          = (char *)recv + iface->recv_data;
    ucs_status_t status = UCS_OK;

    if (ib_likely((recv->kind == UD_MESSAGE) && !iface->is_closing)) {
        ucx_recv_desc_set(data - iface->headroom, &iface->recv_owner);
        status = ucx_iface_deliver_am(&iface->super, recv->id, data,
                                      recv->length, UCT_CB_PARAM_FLAG_DESC);
    }
    if (status == UCS_INPROGRESS) {
        ++iface->num_recv_kept;
    } else {
        ud_recv_put(iface, recv);
    }
}

/* Handles an in-order packet. The service thread must not call the user's
 * handlers; it adds messages to iface->deferred for the user's thread. */
static void take_in_order(ud_iface_t *iface, ud_ep_t *ep, ud_recv_t *recv)
{
    if (ib_unlikely(recv->kind == UD_FIN)) {
        ep->state |= UD_EP_FIN_TAKEN;
    }
    if (ib_unlikely(iface->in_service && (recv->kind == UD_MESSAGE))) {
        recv->rx.next         = NULL;
        *iface->deferred_tail = recv;
        iface->deferred_tail  = (ud_recv_t **)&recv->rx.next;
    } else {
        deliver(iface, recv);
    }
}

unsigned ud_recv_deliver_deferred(ud_iface_t *iface)
{
    ud_recv_t *list = iface->deferred, *recv;
    unsigned count  = 0;

    iface->deferred      = NULL;
    iface->deferred_tail = &iface->deferred;
    while ((recv = list) != NULL) {
        list = (ud_recv_t *)recv->rx.next;
        deliver(iface, recv);
        ++count;
    }
    ud_recv_post(iface);
    return count;
}

/* Returns whether the buffer of a packet received out of order may be kept
 * until the gap is filled. Half of the buffers must stay posted, because the
 * packets that fill the gap need buffers, too. */
static inline int may_keep(const ud_iface_t *iface)
{
    return iface->num_recv_posted > iface->config.rx_queue_len / 2;
}

/* Called on the service thread, which has dropped a packet because too many
 * buffers hold messages that wait for the user's progress. Sends an
 * acknowledgement with UD_BUSY, so that the peer sends no new packets until
 * end_holding() (ud_progress.c). */
static void hold(ud_iface_t *iface, ud_ep_t *ep)
{
    ep->state |= UD_EP_HOLDS;
    iface->has_held = 1;
    ep->window.owed += 1;
    ep->window.ack_now = 1;
    ud_owe_ack(iface, ep);
}

/* Handles a packet with a sequence number. */
static void take_sequenced(ud_iface_t *iface, ud_ep_t *ep, ud_recv_t *recv,
                           const ud_wire_t *wire)
{
    uint8_t asks = wire->kind & UD_ASK;

    if (ib_unlikely(iface->in_service && !may_keep(iface)) &&
        !ucx_psn_before(le32toh(wire->psn), ep->window.rx_psn)) {
        hold(iface, ep);
        ud_recv_put(iface, recv);
        return;
    }
    switch (ucx_window_arrived(&ep->window, may_keep(iface) ? &recv->rx : NULL,
                               le32toh(wire->psn), iface->now)) {
    case UCX_WINDOW_RX_IN_ORDER:
        do {
            take_in_order(iface, ep, recv);
            recv = (ud_recv_t *)ucx_window_next(&ep->window);
        } while (ib_unlikely(recv != NULL));
        break;
    case UCX_WINDOW_RX_DROPPED:
        ud_recv_put(iface, recv);
        break;
    case UCX_WINDOW_RX_KEPT:
        break;
    }
    if (asks && (ep->window.owed > 0)) {
        ep->window.ack_now = 1;
    }
    ud_owe_ack(iface, ep);
}

static void take_ack_packet(ud_iface_t *iface, ud_ep_t *ep,
                            const ud_wire_t *wire, size_t length)
{
    const ud_wire_ack_t *packet = (const ud_wire_ack_t *)wire;

    if (length < sizeof(*packet)) {
        ++iface->num_bad;
        return;
    }
    ud_take_ack(iface, ep, le32toh(wire->ack), le64toh(packet->sack));
    if (ib_unlikely(ucx_window_hold(&ep->window, (wire->kind & UD_BUSY) != 0,
                                    iface->now)) &&
        !ucx_window_is_idle(&ep->window)) {
        ud_watch(iface, ep, ep->window.deadline);
    }
    if (wire->kind & UD_ASK) {
        ep->window.owed += 1;
        ep->window.ack_now = 1;
        ud_owe_ack(iface, ep);
    }
}

/* Handles a packet of a connection. Returns 1 if the caller must not release
 * the buffer. */
static int take_packet(ud_iface_t *iface, ud_recv_t *recv,
                       const ud_wire_t *wire, size_t length,
                       const struct ibv_wc *wc)
{
    ud_ep_t *ep = ud_ep_by_id(iface, le32toh(wire->conn));

    if (ib_unlikely((ep == NULL) || (wc->src_qp != ep->qpn) ||
                    (((ep->state & (UD_EP_CONNECTED | UD_EP_FAILED)) !=
                      UD_EP_CONNECTED) &&
                     !ud_connect_again(iface, ep)))) {
        ++iface->num_stale;
        return 0;
    }
    ++ep->busy;
    ep->state |= UD_EP_CONFIRMED; /* The peer knows the id of this endpoint,
                                   * because the packet contains the id */
    if (recv->kind == UD_ACK) {
        take_ack_packet(iface, ep, wire, length);
    } else {
        ud_take_ack(iface, ep, le32toh(wire->ack), 0);
        if (ib_likely(!(ep->state & UD_EP_FAILED))) {
            take_sequenced(iface, ep, recv, wire);
            recv = NULL;
        }
    }
    --ep->busy;
    ud_ep_finish(ep);
    return recv == NULL;
}

/* Returns 0 if UCX_UD_ETH_DGID_CHECK is set and a packet on RoCE was sent to
 * another GID than that of this port: a device may deliver the packets for all
 * its addresses to one queue pair. With RoCE v2 over IPv4, the last 20 of the
 * 40 bytes of the global routing header are the IPv4 header. */
static int is_for_us(const ud_iface_t *iface, const char *grh,
                     const struct ibv_wc *wc)
{
    if (!iface->config.dgid_check || !(wc->wc_flags & IBV_WC_GRH) ||
        (iface->port.kind == IB_LINK_IB)) {
        return 1;
    }
    if (iface->port.kind == IB_LINK_ROCE_V2_IPV4) {
        return memcmp(grh + 36, iface->port.gid.raw + 12, 4) == 0;
    }
    return memcmp(grh + 24, iface->port.gid.raw, 16) == 0;
}

/* Handles a datagram. Returns 1 if the caller must not release the buffer. */
static int take_datagram(ud_iface_t *iface, ud_recv_t *recv,
                         const struct ibv_wc *wc)
{
    char *data      = (char *)recv + iface->recv_data;
    ud_wire_t *wire = (ud_wire_t *)(data - sizeof(*wire));
    size_t length   = wc->byte_len - UD_GRH_LENGTH;
    const ud_wire_control_t *control;

    if (ib_unlikely((wc->byte_len < FRONT) ||
                    (wire->magic != htole16(UD_MAGIC)) ||
                    (wire->id >= UCT_AM_ID_MAX) ||
                    !is_for_us(iface, data - FRONT, wc))) {
        ++iface->num_bad;
        return 0;
    }
    recv->kind   = wire->kind & UD_KIND_MASK;
    recv->id     = wire->id;
    recv->length = (uint32_t)(length - sizeof(*wire));
    if (ib_likely((recv->kind >= UD_MESSAGE) && (recv->kind <= UD_ACK))) {
        return take_packet(iface, recv, wire, length, wc);
    }
    control = (const ud_wire_control_t *)wire;
    if ((length < sizeof(*control)) ||
        (le32toh(control->iface.qpn) > UD_MAX_QPN)) {
        ++iface->num_bad;
        return 0;
    }
    ud_control_arrived(iface, control);
    return 0;
}

unsigned ud_recv_poll(ud_iface_t *iface)
{
    struct ibv_wc wc[MAX_POLL];
    int num = ibv_poll_cq(iface->recv_cq, (int)iface->config.rx_max_poll, wc);
    ud_recv_t *recv;

    if (num <= 0) {
        return 0;
    }
    ud_time(iface);
    iface->num_recv_posted -= (unsigned)num;
    for (int i = 0; i < num; ++i) {
        recv = (ud_recv_t *)(uintptr_t)wc[i].wr_id;
        if (ib_unlikely(wc[i].status != IBV_WC_SUCCESS)) {
            ud_recv_put(iface, recv);
            ud_qp_failed(iface);
        } else if (!take_datagram(iface, recv, &wc[i])) {
            ud_recv_put(iface, recv);
        }
    }
    if (ib_unlikely(iface->num_recv_kept > iface->num_recv / 2) &&
        !iface->in_service) {
        /* The user keeps most buffers, and may keep all of them. */
        (void)recv_grow(iface);
    }
    if (iface->num_recv_free >= POST_BATCH) {
        ud_recv_post(iface);
    }
    return (unsigned)num;
}
