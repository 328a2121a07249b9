/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Endpoints of the connection manager: messages of the peer, callbacks and
 * calls of the user. cm_create.c creates endpoints.
 */
#include "cm.h"
#include "sock.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

static tcp_cm_ep_t *cm_ep(uct_ep_h ep)
{
    return (tcp_cm_ep_t *)ep;
}

/* --- Callbacks ----------------------------------------------------------- */

void tcp_cm_ep_free(tcp_cm_ep_t *ep)
{
    free(ep->priv);
    free(ep);
}

/* Called before a callback, in which the user may destroy the endpoint. Its
 * memory is then freed by ep_call_end(). */
static void ep_call_begin(tcp_cm_ep_t *ep)
{
    ++ep->calls;
}

static void ep_call_end(tcp_cm_ep_t *ep)
{
    if ((--ep->calls == 0) && (ep->flags & TCP_CM_EP_DESTROYED)) {
        tcp_cm_ep_free(ep);
    }
}

void tcp_cm_ep_drop_link(tcp_cm_ep_t *ep, ucs_status_t status)
{
    if (ep->link != NULL) {
        tcp_cm_link_kill(ep->link);
        ep->link = NULL;
    }
    tcp_cm_flush_end(ep, status);
}

void tcp_cm_ep_cancel(tcp_cm_ep_t *ep)
{
    if (ep->link != NULL) {
        ep->status = UCS_ERR_CANCELED;
    }
    tcp_cm_ep_drop_link(ep, UCS_ERR_CANCELED);
}

/* Reports the result of the connection to the client's user, once. */
static void ep_tell_client(tcp_cm_ep_t *ep, ucs_status_t status,
                           const uct_cm_remote_data_t *remote)
{
    uct_cm_ep_client_connect_args_t args;

    if (ep->flags & TCP_CM_EP_TOLD) {
        return;
    }
    ep->flags |= TCP_CM_EP_TOLD;
    if (ep->client_cb == NULL) {
        return;
    }
    args.field_mask  = UCT_CM_EP_CLIENT_CONNECT_ARGS_FIELD_STATUS;
    args.status      = status;
    args.remote_data = remote;
    if (remote != NULL) {
        args.field_mask |= UCT_CM_EP_CLIENT_CONNECT_ARGS_FIELD_REMOTE_DATA;
    }
    ep->client_cb(&ep->super, ep->user_data, &args);
}

static void ep_tell_server(tcp_cm_ep_t *ep, ucs_status_t status)
{
    uct_cm_ep_server_conn_notify_args_t args;

    if (ep->flags & TCP_CM_EP_TOLD) {
        return;
    }
    ep->flags |= TCP_CM_EP_TOLD;
    if (ep->server_cb == NULL) {
        return;
    }
    args.field_mask = UCT_CM_EP_SERVER_CONN_NOTIFY_ARGS_FIELD_STATUS;
    args.status     = status;
    ep->server_cb(&ep->super, ep->user_data, &args);
}

/* Calls the client's resolve callback with the local device, or with an error.
 * Returns the status that the callback returns. */
static ucs_status_t ep_tell_resolved(tcp_cm_ep_t *ep, ucs_status_t status)
{
    uct_cm_ep_resolve_args_t args;

    memset(&args, 0, sizeof(args));
    args.field_mask = UCT_CM_EP_RESOLVE_ARGS_FIELD_STATUS;
    args.status     = status;
    if (status == UCS_OK) {
        args.field_mask |= UCT_CM_EP_RESOLVE_ARGS_FIELD_DEV_NAME;
        strcpy(args.dev_name, ep->dev_name);
    }
    return ep->resolve_cb(ep->user_data, &args);
}

static void ep_peer_left(tcp_cm_ep_t *ep)
{
    if (ep->flags & TCP_CM_EP_PEER_LEFT) {
        return;
    }
    ep->flags |= TCP_CM_EP_PEER_LEFT;
    if (ep->disconnect_cb != NULL) {
        ep->disconnect_cb(&ep->super, ep->user_data);
    }
}

void tcp_cm_ep_lost(tcp_cm_ep_t *ep, ucs_status_t status)
{
    int state = (ep->link == NULL) ? TCP_CM_DEAD : ep->link->state;

    ep_call_begin(ep);
    ep->status = status;
    /* In the state CONNECTED, the end of the stream counts as a disconnect of
     * the peer, so that flushes succeed */
    tcp_cm_ep_drop_link(ep, (state == TCP_CM_CONNECTED) ? UCS_OK : status);
    switch (state) {
    case TCP_CM_CONNECTING:
        if (ep->resolve_cb != NULL) {
            ep->flags |= TCP_CM_EP_TOLD;
            (void)ep_tell_resolved(ep, status);
            break;
        }
        ep_tell_client(ep, status, NULL);
        break;
    case TCP_CM_RESOLVED:
    case TCP_CM_ASKED:
        ep_tell_client(ep, status, NULL);
        break;
    case TCP_CM_ACCEPTED:
        ep_tell_server(ep, status);
        break;
    case TCP_CM_CONNECTED:
        ep_peer_left(ep);
        break;
    default:
        break;
    }
    ep_call_end(ep);
}

/* --- Connecting ---------------------------------------------------------- */

static ucs_status_t ep_ask(tcp_cm_ep_t *ep, const void *priv, size_t length)
{
    ucs_status_t status;

    status = tcp_cm_link_send(ep->link, TCP_WIRE_CM_REQUEST, priv, length);
    if (status == UCS_OK) {
        tcp_cm_link_set_state(ep->link, TCP_CM_ASKED);
    }
    return status;
}

ssize_t tcp_cm_ep_pack(tcp_cm_ep_t *ep, uint8_t **priv_p)
{
    size_t max = ep->cm->config.priv_data_len;
    uct_cm_ep_priv_data_pack_args_t args;
    ssize_t length;

    *priv_p = malloc(max);
    if (*priv_p == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    memset(&args, 0, sizeof(args));
    args.field_mask = UCT_CM_EP_PRIV_DATA_PACK_ARGS_FIELD_DEVICE_NAME;
    strcpy(args.dev_name, ep->dev_name);
    length = ep->pack_cb(ep->user_data, &args, *priv_p);
    if (length > (ssize_t)max) {
        length = UCS_ERR_EXCEEDS_LIMIT;
    }
    if (length < 0) {
        free(*priv_p);
        *priv_p = NULL;
    }
    return length;
}

/* Called when the socket is connected: the local device is known. */
static void ep_resolved(tcp_cm_ep_t *ep)
{
    ucs_status_t status = UCS_OK;
    uint8_t *priv       = NULL;
    ssize_t length;

    tcp_cm_link_dev_name(ep->link, ep->dev_name, sizeof(ep->dev_name));
    tcp_cm_link_set_state(ep->link, TCP_CM_RESOLVED);
    if (ep->resolve_cb != NULL) {
        if (ep_tell_resolved(ep, UCS_OK) != UCS_OK) {
            /* The callback has returned an error, by which the user cancels
             * the connection. No other callback reports this */
            ep->status = UCS_ERR_CANCELED;
            ep->flags |= TCP_CM_EP_TOLD;
            tcp_cm_ep_drop_link(ep, UCS_ERR_CANCELED);
        }
        return;
    }

    if (ep->pack_cb != NULL) {
        length = tcp_cm_ep_pack(ep, &priv);
        if (ep->link == NULL) {
            free(priv);
            return;
        }
        if (length < 0) {
            tcp_cm_ep_lost(ep, (ucs_status_t)length);
            return;
        }
        status = ep_ask(ep, priv, (size_t)length);
        free(priv);
    } else {
        status = ep_ask(ep, ep->priv, ep->priv_length);
    }
    if (status != UCS_OK) {
        tcp_cm_ep_lost(ep, status);
    }
}

void tcp_cm_ep_connected(tcp_cm_ep_t *ep)
{
    tcp_cm_link_t *link = ep->link;
    int error           = 0;
    socklen_t length    = sizeof(error);

    if (getsockopt(link->fd, SOL_SOCKET, SO_ERROR, &error, &length) != 0) {
        error = errno;
    }
    if (error != 0) {
        tcp_cm_ep_lost(ep, tcp_sock_status(error));
        return;
    }

    link->deadline  = 0;
    link->watch_out = 0;
    (void)tcp_cm_watch(ep->cm, EPOLL_CTL_MOD, link->fd, EPOLLIN, link, 0);
    ep_call_begin(ep);
    ep_resolved(ep);
    ep_call_end(ep);
}

/* Handles DISCONNECT of the peer. Calls the user's callback before it sends the
 * answer LEFT, which tells the peer that the user was notified. If this side
 * has disconnected too, closes the link instead of sending LEFT. */
static void ep_peer_disconnects(tcp_cm_ep_t *ep)
{
    ep_peer_left(ep);
    if (ep->link == NULL) {
        return; /* The callback has closed the link. For the peer, the end of
                 * the stream has the same meaning as LEFT */
    }
    if (ep->flags & TCP_CM_EP_LEFT) {
        ep->status = UCS_ERR_NOT_CONNECTED;
        tcp_cm_ep_drop_link(ep, UCS_OK);
    } else if (tcp_cm_link_send(ep->link, TCP_WIRE_CM_LEFT, NULL, 0) !=
               UCS_OK) {
        tcp_cm_ep_lost(ep, UCS_ERR_NO_MEMORY);
    }
}

/* Handles LEFT: the peer's user was notified of our disconnect. */
static void ep_was_told(tcp_cm_ep_t *ep)
{
    if ((ep->flags & (TCP_CM_EP_LEFT | TCP_CM_EP_LEFT_TOLD)) !=
        TCP_CM_EP_LEFT) {
        tcp_cm_ep_lost(ep, UCS_ERR_CONNECTION_RESET);
        return;
    }
    ep->flags |= TCP_CM_EP_LEFT_TOLD;
    tcp_cm_flush_check(ep);
}

void tcp_cm_ep_message(tcp_cm_ep_t *ep)
{
    tcp_cm_link_t *link = ep->link;
    uct_cm_remote_data_t remote;

    ep_call_begin(ep);
    switch (link->head.kind) {
    case TCP_WIRE_CM_ACCEPT:
        tcp_cm_link_set_state(link, TCP_CM_CONNECTED);
        tcp_cm_link_remote_data(link, &remote);
        ep_tell_client(ep, UCS_OK, &remote);
        break;
    case TCP_WIRE_CM_NOTIFY:
        tcp_cm_link_set_state(link, TCP_CM_CONNECTED);
        ep_tell_server(ep, UCS_OK);
        break;
    case TCP_WIRE_CM_REJECT:
        tcp_cm_ep_lost(ep, UCS_ERR_REJECTED);
        break;
    case TCP_WIRE_CM_LEFT:
        ep_was_told(ep);
        break;
    default:
        if (link->state != TCP_CM_CONNECTED) {
            /* The peer disconnected before it notified that it was connected */
            tcp_cm_ep_lost(ep, UCS_ERR_CONNECTION_RESET);
        } else {
            ep_peer_disconnects(ep);
        }
        break;
    }
    ep_call_end(ep);
}

/* --- The user's calls ---------------------------------------------------- */

static ucs_status_t tcp_cm_ep_connect(uct_ep_h uct_ep,
                                      const uct_ep_connect_params_t *params)
{
    tcp_cm_ep_t *ep  = cm_ep(uct_ep);
    const void *priv = NULL;
    size_t length    = 0;

    if (ep->link == NULL) {
        return (ep->status != UCS_OK) ? ep->status : UCS_ERR_NOT_CONNECTED;
    }
    if (ep->link->state != TCP_CM_RESOLVED) {
        return UCS_ERR_INVALID_PARAM;
    }
    if (params->field_mask & UCT_EP_CONNECT_PARAM_FIELD_PRIVATE_DATA) {
        priv = params->private_data;
    }
    if ((priv != NULL) &&
        (params->field_mask & UCT_EP_CONNECT_PARAM_FIELD_PRIVATE_DATA_LENGTH)) {
        length = params->private_data_length;
    }
    return ep_ask(ep, priv, length);
}

static ucs_status_t tcp_cm_ep_conn_notify(uct_ep_h uct_ep)
{
    tcp_cm_ep_t *ep = cm_ep(uct_ep);

    if (!(ep->flags & TCP_CM_EP_CLIENT)) {
        return UCS_ERR_INVALID_PARAM;
    }
    if ((ep->link == NULL) || (ep->link->state != TCP_CM_CONNECTED)) {
        return (ep->status != UCS_OK) ? ep->status : UCS_ERR_NOT_CONNECTED;
    }
    if (ep->flags & TCP_CM_EP_NOTIFIED) {
        return UCS_ERR_INVALID_PARAM;
    }
    ep->flags |= TCP_CM_EP_NOTIFIED;
    return tcp_cm_link_send(ep->link, TCP_WIRE_CM_NOTIFY, NULL, 0);
}

static ucs_status_t tcp_cm_ep_disconnect(uct_ep_h uct_ep, unsigned flags)
{
    tcp_cm_ep_t *ep = cm_ep(uct_ep);
    ucs_status_t status;

    if (!(ep->flags & TCP_CM_EP_TOLD)) {
        return UCS_ERR_BUSY;
    }
    if (ep->flags & TCP_CM_EP_LEFT) {
        return (ep->flags & TCP_CM_EP_PEER_LEFT) ? UCS_ERR_NOT_CONNECTED :
                                                   UCS_INPROGRESS;
    }
    if (ep->link == NULL) {
        if (!(ep->flags & TCP_CM_EP_PEER_LEFT)) {
            return (ep->status != UCS_OK) ? ep->status : UCS_ERR_NOT_CONNECTED;
        }
        /* The peer closed the stream, which counts as its disconnect */
        ep->flags |= TCP_CM_EP_LEFT;
        return UCS_OK;
    }

    ep->flags |= TCP_CM_EP_LEFT;
    status = tcp_cm_link_send(ep->link, TCP_WIRE_CM_DISCONNECT, NULL, 0);
    if (status != UCS_OK) {
        return status;
    }
    if (!(ep->flags & TCP_CM_EP_PEER_LEFT)) {
        return UCS_INPROGRESS;
    }
    ep->status = UCS_ERR_NOT_CONNECTED;
    tcp_cm_ep_drop_link(ep, UCS_OK);
    return UCS_OK;
}

static ucs_status_t tcp_cm_ep_query_sockaddrs(uct_ep_h uct_ep,
                                              struct sockaddr_storage *local,
                                              struct sockaddr_storage *remote)
{
    tcp_cm_ep_t *ep = cm_ep(uct_ep);
    socklen_t length;

    if ((ep->link == NULL) || (ep->link->state == TCP_CM_CONNECTING)) {
        return UCS_ERR_NOT_CONNECTED;
    }
    length = sizeof(*local);
    if ((local != NULL) &&
        (getsockname(ep->link->fd, (struct sockaddr *)local, &length) != 0)) {
        return UCS_ERR_NOT_CONNECTED;
    }
    length = sizeof(*remote);
    if ((remote != NULL) &&
        (getpeername(ep->link->fd, (struct sockaddr *)remote, &length) != 0)) {
        return UCS_ERR_NOT_CONNECTED;
    }
    return UCS_OK;
}

static void tcp_cm_ep_destroy(uct_ep_h uct_ep)
{
    tcp_cm_ep_t *ep = cm_ep(uct_ep);

    tcp_cm_ep_drop_link(ep, UCS_ERR_CANCELED);
    if (ep->calls > 0) {
        ep->flags |= TCP_CM_EP_DESTROYED;
        return;
    }
    tcp_cm_ep_free(ep);
}

const ucx_ep_ops_t tcp_cm_ep_ops = {
    .size            = sizeof(tcp_cm_ep_ops),
    .flush           = tcp_cm_ep_flush,
    .destroy         = tcp_cm_ep_destroy,
    .query_sockaddrs = tcp_cm_ep_query_sockaddrs,
    .cm_connect      = tcp_cm_ep_connect,
    .cm_conn_notify  = tcp_cm_ep_conn_notify,
    .cm_disconnect   = tcp_cm_ep_disconnect,
};
