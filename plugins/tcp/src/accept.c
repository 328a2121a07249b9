/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Incoming connections until their peer is known: accept, read the HELLO,
 * decide. Any host can connect, so time and number are limited, and all input
 * is checked.
 */
#include "conn.h"
#include "sock.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

/* Maximum number of connections accepted in one round (call of progress), so
 * that other events are handled, too. */
#define ACCEPT_ROUND 64
/* Pause in seconds when descriptors or memory have run out. */
#define ACCEPT_PAUSE     0.1
#define ACCEPT_PATHS_MAX 64
/* Unknown connections may use 1/ACCEPT_FILES_SHARE of the process's
 * descriptors. */
#define ACCEPT_FILES_SHARE 8

void tcp_unknown_drop(tcp_unknown_t *unknown)
{
    tcp_iface_t *iface = unknown->iface;

    if (unknown->parked_by == NULL) {
        --iface->num_unknown;
    }
    if (unknown->fd >= 0) {
        (void)tcp_iface_watch(iface, EPOLL_CTL_DEL, unknown->fd, 0, unknown,
                              TCP_EVENT_UNKNOWN);
        close(unknown->fd);
        unknown->fd = -1;
    }
    /* The current round may still have an event that refers to `unknown`, so
     * its memory is freed at the end of the round */
    tcp_list_del(&unknown->node);
    tcp_list_add_tail(&iface->freed, &unknown->node);
}

static void unknown_log(tcp_unknown_t *unknown, const char *what)
{
    const ucx_host_t *host = unknown->iface->host;
    char peer[TCP_SOCK_STR_MAX];
    tcp_sockaddr_t addr = {0};
    socklen_t length    = sizeof(addr);

    if (!tcp_iface_may_log(unknown->iface)) {
        return;
    }
    (void)getpeername(unknown->fd, &addr.sa, &length);
    ucx_diag("%s: closed a connection from %s: the client %s",
             unknown->iface->device.name,
             tcp_sock_str(&addr, peer, sizeof(peer)), what);
}

static void unknown_refuse(tcp_unknown_t *unknown, const char *what)
{
    unknown_log(unknown, what);
    tcp_unknown_drop(unknown);
}

/* Sends a NACK with the reason to a client that uses this protocol. */
static void unknown_nack(tcp_unknown_t *unknown, uint16_t reason)
{
    tcp_wire_hello_t hello;

    memset(&hello, 0, sizeof(hello));
    hello.magic  = htole32(TCP_WIRE_MAGIC);
    hello.major  = TCP_WIRE_MAJOR;
    hello.minor  = TCP_WIRE_MINOR;
    hello.kind   = TCP_WIRE_HELLO_NACK;
    hello.src_id = htole64(unknown->iface->id);
    hello.reason = htole16(reason);
    (void)!send(unknown->fd, &hello, sizeof(hello), MSG_NOSIGNAL);
}

/* Parks the socket until our own attempt to connect to the same peer has
 * succeeded or failed. If it succeeds, the parked socket is closed; if it
 * fails, the parked socket is used. */
static void unknown_park(tcp_unknown_t *unknown, tcp_conn_t *conn)
{
    tcp_iface_t *iface = unknown->iface;

    if (conn->parked != NULL) {
        tcp_unknown_drop(conn->parked);
    }
    conn->parked       = unknown;
    unknown->parked_by = conn;
    --iface->num_unknown;
    tcp_list_del(&unknown->node);
    tcp_list_add_tail(&iface->parked, &unknown->node);
}

/* Reads a connection whose peer has sent a second HELLO. If the peer has closed
 * its end, this ends the connection. */
static void conn_probe(tcp_conn_t *conn)
{
    while ((tcp_rx(conn) > 0) && ((conn->state == TCP_CONN_UP) ||
                                  (conn->state == TCP_CONN_CLOSING))) {
    }
}

/* Returns whether the peer has already abandoned this attempt: it has closed
 * the socket, or `conn` is established and the peer's latest HELLO or ACK for
 * it had the same or a later epoch. */
static int unknown_is_stale(const tcp_unknown_t *unknown,
                            const tcp_conn_t *conn, uint32_t epoch)
{
    char byte;

    if (recv(unknown->fd, &byte, 1, MSG_PEEK) == 0) {
        return 1;
    }
    return (conn != NULL) && (conn->peer_epoch != 0) &&
           ((conn->state == TCP_CONN_UP) ||
            (conn->state == TCP_CONN_CLOSING)) &&
           ((int32_t)(epoch - conn->peer_epoch) <= 0);
}

/* Handles a valid HELLO: uses its socket for a connection, parks it or closes
 * it. */
static void unknown_place(tcp_unknown_t *unknown, uint64_t peer_id,
                          uint8_t path, uint32_t epoch)
{
    tcp_iface_t *iface = unknown->iface;
    int to_self        = (peer_id == iface->id);
    tcp_conn_t *conn;

    conn = to_self ? NULL : tcp_conn_find(iface, peer_id, path);
    if (unknown_is_stale(unknown, conn, epoch)) {
        tcp_unknown_drop(unknown);
        return;
    }
    if ((conn != NULL) &&
        ((conn->state == TCP_CONN_UP) || (conn->state == TCP_CONN_CLOSING))) {
        conn_probe(conn);
        conn = tcp_conn_find(iface, peer_id, path);
        if ((conn != NULL) && (conn->state == TCP_CONN_CLOSING) &&
            (tcp_conn_split(conn) != UCS_OK)) {
            unknown_refuse(unknown, "could not be handled: out of memory");
            return;
        }
        if ((conn != NULL) && (conn->state == TCP_CONN_UP)) {
            tcp_conn_break(conn, UCS_ERR_CONNECTION_RESET);
            conn = NULL;
        }
    }

    if (conn == NULL) {
        if (tcp_conn_create(iface, peer_id, path, !to_self, &conn) != UCS_OK) {
            unknown_refuse(unknown, "could not be handled: out of memory");
            return;
        }
    } else if ((conn->state != TCP_CONN_WAIT) && (peer_id < iface->id)) {
        unknown_park(unknown, conn);
        return;
    }
    tcp_conn_adopt(conn, unknown);
}

/* Handles a complete HELLO. */
static void unknown_greeted(tcp_unknown_t *unknown)
{
    tcp_wire_hello_t hello;

    memcpy(&hello, unknown->hello, sizeof(hello));
    if ((le32toh(hello.magic) != TCP_WIRE_MAGIC) ||
        (hello.kind != TCP_WIRE_HELLO) || (hello.src_id == 0) ||
        (hello.path >= ACCEPT_PATHS_MAX)) {
        unknown_refuse(unknown, "sent an invalid greeting");
    } else if (hello.major != TCP_WIRE_MAJOR) {
        unknown_nack(unknown, TCP_WIRE_NACK_VERSION);
        unknown_refuse(unknown, "uses another version of the protocol");
    } else if (le64toh(hello.dst_id) != unknown->iface->id) {
        unknown_nack(unknown, TCP_WIRE_NACK_TARGET);
        unknown_refuse(unknown, "has the address of another process");
    } else {
        unknown_place(unknown, le64toh(hello.src_id), hello.path,
                      le32toh(hello.epoch));
    }
}

unsigned tcp_unknown_event(tcp_unknown_t *unknown)
{
    const uint32_t magic = htole32(TCP_WIRE_MAGIC);
    char byte;
    ssize_t n;

    if (unknown->fd < 0) {
        return 0; /* Dropped earlier in this round */
    }

    if (unknown->parked_by != NULL) {
        /* The peer closes this socket when it has accepted our attempt. It
         * sends nothing more before it receives an answer. */
        n = recv(unknown->fd, &byte, 1, MSG_PEEK);
        if ((n >= 0) || ((errno != EAGAIN) && (errno != EINTR))) {
            unknown->parked_by->parked = NULL;
            tcp_unknown_drop(unknown);
        }
        return 0;
    }

    n = recv(unknown->fd, unknown->hello + unknown->got,
             sizeof(unknown->hello) - unknown->got, 0);
    if (n <= 0) {
        if ((n == 0) || ((errno != EAGAIN) && (errno != EINTR))) {
            unknown_refuse(unknown, "closed before its greeting");
        }
        return 0;
    }

    unknown->got += (size_t)n;
    if ((unknown->got >= sizeof(magic)) &&
        (memcmp(unknown->hello, &magic, sizeof(magic)) != 0)) {
        unknown_refuse(unknown, "sent an invalid greeting");
    } else if (unknown->got == sizeof(unknown->hello)) {
        unknown_greeted(unknown);
    }
    return 1;
}

int tcp_unknown_evict(tcp_iface_t *iface, unsigned limit)
{
    tcp_list_t *node = iface->unknown.next;
    tcp_unknown_t *unknown;

    for (; (limit > 0) && (node != &iface->unknown); --limit) {
        unknown = tcp_container_of(node, tcp_unknown_t, node);
        node    = node->next;
        /* A complete HELLO: the caller is handling this client, so it must not
         * be closed */
        if ((unknown->got < sizeof(unknown->hello)) &&
            !tcp_sock_has_data(unknown->fd)) {
            unknown_refuse(unknown,
                           "had sent nothing when descriptors ran out");
            return 1;
        }
    }
    return 0;
}

/* Handles a new socket; usually its HELLO has already arrived. */
static void accept_one(tcp_iface_t *iface, int fd)
{
    tcp_unknown_t *unknown = calloc(1, sizeof(*unknown));

    if (unknown == NULL) {
        close(fd);
        return;
    }
    tcp_list_init(&unknown->node);
    unknown->iface    = iface;
    unknown->fd       = fd;
    unknown->deadline = iface->host->time() + iface->config.handshake_timeout;
    if (tcp_iface_watch(iface, EPOLL_CTL_ADD, fd, EPOLLIN, unknown,
                        TCP_EVENT_UNKNOWN) != UCS_OK) {
        close(fd);
        free(unknown);
        return;
    }

    tcp_list_add_tail(&iface->unknown, &unknown->node);
    ++iface->num_unknown;
    tcp_unknown_event(unknown);
    if ((unknown->fd < 0) || (unknown->parked_by != NULL)) {
        return;
    }

    tcp_iface_timer_set(iface, unknown->deadline);
    if (iface->num_unknown >
        tcp_sock_file_share(iface->config.max_unknown, ACCEPT_FILES_SHARE)) {
        unknown = tcp_list_first(&iface->unknown, tcp_unknown_t, node);
        unknown_refuse(unknown, "had sent nothing when the limit of unknown "
                                "connections was reached");
    }
}

/* Stops accepting for ACCEPT_PAUSE seconds, because descriptors or memory have
 * run out. The kernel queues new connections during the pause. */
static void accept_pause(tcp_iface_t *iface, int error)
{
    const ucx_host_t *host = iface->host;

    if (tcp_iface_may_log(iface)) {
        ucx_warn("%s: cannot accept connections: %s; raise the limit of open "
                 "files (ulimit -n)",
                 iface->device.name, strerror(error));
    }
    (void)tcp_iface_watch(iface, EPOLL_CTL_MOD, iface->listen_fd, 0, NULL,
                          TCP_EVENT_LISTEN);
    iface->listen_at = host->time() + ACCEPT_PAUSE;
    tcp_iface_timer_set(iface, iface->listen_at);
}

void tcp_accept_resume(tcp_iface_t *iface)
{
    iface->listen_at = 0;
    (void)tcp_iface_watch(iface, EPOLL_CTL_MOD, iface->listen_fd, EPOLLIN, NULL,
                          TCP_EVENT_LISTEN);
}

unsigned tcp_accept_ready(tcp_iface_t *iface)
{
    unsigned evictable = iface->num_unknown;
    unsigned count     = 0;
    int fd;

    while (count < ACCEPT_ROUND) {
        fd = accept4(iface->listen_fd, NULL, NULL,
                     SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd >= 0) {
            accept_one(iface, fd);
            ++count;
        } else if (tcp_sock_no_files(errno) && (iface->num_unknown > 0)) {
            /* Clients accepted in this round may not have sent their HELLO
             * yet: evict only older ones */
            if ((evictable == 0) || !tcp_unknown_evict(iface, evictable)) {
                break; /* Continue in the next round */
            }
            --evictable;
        } else if (tcp_sock_no_files(errno) || (errno == ENOBUFS) ||
                   (errno == ENOMEM)) {
            accept_pause(iface, errno);
            break;
        } else if ((errno == EAGAIN) || (errno == EWOULDBLOCK)) {
            break;
        } else if ((errno != EINTR) && (errno != ECONNABORTED)) {
            break;
        }
    }
    return count;
}

double tcp_unknown_expire(tcp_iface_t *iface, double now)
{
    tcp_unknown_t *unknown;

    while (!tcp_list_is_empty(&iface->unknown)) {
        unknown = tcp_list_first(&iface->unknown, tcp_unknown_t, node);
        if (unknown->deadline > now) {
            return unknown->deadline;
        }
        unknown_refuse(unknown, "did not send its greeting in time");
    }
    return 0;
}
