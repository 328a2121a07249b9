/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The hot path of sending: reserves space in the send queue, and decides when
 * the queue is sent.
 *
 * The first short message on a connection since its interface's last progress
 * is sent at once. Later ones are collected in a buffer, which is sent by the
 * next progress, by a flush, by a buffered or zero-copy message, or when it is
 * full. Small puts are always collected: a flush follows them, and one system
 * call for both is faster.
 */
#ifndef TCP_TX_H
#define TCP_TX_H

#include "conn.h"

/* Maximum number of buffers, and of zero-copy operations, in the send queue of
 * a connection. Frames that the protocol requires may add further buffers. */
#define TCP_TX_MAX_BUFS  4
#define TCP_TX_MAX_ZCOPY 64

/* Returns whether a send of this endpoint must wait for its pending requests.
 * Sends of the pending requests themselves do not wait. */
static inline int tcp_tx_has_waiting(const tcp_conn_t *conn, const tcp_ep_t *ep)
{
    return tcp_unlikely(!ucx_pending_is_empty(&ep->pending) &&
                        !(conn->flags & TCP_CONN_DISPATCH));
}

/* Returns whether a send of this endpoint must wait: for its own pending
 * requests, or for the answers to gets that were sent before a fence. */
static inline int tcp_tx_is_gated(const tcp_conn_t *conn, const tcp_ep_t *ep)
{
    return tcp_tx_has_waiting(conn, ep) ||
           tcp_unlikely(conn->fence_mark > conn->gets_done);
}

static inline uint8_t *tcp_tx_reserve(tcp_conn_t *conn, size_t size)
{
    tcp_txbuf_t *buf = conn->tx_cur;

    if (tcp_likely((buf != NULL) &&
                   (conn->iface->txbuf_cap - buf->tail >= size))) {
        return buf->data + buf->tail;
    }
    return tcp_tx_reserve_slow(conn, size, 0);
}

static inline void tcp_tx_commit(tcp_conn_t *conn, size_t size)
{
    conn->tx_cur->tail += (uint32_t)size;
    conn->tx_queued += size;
}

/* Called after tcp_tx_commit(). Sends at once if this is the first call since
 * the last progress, or if the buffer is full; not if the connection is not UP
 * or the socket is full. Returns UCS_OK if the data was sent, UCS_INPROGRESS if
 * it is queued. */
static inline ucs_status_t tcp_tx_kick(tcp_conn_t *conn)
{
    tcp_iface_t *iface = conn->iface;

    if (((conn->tx_round != iface->round) ||
         (conn->tx_cur->tail >= iface->config.tx_seg_size)) &&
        (conn->state == TCP_CONN_UP) && !(conn->flags & TCP_CONN_BLOCKED)) {
        conn->tx_round = iface->round;
        tcp_tx_flush(conn);
        return (conn->tx_head == NULL) ? UCS_OK : UCS_INPROGRESS;
    }

    if (tcp_unlikely(tcp_list_is_empty(&conn->tx_node))) {
        tcp_tx_schedule(conn);
    }
    return UCS_INPROGRESS;
}

/* Called after tcp_tx_commit() of a put. The next progress or flush sends the
 * data, unless the buffer is full: then tcp_tx_kick() sends it. */
static inline ucs_status_t tcp_tx_gather(tcp_conn_t *conn)
{
    if (conn->tx_cur->tail >= conn->iface->config.tx_seg_size) {
        return tcp_tx_kick(conn);
    }
    if (tcp_unlikely(tcp_list_is_empty(&conn->tx_node))) {
        tcp_tx_schedule(conn);
    }
    return UCS_INPROGRESS;
}

/* Called after tcp_tx_commit() of data that must not wait for the next
 * progress, which the user may never call: sends it now or, in a callback of
 * progress, at the latest before progress returns. */
static inline void tcp_tx_kick_now(tcp_conn_t *conn)
{
    if (!conn->iface->in_progress) {
        conn->tx_round = conn->iface->round - 1;
    }
    tcp_tx_kick(conn);
}

/* Returns the endpoint's connection, which is created if there is none; on
 * failure NULL, with the error in *status_p. */
static inline tcp_conn_t *tcp_ep_conn(tcp_ep_t *ep, ucs_status_t *status_p)
{
    if (tcp_likely(ep->conn != NULL)) {
        return ep->conn;
    }
    return tcp_ep_conn_slow(ep, status_p);
}

#endif
