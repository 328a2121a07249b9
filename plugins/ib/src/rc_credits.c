/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Flow control of active messages. The window of a sender is the number of
 * messages that it may send before the receiver has polled the first of them.
 * After each half window the sender requests credits. When the receiver has
 * polled the request, it grants half a window more: in the header of its next
 * message or, if it sends none, in an empty message. It sends the empty message
 * in the first round of progress without completions, at the latest in round
 * OWING_ROUNDS with completions. Thus one sender cannot fill the receive queue,
 * which all endpoints of the receiving interface share.
 *
 * Two interfaces may have several connections, for example if each side has
 * created one and sends over it. Then the receiver's next message to the same
 * peer may belong to another connection. That message can carry the grant if
 * both connections lead to the same remote interface, which the interface
 * tokens in the addresses show (rc_iface_t.token). The message then has
 * immediate data: the number of the peer's queue pair that gets the credits.
 *
 * The receiver selects the window of each connection, so that the windows of
 * all connections fit in three quarters of the receive queue: a new connection
 * gets half of what is left of these three quarters, at least MIN_WINDOW (on
 * iWARP MIN_IWARP) and at most UCX_RC_FC_WND_SIZE, rounded down to a power of
 * two. With many connections the windows do not fit, and a receiver that makes
 * no progress may run out of buffers. The device of the sender then waits for
 * buffers, but the software RDMA of Linux counts the rejected packets as lost
 * ones.
 */
#include "rc_send.h"

#include <endian.h>

enum {
    MIN_WINDOW   = 8, /* Minimum window, in messages */
    /* The minimum window on iWARP is smaller: the windows must fit the receive
     * queue for as many connections as possible, because an iWARP device closes
     * a connection whose message finds no buffer. */
    MIN_IWARP    = 2,
    OWING_ROUNDS = 4, /* A grant is sent in a separate message in this round of
                       * progress with completions, at the latest */
    MAX_SEARCH   = 4, /* Maximum number of other endpoints that
                       * rc_credits_select() examines for a message */
};

/* Returns the number of receive buffers that the peer of this endpoint may use:
 * for the messages of its window, for two grants, which need no credit, and on
 * iWARP for one more message without a credit. */
static unsigned buffers_of(const rc_ep_t *ep)
{
    return (2u * ep->half_given) + 2 +
           ((rc_iface_of((rc_ep_t *)ep)->join != NULL) ? 1 : 0);
}

void rc_credits_open(rc_ep_t *ep)
{
    rc_iface_t *iface = rc_iface_of(ep);
    unsigned limit    = iface->config.credit_window;
    unsigned total    = iface->config.rx_queue_len / 4 * 3;
    unsigned window   = (iface->num_given < total) ?
                            (total - iface->num_given) / 2 :
                            0;
    unsigned half     = 1, min;

    min    = (iface->join != NULL) ? MIN_IWARP : MIN_WINDOW;
    window = (window < min) ? min : window;
    window = (window < limit) ? window : limit;
    while (4 * half <= window) {
        half *= 2;
    }
    ep->half_given = (uint16_t)half;
    iface->num_given += buffers_of(ep);
}

void rc_credits_close(rc_ep_t *ep)
{
    rc_iface_of(ep)->num_given -= buffers_of(ep);
}

uint8_t rc_credits_code(const rc_ep_t *ep)
{
    return (uint8_t)__builtin_ctz(ep->half_given);
}

int rc_credits_connect(rc_ep_t *ep, uint8_t code)
{
    if (code >= 14) {
        return 0; /* Above the maximum of UCX_RC_FC_WND_SIZE, 2 << 13 */
    }
    ep->half_window = rc_iface_of(ep)->config.credits ? (uint16_t)(1u << code) :
                                                        INT16_MAX;
    ep->credits     = (uint16_t)(2 * ep->half_window);
    return 1;
}

static void add_credits(rc_ep_t *ep)
{
    ep->credits = (uint16_t)ib_min((size_t)ep->credits + ep->half_window,
                                   2u * ep->half_window);
}

/* Returns whether the peers of both endpoints belong to the same interface. */
static int is_parallel(const rc_ep_t *a, const rc_ep_t *b)
{
    return (a->peer_token != 0) && (a->peer_token == b->peer_token);
}

/* Sets the number of grants that the endpoint has to send. */
static void owe(rc_ep_t *ep, uint16_t count)
{
    if (ep->owed == 0) {
        rc_link_add_tail(&rc_iface_of(ep)->owing, &ep->owing);
    }
    ep->owed = count;
}

void rc_credits_take(rc_iface_t *iface, const struct ibv_wc *wc, uint8_t header)
{
    rc_ep_t *ep = rc_ep_by_qpn(iface, wc->qp_num), *to = ep;

    if (ep == NULL) {
        return;
    }
    if (header & RC_AM_GRANT) {
        if (wc->wc_flags & IBV_WC_WITH_IMM) {
            to = rc_ep_by_qpn(iface, be32toh(wc->imm_data));
        }
        if ((to == ep) || ((to != NULL) && is_parallel(to, ep))) {
            add_credits(to);
        }
    }
    /* A peer sends at most two requests before it receives a grant, so further
     * ones are ignored. */
    if ((header & RC_AM_ASK) && (ep->owed < 2)) {
        owe(ep, ep->owed + 1u);
    }
}

uint8_t rc_credits_select(rc_iface_t *iface, rc_ep_t *ep)
{
    unsigned searched = 0;
    rc_ep_link_t *link;
    rc_ep_t *other;

    iface->granting = ep;
    if (ep->owed > 0) {
        return RC_AM_GRANT;
    }
    for (link = iface->owing.next;
         (link != &iface->owing) && (searched < MAX_SEARCH);
         link = link->next, ++searched) {
        other = ib_container_of(link, rc_ep_t, owing);
        if (is_parallel(other, ep)) {
            iface->granting = other;
            return RC_AM_GRANT;
        }
    }
    return 0;
}

void rc_credits_attach(const rc_iface_t *iface, const rc_ep_t *ep,
                       struct ibv_send_wr *wr)
{
    if (iface->granting != ep) {
        wr->opcode   = IBV_WR_SEND_WITH_IMM;
        wr->imm_data = htobe32(iface->granting->peer_qpn);
    }
}

void rc_credits_carried(rc_iface_t *iface, rc_ep_t *ep)
{
    rc_ep_t *other = iface->granting;

    ep->has_carried |= (other != ep);
    if (--other->owed == 0) {
        rc_link_remove(&other->owing);
        iface->owing_rounds = 0;
    }
}

/* If a lost grant were not repeated, the peer would wait for credits forever. A
 * grant that arrives twice does no harm, because add_credits() limits the
 * credits to the window. */
void rc_credits_repeat(rc_ep_t *failed)
{
    rc_iface_t *iface = rc_iface_of(failed);
    rc_ep_t *ep;

    if (!failed->has_carried) {
        return;
    }
    for (uint32_t i = 0; i < iface->eps_size; ++i) {
        ep = iface->eps[i];
        if ((ep != NULL) && (ep != failed) && is_parallel(ep, failed) &&
            !(ep->state & (RC_EP_FAILED | RC_EP_ZOMBIE))) {
            owe(ep, 2);
        }
    }
}

/* Sends one grant. UCS_ERR_NO_RESOURCE: there are no send resources now. A flush
 * does not wait for the grant: it is not the user's, and the peer may have
 * received all that it needs and closed the connection before the grant
 * arrives. */
static ucs_status_t send_grant(rc_iface_t *iface, rc_ep_t *ep)
{
    uint8_t header      = RC_AM_GRANT | RC_AM_ONLY_FC;
    ucs_status_t status = rc_check(iface, ep);
    /* With many grants and no other request, user_sn must not fall behind by
     * half the range of sequence numbers. */
    uint16_t user_sn    = rc_ep_is_flushed(ep) ? ep->done_sn : ep->user_sn;
    struct ibv_send_wr wr;
    struct ibv_sge sge;

    if (status != UCS_OK) {
        return status;
    }
    sge.addr   = (uintptr_t)&header;
    sge.length = sizeof(header);
    rc_wr_inline(&wr, IBV_WR_SEND, &sge, 1);
    status = rc_post(iface, ep, &wr, 1);
    if (status == UCS_OK) {
        ep->user_sn = user_sn;
    }
    return status;
}

/* Waits for a few rounds while messages arrive, because the user often replies
 * to a message, and the reply can carry the grant. */
void rc_credits_progress(rc_iface_t *iface, int is_busy)
{
    rc_ep_link_t *link, *next;
    ucs_status_t status;
    rc_ep_t *ep;

    if (is_busy && (++iface->owing_rounds < OWING_ROUNDS)) {
        return;
    }
    iface->owing_rounds = 0;
    for (link = iface->owing.next; link != &iface->owing; link = next) {
        next = link->next;
        ep   = ib_container_of(link, rc_ep_t, owing);
        do {
            status = send_grant(iface, ep);
        } while ((status == UCS_OK) && (--ep->owed > 0));
        if (status != UCS_ERR_NO_RESOURCE) {
            ep->owed = 0; /* Sent, or the endpoint has failed */
            rc_link_remove(&ep->owing);
        }
    }
}
