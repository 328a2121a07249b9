/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Establishes connections: connect(), HELLO and ACK, retries, timeouts, and the
 * use of the peer's attempt instead of ours.
 */
#include "conn.h"
#include "sock.h"
#include "ways.h"

#include <errno.h>
#include <linux/sockios.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>

/* Back-off in seconds before a retry: for the first retry, and the maximum. */
#define CONN_BACKOFF_MIN 1e-3
#define CONN_BACKOFF_MAX 0.25

/* Sets the time at which tcp_conn_expire() handles the connection. */
static void conn_set_deadline(tcp_conn_t *conn, double deadline)
{
    tcp_iface_t *iface = conn->iface;

    conn->deadline = deadline;
    if (tcp_list_is_empty(&conn->timed_node)) {
        tcp_list_add_tail(&iface->timed, &conn->timed_node);
    }
    tcp_iface_timer_set(iface, deadline);
}

static void conn_is_up(tcp_conn_t *conn)
{
    conn->state       = TCP_CONN_UP;
    conn->retries     = 0;
    conn->puts_before = conn->puts_acked; /* All PUTs that were sent on earlier
                                           * sockets are acknowledged; the
                                           * others are still queued */
    conn->puts_taken  = 0;
    conn->puts_told   = 0;
    tcp_list_del(&conn->timed_node);
    tcp_conn_unpark(conn);
    tcp_iface_hot_add(conn->iface, conn);
    /* Progress sends queued data, or closes the connection if it is unused */
    tcp_tx_schedule(conn);
}

/* Warns about an unreachable peer: the routing table has a route, but nothing
 * answers. Possible reasons are distinct networks with the same addresses, or a
 * gateway that drops packets. Not logged for a peer whose process has exited,
 * because its host answers. */
static void conn_tell_dead_path(const tcp_conn_t *conn, int error)
{
    tcp_iface_t *iface     = conn->iface;
    const ucx_host_t *host = iface->host;
    char peer[TCP_SOCK_STR_MAX];

    if (((error == EHOSTUNREACH) || (error == ENETUNREACH) ||
         (error == ETIMEDOUT)) &&
        tcp_iface_may_log(iface)) {
        ucx_warn("%s: cannot connect to %s: %s, though there is a route; if "
                 "that network is not common to both hosts, leave the device "
                 "out by UCX_NET_DEVICES=^%s",
                 iface->device.name,
                 tcp_sock_str(&conn->peer, peer, sizeof(peer)), strerror(error),
                 iface->device.name);
    }
}

/* Uses the peer's parked attempt (conn.h) instead of ours. Returns 0 if there
 * is none. */
static int conn_adopt_parked(tcp_conn_t *conn)
{
    tcp_unknown_t *parked = conn->parked;

    if (parked == NULL) {
        return 0;
    }
    conn->parked = NULL;
    tcp_conn_adopt(conn, parked);
    return 1;
}

/* Switches to an alternative address of the peer (ways.h), if there is one and
 * time is left, and sets the deadline at which an attempt to connect to it
 * starts. Returns 0 if it did not switch. */
static int conn_take_detour(tcp_conn_t *conn, int error)
{
    const ucx_host_t *host = conn->iface->host;
    char peer[TCP_SOCK_STR_MAX], other[TCP_SOCK_STR_MAX];

    (void)tcp_sock_str(&conn->peer, peer, sizeof(peer));
    if ((host->time() >= conn->connect_by) || !tcp_ways_turn(conn)) {
        return 0;
    }
    ucx_diag("%s: no connection with %s (%s), trying the same process at %s",
             conn->iface->device.name, peer, strerror(error),
             tcp_sock_str(&conn->peer, other, sizeof(other)));
    conn->state   = TCP_CONN_WAIT;
    conn->retries = 0;
    conn_set_deadline(conn, host->time() + CONN_BACKOFF_MIN);
    return 1;
}

/* Returns whether the error is transient, so that the same address is tried
 * again: a shortage of descriptors, ports or buffers on this host. An error
 * that the peer's host causes is not transient. */
static int conn_error_is_passing(int error)
{
    return (error == EMFILE) || (error == ENFILE) || (error == ENOBUFS) ||
           (error == ENOMEM) || (error == EADDRNOTAVAIL) || (error == EAGAIN);
}

/* Returns whether no operation waits for the connection: uct_ep_check() opened
 * it only to monitor the peer. */
static int conn_only_watches(const tcp_conn_t *conn)
{
    return (conn->num_eps > 0) && (conn->tx_head == NULL) &&
           (conn->get_head == NULL) && (conn->flush_head == NULL) &&
           tcp_list_is_empty(&conn->pend_eps);
}

void tcp_conn_attempt_failed(tcp_conn_t *conn, int error, int try_again)
{
    tcp_iface_t *iface     = conn->iface;
    const ucx_host_t *host = iface->host;
    int connecting         = (conn->state == TCP_CONN_CONNECTING);
    char peer[TCP_SOCK_STR_MAX];
    double delay;

    tcp_conn_close_socket(conn);
    if (conn_adopt_parked(conn)) {
        return;
    }

    conn->state = TCP_CONN_WAIT;
    if (conn_error_is_passing(error) && conn_only_watches(conn) &&
        (conn->retries >= iface->config.max_conn_retries)) {
        /* A shortage on this host does not count as a failure of the peer:
         * retries and timeout start again */
        conn->retries    = 0;
        conn->connect_by = host->time() + iface->config.connect_timeout;
    }
    if (!try_again || (conn->retries >= iface->config.max_conn_retries)) {
        tcp_ways_give_up(conn);
        if (conn_take_detour(conn, error)) {
            return;
        }
        if (connecting) {
            conn_tell_dead_path(conn, error);
        }
        ucx_debug("%s: cannot connect to %s: %s", iface->device.name,
                  tcp_sock_str(&conn->peer, peer, sizeof(peer)),
                  strerror(error));
        tcp_conn_break(conn, tcp_sock_status(error));
        return;
    }

    delay = CONN_BACKOFF_MIN * (double)(1u << (conn->retries % 16));
    if (delay > CONN_BACKOFF_MAX) {
        delay = CONN_BACKOFF_MAX;
    }
    ++conn->retries;
    conn_set_deadline(conn, host->time() + delay);
}

static void conn_bind_source(tcp_conn_t *conn)
{
    tcp_iface_t *iface = conn->iface;

    if (!iface->config.bind_src_addr || iface->device.is_loopback ||
        (conn->way != 0) || tcp_sock_addr_is_loopback(&conn->peer) ||
        tcp_sock_addr_same_ip(&conn->peer, &iface->device.addr) ||
        (conn->peer.sa.sa_family != iface->device.addr.sa.sa_family)) {
        return;
    }
    tcp_sock_set_int(conn->fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, 1);
    /* If the device's address is gone, the kernel selects an address */
    (void)bind(conn->fd, &iface->device.addr.sa,
               tcp_sock_addr_len(&iface->device.addr));
}

/* Opens the socket of an outgoing connection. If descriptors have run out,
 * closes incoming connections whose peer is unknown. Returns 0, or an errno. */
static int conn_open_socket(tcp_conn_t *conn)
{
    tcp_iface_t *iface     = conn->iface;
    const ucx_host_t *host = iface->host;
    int error;

    do {
        conn->fd = tcp_sock_open(conn->peer.sa.sa_family);
        if (conn->fd >= 0) {
            return 0;
        }
        error = errno;
    } while (tcp_sock_no_files(error) &&
             tcp_unknown_evict(iface, iface->num_unknown));

    if (tcp_sock_no_files(error) && (conn->retries == 0) &&
        tcp_iface_may_log(iface)) {
        ucx_warn("cannot open a socket: %s; raise the limit of open files "
                 "(ulimit -n)",
                 strerror(error));
    }
    return error;
}

void tcp_conn_connect(tcp_conn_t *conn)
{
    tcp_iface_t *iface     = conn->iface;
    const ucx_host_t *host = iface->host;
    ucs_status_t status;
    uint32_t events;
    double deadline;
    int error;

    if (conn->connect_by == 0) {
        conn->connect_by = host->time() + iface->config.connect_timeout;
        tcp_ways_begin(conn);
    }

    error = conn_open_socket(conn);
    if (error != 0) {
        tcp_conn_attempt_failed(conn, error, conn_error_is_passing(error));
        return;
    }

    tcp_iface_set_options(iface, conn->fd);
    conn_bind_source(conn);
    conn->state = TCP_CONN_CONNECTING;
    if ((connect(conn->fd, &conn->peer.sa, tcp_sock_addr_len(&conn->peer)) !=
         0) &&
        (errno != EINPROGRESS) && (errno != EINTR)) {
        tcp_conn_attempt_failed(conn, errno, conn_error_is_passing(errno));
        return;
    }

    /* On the same host, connect() is complete now. Otherwise this call sends
     * nothing */
    tcp_conn_greet(conn);
    if (conn->fd < 0) {
        return;
    }

    events = EPOLLIN;
    if (conn->state == TCP_CONN_CONNECTING) {
        events |= EPOLLOUT;
        conn->flags |= TCP_CONN_WATCH_OUT;
    }
    status = tcp_iface_watch(iface, EPOLL_CTL_ADD, conn->fd, events, conn,
                             TCP_EVENT_CONN);
    if (status != UCS_OK) {
        tcp_conn_attempt_failed(conn, ENOMEM, 1);
        return;
    }
    /* No timeout from GREETING on: the peer may be busy for any time.
     * tcp_conn_sweep() detects a host that is silent */
    if (conn->state == TCP_CONN_CONNECTING) {
        deadline = host->time() + tcp_ways_patience(conn);
        conn_set_deadline(conn, (deadline < conn->connect_by) ?
                                    deadline :
                                    conn->connect_by);
    }
}

static void conn_fill_hello(const tcp_conn_t *conn, uint8_t kind,
                            tcp_wire_hello_t *hello)
{
    memset(hello, 0, sizeof(*hello));
    hello->magic  = htole32(TCP_WIRE_MAGIC);
    hello->major  = TCP_WIRE_MAJOR;
    hello->minor  = TCP_WIRE_MINOR;
    hello->kind   = kind;
    hello->path   = conn->path;
    hello->src_id = htole64(conn->iface->id);
    hello->dst_id = htole64(conn->peer_id);
    hello->epoch  = htole32(conn->iface->epoch);
}

void tcp_conn_greet(tcp_conn_t *conn)
{
    tcp_iface_t *iface = conn->iface;
    tcp_wire_hello_t hello;
    ssize_t n;

    if (++iface->epoch == 0) {
        iface->epoch = 1;
    }
    conn_fill_hello(conn, TCP_WIRE_HELLO, &hello);
    n = send(conn->fd, &hello, sizeof(hello), MSG_NOSIGNAL);
    if (n == (ssize_t)sizeof(hello)) {
        conn->state = TCP_CONN_GREETING;
        conn->flags |= TCP_CONN_UNACKED;
        tcp_list_del(&conn->timed_node);
        if (iface->sweep_at == 0) {
            tcp_iface_sweep_later(iface);
        }
        tcp_iface_hot_add(conn->iface, conn);
        if (conn->flags & TCP_CONN_WATCH_OUT) {
            conn->flags &= ~TCP_CONN_WATCH_OUT;
            (void)tcp_iface_watch(conn->iface, EPOLL_CTL_MOD, conn->fd, EPOLLIN,
                                  conn, TCP_EVENT_CONN);
        }
    } else if ((n >= 0) || ((errno != EAGAIN) && (errno != EWOULDBLOCK) &&
                            (errno != EINTR) && (errno != ENOTCONN))) {
        tcp_conn_attempt_failed(conn, (n >= 0) ? EIO : errno,
                                (n < 0) && (errno == ECONNRESET));
    }
}

void tcp_conn_greeted(tcp_conn_t *conn, const tcp_wire_hello_t *hello)
{
    const ucx_host_t *host = conn->iface->host;
    char peer[TCP_SOCK_STR_MAX];

    if ((le32toh(hello->magic) != TCP_WIRE_MAGIC) ||
        ((hello->kind != TCP_WIRE_HELLO_ACK) &&
         (hello->kind != TCP_WIRE_HELLO_NACK))) {
        tcp_conn_violation(conn, "sent an invalid answer to the greeting");
        return;
    }

    if ((hello->kind == TCP_WIRE_HELLO_NACK) && (conn->ways != NULL) &&
        (le16toh(hello->reason) == TCP_WIRE_NACK_TARGET)) {
        /* Another process has this address now: try the other addresses */
        tcp_conn_attempt_failed(conn, ECONNREFUSED, 0);
        return;
    }
    if (hello->kind == TCP_WIRE_HELLO_NACK) {
        ucx_diag("%s: %s refused the connection: %s", conn->iface->device.name,
                 tcp_sock_str(&conn->peer, peer, sizeof(peer)),
                 (le16toh(hello->reason) == TCP_WIRE_NACK_VERSION) ?
                     "it uses another version of the protocol" :
                     "the address now belongs to another process");
        tcp_conn_break(conn, UCS_ERR_UNREACHABLE);
        return;
    }

    if ((hello->major != TCP_WIRE_MAJOR) ||
        (le64toh(hello->src_id) != conn->peer_id) ||
        (le64toh(hello->dst_id) != conn->iface->id)) {
        tcp_conn_violation(conn, "is not the expected process");
        return;
    }
    conn->peer_epoch = le32toh(hello->epoch);
    if (conn->ways != NULL) {
        conn->iface->detour = conn->way;
    }
    conn_is_up(conn);
}

void tcp_conn_adopt(tcp_conn_t *conn, tcp_unknown_t *unknown)
{
    tcp_iface_t *iface = conn->iface;
    tcp_wire_hello_t hello;
    ssize_t n;

    memcpy(&hello, unknown->hello, sizeof(hello));
    conn->peer_epoch = le32toh(hello.epoch);
    tcp_conn_close_socket(conn);
    conn->fd    = unknown->fd;
    unknown->fd = -1;
    tcp_unknown_drop(unknown);

    conn_fill_hello(conn, TCP_WIRE_HELLO_ACK, &hello);
    n = send(conn->fd, &hello, sizeof(hello), MSG_NOSIGNAL);
    if ((n != (ssize_t)sizeof(hello)) ||
        (tcp_iface_watch(iface, EPOLL_CTL_MOD, conn->fd, EPOLLIN, conn,
                         TCP_EVENT_CONN) != UCS_OK)) {
        tcp_conn_break(conn, UCS_ERR_CONNECTION_RESET);
        return;
    }
    conn_is_up(conn);
}

/* Called when connect() has succeeded or failed. */
static void conn_connected(tcp_conn_t *conn)
{
    int error        = 0;
    socklen_t length = sizeof(error);

    if (getsockopt(conn->fd, SOL_SOCKET, SO_ERROR, &error, &length) != 0) {
        error = errno;
    }
    if (error != 0) {
        tcp_conn_attempt_failed(conn, error, conn_error_is_passing(error));
    } else {
        tcp_conn_greet(conn);
    }
}

void tcp_conn_event(tcp_conn_t *conn, uint32_t events)
{
    if (conn->state == TCP_CONN_CONNECTING) {
        conn_connected(conn);
        return;
    }
    if (events & EPOLLOUT) {
        tcp_tx_schedule(conn);
    }
}

/* Called when the timeout of tcp_ways_patience() has expired. Tries another
 * address of the peer. The current address may only be slow, so it is not
 * marked as failed, and is tried again in turn. If all other addresses have
 * failed or are used by other connections, the attempt continues until
 * connect_by. */
static void conn_lose_patience(tcp_conn_t *conn)
{
    if (!tcp_ways_has_other(conn)) {
        conn_set_deadline(conn, conn->connect_by);
        return;
    }
    tcp_conn_close_socket(conn);
    if (!conn_adopt_parked(conn) && !conn_take_detour(conn, ETIMEDOUT)) {
        tcp_conn_attempt_failed(conn, ETIMEDOUT, 0); /* connect_by has passed */
    }
}

double tcp_conn_expire(tcp_iface_t *iface, double now)
{
    double next = 0;
    tcp_list_t due;
    tcp_conn_t *conn;

    tcp_list_take(&due, &iface->timed);
    while (!tcp_list_is_empty(&due)) {
        conn = tcp_list_first(&due, tcp_conn_t, timed_node);
        tcp_list_del(&conn->timed_node);
        if (conn->deadline > now) {
            tcp_list_add_tail(&iface->timed, &conn->timed_node);
        } else if (now >= conn->connect_by) {
            tcp_conn_attempt_failed(conn, ETIMEDOUT, 0);
        } else if (conn->state == TCP_CONN_WAIT) {
            tcp_conn_connect(conn);
        } else {
            conn_lose_patience(conn);
        }
    }

    for (tcp_list_t *node = iface->timed.next; node != &iface->timed;
         node             = node->next) {
        conn = tcp_container_of(node, tcp_conn_t, timed_node);
        if ((next == 0) || (conn->deadline < next)) {
            next = conn->deadline;
        }
    }
    return next;
}

/* Returns the number of bytes in the socket's send buffer: unacknowledged, or
 * not sent yet because, for example, the device has lost its carrier. */
static int conn_unacked_bytes(const tcp_conn_t *conn)
{
    int bytes = 0;

    return (ioctl(conn->fd, SIOCOUTQ, &bytes) == 0) ? bytes : 0;
}

/* Returns whether the peer's host has acknowledged nothing for user_timeout.
 * Without this check the kernel would retransmit for about 15 minutes. The
 * socket option TCP_USER_TIMEOUT is not used, because it would also fail a peer
 * that is alive but does not read, although its kernel answers probes. */
static int conn_host_is_silent(tcp_conn_t *conn, double now)
{
    struct tcp_info info;
    socklen_t length = sizeof(info);

    memset(&info, 0, sizeof(info));
    if (getsockopt(conn->fd, IPPROTO_TCP, TCP_INFO, &info, &length) != 0) {
        return 0;
    }
    if ((conn_unacked_bytes(conn) == 0) && (conn->tx_head == NULL)) {
        conn->flags &= ~TCP_CONN_UNACKED;
    }
    /* Not silent: the kernel waits neither for an acknowledgement of data nor
     * for the answer to a probe, which it sends if the peer's window is closed
     * or the device accepts nothing */
    if ((info.tcpi_retransmits == 0) && (info.tcpi_probes == 0)) {
        conn->silent_since = 0;
        return 0;
    }
    /* The time counts from the first check that finds a retransmission or an
     * unanswered probe: the connection may have been idle before */
    if ((conn->silent_since == 0) ||
        (info.tcpi_last_ack_recv * 1e-3 < now - conn->silent_since)) {
        conn->silent_since = now;
    }
    return now - conn->silent_since >= conn->iface->config.user_timeout;
}

double tcp_conn_sweep(tcp_iface_t *iface, double now)
{
    int unacked = 0;
    tcp_conn_t *conn;

    for (tcp_list_t *node = iface->conns.next; node != &iface->conns;
         node             = node->next) {
        conn = tcp_container_of(node, tcp_conn_t, node);
        if (!(conn->flags & TCP_CONN_UNACKED) ||
            ((conn->state != TCP_CONN_UP) &&
             (conn->state != TCP_CONN_CLOSING) &&
             (conn->state != TCP_CONN_GREETING))) {
            continue;
        }
        if (conn_host_is_silent(conn, now)) {
            if (conn->state == TCP_CONN_GREETING) {
                tcp_conn_attempt_failed(conn, ETIMEDOUT, 0);
            } else {
                tcp_conn_break(conn, UCS_ERR_ENDPOINT_TIMEOUT);
            }
        } else {
            unacked |= !!(conn->flags & TCP_CONN_UNACKED);
        }
    }
    return unacked ? now + iface->config.user_timeout / 4 : 0;
}
