/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Creates endpoints of the connection manager: a client's for a server's
 * address, a server's for a client's request.
 */
#include "cm.h"
#include "sock.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#define EP_PARAM(_params, _bit, _member) \
    (((_params)->field_mask & UCT_EP_PARAM_FIELD_##_bit) ? \
         (_params)->_member : \
         NULL)

static ucs_status_t ep_alloc(tcp_cm_t *cm, const uct_ep_params_t *params,
                             tcp_cm_ep_t **ep_p)
{
    const void *priv = EP_PARAM(params, PRIV_DATA, private_data);
    tcp_cm_ep_t *ep;

    ep = calloc(1, sizeof(*ep));
    if (ep == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    ucx_cm_ep_init(&ep->super, &cm->super);
    ep->cm     = cm;
    ep->status = UCS_OK;
    tcp_list_init(&ep->flushes);
    ep->user_data     = EP_PARAM(params, USER_DATA, user_data);
    ep->pack_cb       = EP_PARAM(params, SOCKADDR_PACK_CB, sockaddr_pack_cb);
    ep->resolve_cb    = EP_PARAM(params, CM_RESOLVE_CB, cm_resolve_cb);
    ep->client_cb     = EP_PARAM(params, SOCKADDR_CONNECT_CB_CLIENT,
                                 sockaddr_cb_client);
    ep->server_cb     = EP_PARAM(params, SOCKADDR_NOTIFY_CB_SERVER,
                                 sockaddr_cb_server);
    ep->disconnect_cb = EP_PARAM(params, SOCKADDR_DISCONNECT_CB, disconnect_cb);
    if (params->field_mask & UCT_EP_PARAM_FIELD_PRIV_DATA_LENGTH) {
        ep->priv_length = params->private_data_length;
    }
    if (ep->priv_length > cm->config.priv_data_len) {
        free(ep);
        return UCS_ERR_EXCEEDS_LIMIT;
    }
    if ((priv == NULL) || (ep->priv_length == 0)) {
        ep->priv_length = 0;
    } else {
        ep->priv = malloc(ep->priv_length);
        if (ep->priv == NULL) {
            free(ep);
            return UCS_ERR_NO_MEMORY;
        }
        memcpy(ep->priv, priv, ep->priv_length);
    }
    *ep_p = ep;
    return UCS_OK;
}

/* Starts to connect to the server; the result is reported later. */
static ucs_status_t ep_start_connect(tcp_cm_ep_t *ep,
                                     const tcp_sockaddr_t *server,
                                     const uct_ep_params_t *params)
{
    const ucs_sock_addr_t *local = EP_PARAM(params, LOCAL_SOCKADDR,
                                            local_sockaddr);
    tcp_cm_t *cm                 = ep->cm;
    tcp_sockaddr_t addr;
    ucs_status_t status;
    int fd;

    do {
        fd = tcp_sock_open(server->sa.sa_family);
    } while ((fd < 0) && tcp_sock_no_files(errno) &&
             tcp_cm_listener_evict(cm, cm->num_unknown));
    if (fd < 0) {
        return tcp_sock_status(errno);
    }
    if (local != NULL) {
        status = tcp_sock_addr_copy(&addr, local->addr, local->addrlen, 0);
        if ((status != UCS_OK) ||
            (bind(fd, &addr.sa, tcp_sock_addr_len(&addr)) != 0)) {
            close(fd);
            return (status != UCS_OK) ? status : UCS_ERR_INVALID_ADDR;
        }
    }

    /* If connect() fails at once, this function returns the error. A later
     * result is reported by an event of the socket */
    if ((connect(fd, &server->sa, tcp_sock_addr_len(server)) != 0) &&
        (errno != EINPROGRESS) && (errno != EINTR)) {
        status = tcp_sock_status(errno);
        close(fd);
        return status;
    }
    ep->link = tcp_cm_link_create(cm, fd, EPOLLIN | EPOLLOUT);
    if (ep->link == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    ep->link->ep       = ep;
    ep->link->deadline = cm->host->time() + cm->config.timeout;
    tcp_cm_link_set_state(ep->link, TCP_CM_CONNECTING);
    tcp_cm_timer_set(cm, ep->link->deadline);
    return UCS_OK;
}

static ucs_status_t
ep_create_client(tcp_cm_t *cm, const uct_ep_params_t *params, uct_ep_h *ep_p)
{
    const ucs_sock_addr_t *sockaddr = EP_PARAM(params, SOCKADDR, sockaddr);
    tcp_sockaddr_t server;
    ucs_status_t status;
    tcp_cm_ep_t *ep;

    if ((sockaddr == NULL) ||
        ((params->field_mask & UCT_EP_PARAM_FIELD_SOCKADDR_PACK_CB) &&
         (params->field_mask & UCT_EP_PARAM_FIELD_CM_RESOLVE_CB))) {
        return UCS_ERR_INVALID_PARAM;
    }
    status = tcp_sock_addr_copy(&server, sockaddr->addr, sockaddr->addrlen, 0);
    if (status != UCS_OK) {
        return status;
    }

    status = ep_alloc(cm, params, &ep);
    if (status != UCS_OK) {
        return status;
    }
    ep->flags = TCP_CM_EP_CLIENT;
    status    = ep_start_connect(ep, &server, params);
    if (status != UCS_OK) {
        tcp_cm_ep_free(ep);
        return status;
    }
    *ep_p = &ep->super;
    return UCS_OK;
}

/* Sends the answer to the client; an error of the pack callback rejects the
 * client. */
static ucs_status_t ep_accept(tcp_cm_ep_t *ep)
{
    tcp_cm_link_t *link = ep->link;
    uint8_t *packed     = NULL;
    const void *priv    = ep->priv;
    ssize_t length      = (ssize_t)ep->priv_length;
    ucs_status_t status;

    tcp_cm_link_dev_name(link, ep->dev_name, sizeof(ep->dev_name));
    if (ep->pack_cb != NULL) {
        length = tcp_cm_ep_pack(ep, &packed);
        priv   = packed;
    }
    if (length < 0) {
        (void)tcp_cm_link_send(link, TCP_WIRE_CM_REJECT, NULL, 0);
        return (ucs_status_t)length;
    }

    status = tcp_cm_link_send(link, TCP_WIRE_CM_ACCEPT, priv, (size_t)length);
    free(packed);
    if (status != UCS_OK) {
        return status;
    }
    return tcp_cm_link_watch_again(link);
}

static ucs_status_t
ep_create_server(tcp_cm_t *cm, const uct_ep_params_t *params, uct_ep_h *ep_p)
{
    tcp_cm_link_t *link = params->conn_request;
    ucs_status_t status;
    tcp_cm_ep_t *ep;

    if ((link == NULL) || !tcp_cm_link_take(link)) {
        return UCS_ERR_INVALID_PARAM;
    }
    status = ep_alloc(cm, params, &ep);
    if (status != UCS_OK) {
        tcp_cm_link_free(link);
        return status;
    }

    ep->link       = link;
    link->cm       = cm; /* The endpoint's manager may differ from the
                          * listener's */
    link->ep       = ep;
    link->listener = NULL;
    tcp_cm_link_set_state(link, TCP_CM_ACCEPTED);
    status = ep_accept(ep);
    if (status != UCS_OK) {
        tcp_cm_ep_drop_link(ep, status);
        tcp_cm_ep_free(ep);
        return status;
    }
    *ep_p = &ep->super;
    return UCS_OK;
}

ucs_status_t tcp_cm_ep_create(uct_cm_h uct_cm, const uct_ep_params_t *params,
                              uct_ep_h *ep_p)
{
    tcp_cm_t *cm = (tcp_cm_t *)uct_cm;

    return (params->field_mask & UCT_EP_PARAM_FIELD_CONN_REQUEST) ?
               ep_create_server(cm, params, ep_p) :
               ep_create_client(cm, params, ep_p);
}
