/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sends and receives messages of the connection manager on one socket. The
 * listener and the endpoints interpret them.
 */
#include "cm.h"
#include "device.h"
#include "iface.h"
#include "sock.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

/* Keepalive: seconds of silence before the first probe, seconds between probes,
 * and number of unanswered probes until a peer counts as lost. */
#define LINK_KEEPIDLE  10
#define LINK_KEEPINTVL 2
#define LINK_KEEPCNT   3

tcp_cm_link_t *tcp_cm_link_create(tcp_cm_t *cm, int fd, uint32_t events)
{
    tcp_cm_link_t *link = calloc(1, sizeof(*link));

    if (link == NULL) {
        close(fd);
        return NULL;
    }
    tcp_list_init(&link->node);
    link->cm        = cm;
    link->fd        = fd;
    link->watch_out = !!(events & EPOLLOUT);
    tcp_sock_set_int(fd, IPPROTO_TCP, TCP_NODELAY, 1);
    tcp_sock_set_int(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
    tcp_sock_set_int(fd, IPPROTO_TCP, TCP_KEEPIDLE, LINK_KEEPIDLE);
    tcp_sock_set_int(fd, IPPROTO_TCP, TCP_KEEPINTVL, LINK_KEEPINTVL);
    tcp_sock_set_int(fd, IPPROTO_TCP, TCP_KEEPCNT, LINK_KEEPCNT);
    if (tcp_cm_watch(cm, EPOLL_CTL_ADD, fd, events, link, 0) != UCS_OK) {
        close(fd);
        free(link);
        return NULL;
    }
    link->watched = 1;
    return link;
}

/* Removes the link from the epoll set. If a REQUESTED link stayed in it, the
 * event of a dead client's socket would be reported continuously until the user
 * answers the request. */
static void link_unwatch(tcp_cm_link_t *link)
{
    if (link->watched) {
        link->watched = 0;
        (void)tcp_cm_watch(link->cm, EPOLL_CTL_DEL, link->fd, 0, link, 0);
    }
}

ucs_status_t tcp_cm_link_watch_again(tcp_cm_link_t *link)
{
    int op = link->watched ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;

    link->watched   = 1;
    link->watch_out = (link->out_length > 0);
    return tcp_cm_watch(link->cm, op, link->fd,
                        link->watch_out ? (EPOLLIN | EPOLLOUT) : EPOLLIN, link,
                        0);
}

void tcp_cm_link_set_state(tcp_cm_link_t *link, enum tcp_cm_link_state state)
{
    tcp_cm_t *cm = link->cm;

    if (!tcp_list_is_empty(&link->node) && (link->state == TCP_CM_UNKNOWN)) {
        --cm->num_unknown;
    }
    tcp_list_del(&link->node);
    link->state = (uint8_t)state;
    if (state == TCP_CM_DEAD) {
        tcp_list_add_tail(&cm->dead, &link->node);
        tcp_cm_wake(cm);
    } else if (state == TCP_CM_UNKNOWN) {
        tcp_list_add_tail(&cm->unknown, &link->node);
        ++cm->num_unknown;
    } else {
        tcp_list_add_tail(&cm->links, &link->node);
    }
}

void tcp_cm_link_hand_out(tcp_cm_link_t *link)
{
    tcp_cm_t *cm = link->cm;

    link_unwatch(link);
    link->deadline = 0;
    --cm->num_unknown;
    tcp_list_del(&link->node);
    pthread_mutex_lock(&cm->requested_lock);
    link->state = TCP_CM_REQUESTED;
    tcp_list_add_tail(&cm->requested, &link->node);
    pthread_mutex_unlock(&cm->requested_lock);
}

int tcp_cm_link_take(tcp_cm_link_t *link)
{
    tcp_cm_t *cm = link->cm;
    int taken;

    pthread_mutex_lock(&cm->requested_lock);
    taken = (link->state == TCP_CM_REQUESTED);
    if (taken) {
        tcp_list_del(&link->node);
        link->state = TCP_CM_DEAD;
    }
    pthread_mutex_unlock(&cm->requested_lock);
    return taken;
}

void tcp_cm_link_free(tcp_cm_link_t *link)
{
    if (link->fd >= 0) {
        close(link->fd);
    }
    free(link->body);
    free(link->out);
    free(link);
}

void tcp_cm_link_kill(tcp_cm_link_t *link)
{
    if (link->state == TCP_CM_DEAD) {
        return;
    }
    link_unwatch(link);
    close(link->fd);
    link->fd       = -1;
    link->ep       = NULL;
    link->listener = NULL;
    tcp_cm_link_set_state(link, TCP_CM_DEAD);
}

void tcp_cm_link_refuse(tcp_cm_link_t *link, const char *what)
{
    const ucx_host_t *host = link->cm->host;
    tcp_sockaddr_t addr    = {0};
    socklen_t length       = sizeof(addr);
    char peer[TCP_SOCK_STR_MAX];

    if (tcp_cm_may_log(link->cm)) {
        (void)getpeername(link->fd, &addr.sa, &length);
        ucx_diag("connection manager: closed a connection from %s: the client "
                 "%s",
                 tcp_sock_str(&addr, peer, sizeof(peer)), what);
    }
    tcp_cm_link_kill(link);
}

static void link_local_addr(const tcp_cm_link_t *link, tcp_sockaddr_t *addr)
{
    socklen_t length = sizeof(*addr);
    tcp_sockaddr_t raw;

    memset(&raw, 0, sizeof(raw));
    memset(addr, 0, sizeof(*addr));
    addr->sa.sa_family = AF_INET;
    if (getsockname(link->fd, &raw.sa, &length) == 0) {
        (void)tcp_sock_addr_copy(addr, &raw.sa, 0, 1);
    }
}

void tcp_cm_link_dev_name(const tcp_cm_link_t *link, char *name, size_t size)
{
    tcp_sockaddr_t addr;

    link_local_addr(link, &addr);
    tcp_device_by_addr(&addr, name, size);
}

void tcp_cm_link_remote_data(const tcp_cm_link_t *link,
                             uct_cm_remote_data_t *data)
{
    data->field_mask = UCT_CM_REMOTE_DATA_FIELD_DEV_ADDR |
                       UCT_CM_REMOTE_DATA_FIELD_DEV_ADDR_LENGTH |
                       UCT_CM_REMOTE_DATA_FIELD_CONN_PRIV_DATA |
                       UCT_CM_REMOTE_DATA_FIELD_CONN_PRIV_DATA_LENGTH;
    data->dev_addr              = (const uct_device_addr_t *)link->body;
    data->dev_addr_length       = link->head.dev_addr_length;
    data->conn_priv_data        = link->body + link->head.dev_addr_length;
    data->conn_priv_data_length = le32toh(link->head.length);
}

/* --- Sending ------------------------------------------------------------- */

static void link_watch_out(tcp_cm_link_t *link, int on)
{
    if ((link->watch_out != on) && link->watched) {
        link->watch_out = (uint8_t)on;
        (void)tcp_cm_watch(link->cm, EPOLL_CTL_MOD, link->fd,
                           on ? (EPOLLIN | EPOLLOUT) : EPOLLIN, link, 0);
    }
}

static void link_flush(tcp_cm_link_t *link)
{
    ssize_t n = send(link->fd, link->out, link->out_length, MSG_NOSIGNAL);

    if (n > 0) {
        link->out_length -= (size_t)n;
        memmove(link->out, link->out + n, link->out_length);
    } else if ((n < 0) && (errno != EAGAIN) && (errno != EINTR)) {
        link->out_length = 0; /* link_read() will report the error */
    }
    link_watch_out(link, link->out_length > 0);
    if ((link->out_length == 0) && (link->ep != NULL)) {
        tcp_cm_flush_check(link->ep);
    }
}

ucs_status_t tcp_cm_link_send(tcp_cm_link_t *link, enum tcp_wire_cm_kind kind,
                              const void *priv, size_t length)
{
    tcp_cm_t *cm      = link->cm;
    size_t dev_length = 0, size;
    uint8_t dev[TCP_WIRE_DEV_LEN_V6], *out;
    tcp_wire_cm_t head;
    tcp_sockaddr_t addr;

    if (length > cm->config.priv_data_len) {
        return UCS_ERR_EXCEEDS_LIMIT;
    }
    if ((kind == TCP_WIRE_CM_REQUEST) || (kind == TCP_WIRE_CM_ACCEPT)) {
        link_local_addr(link, &addr);
        dev_length = tcp_dev_addr_length(&addr);
        tcp_dev_addr_pack(cm->locality, &addr, dev);
    }

    size = link->out_length + sizeof(head) + dev_length + length;
    out  = realloc(link->out, size);
    if (out == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    memset(&head, 0, sizeof(head));
    head.magic           = htole32(TCP_WIRE_CM_MAGIC);
    head.major           = TCP_WIRE_MAJOR;
    head.minor           = TCP_WIRE_MINOR;
    head.kind            = (uint8_t)kind;
    head.dev_addr_length = (uint8_t)dev_length;
    head.length          = htole32((uint32_t)length);

    link->out = out;
    out += link->out_length;
    memcpy(out, &head, sizeof(head));
    memcpy(out + sizeof(head), dev, dev_length);
    if (length > 0) {
        memcpy(out + sizeof(head) + dev_length, priv, length);
    }
    link->out_length = size;
    link_flush(link);
    return UCS_OK;
}

/* --- Receiving ----------------------------------------------------------- */

/* Returns whether the header is invalid, or not allowed in this state. */
static int link_head_is_bad(const tcp_cm_link_t *link)
{
    const tcp_wire_cm_t *head = &link->head;
    int has_body              = (head->kind == TCP_WIRE_CM_REQUEST) ||
                   (head->kind == TCP_WIRE_CM_ACCEPT);

    if ((le32toh(head->magic) != TCP_WIRE_CM_MAGIC) ||
        (head->major != TCP_WIRE_MAJOR) ||
        (le32toh(head->length) > TCP_WIRE_CM_PRIV_MAX)) {
        return 1;
    }
    if (has_body) {
        if ((head->dev_addr_length != TCP_WIRE_DEV_LEN_V4) &&
            (head->dev_addr_length != TCP_WIRE_DEV_LEN_V6)) {
            return 1;
        }
    } else if ((head->dev_addr_length != 0) || (head->length != 0)) {
        return 1;
    }

    switch (link->state) {
    case TCP_CM_UNKNOWN:
        return head->kind != TCP_WIRE_CM_REQUEST;
    case TCP_CM_ASKED:
        return (head->kind != TCP_WIRE_CM_ACCEPT) &&
               (head->kind != TCP_WIRE_CM_REJECT);
    case TCP_CM_ACCEPTED:
        return (head->kind != TCP_WIRE_CM_NOTIFY) &&
               (head->kind != TCP_WIRE_CM_DISCONNECT);
    case TCP_CM_CONNECTED:
        return (head->kind != TCP_WIRE_CM_DISCONNECT) &&
               (head->kind != TCP_WIRE_CM_LEFT);
    default:
        return 1;
    }
}

/* Fails the link, because the stream has ended, the peer sent invalid data or
 * memory is out. `what` describes this in the log if there is no endpoint. */
static void link_lost(tcp_cm_link_t *link, ucs_status_t status,
                      const char *what)
{
    if (link->ep != NULL) {
        tcp_cm_ep_lost(link->ep, status);
    } else {
        tcp_cm_link_refuse(link, what);
    }
}

/* Reads the missing part of the header or the body. Returns 1 when a message is
 * complete, 0 when there is no more data now, -1 when the link is lost. */
static int link_read(tcp_cm_link_t *link)
{
    size_t head = sizeof(link->head), want;
    uint8_t *dst;
    ssize_t n;

    do {
        if (link->got < head) {
            dst  = (uint8_t *)&link->head + link->got;
            want = head - link->got;
        } else {
            dst  = link->body + (link->got - head);
            want = head + link->body_length - link->got;
        }
        n = recv(link->fd, dst, want, 0);
        if (n <= 0) {
            if ((n < 0) && ((errno == EAGAIN) || (errno == EINTR))) {
                return 0;
            }
            link_lost(link,
                      (n == 0) ? UCS_ERR_CONNECTION_RESET :
                                 tcp_sock_status(errno),
                      "left without a request");
            return -1;
        }

        link->got += (size_t)n;
        if (link->got == head) {
            if (link_head_is_bad(link)) {
                link_lost(link, UCS_ERR_CONNECTION_RESET,
                          "sent an invalid message");
                return -1;
            }
            link->body_length = link->head.dev_addr_length +
                                le32toh(link->head.length);
            free(link->body);
            link->body = malloc(link->body_length + 1);
            if (link->body == NULL) {
                link_lost(link, UCS_ERR_NO_MEMORY,
                          "could not be handled: out of "
                          "memory");
                return -1;
            }
        }
    } while ((link->got < head) || (link->got < head + link->body_length));

    link->got = 0;
    return 1;
}

/* Returns whether the device address at the start of the body is invalid. It is
 * checked here because tcp_cm_link_remote_data() passes it on unchecked. */
static int link_body_is_bad(const tcp_cm_link_t *link)
{
    tcp_sockaddr_t addr;
    uint64_t locality;
    unsigned flags;

    return (link->head.dev_addr_length > 0) &&
           (tcp_dev_addr_unpack(link->body, link->head.dev_addr_length, &addr,
                                &flags, &locality) != UCS_OK);
}

void tcp_cm_link_event(tcp_cm_link_t *link, uint32_t events)
{
    if (link->state == TCP_CM_DEAD) {
        return; /* Closed earlier in this round */
    }
    if (link->state == TCP_CM_CONNECTING) {
        tcp_cm_ep_connected(link->ep);
        return;
    }
    if (events & EPOLLOUT) {
        link_flush(link);
    }

    while ((link->state != TCP_CM_DEAD) && (link_read(link) == 1)) {
        if (link_body_is_bad(link)) {
            link_lost(link, UCS_ERR_CONNECTION_RESET,
                      "sent a request with an invalid address");
        } else if (link->state == TCP_CM_UNKNOWN) {
            tcp_cm_listener_request(link);
            return; /* Another thread may own the link now, or have freed it */
        } else {
            tcp_cm_ep_message(link->ep);
        }
    }
}
