/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions that the user calls: to create, connect, notify, disconnect and
 * query endpoints of the connection manager.
 */
#include "cm.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define EP_PARAM(_params, _bit, _member) \
    (((_params)->field_mask & UCT_EP_PARAM_FIELD_##_bit) ? \
         (_params)->_member : \
         NULL)

/* --- Creating ------------------------------------------------------------- */

static ucs_status_t ep_alloc(ib_cm_t *cm, const uct_ep_params_t *params,
                             ib_cm_ep_t **ep_p)
{
    const void *priv = EP_PARAM(params, PRIV_DATA, private_data);
    size_t length    = ((priv != NULL) && (params->field_mask &
                                        UCT_EP_PARAM_FIELD_PRIV_DATA_LENGTH)) ?
                           params->private_data_length :
                           0;
    ib_cm_ep_t *ep;

    if (length > cm->config.priv_data_len) {
        return UCS_ERR_EXCEEDS_LIMIT;
    }
    ep = calloc(1, sizeof(*ep));
    if (ep == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    ep->priv = malloc(length + 1);
    if (ep->priv == NULL) {
        free(ep);
        return UCS_ERR_NO_MEMORY;
    }
    if (length > 0) {
        memcpy(ep->priv, priv, length);
    }
    ucx_cm_ep_init(&ep->super, &cm->super);
    ib_link_init(&ep->flushes);
    ep->cm            = cm;
    ep->priv_length   = length;
    ep->user_data     = EP_PARAM(params, USER_DATA, user_data);
    ep->pack_cb       = EP_PARAM(params, SOCKADDR_PACK_CB, sockaddr_pack_cb);
    ep->resolve_cb    = EP_PARAM(params, CM_RESOLVE_CB, cm_resolve_cb);
    ep->client_cb     = EP_PARAM(params, SOCKADDR_CONNECT_CB_CLIENT,
                                 sockaddr_cb_client);
    ep->server_cb     = EP_PARAM(params, SOCKADDR_NOTIFY_CB_SERVER,
                                 sockaddr_cb_server);
    ep->disconnect_cb = EP_PARAM(params, SOCKADDR_DISCONNECT_CB, disconnect_cb);
    *ep_p             = ep;
    return UCS_OK;
}

/* Copies an address for librdmacm, which reads as many bytes as the address
 * family implies. */
static ucs_status_t copy_address(const ucs_sock_addr_t *from,
                                 struct sockaddr_storage *to)
{
    size_t length = (from->addr->sa_family == AF_INET) ?
                        sizeof(struct sockaddr_in) :
                    (from->addr->sa_family == AF_INET6) ?
                        sizeof(struct sockaddr_in6) :
                        0;

    if ((length == 0) || (from->addrlen < length)) {
        return UCS_ERR_INVALID_ADDR;
    }
    memset(to, 0, sizeof(*to));
    memcpy(to, from->addr, length);
    return UCS_OK;
}

static ucs_status_t start_connect(ib_cm_ep_t *ep, const ucs_sock_addr_t *server,
                                  const ucs_sock_addr_t *local)
{
    ib_cm_t *cm = ep->cm;
    int ms      = (int)fmin(cm->config.timeout * 1e3, INT32_MAX);
    struct sockaddr_storage to, from;
    ucs_status_t status;
    ib_cm_link_t *link;

    status = copy_address(server, &to);
    if ((status == UCS_OK) && (local != NULL)) {
        status = copy_address(local, &from);
    }
    if (status != UCS_OK) {
        return status;
    }
    link = ib_cm_link_create(cm);
    if (link == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    link->ep = ep;
    if ((rdma_create_id(cm->events, &link->id, link, RDMA_PS_TCP) != 0) ||
        (rdma_resolve_addr(link->id,
                           (local == NULL) ? NULL : (struct sockaddr *)&from,
                           (struct sockaddr *)&to, ms) != 0)) {
        status = ib_cm_status(errno);
        ib_cm_link_free(link);
        return status;
    }
    ep->link       = link;
    link->deadline = cm->host->time() + cm->config.timeout;
    ib_cm_link_set_state(link, IB_CM_ST_CONNECTING);
    ib_cm_timer_set(cm, link->deadline);
    return UCS_OK;
}

static ucs_status_t create_client(ib_cm_t *cm, const uct_ep_params_t *params,
                                  uct_ep_h *ep_p)
{
    const ucs_sock_addr_t *server = EP_PARAM(params, SOCKADDR, sockaddr);
    ucs_status_t status;
    ib_cm_ep_t *ep;

    if ((server == NULL) ||
        (EP_PARAM(params, SOCKADDR_PACK_CB, sockaddr_pack_cb) &&
         EP_PARAM(params, CM_RESOLVE_CB, cm_resolve_cb))) {
        return UCS_ERR_INVALID_PARAM;
    }
    status = ep_alloc(cm, params, &ep);
    if (status != UCS_OK) {
        return status;
    }
    ep->flags = IB_CM_EP_CLIENT;
    status    = start_connect(ep, server,
                              EP_PARAM(params, LOCAL_SOCKADDR, local_sockaddr));
    if (status != UCS_OK) {
        ib_cm_ep_destroy(&ep->super);
        return status;
    }
    *ep_p = &ep->super;
    return UCS_OK;
}

/* Sends ACCEPT. If the user's pack callback returns an error, sends REJECT and
 * returns the error. */
static ucs_status_t accept_request(ib_cm_ep_t *ep)
{
    uct_cm_ep_priv_data_pack_args_t args = {
        .field_mask = UCT_CM_EP_PRIV_DATA_PACK_ARGS_FIELD_DEVICE_NAME,
    };
    ssize_t length   = (ssize_t)ep->priv_length;
    const void *priv = ep->priv;
    char packed[IB_CM_PRIV_MAX];

    if (ep->pack_cb != NULL) {
        ib_cm_link_dev_name(ep->link, args.dev_name, sizeof(args.dev_name));
        length = ep->pack_cb(ep->user_data, &args, packed);
        priv   = packed;
    }
    if (length < 0) {
        (void)ib_cm_link_send(ep->link, IB_CM_REJECT, NULL, 0);
        return (ucs_status_t)length;
    }
    return ib_cm_link_send(ep->link, IB_CM_ACCEPT, priv, (size_t)length);
}

/* Moves the link to the endpoint's manager and monitors it again. The next
 * progress then handles the messages that have arrived meanwhile. If the
 * connection has ended meanwhile, the deadline makes that progress fail the
 * endpoint. */
static ucs_status_t adopt(ib_cm_link_t *link, ib_cm_ep_t *ep)
{
    ucs_status_t status = ib_cm_link_adopt(link, ep->cm);

    if (status != UCS_OK) {
        return status;
    }
    ep->link       = link;
    link->ep       = ep;
    link->listener = NULL;
    ib_cm_link_set_state(link, IB_CM_ST_ACCEPTED);
    status = ib_cm_link_watch(link);
    if (link->gone) {
        link->deadline = ep->cm->host->time();
        ib_cm_timer_set(ep->cm, link->deadline);
    }
    return status;
}

static ucs_status_t create_server(ib_cm_t *cm, const uct_ep_params_t *params,
                                  uct_ep_h *ep_p)
{
    ib_cm_link_t *link = params->conn_request;
    ucs_status_t status;
    ib_cm_ep_t *ep;

    if ((link == NULL) || !ib_cm_link_take(link)) {
        return UCS_ERR_INVALID_PARAM;
    }
    status = ep_alloc(cm, params, &ep);
    if (status != UCS_OK) {
        ib_cm_link_free(link);
        return status;
    }
    status = adopt(link, ep);
    if (status == UCS_OK) {
        status = link->gone ? UCS_OK : accept_request(ep);
    } else if (ep->link == NULL) {
        ib_cm_link_free(link);
    }
    if (status != UCS_OK) {
        ib_cm_ep_destroy(&ep->super);
        return status;
    }
    *ep_p = &ep->super;
    return UCS_OK;
}

ucs_status_t ib_cm_ep_create(uct_cm_h uct_cm, const uct_ep_params_t *params,
                             uct_ep_h *ep_p)
{
    ib_cm_t *cm = (ib_cm_t *)uct_cm;

    return (params->field_mask & UCT_EP_PARAM_FIELD_CONN_REQUEST) ?
               create_server(cm, params, ep_p) :
               create_client(cm, params, ep_p);
}

/* --- Calls ---------------------------------------------------------------- */

/* Returns the status of a call on an endpoint without a connection. */
static ucs_status_t no_link(const ib_cm_ep_t *ep)
{
    return (ep->status != UCS_OK) ? ep->status : UCS_ERR_NOT_CONNECTED;
}

static ucs_status_t ep_connect(uct_ep_h uct_ep,
                               const uct_ep_connect_params_t *params)
{
    ib_cm_ep_t *ep   = (ib_cm_ep_t *)uct_ep;
    const void *priv = NULL;
    size_t length    = 0;

    if (ep->link == NULL) {
        return no_link(ep);
    }
    if (ep->link->state != IB_CM_ST_RESOLVED) {
        return UCS_ERR_INVALID_PARAM;
    }
    if (params->field_mask & UCT_EP_CONNECT_PARAM_FIELD_PRIVATE_DATA) {
        priv = params->private_data;
    }
    if ((priv != NULL) &&
        (params->field_mask & UCT_EP_CONNECT_PARAM_FIELD_PRIVATE_DATA_LENGTH)) {
        length = params->private_data_length;
    }
    return ib_cm_ep_ask(ep, priv, length);
}

static ucs_status_t ep_conn_notify(uct_ep_h uct_ep)
{
    ib_cm_ep_t *ep = (ib_cm_ep_t *)uct_ep;

    if (!(ep->flags & IB_CM_EP_CLIENT) || (ep->flags & IB_CM_EP_NOTIFIED)) {
        return UCS_ERR_INVALID_PARAM;
    }
    if ((ep->link == NULL) || (ep->link->state != IB_CM_ST_CONNECTED)) {
        return no_link(ep);
    }
    ep->flags |= IB_CM_EP_NOTIFIED;
    return ib_cm_link_send(ep->link, IB_CM_NOTIFY, NULL, 0);
}

static ucs_status_t ep_disconnect(uct_ep_h uct_ep, unsigned flags)
{
    ib_cm_ep_t *ep = (ib_cm_ep_t *)uct_ep;
    ucs_status_t status;

    if (!(ep->flags & IB_CM_EP_TOLD)) {
        return UCS_ERR_BUSY;
    }
    if (ep->flags & IB_CM_EP_LEFT) {
        return (ep->flags & IB_CM_EP_PEER_LEFT) ? UCS_ERR_NOT_CONNECTED :
                                                  UCS_INPROGRESS;
    }
    if ((ep->link == NULL) && !(ep->flags & IB_CM_EP_PEER_LEFT)) {
        return no_link(ep);
    }
    ep->flags |= IB_CM_EP_LEFT;
    if (ep->link == NULL) {
        return UCS_OK; /* The connection has ended already */
    }
    status = ib_cm_link_send(ep->link, IB_CM_DISCONNECT, NULL, 0);
    if (status != UCS_OK) {
        return status;
    }
    if (!(ep->flags & IB_CM_EP_PEER_LEFT)) {
        return UCS_INPROGRESS;
    }
    ep->status = UCS_ERR_NOT_CONNECTED;
    ib_cm_ep_drop_link(ep, UCS_OK);
    return UCS_OK;
}

static void store_address(struct sockaddr_storage *to,
                          const struct sockaddr *from)
{
    if (to != NULL) {
        memset(to, 0, sizeof(*to));
        memcpy(to, from,
               (from->sa_family == AF_INET6) ? sizeof(struct sockaddr_in6) :
                                               sizeof(struct sockaddr_in));
    }
}

static ucs_status_t ep_query_sockaddrs(uct_ep_h uct_ep,
                                       struct sockaddr_storage *local,
                                       struct sockaddr_storage *remote)
{
    ib_cm_ep_t *ep = (ib_cm_ep_t *)uct_ep;

    if ((ep->link == NULL) || (ep->link->state == IB_CM_ST_CONNECTING)) {
        return UCS_ERR_NOT_CONNECTED;
    }
    store_address(local, rdma_get_local_addr(ep->link->id));
    store_address(remote, rdma_get_peer_addr(ep->link->id));
    return UCS_OK;
}

const ucx_ep_ops_t ib_cm_ep_ops = {
    .size            = sizeof(ib_cm_ep_ops),
    .flush           = ib_cm_ep_flush,
    .destroy         = ib_cm_ep_destroy,
    .query_sockaddrs = ep_query_sockaddrs,
    .cm_connect      = ep_connect,
    .cm_conn_notify  = ep_conn_notify,
    .cm_disconnect   = ep_disconnect,
};
