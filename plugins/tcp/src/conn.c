/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds connections, creates them, and takes them down on failure. connect.c
 * establishes them, close.c closes them by agreement.
 */
#include "conn.h"
#include "sock.h"
#include "ways.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

/* --- The table of connections -------------------------------------------- */

static unsigned conn_slot(const tcp_iface_t *iface, uint64_t peer_id,
                          uint8_t path)
{
    /* Ids are random, so some of their bits are a good hash */
    return (unsigned)(peer_id + path) & (iface->hash_size - 1);
}

tcp_conn_t *tcp_conn_find(tcp_iface_t *iface, uint64_t peer_id, uint8_t path)
{
    tcp_conn_t *conn;

    if (iface->hash_size == 0) {
        return NULL;
    }
    for (conn = iface->hash[conn_slot(iface, peer_id, path)]; conn != NULL;
         conn = conn->hash_next) {
        if ((conn->peer_id == peer_id) && (conn->path == path)) {
            return conn;
        }
    }
    return NULL;
}

static ucs_status_t hash_grow(tcp_iface_t *iface)
{
    unsigned old_size = iface->hash_size;
    tcp_conn_t **old  = iface->hash, *conn, *next;
    unsigned size     = (old_size == 0) ? 16 : 2 * old_size;
    tcp_conn_t **table;

    table = calloc(size, sizeof(*table));
    if (table == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    iface->hash      = table;
    iface->hash_size = size;
    for (unsigned i = 0; i < old_size; ++i) {
        for (conn = old[i]; conn != NULL; conn = next) {
            unsigned slot = conn_slot(iface, conn->peer_id, conn->path);

            next            = conn->hash_next;
            conn->hash_next = table[slot];
            table[slot]     = conn;
        }
    }
    free(old);
    return UCS_OK;
}

static ucs_status_t hash_add(tcp_conn_t *conn)
{
    tcp_iface_t *iface = conn->iface;
    ucs_status_t status;
    unsigned slot;

    if (iface->num_hashed >= iface->hash_size) {
        status = hash_grow(iface);
        if (status != UCS_OK) {
            return status;
        }
    }
    slot              = conn_slot(iface, conn->peer_id, conn->path);
    conn->hash_next   = iface->hash[slot];
    iface->hash[slot] = conn;
    conn->flags |= TCP_CONN_HASHED;
    ++iface->num_hashed;
    return UCS_OK;
}

static void hash_del(tcp_conn_t *conn)
{
    tcp_iface_t *iface = conn->iface;
    tcp_conn_t **link;

    if (!(conn->flags & TCP_CONN_HASHED)) {
        return;
    }
    link = &iface->hash[conn_slot(iface, conn->peer_id, conn->path)];
    while (*link != conn) {
        link = &(*link)->hash_next;
    }
    *link = conn->hash_next;
    conn->flags &= ~TCP_CONN_HASHED;
    --iface->num_hashed;
}

void tcp_conn_rename(tcp_conn_t *conn, uint64_t peer_id)
{
    int hashed = !!(conn->flags & TCP_CONN_HASHED);

    hash_del(conn);
    conn->peer_id    = peer_id;
    conn->peer_epoch = 0;
    if (hashed) {
        (void)hash_add(conn); /* Cannot fail: hash_del() has made space */
    }
}

/* --- Making and freeing -------------------------------------------------- */

ucs_status_t tcp_conn_create(tcp_iface_t *iface, uint64_t peer_id, uint8_t path,
                             int hashed, tcp_conn_t **conn_p)
{
    ucs_status_t status = UCS_OK;
    tcp_conn_t *conn;

    conn = calloc(1, sizeof(*conn));
    if (conn == NULL) {
        return UCS_ERR_NO_MEMORY;
    }

    conn->iface      = iface;
    conn->fd         = -1;
    conn->state      = TCP_CONN_WAIT;
    conn->path       = path;
    conn->peer_id    = peer_id;
    conn->tx_round   = iface->round - 1;
    conn->get_tail   = &conn->get_head;
    conn->serve_tail = &conn->serve_head;
    conn->flush_tail = &conn->flush_head;
    conn->rx_limit   = (uint32_t)iface->config.rx_seg_size;
    tcp_list_init(&conn->tx_node);
    tcp_list_init(&conn->pend_node);
    tcp_list_init(&conn->pend_eps);
    tcp_list_init(&conn->broken_node);
    tcp_list_init(&conn->timed_node);
    tcp_list_init(&conn->eps);
    if (hashed) {
        status = hash_add(conn);
    }
    if (status != UCS_OK) {
        free(conn);
        return status;
    }

    tcp_list_add_tail(&iface->conns, &conn->node);
    *conn_p = conn;
    return UCS_OK;
}

/* Closes the socket, if there is one, and resets the state of its stream. */
void tcp_conn_close_socket(tcp_conn_t *conn)
{
    tcp_iface_t *iface = conn->iface;

    tcp_iface_hot_del(iface, conn);
    tcp_rx_reset(conn);
    tcp_list_del(&conn->timed_node);
    conn->flags &= ~(TCP_CONN_BLOCKED | TCP_CONN_WATCH_OUT);
    if (conn->fd >= 0) {
        /* close() does not remove the socket from the epoll set while a forked
         * child has it open: remove it explicitly */
        (void)tcp_iface_watch(iface, EPOLL_CTL_DEL, conn->fd, 0, conn,
                              TCP_EVENT_CONN);
        close(conn->fd);
        conn->fd = -1;
    }
}

void tcp_conn_unpark(tcp_conn_t *conn)
{
    if (conn->parked != NULL) {
        tcp_unknown_drop(conn->parked);
        conn->parked = NULL;
    }
}

void tcp_conn_break(tcp_conn_t *conn, ucs_status_t status)
{
    if (conn->state == TCP_CONN_BROKEN) {
        return;
    }
    conn->state  = TCP_CONN_BROKEN;
    conn->status = status;
    hash_del(conn);
    tcp_list_del(&conn->timed_node);
    tcp_iface_hot_del(conn->iface, conn);
    tcp_list_add_tail(&conn->iface->broken, &conn->broken_node);
}

/* Ends an unused connection: progress frees it and notifies no endpoint. */
void tcp_conn_finish(tcp_conn_t *conn)
{
    conn->flags |= TCP_CONN_QUIET;
    tcp_conn_break(conn, UCS_ERR_CONNECTION_RESET);
}

void tcp_conn_violation(tcp_conn_t *conn, const char *what)
{
    const ucx_host_t *host = conn->iface->host;
    char peer[TCP_SOCK_STR_MAX];
    tcp_sockaddr_t addr = {0};
    socklen_t length    = sizeof(addr);

    if (conn->state == TCP_CONN_BROKEN) {
        return;
    }
    (void)getpeername(conn->fd, &addr.sa, &length);
    if (tcp_iface_may_log(conn->iface)) {
        ucx_diag("%s: closed the connection with %s: the peer %s",
                 conn->iface->device.name,
                 tcp_sock_str(&addr, peer, sizeof(peer)), what);
    }
    tcp_conn_break(conn, UCS_ERR_CONNECTION_RESET);
}

int tcp_conn_is_idle(const tcp_conn_t *conn)
{
    return (conn->num_eps == 0) && (conn->tx_head == NULL) &&
           (conn->get_head == NULL) && (conn->serve_head == NULL) &&
           (conn->puts_taken == conn->puts_told) && (conn->flush_head == NULL);
}

void tcp_conn_lost(tcp_conn_t *conn, int error)
{
    tcp_iface_t *iface     = conn->iface;
    const ucx_host_t *host = iface->host;
    int half               = (conn->rx_mode != TCP_RX_FRAMES) ||
               ((iface->rx_owner == conn) &&
                (iface->rx_head != iface->rx_tail));

    if (conn->state == TCP_CONN_GREETING) {
        tcp_conn_attempt_failed(conn, (error == 0) ? ECONNRESET : error,
                                (error == 0) || (error == ECONNRESET));
        return;
    }
    if (half) {
        ucx_debug("%s: peer %016lx closed in the middle of a message",
                  iface->device.name, (unsigned long)conn->peer_id);
    } else if (conn->state == TCP_CONN_CLOSING) {
        tcp_conn_closed(conn);
        return;
    } else if (tcp_conn_is_idle(conn)) {
        tcp_conn_finish(conn);
        return;
    }
    tcp_conn_break(conn, tcp_sock_status(error));
}

/* Completes all outstanding operations with `status`, and frees the send queue
 * and the unanswered gets of the peer. */
static void conn_drop_queues(tcp_conn_t *conn, ucs_status_t status)
{
    tcp_iface_t *iface = conn->iface;
    tcp_serve_t *serve;
    tcp_elem_t *elem;
    tcp_op_t *op;

    while ((elem = conn->tx_head) != NULL) {
        conn->tx_head = elem->next;
        if (elem->kind == TCP_ELEM_ZCOPY) {
            tcp_zcopy_t *zcopy = (tcp_zcopy_t *)elem;

            free(zcopy->copy);
            tcp_op_done(iface, &zcopy->op, status);
        } else {
            tcp_tx_elem_free(conn, elem);
        }
    }
    conn->tx_cur = NULL;
    while ((serve = conn->serve_head) != NULL) {
        conn->serve_head = serve->next;
        tcp_op_free(iface, serve);
    }
    while ((op = conn->get_head) != NULL) {
        tcp_get_t *get = tcp_container_of(op, tcp_get_t, op);

        conn->get_head = op->next;
        if (get->bounce != NULL) {
            ucx_mpool_put(iface->txbuf_pool, get->bounce);
        }
        tcp_op_done(iface, op, status);
    }
    while ((op = conn->flush_head) != NULL) {
        conn->flush_head = op->next;
        tcp_op_done(iface, op, status);
    }
}

static void conn_free(tcp_conn_t *conn)
{
    hash_del(conn);
    tcp_conn_unpark(conn);
    tcp_conn_close_socket(conn);
    tcp_list_del(&conn->tx_node);
    tcp_list_del(&conn->pend_node);
    tcp_list_del(&conn->broken_node);
    tcp_list_del(&conn->node);
    free(conn->ways);
    free(conn);
}

void tcp_conn_takedown(tcp_conn_t *conn)
{
    tcp_iface_t *iface     = conn->iface;
    const ucx_host_t *host = iface->host;
    ucs_status_t status    = conn->status;
    uint8_t settled;
    tcp_list_t eps;
    tcp_ep_t *ep;

    if (!(conn->flags & TCP_CONN_QUIET)) {
        ucx_debug("%s: connection with peer %016lx failed: status %d, %u "
                  "endpoints",
                  iface->device.name, (unsigned long)conn->peer_id, (int)status,
                  conn->num_eps);
    }

    /* Remove the connection from the table before the user's callbacks run:
     * calls for these endpoints find no connection, and new endpoints create
     * another one. */
    settled = (conn->tx_sent == conn->tx_queued) &&
              (conn->gets_done == conn->gets_sent) &&
              (conn->puts_acked == conn->puts);
    conn_drop_queues(conn, status);
    tcp_list_take(&eps, &conn->eps);
    for (tcp_list_t *node = eps.next; node != &eps; node = node->next) {
        ep          = tcp_container_of(node, tcp_ep_t, node);
        ep->conn    = NULL;
        ep->settled = settled;
        ep->status  = status;
        tcp_list_del(&ep->pend_node);
    }
    conn_free(conn);

    tcp_op_dispatch(iface);
    while (!tcp_list_is_empty(&eps)) {
        ep = tcp_list_first(&eps, tcp_ep_t, node);
        tcp_list_del(&ep->node);
        tcp_ep_fail(ep, status);
    }
}

void tcp_conn_destroy(tcp_conn_t *conn)
{
    tcp_tx_flush(conn);
    conn_drop_queues(conn, UCS_ERR_CANCELED);
    if (conn->fd >= 0) {
        shutdown(conn->fd, SHUT_WR);
    }
    conn_free(conn);
}
