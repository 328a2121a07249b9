/* SPDX-License-Identifier: BSD-3-Clause */
/* Listens for clients, and passes their requests to the user. */
#include "cm.h"
#include "sock.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#define LISTENER_ROUND \
    64 /* Maximum number of connections accepted in one
        * round */
#define LISTENER_PAUSE \
    0.1 /* Seconds without accepting after descriptors or memory ran out */
/* Clients that have not sent a request may use 1/LISTENER_FILES_SHARE of the
 * process's descriptors. This is more than an interface permits (accept.c),
 * because a client whose connection is closed does not retry. */
#define LISTENER_FILES_SHARE 2

static tcp_cm_listener_t *cm_listener(uct_listener_h listener)
{
    return (tcp_cm_listener_t *)listener;
}

static tcp_cm_t *listener_cm(const tcp_cm_listener_t *listener)
{
    return (tcp_cm_t *)listener->super.cm;
}

static ucs_status_t listener_status(int error)
{
    switch (error) {
    case EADDRINUSE:
        return UCS_ERR_BUSY;
    case EADDRNOTAVAIL:
    case EAFNOSUPPORT:
        return UCS_ERR_INVALID_ADDR;
    case ENOMEM:
    case ENOBUFS:
        return UCS_ERR_NO_MEMORY;
    default:
        return UCS_ERR_IO_ERROR;
    }
}

static ucs_status_t listener_listen(tcp_cm_listener_t *listener,
                                    const tcp_sockaddr_t *addr, int backlog)
{
    listener->fd = tcp_sock_open(addr->sa.sa_family);
    if (listener->fd < 0) {
        return listener_status(errno);
    }
    /* Allows a restarted server to bind its port at once */
    tcp_sock_set_int(listener->fd, SOL_SOCKET, SO_REUSEADDR, 1);
    if ((bind(listener->fd, &addr->sa, tcp_sock_addr_len(addr)) != 0) ||
        (listen(listener->fd, backlog) != 0)) {
        return listener_status(errno);
    }
    return tcp_cm_watch(listener_cm(listener), EPOLL_CTL_ADD, listener->fd,
                        EPOLLIN, listener, 1);
}

ucs_status_t tcp_cm_listener_create(uct_cm_h cm, const struct sockaddr *addr,
                                    socklen_t addrlen,
                                    const uct_listener_params_t *params,
                                    uct_listener_h *listener_p)
{
    int backlog = (params->field_mask & UCT_LISTENER_PARAM_FIELD_BACKLOG) ?
                      params->backlog :
                      SOMAXCONN;
    tcp_cm_listener_t *listener;
    tcp_sockaddr_t local;
    ucs_status_t status;

    if (!(params->field_mask & UCT_LISTENER_PARAM_FIELD_CONN_REQUEST_CB) ||
        (params->conn_request_cb == NULL) || (backlog <= 0)) {
        return UCS_ERR_INVALID_PARAM;
    }
    status = tcp_sock_addr_copy(&local, addr, addrlen, 0);
    if (status != UCS_OK) {
        return status;
    }

    listener = calloc(1, sizeof(*listener));
    if (listener == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    listener->super.cm        = cm;
    listener->conn_request_cb = params->conn_request_cb;
    listener->user_data       = (params->field_mask &
                           UCT_LISTENER_PARAM_FIELD_USER_DATA) ?
                                    params->user_data :
                                    NULL;
    status                    = listener_listen(listener, &local, backlog);
    if (status != UCS_OK) {
        if (listener->fd >= 0) {
            close(listener->fd);
        }
        free(listener);
        return status;
    }

    tcp_list_add_tail(&((tcp_cm_t *)cm)->listeners, &listener->node);
    *listener_p = &listener->super;
    return UCS_OK;
}

/* Sends REJECT and frees the link, which the caller has taken with
 * tcp_cm_link_take(). */
static void request_reject(tcp_cm_link_t *link)
{
    (void)tcp_cm_link_send(link, TCP_WIRE_CM_REJECT, NULL, 0);
    tcp_cm_link_free(link);
}

static tcp_cm_link_t *listener_find_link(tcp_cm_listener_t *listener,
                                         tcp_list_t *list)
{
    tcp_cm_link_t *link;
    tcp_list_t *node;

    for (node = list->next; node != list; node = node->next) {
        link = tcp_container_of(node, tcp_cm_link_t, node);
        if (link->listener == listener) {
            return link;
        }
    }
    return NULL;
}

static void listener_drop_links(tcp_cm_listener_t *listener)
{
    tcp_cm_t *cm = listener_cm(listener);
    tcp_cm_link_t *link;

    while ((link = listener_find_link(listener, &cm->unknown)) != NULL) {
        tcp_cm_link_kill(link);
    }
    do {
        pthread_mutex_lock(&cm->requested_lock);
        link = listener_find_link(listener, &cm->requested);
        pthread_mutex_unlock(&cm->requested_lock);
        if ((link != NULL) && tcp_cm_link_take(link)) {
            request_reject(link);
        }
    } while (link != NULL);
}

void tcp_cm_listener_destroy(uct_listener_h uct_listener)
{
    tcp_cm_listener_t *listener = cm_listener(uct_listener);
    tcp_cm_t *cm                = listener_cm(listener);

    /* Stop listening before the requests are rejected. Otherwise a client that
     * retries after the rejection could still connect, and its connection would
     * be reset when the listener is closed */
    (void)tcp_cm_watch(cm, EPOLL_CTL_DEL, listener->fd, 0, listener, 1);
    close(listener->fd);
    listener->fd = -1;
    listener_drop_links(listener);
    tcp_list_del(&listener->node);
    tcp_list_add_tail(&cm->dead_listeners, &listener->node);
    tcp_cm_wake(cm);
}

ucs_status_t tcp_cm_listener_reject(uct_listener_h uct_listener,
                                    uct_conn_request_h request)
{
    tcp_cm_link_t *link = request;

    if ((link == NULL) || (link->listener != cm_listener(uct_listener)) ||
        !tcp_cm_link_take(link)) {
        return UCS_ERR_INVALID_PARAM;
    }
    request_reject(link);
    return UCS_OK;
}

ucs_status_t tcp_cm_listener_query(uct_listener_h uct_listener,
                                   uct_listener_attr_t *attr)
{
    tcp_cm_listener_t *listener = cm_listener(uct_listener);
    socklen_t length            = sizeof(attr->sockaddr);

    if (attr->field_mask & UCT_LISTENER_ATTR_FIELD_SOCKADDR) {
        memset(&attr->sockaddr, 0, sizeof(attr->sockaddr));
        if (getsockname(listener->fd, (struct sockaddr *)&attr->sockaddr,
                        &length) != 0) {
            return UCS_ERR_IO_ERROR;
        }
    }
    return UCS_OK;
}

void tcp_cm_listener_request(tcp_cm_link_t *link)
{
    tcp_cm_listener_t *listener = link->listener;
    uct_cm_listener_conn_request_args_t args;
    uct_cm_remote_data_t remote;
    tcp_sockaddr_t client = {0};
    socklen_t length      = sizeof(client);

    tcp_cm_link_hand_out(link);
    tcp_cm_link_remote_data(link, &remote);
    memset(&args, 0, sizeof(args));
    tcp_cm_link_dev_name(link, args.dev_name, sizeof(args.dev_name));
    (void)getpeername(link->fd, &client.sa, &length);
    args.field_mask = UCT_CM_LISTENER_CONN_REQUEST_ARGS_FIELD_DEV_NAME |
                      UCT_CM_LISTENER_CONN_REQUEST_ARGS_FIELD_CONN_REQUEST |
                      UCT_CM_LISTENER_CONN_REQUEST_ARGS_FIELD_REMOTE_DATA |
                      UCT_CM_LISTENER_CONN_REQUEST_ARGS_FIELD_CLIENT_ADDR;
    args.conn_request           = link;
    args.remote_data            = &remote;
    args.client_address.addr    = &client.sa;
    args.client_address.addrlen = length;
    listener->conn_request_cb(&listener->super, listener->user_data, &args);
}

/* --- Accepting ----------------------------------------------------------- */

static void listener_pause(tcp_cm_listener_t *listener, int error)
{
    tcp_cm_t *cm           = listener_cm(listener);
    const ucx_host_t *host = cm->host;

    if (tcp_cm_may_log(cm)) {
        ucx_warn("connection manager: cannot accept clients: %s; raise the "
                 "limit of open files (ulimit -n)",
                 strerror(error));
    }
    listener->paused = 1;
    (void)tcp_cm_watch(cm, EPOLL_CTL_MOD, listener->fd, 0, listener, 1);
    tcp_cm_timer_set(cm, host->time() + LISTENER_PAUSE);
}

void tcp_cm_listener_resume(tcp_cm_listener_t *listener)
{
    listener->paused = 0;
    (void)tcp_cm_watch(listener_cm(listener), EPOLL_CTL_MOD, listener->fd,
                       EPOLLIN, listener, 1);
}

static void listener_accepted(tcp_cm_listener_t *listener, int fd)
{
    tcp_cm_t *cm        = listener_cm(listener);
    tcp_cm_link_t *link = tcp_cm_link_create(cm, fd, EPOLLIN);

    if (link == NULL) {
        return;
    }
    link->listener = listener;
    link->deadline = cm->host->time() + cm->config.timeout;
    tcp_cm_link_set_state(link, TCP_CM_UNKNOWN);
    tcp_cm_timer_set(cm, link->deadline);
    if (cm->num_unknown >
        tcp_sock_file_share(cm->config.max_unknown, LISTENER_FILES_SHARE)) {
        tcp_cm_link_refuse(tcp_list_first(&cm->unknown, tcp_cm_link_t, node),
                           "had not sent its request when the limit of "
                           "clients was reached");
    }
}

int tcp_cm_listener_evict(tcp_cm_t *cm, unsigned limit)
{
    tcp_list_t *node = cm->unknown.next;
    tcp_cm_link_t *link;

    for (; (limit > 0) && (node != &cm->unknown); --limit) {
        link = tcp_container_of(node, tcp_cm_link_t, node);
        node = node->next;
        if (!tcp_sock_has_data(link->fd)) {
            tcp_cm_link_refuse(link, "had sent no request when descriptors "
                                     "ran out");
            return 1;
        }
    }
    return 0;
}

void tcp_cm_listener_ready(tcp_cm_listener_t *listener)
{
    tcp_cm_t *cm       = listener_cm(listener);
    unsigned evictable = cm->num_unknown;
    int fd;

    for (int i = 0; (i < LISTENER_ROUND) && (listener->fd >= 0); ++i) {
        fd = accept4(listener->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd >= 0) {
            listener_accepted(listener, fd);
        } else if (tcp_sock_no_files(errno) && (cm->num_unknown > 0)) {
            /* Clients accepted in this round may not have sent their request
             * yet: evict only older ones */
            if ((evictable == 0) || !tcp_cm_listener_evict(cm, evictable)) {
                break; /* Continue in the next round */
            }
            --evictable;
        } else if (tcp_sock_no_files(errno) || (errno == ENOBUFS) ||
                   (errno == ENOMEM)) {
            listener_pause(listener, errno);
            break;
        } else if ((errno != EINTR) && (errno != ECONNABORTED)) {
            break;
        }
    }
}
