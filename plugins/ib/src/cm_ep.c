/* SPDX-License-Identifier: BSD-3-Clause */
/* Events of connection manager endpoints, and the callbacks of their users. */
#include "cm.h"

#include <stdlib.h>
#include <string.h>

/* --- Callbacks ------------------------------------------------------------ */

/* Keeps the endpoint allocated while its callback runs, because the user may
 * destroy the endpoint in the callback. */
static void call_begin(ib_cm_ep_t *ep)
{
    ++ep->calls;
}

static void call_end(ib_cm_ep_t *ep)
{
    if ((--ep->calls == 0) && (ep->flags & IB_CM_EP_DESTROYED)) {
        free(ep->priv);
        free(ep);
    }
}

/* Returns 0 if the connect or notify callback must not be called, because
 * IB_CM_EP_TOLD is set already; otherwise sets this flag. */
static int tell_once(ib_cm_ep_t *ep)
{
    int first = !(ep->flags & IB_CM_EP_TOLD);

    ep->flags |= IB_CM_EP_TOLD;
    return first;
}

static void tell_client(ib_cm_ep_t *ep, ucs_status_t status,
                        const uct_cm_remote_data_t *remote)
{
    uct_cm_ep_client_connect_args_t args = {
        .field_mask  = UCT_CM_EP_CLIENT_CONNECT_ARGS_FIELD_STATUS,
        .status      = status,
        .remote_data = remote,
    };

    if (remote != NULL) {
        args.field_mask |= UCT_CM_EP_CLIENT_CONNECT_ARGS_FIELD_REMOTE_DATA;
    }
    if (tell_once(ep) && (ep->client_cb != NULL)) {
        ep->client_cb(&ep->super, ep->user_data, &args);
    }
}

static void tell_server(ib_cm_ep_t *ep, ucs_status_t status)
{
    const uct_cm_ep_server_conn_notify_args_t args = {
        .field_mask = UCT_CM_EP_SERVER_CONN_NOTIFY_ARGS_FIELD_STATUS,
        .status     = status,
    };

    if (tell_once(ep) && (ep->server_cb != NULL)) {
        ep->server_cb(&ep->super, ep->user_data, &args);
    }
}

/* Calls the resolve callback with the local device, or with the reason why
 * there is no connection. Returns the status that the callback returns. */
static ucs_status_t tell_resolved(ib_cm_ep_t *ep, ucs_status_t status)
{
    uct_cm_ep_resolve_args_t args = {
        .field_mask = UCT_CM_EP_RESOLVE_ARGS_FIELD_STATUS,
        .status     = status,
    };

    if (status == UCS_OK) {
        args.field_mask |= UCT_CM_EP_RESOLVE_ARGS_FIELD_DEV_NAME;
        ib_cm_link_dev_name(ep->link, args.dev_name, sizeof(args.dev_name));
    } else {
        (void)tell_once(ep);
    }
    return ep->resolve_cb(ep->user_data, &args);
}

static void tell_left(ib_cm_ep_t *ep)
{
    if (ep->flags & IB_CM_EP_PEER_LEFT) {
        return;
    }
    ep->flags |= IB_CM_EP_PEER_LEFT;
    if (ep->disconnect_cb != NULL) {
        ep->disconnect_cb(&ep->super, ep->user_data);
    }
}

/* --- Closing -------------------------------------------------------------- */

void ib_cm_ep_drop_link(ib_cm_ep_t *ep, ucs_status_t status)
{
    ib_cm_link_t *link = ep->link;

    if (link != NULL) {
        ep->link = NULL;
        ib_cm_link_close(link);
    }
    ib_cm_flush_end(ep, status);
}

void ib_cm_ep_lost(ib_cm_ep_t *ep, ucs_status_t status)
{
    enum ib_cm_state state = (ep->link == NULL) ?
                                 IB_CM_ST_DEAD :
                                 (enum ib_cm_state)ep->link->state;

    call_begin(ep);
    ep->status = status;
    /* Flushes of an established connection succeed: the connection has ended,
     * so the peer's user need not be notified of a disconnect any more. */
    ib_cm_ep_drop_link(ep, (state == IB_CM_ST_CONNECTED) ? UCS_OK : status);
    if ((state == IB_CM_ST_CONNECTING) && (ep->resolve_cb != NULL)) {
        (void)tell_resolved(ep, status);
    } else if ((state == IB_CM_ST_CONNECTING) || (state == IB_CM_ST_RESOLVED) ||
               (state == IB_CM_ST_ASKED)) {
        tell_client(ep, status, NULL);
    } else if (state == IB_CM_ST_ACCEPTED) {
        tell_server(ep, status);
    } else if (state == IB_CM_ST_CONNECTED) {
        tell_left(ep);
    }
    call_end(ep);
}

void ib_cm_ep_destroy(uct_ep_h uct_ep)
{
    ib_cm_ep_t *ep = (ib_cm_ep_t *)uct_ep;

    ib_cm_ep_drop_link(ep, UCS_ERR_CANCELED);
    ep->flags |= IB_CM_EP_DESTROYED;
    call_begin(ep);
    call_end(ep);
}

/* --- Connecting ----------------------------------------------------------- */

ucs_status_t ib_cm_ep_ask(ib_cm_ep_t *ep, const void *priv, size_t length)
{
    ucs_status_t status = ib_cm_link_send(ep->link, IB_CM_REQUEST, priv,
                                          length);

    if (status == UCS_OK) {
        ib_cm_link_set_state(ep->link, IB_CM_ST_ASKED);
        ep->link->deadline = 0; /* No timeout: the server's user may answer at
                                 * any time */
    }
    return status;
}

/* Sends the request of a client that has no resolve callback. */
static ucs_status_t ask_at_once(ib_cm_ep_t *ep)
{
    uct_cm_ep_priv_data_pack_args_t args = {
        .field_mask = UCT_CM_EP_PRIV_DATA_PACK_ARGS_FIELD_DEVICE_NAME,
    };
    char priv[IB_CM_PRIV_MAX];
    ssize_t length;

    if (ep->pack_cb == NULL) {
        return ib_cm_ep_ask(ep, ep->priv, ep->priv_length);
    }
    ib_cm_link_dev_name(ep->link, args.dev_name, sizeof(args.dev_name));
    length = ep->pack_cb(ep->user_data, &args, priv);
    if (ep->link == NULL) {
        return UCS_OK; /* The callback has destroyed the endpoint */
    }
    return (length < 0) ? (ucs_status_t)length :
                          ib_cm_ep_ask(ep, priv, (size_t)length);
}

void ib_cm_ep_connected(ib_cm_ep_t *ep)
{
    ucs_status_t status;

    call_begin(ep);
    ib_cm_link_set_state(ep->link, IB_CM_ST_RESOLVED);
    ep->link->deadline = 0;
    if (ep->resolve_cb != NULL) {
        if (tell_resolved(ep, UCS_OK) != UCS_OK) {
            /* The user has cancelled the connection: no further callback. */
            ep->status = UCS_ERR_CANCELED;
            (void)tell_once(ep);
            ib_cm_ep_drop_link(ep, UCS_ERR_CANCELED);
        }
    } else {
        status = ask_at_once(ep);
        if (status != UCS_OK) {
            ib_cm_ep_lost(ep, status);
        }
    }
    call_end(ep);
}

/* --- Messages ------------------------------------------------------------- */

/* Handles DISCONNECT. Calls the user's disconnect callback before the reply
 * LEFT is sent, because LEFT confirms this call. */
static void peer_disconnects(ib_cm_ep_t *ep)
{
    tell_left(ep);
    if (ep->link == NULL) {
        return; /* The callback has closed the connection: no reply is
                 * possible */
    }
    if (ep->flags & IB_CM_EP_LEFT) {
        ep->status = UCS_ERR_NOT_CONNECTED;
        ib_cm_ep_drop_link(ep, UCS_OK);
    } else if (ib_cm_link_send(ep->link, IB_CM_LEFT, NULL, 0) != UCS_OK) {
        ib_cm_ep_lost(ep, UCS_ERR_CONNECTION_RESET);
    }
}

/* Handles LEFT: the peer's user was notified that this side has
 * disconnected. */
static void was_told(ib_cm_ep_t *ep)
{
    if ((ep->flags & (IB_CM_EP_LEFT | IB_CM_EP_LEFT_TOLD)) != IB_CM_EP_LEFT) {
        ib_cm_ep_lost(ep, UCS_ERR_CONNECTION_RESET);
        return;
    }
    ep->flags |= IB_CM_EP_LEFT_TOLD;
    ib_cm_flush_check(ep);
}

void ib_cm_ep_message(ib_cm_ep_t *ep, enum ib_cm_kind kind)
{
    uct_cm_remote_data_t remote;

    call_begin(ep);
    switch (kind) {
    case IB_CM_ACCEPT:
        ib_cm_link_set_state(ep->link, IB_CM_ST_CONNECTED);
        ib_cm_link_remote_data(ep->link, &remote);
        tell_client(ep, UCS_OK, &remote);
        break;
    case IB_CM_NOTIFY:
        ib_cm_link_set_state(ep->link, IB_CM_ST_CONNECTED);
        tell_server(ep, UCS_OK);
        break;
    case IB_CM_REJECT:
        ib_cm_ep_lost(ep, UCS_ERR_REJECTED);
        break;
    case IB_CM_LEFT:
        was_told(ep);
        break;
    default:
        if (ep->link->state == IB_CM_ST_CONNECTED) {
            peer_disconnects(ep);
        } else {
            /* The peer disconnected before NOTIFY. */
            ib_cm_ep_lost(ep, UCS_ERR_CONNECTION_RESET);
        }
        break;
    }
    call_end(ep);
}
