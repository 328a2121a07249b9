/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The life of connections, as the table in conn.h has it: finding, connecting,
 * greeting, closing by agreement, and breaking.
 */
#include "conn.h"
#include "sock.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

/* Seconds before another attempt: from the first to the longest. */
#define CONN_BACKOFF_MIN 1e-3
#define CONN_BACKOFF_MAX 0.25

/* --- The table of connections -------------------------------------------- */

static unsigned conn_slot(const tcp_iface_t *iface, uint64_t peer_id,
                          uint8_t path)
{
    /* Ids are random, so that a part of one is a hash */
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
    conn->flags      |= TCP_CONN_HASHED;
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
    *link        = conn->hash_next;
    conn->flags &= ~TCP_CONN_HASHED;
    --iface->num_hashed;
}

/* --- Making and freeing ----------------------------------------------------- */

ucs_status_t tcp_conn_create(tcp_iface_t *iface, uint64_t peer_id,
                             uint8_t path, int hashed, tcp_conn_t **conn_p)
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

/* Closes the socket, if there is one, and forgets what it left behind. */
static void conn_close_socket(tcp_conn_t *conn)
{
    tcp_iface_t *iface = conn->iface;

    tcp_iface_hot_del(iface, conn);
    tcp_rx_reset(conn);
    tcp_list_del(&conn->timed_node);
    conn->flags &= ~(TCP_CONN_BLOCKED | TCP_CONN_WATCH_OUT);
    if (conn->fd >= 0) {
        /* A child of fork() may still have it open: take it out by hand */
        (void)tcp_iface_watch(iface, EPOLL_CTL_DEL, conn->fd, 0, conn,
                              TCP_EVENT_CONN);
        close(conn->fd);
        conn->fd = -1;
    }
}

static void conn_unpark(tcp_conn_t *conn)
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

/* Ends as agreed with the peer. */
static void conn_finish(tcp_conn_t *conn)
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

/* Completes what was outstanding, with the error. */
static void conn_drop_queues(tcp_conn_t *conn, ucs_status_t status)
{
    tcp_iface_t *iface = conn->iface;
    tcp_serve_t *serve;
    tcp_elem_t *elem;
    tcp_op_t *op;

    while ((elem = conn->tx_head) != NULL) {
        conn->tx_head = elem->next;
        if (elem->kind == TCP_ELEM_ZCOPY) {
            tcp_zcopy_t *zcopy = (tcp_zcopy_t*)elem;

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
    conn_unpark(conn);
    conn_close_socket(conn);
    tcp_list_del(&conn->tx_node);
    tcp_list_del(&conn->pend_node);
    tcp_list_del(&conn->broken_node);
    tcp_list_del(&conn->node);
    free(conn);
}

void tcp_conn_takedown(tcp_conn_t *conn)
{
    tcp_iface_t *iface     = conn->iface;
    const ucx_host_t *host = iface->host;
    ucs_status_t status    = conn->status;
    tcp_list_t eps;
    tcp_ep_t *ep;

    if (!(conn->flags & TCP_CONN_QUIET)) {
        ucx_debug("%s: connection with peer %016lx failed: status %d, %u "
                  "endpoints", iface->device.name,
                  (unsigned long)conn->peer_id, (int)status, conn->num_eps);
    }

    /* Out of sight before the user gets to run: calls for these endpoints
     * find no connection, new ones make another. */
    conn_drop_queues(conn, status);
    tcp_list_take(&eps, &conn->eps);
    for (tcp_list_t *node = eps.next; node != &eps; node = node->next) {
        ep         = tcp_container_of(node, tcp_ep_t, node);
        ep->conn   = NULL;
        ep->status = status;
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

/* --- Connecting ------------------------------------------------------------------ */

/* Looks again when the time has come. */
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
    conn->state   = TCP_CONN_UP;
    conn->retries = 0;
    tcp_list_del(&conn->timed_node);
    conn_unpark(conn);
    tcp_iface_hot_add(conn->iface, conn);
    /* Sends what has queued up, or asks to close what nobody needs any more */
    tcp_tx_schedule(conn);
}

/* The attempt came to nothing. */
static void conn_attempt_failed(tcp_conn_t *conn, int error, int try_again)
{
    tcp_iface_t *iface     = conn->iface;
    const ucx_host_t *host = iface->host;
    tcp_unknown_t *parked  = conn->parked;
    char peer[TCP_SOCK_STR_MAX];
    double delay;

    conn_close_socket(conn);
    if (parked != NULL) {
        conn->parked = NULL;
        tcp_conn_adopt(conn, parked);
        return;
    }

    conn->state = TCP_CONN_WAIT;
    if (!try_again || (conn->retries >= iface->config.max_conn_retries)) {
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

/* Descriptors, ports and buffers may come back; a host that says no will say
 * so again. */
static int conn_error_is_passing(int error)
{
    return (error == EMFILE) || (error == ENFILE) || (error == ENOBUFS) ||
           (error == ENOMEM) || (error == EADDRNOTAVAIL) || (error == EAGAIN);
}

static void conn_bind_source(tcp_conn_t *conn)
{
    tcp_iface_t *iface = conn->iface;

    if (!iface->config.bind_src_addr || iface->device.is_loopback ||
        tcp_sock_addr_same_ip(&conn->peer, &iface->device.addr) ||
        (conn->peer.sa.sa_family != iface->device.addr.sa.sa_family)) {
        return;
    }
    tcp_sock_set_int(conn->fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, 1);
    /* If the address went away, the system's choice is as good as any */
    (void)bind(conn->fd, &iface->device.addr.sa,
               tcp_sock_addr_len(&iface->device.addr));
}

void tcp_conn_connect(tcp_conn_t *conn)
{
    tcp_iface_t *iface     = conn->iface;
    const ucx_host_t *host = iface->host;
    uint32_t events;
    ucs_status_t status;
    int error;

    if (conn->connect_by == 0) {
        conn->connect_by = host->time() + iface->config.connect_timeout;
    }

    conn->fd = tcp_sock_open(conn->peer.sa.sa_family);
    if (conn->fd < 0) {
        error = errno;
        if (((error == EMFILE) || (error == ENFILE)) && (conn->retries == 0)) {
            ucx_warn("cannot open a socket: %s; raise the limit of open files "
                     "(ulimit -n)", strerror(error));
        }
        conn_attempt_failed(conn, error, conn_error_is_passing(error));
        return;
    }

    tcp_iface_set_options(iface, conn->fd);
    conn_bind_source(conn);
    conn->state = TCP_CONN_CONNECTING;
    if ((connect(conn->fd, &conn->peer.sa, tcp_sock_addr_len(&conn->peer)) !=
         0) && (errno != EINPROGRESS) && (errno != EINTR)) {
        conn_attempt_failed(conn, errno, conn_error_is_passing(errno));
        return;
    }

    /* Nearby peers are connected by now */
    tcp_conn_greet(conn);
    if (conn->fd < 0) {
        return;
    }

    events = EPOLLIN;
    if (conn->state == TCP_CONN_CONNECTING) {
        events      |= EPOLLOUT;
        conn->flags |= TCP_CONN_WATCH_OUT;
    }
    status = tcp_iface_watch(iface, EPOLL_CTL_ADD, conn->fd, events, conn,
                             TCP_EVENT_CONN);
    if (status != UCS_OK) {
        conn_attempt_failed(conn, ENOMEM, 1);
        return;
    }
    conn_set_deadline(conn, conn->connect_by);
}

static void
conn_fill_hello(const tcp_conn_t *conn, uint8_t kind, tcp_wire_hello_t *hello)
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
        tcp_iface_hot_add(conn->iface, conn);
        if (conn->flags & TCP_CONN_WATCH_OUT) {
            conn->flags &= ~TCP_CONN_WATCH_OUT;
            (void)tcp_iface_watch(conn->iface, EPOLL_CTL_MOD, conn->fd,
                                  EPOLLIN, conn, TCP_EVENT_CONN);
        }
    } else if ((n >= 0) || ((errno != EAGAIN) && (errno != EWOULDBLOCK) &&
                            (errno != EINTR) && (errno != ENOTCONN))) {
        conn_attempt_failed(conn, (n >= 0) ? EIO : errno,
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
        tcp_conn_violation(conn, "does not answer as a peer does");
        return;
    }

    if (hello->kind == TCP_WIRE_HELLO_NACK) {
        ucx_diag("%s: %s refused the connection: %s", conn->iface->device.name,
                 tcp_sock_str(&conn->peer, peer, sizeof(peer)),
                 (le16toh(hello->reason) == TCP_WIRE_NACK_VERSION) ?
                     "it speaks another version of the protocol" :
                     "the address belongs to another process by now");
        tcp_conn_break(conn, UCS_ERR_UNREACHABLE);
        return;
    }

    if ((hello->major != TCP_WIRE_MAJOR) ||
        (le64toh(hello->src_id) != conn->peer_id) ||
        (le64toh(hello->dst_id) != conn->iface->id)) {
        tcp_conn_violation(conn, "answers for somebody else");
        return;
    }
    conn->peer_epoch = le32toh(hello->epoch);
    conn_is_up(conn);
}

void tcp_conn_adopt(tcp_conn_t *conn, tcp_unknown_t *unknown)
{
    tcp_iface_t *iface = conn->iface;
    tcp_wire_hello_t hello;
    ssize_t n;

    memcpy(&hello, unknown->hello, sizeof(hello));
    conn->peer_epoch = le32toh(hello.epoch);
    conn_close_socket(conn);
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

/* connect() has come to an end, good or bad. */
static void conn_connected(tcp_conn_t *conn)
{
    int error        = 0;
    socklen_t length = sizeof(error);

    if (getsockopt(conn->fd, SOL_SOCKET, SO_ERROR, &error, &length) != 0) {
        error = errno;
    }
    if (error != 0) {
        conn_attempt_failed(conn, error, conn_error_is_passing(error));
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
            conn_attempt_failed(conn, ETIMEDOUT, 0);
        } else if (conn->state == TCP_CONN_WAIT) {
            tcp_conn_connect(conn);
        }
    }

    for (tcp_list_t *node = iface->timed.next; node != &iface->timed;
         node = node->next) {
        conn = tcp_container_of(node, tcp_conn_t, timed_node);
        if ((next == 0) || (conn->deadline < next)) {
            next = conn->deadline;
        }
    }
    return next;
}

/* The kernel goes on for a quarter of an hour. A limit on the socket
 * (TCP_USER_TIMEOUT) would also hit peers that live but do not receive; those
 * acknowledge the kernel's probes. */
static int conn_host_is_silent(tcp_conn_t *conn)
{
    double limit = conn->iface->config.user_timeout;
    struct tcp_info info;
    socklen_t length = sizeof(info);

    memset(&info, 0, sizeof(info));
    if (getsockopt(conn->fd, IPPROTO_TCP, TCP_INFO, &info, &length) != 0) {
        return 0;
    }
    if ((info.tcpi_unacked == 0) && (conn->tx_head == NULL)) {
        conn->flags &= ~TCP_CONN_UNACKED;
    }
    return (info.tcpi_retransmits > 0) &&
           (info.tcpi_last_ack_recv > limit * 1000);
}

double tcp_conn_sweep(tcp_iface_t *iface, double now)
{
    int unacked = 0;
    tcp_conn_t *conn;

    for (tcp_list_t *node = iface->conns.next; node != &iface->conns;
         node = node->next) {
        conn = tcp_container_of(node, tcp_conn_t, node);
        if (!(conn->flags & TCP_CONN_UNACKED) ||
            ((conn->state != TCP_CONN_UP) &&
             (conn->state != TCP_CONN_CLOSING))) {
            continue;
        }
        if (conn_host_is_silent(conn)) {
            tcp_conn_break(conn, UCS_ERR_ENDPOINT_TIMEOUT);
        } else {
            unacked |= !!(conn->flags & TCP_CONN_UNACKED);
        }
    }
    return unacked ? now + iface->config.user_timeout / 4 : 0;
}

/* --- Ending ------------------------------------------------------------------- */

int tcp_conn_is_idle(const tcp_conn_t *conn)
{
    return (conn->num_eps == 0) && (conn->tx_head == NULL) &&
           (conn->get_head == NULL) && (conn->serve_head == NULL) &&
           (conn->sync_owed == 0) && (conn->flush_head == NULL);
}

/* The stream ended after our CLOSE: nothing of ours was in it. */
static void conn_closed(tcp_conn_t *conn)
{
    if (tcp_conn_is_idle(conn)) {
        conn_finish(conn);
        return;
    }

    if (conn->peer.sa.sa_family == AF_UNSPEC) {
        tcp_conn_break(conn, UCS_ERR_CONNECTION_RESET);
        return;
    }
    /* Wanted again meanwhile */
    conn_close_socket(conn);
    conn->flags     &= ~TCP_CONN_OWES_NO;
    conn->state      = TCP_CONN_WAIT;
    conn->connect_by = 0;
    conn->retries    = 0;
    tcp_conn_connect(conn);
}

void tcp_conn_lost(tcp_conn_t *conn, int error)
{
    tcp_iface_t *iface     = conn->iface;
    const ucx_host_t *host = iface->host;
    int half               = (conn->rx_mode != TCP_RX_FRAMES) ||
                             ((iface->rx_owner == conn) &&
                              (iface->rx_head != iface->rx_tail));

    if (conn->state == TCP_CONN_GREETING) {
        conn_attempt_failed(conn, (error == 0) ? ECONNRESET : error,
                            (error == 0) || (error == ECONNRESET));
        return;
    }
    if (half) {
        ucx_debug("%s: peer %016lx went away in the middle of a message",
                  iface->device.name, (unsigned long)conn->peer_id);
    } else if (conn->state == TCP_CONN_CLOSING) {
        conn_closed(conn);
        return;
    } else if (tcp_conn_is_idle(conn)) {
        conn_finish(conn);
        return;
    }
    tcp_conn_break(conn, tcp_sock_status(error));
}

/* A frame that has to overtake the queue, which is empty or holds nothing that
 * has begun to leave. 1: sent. 0: no room now. -1: the stream is over, as
 * reading will find. */
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
            conn->state  = TCP_CONN_CLOSING;
        }
    }
}

/* The peer has no endpoint any more. */
static void conn_close_asked(tcp_conn_t *conn)
{
    if (tcp_conn_is_idle(conn) &&
        (conn_send_now(conn, TCP_WIRE_CLOSE_YES) != 0)) {
        conn_finish(conn);
    } else if (conn->state == TCP_CONN_CLOSING) {
        /* Our own question is not answered by this */
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
    rest->rx_index    = conn->rx_index;
    rest->rx_address  = conn->rx_address;
    rest->part        = conn->part;
    rest->part_length = conn->part_length;
    rest->part_pooled = conn->part_pooled;
    conn->fd          = -1;
    conn->part        = NULL;
    conn->part_length = 0;
    if (iface->rx_owner == conn) {
        iface->rx_owner = rest;
    }
    (void)tcp_iface_watch(iface, EPOLL_CTL_MOD, rest->fd, EPOLLIN, rest,
                          TCP_EVENT_CONN);

    conn_close_socket(conn);
    conn->flags     &= ~TCP_CONN_OWES_NO;
    conn->state      = TCP_CONN_WAIT;
    conn->connect_by = 0;
    conn->retries    = 0;
    return UCS_OK;
}

void tcp_conn_close_frame(tcp_conn_t *conn, enum tcp_wire_type type)
{
    if (type == TCP_WIRE_CLOSE) {
        conn_close_asked(conn);
    } else if (conn->state != TCP_CONN_CLOSING) {
        tcp_conn_violation(conn, "answers what was not asked");
    } else if (type == TCP_WIRE_CLOSE_YES) {
        conn_closed(conn);
    } else {
        conn->state = TCP_CONN_UP;
        tcp_tx_schedule(conn);
    }
}
