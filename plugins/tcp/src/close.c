/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Closes a connection by agreement, so that no endpoint fails: a side without
 * endpoints sends CLOSE, and the peer accepts or rejects it.
 */
#include "conn.h"

#include <errno.h>
#include <sys/epoll.h>

/* Called when the peer has answered our CLOSE with YES, or the stream has ended
 * after our CLOSE. Data that was queued since then has not been sent. */
void tcp_conn_closed(tcp_conn_t *conn)
{
    if (tcp_conn_is_idle(conn)) {
        tcp_conn_finish(conn);
        return;
    }

    if (conn->peer.sa.sa_family == AF_UNSPEC) {
        tcp_conn_break(conn, UCS_ERR_CONNECTION_RESET);
        return;
    }
    /* An endpoint or data was added after our CLOSE: open a new socket */
    tcp_conn_close_socket(conn);
    conn->flags &= ~TCP_CONN_OWES_NO;
    conn->state      = TCP_CONN_WAIT;
    conn->connect_by = 0;
    conn->retries    = 0;
    tcp_conn_connect(conn);
}

/* Sends a frame ahead of the queue, which is empty or whose first frame has not
 * started. Returns 1 if it was sent, 0 if there is no space now, -1 if the
 * stream has ended; reading reports the reason. */
static int conn_send_now(tcp_conn_t *conn, enum tcp_wire_type type)
{
    uint64_t frame = tcp_wire_frame(type, 0, 0);
    ssize_t n;

    do {
        n = send(conn->fd, &frame, sizeof(frame), MSG_NOSIGNAL);
    } while ((n < 0) && (errno == EINTR));
    if (n == (ssize_t)sizeof(frame)) {
        return 1;
    }
    return ((n < 0) && ((errno == EAGAIN) || (errno == EWOULDBLOCK))) ? 0 : -1;
}

void tcp_conn_try_close(tcp_conn_t *conn)
{
    if (conn->flags & TCP_CONN_OWES_NO) {
        if (conn_send_now(conn, TCP_WIRE_CLOSE_NO) == 0) {
            tcp_tx_schedule(conn);
        } else {
            conn->flags &= ~TCP_CONN_OWES_NO;
        }
        return;
    }
    if (!(conn->flags & TCP_CONN_WANT_CLOSE)) {
        return;
    }
    if (conn->num_eps > 0) {
        conn->flags &= ~TCP_CONN_WANT_CLOSE;
    } else if ((conn->state == TCP_CONN_UP) && tcp_conn_is_idle(conn)) {
        if (conn_send_now(conn, TCP_WIRE_CLOSE) == 0) {
            tcp_tx_schedule(conn);
        } else {
            conn->flags &= ~TCP_CONN_WANT_CLOSE;
            conn->state       = TCP_CONN_CLOSING;
            conn->puts_closed = conn->puts;
        }
    }
}

/* Handles the peer's CLOSE: the peer has no endpoint any more. */
static void conn_close_asked(tcp_conn_t *conn)
{
    if (tcp_conn_is_idle(conn) &&
        (conn_send_now(conn, TCP_WIRE_CLOSE_YES) != 0)) {
        tcp_conn_finish(conn);
    } else if (conn->state == TCP_CONN_CLOSING) {
        /* Both sides have sent CLOSE. Queued frames wait until the peer answers
         * our CLOSE, so NO, the answer to its CLOSE, is sent ahead of them. */
        conn->flags |= TCP_CONN_OWES_NO;
        tcp_conn_try_close(conn);
    } else {
        tcp_tx_frame(conn, tcp_wire_frame(TCP_WIRE_CLOSE_NO, 0, 0));
        if (conn->num_eps == 0) {
            conn->flags |= TCP_CONN_WANT_CLOSE;
        }
    }
}

ucs_status_t tcp_conn_split(tcp_conn_t *conn)
{
    tcp_iface_t *iface = conn->iface;
    tcp_conn_t *rest;
    ucs_status_t status;

    status = tcp_conn_create(iface, conn->peer_id, conn->path, 0, &rest);
    if (status != UCS_OK) {
        return status;
    }

    rest->state       = TCP_CONN_CLOSING;
    rest->fd          = conn->fd;
    rest->rx_mode     = conn->rx_mode;
    rest->rx_pad      = conn->rx_pad;
    rest->rx_left     = conn->rx_left;
    rest->rx_key      = conn->rx_key;
    rest->rx_address  = conn->rx_address;
    rest->part        = conn->part;
    rest->part_length = conn->part_length;
    rest->part_pooled = conn->part_pooled;
    /* The peer's last PUT_ACK may arrive later on the old socket. The peer has
     * agreed to close, so all puts that were sent there are complete. */
    rest->puts        = conn->puts_closed;
    rest->puts_acked  = conn->puts_acked;
    rest->puts_before = conn->puts_before;
    conn->puts_acked  = conn->puts_closed;
    conn->fd          = -1;
    conn->part        = NULL;
    conn->part_length = 0;
    if (iface->rx_owner == conn) {
        iface->rx_owner = rest;
    }
    (void)tcp_iface_watch(iface, EPOLL_CTL_MOD, rest->fd, EPOLLIN, rest,
                          TCP_EVENT_CONN);

    tcp_conn_close_socket(conn);
    conn->flags &= ~TCP_CONN_OWES_NO;
    conn->state      = TCP_CONN_WAIT;
    conn->connect_by = 0;
    conn->retries    = 0;
    tcp_flush_check(conn);
    return UCS_OK;
}

void tcp_conn_close_frame(tcp_conn_t *conn, enum tcp_wire_type type)
{
    if (type == TCP_WIRE_CLOSE) {
        conn_close_asked(conn);
    } else if (conn->state != TCP_CONN_CLOSING) {
        tcp_conn_violation(conn, "answers a close request that was not sent");
    } else if (type == TCP_WIRE_CLOSE_YES) {
        tcp_conn_closed(conn);
    } else {
        conn->state = TCP_CONN_UP;
        tcp_tx_schedule(conn);
    }
}
