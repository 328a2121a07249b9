/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Establishes connections and detects that a connection has ended.
 *
 * An endpoint repeats UD_CONNECT until UD_ACCEPT, or another packet of the
 * peer, connects it. The connections of two interfaces are numbered
 * (ud_ep_t.ordinal). If both sides send UD_CONNECT at the same time, equal
 * numbers identify the two endpoints of one connection. If UD_CONNECT has
 * created an endpoint before the user creates one to this peer, the user gets
 * that endpoint. A connection of an interface to itself has only one endpoint, which both sends and receives.
 *
 * An endpoint whose packets are not acknowledged sends UD_PROBE. The reply is
 * UD_RESET if the ids match no connection, because the peer has closed it or
 * another process has replaced the peer.
 */
#include "ud_am.h"
#include "ud_send.h"

static void fill_control(const ud_iface_t *iface, ud_wire_control_t *control,
                         ud_kind_t kind)
{
    control->head.kind  = (uint8_t)kind;
    control->head.magic = htole16(UD_MAGIC);
    control->iface      = iface->address;
    control->device     = iface->device;
}

static int post_control(ud_iface_t *iface, struct ibv_ah *ah, uint32_t qpn,
                        ud_wire_control_t *control)
{
    struct ibv_sge sge = {(uintptr_t)control, sizeof(*control), 0};

    return ud_has_queue(iface) && ud_post(iface, ah, qpn, &sge, 1, 1, 0);
}

int ud_send_control(ud_iface_t *iface, ud_ep_t *ep, ud_kind_t kind)
{
    ud_wire_control_t control = {{0}};

    fill_control(iface, &control, kind);
    control.head.conn = htole32(ep->remote);
    control.head.psn  = htole32((kind == UD_PROBE) ? ep->window.tx_psn :
                                                     ep->window.acked);
    control.head.ack  = htole32(ep->window.rx_psn);
    control.from      = htole32(ep->id);
    control.ordinal   = htole32(ep->ordinal);
    control.to_token  = ep->peer->iface.token;
    return post_control(iface, ep->ah, ep->qpn, &control);
}

/* Sends UD_RESET as the reply to a packet of a connection that does not
 * exist. */
static void reset(ud_iface_t *iface, const ud_wire_control_t *question)
{
    ud_wire_control_t control = {{0}};
    ucs_status_t status;
    ud_ah_t *ah;

    ah = ud_ah_get(iface, &question->device, &status);
    if (ah != NULL) {
        fill_control(iface, &control, UD_RESET);
        control.head.conn = question->from;
        control.from      = question->head.conn;
        control.to_token  = question->iface.token;
        (void)post_control(iface, ah->ah, le32toh(question->iface.qpn),
                           &control);
    }
}

void ud_connect(ud_iface_t *iface, ud_ep_t *ep)
{
    (void)ud_send_control(iface, ep, UD_CONNECT);
    ep->connect_at = ud_time(iface) + ep->connect_rto;
    ud_watch(iface, ep, ep->connect_at);
}

/* Prepares the packets that have waited for the connection: fills in the
 * members of the header that were not known, and queues the endpoint so that
 * the packets are sent. */
static void send_kept(ud_iface_t *iface, ud_ep_t *ep)
{
    ud_wire_t *wire;

    for (ucx_window_tx_t *tx = ep->window.tx_head; tx != NULL; tx = tx->next) {
        wire       = (ud_wire_t *)((ud_desc_t *)tx)->data;
        wire->conn = htole32(ep->remote);
        wire->ack  = htole32(ep->window.rx_psn);
    }
    ud_watch(iface, ep, ep->window.deadline);
    ib_link_queue(&iface->resending, &ep->resending);
}

/* Connects the endpoint. `remote`: the peer's id of the connection; `rx_psn`:
 * sequence number of the first packet that the peer sends. */
static void establish(ud_iface_t *iface, ud_ep_t *ep, uint32_t remote,
                      uint32_t rx_psn)
{
    ep->remote = remote;
    ep->state |= UD_EP_CONNECTED;
    ucx_window_connected(&ep->window, rx_psn, iface->now);
    /* The deadline was for the next UD_CONNECT, which is not sent any more. */
    ib_link_remove(&ep->active);
    if (!ucx_window_is_idle(&ep->window)) {
        send_kept(iface, ep);
    }
    if (!ucx_pending_is_empty(&ep->pending)) {
        ib_link_queue(&iface->ready, &ep->ready);
    }
}

/* As establish(), with the values of UD_CONNECT or UD_ACCEPT. */
static void connected(ud_iface_t *iface, ud_ep_t *ep,
                      const ud_wire_control_t *control)
{
    establish(iface, ep, le32toh(control->from), le32toh(control->head.psn));
}

int ud_connect_again(ud_iface_t *iface, ud_ep_t *ep)
{
    if ((ep->state & UD_EP_FAILED) || (ep->remote == 0)) {
        return 0;
    }
    establish(iface, ep, ep->remote, ep->window.rx_psn);
    return 1;
}

static ud_ep_t *by_ordinal(const ud_peer_t *peer, uint32_t ordinal)
{
    ud_ep_t *ep;

    for (ep = peer->eps; ep != NULL; ep = ep->next_of_peer) {
        if ((ep->ordinal == ordinal) && !(ep->state & UD_EP_FAILED)) {
            break;
        }
    }
    return ep;
}

/* Returns the endpoint that a UD_CONNECT of the peer is for, and creates it if
 * there is none. Returns NULL if that is not possible. */
static ud_ep_t *end_for(ud_iface_t *iface, const ud_wire_control_t *control)
{
    uint32_t ordinal = le32toh(control->ordinal);
    ucs_status_t status;
    ud_peer_t *peer;
    ud_ep_t *ep;

    peer = ud_peer_get(iface, &control->device, &control->iface, &status);
    if (peer == NULL) {
        return NULL;
    }
    ep = by_ordinal(peer, ordinal);
    if (ep == NULL) {
        if (iface->is_closing) {
            return NULL;
        }
        ep = ud_ep_new(iface, peer, ordinal);
        if (ep == NULL) {
            return NULL;
        }
        ud_peer_replace_old(iface, peer);
    }
    if (peer->next_ordinal <= ordinal) {
        peer->next_ordinal = ordinal + 1;
    }
    return ep;
}

static void take_connect(ud_iface_t *iface, const ud_wire_control_t *control)
{
    ud_ep_t *ep;

    if (control->to_token != iface->address.token) {
        reset(iface, control); /* The packet is for an earlier process that had
                                * the same queue pair number */
        return;
    }
    ep = end_for(iface, control);
    if (ep == NULL) {
        return;
    }
    if (!(ep->state & UD_EP_CONNECTED)) {
        connected(iface, ep, control);
    } else if (ep->remote != le32toh(control->from)) {
        /* The endpoint is connected to another endpoint of the peer. Either
         * that one has ended and was replaced, or this packet is a late one.
         * The reply to UD_PROBE shows which. */
        (void)ud_send_control(iface, ep, UD_PROBE);
        return;
    }
    (void)ud_send_control(iface, ep, UD_ACCEPT);
    ud_ep_finish(ep);
}

static int is_from_peer(const ud_ep_t *ep, const ud_wire_control_t *control)
{
    return (ep->peer->iface.qpn == control->iface.qpn) &&
           (ep->peer->iface.token == control->iface.token);
}

static void take_accept(ud_iface_t *iface, ud_ep_t *ep,
                        const ud_wire_control_t *control)
{
    if ((ep == NULL) || !is_from_peer(ep, control) ||
        (ep->state & UD_EP_FAILED) ||
        ((ep->state & UD_EP_CONNECTED) &&
         (ep->remote != le32toh(control->from)))) {
        reset(iface, control);
        return;
    }
    if (!(ep->state & UD_EP_CONNECTED)) {
        connected(iface, ep, control);
    }
    if (!(ep->state & UD_EP_CONFIRMED)) {
        ep->state |= UD_EP_CONFIRMED;
        ep->window.owed += 1; /* The acknowledgement shows the peer that this
                               * side has received UD_ACCEPT */
        ep->window.ack_now = 1;
        ud_owe_ack(iface, ep);
    }
    ud_ep_finish(ep);
}

static void take_probe(ud_iface_t *iface, ud_ep_t *ep,
                       const ud_wire_control_t *control)
{
    if ((ep != NULL) && !(ep->state & UD_EP_CONNECTED)) {
        return; /* The endpoint still sends UD_CONNECT: it will be connected, or
                 * fail */
    }
    if ((ep == NULL) || (ep->state & UD_EP_FAILED) ||
        (ep->remote != le32toh(control->from)) || !is_from_peer(ep, control)) {
        reset(iface, control);
        return;
    }
    ep->window.owed += 1;
    ep->window.ack_now = 1;
    ud_owe_ack(iface, ep);
}

/* Handles UD_RESET. The packet is for this endpoint if it contains the ids of
 * both ends of the connection. The sender's token is not compared, because a
 * process that has replaced the peer replies with its own token. */
static void take_reset(ud_iface_t *iface, ud_ep_t *ep,
                       const ud_wire_control_t *control)
{
    if ((ep == NULL) || (ep->remote != le32toh(control->from)) ||
        (ep->peer->iface.qpn != control->iface.qpn) ||
        (control->to_token != iface->address.token)) {
        return;
    }
    if (ep->state & UD_EP_CONNECTED) {
        ud_ep_gone(ep);
    } else {
        ep->remote = 0; /* The peer had requested a connection and has ended it.
                         * The user's request is for a new one. */
    }
}

void ud_control_arrived(ud_iface_t *iface, const ud_wire_control_t *control)
{
    ud_ep_t *ep = ud_ep_by_id(iface, le32toh(control->head.conn));

    switch (control->head.kind & UD_KIND_MASK) {
    case UD_CONNECT:
        take_connect(iface, control);
        break;
    case UD_ACCEPT:
        take_accept(iface, ep, control);
        break;
    case UD_PROBE:
        take_probe(iface, ep, control);
        break;
    case UD_RESET:
        take_reset(iface, ep, control);
        break;
    default:
        ++iface->num_bad;
        break;
    }
}
