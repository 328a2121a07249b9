/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Endpoints: an address and a reference to a connection, which exists when the
 * endpoint is created or is opened by the first send. Sends are in am.c and
 * put_get.c, flushes in flush.c.
 */
#include "am.h"
#include "flush.h"
#include "sock.h"
#include "tx.h"
#include "ways.h"

#include <stdlib.h>
#include <string.h>

/* Maximum number of connections between two interfaces; they differ in their
 * path. */
#define EP_PATHS 64

/* --- Connection ---------------------------------------------------------- */

/* Stores the peer's addresses in the connection, which uses them if this side
 * connects. */
static void ep_tell_peer(const tcp_ep_t *ep, tcp_conn_t *conn)
{
    const tcp_ways_t *ways = ep->ways;

    conn->peer = ep->peer;
    conn->ways = tcp_ways_copy(ways); /* Out of memory: the connection has no
                                       * alternative addresses */
    for (unsigned i = 1; (ways != NULL) && (i < ways->num); ++i) {
        if (ways->way[i].id == conn->peer_id) {
            conn->peer = ways->way[i].addr;
            conn->way  = (uint8_t)i;
        }
    }
}

static void ep_attach(tcp_ep_t *ep, tcp_conn_t *conn)
{
    ep->conn = conn;
    tcp_list_add_tail(&conn->eps, &ep->node);
    ++conn->num_eps;
    if (conn->peer.sa.sa_family == AF_UNSPEC) {
        ep_tell_peer(ep, conn);
    }
}

/* Returns the id of the address to which a new connection connects first. If
 * the peer has alternative addresses, this is the one at the index
 * iface->detour (iface.h), which was successful for the previous such peer. */
static uint64_t ep_first_id(const tcp_ep_t *ep)
{
    const tcp_iface_t *iface = tcp_iface(ep->super.iface);

    return ((ep->ways == NULL) || (iface->detour >= ep->ways->num)) ?
               ep->peer_id :
               ep->ways->way[iface->detour].id;
}

/* Returns the existing connection to the first of the peer's addresses to which
 * there is one; NULL if there is none. */
static tcp_conn_t *ep_find_conn(const tcp_ep_t *ep)
{
    tcp_iface_t *iface = tcp_iface(ep->super.iface);
    tcp_conn_t *conn   = tcp_conn_find(iface, ep->peer_id, ep->path);

    for (unsigned i = 1;
         (conn == NULL) && (ep->ways != NULL) && (i < ep->ways->num); ++i) {
        conn = tcp_conn_find(iface, ep->ways->way[i].id, ep->path);
    }
    return conn;
}

static void ep_detach(tcp_ep_t *ep)
{
    tcp_conn_t *conn = ep->conn;

    tcp_list_del(&ep->node);
    tcp_list_del(&ep->pend_node);
    if (conn == NULL) {
        return;
    }
    ep->conn = NULL;
    tcp_flush_forget_ep(conn, ep);
    if (--conn->num_eps == 0) {
        conn->flags |= TCP_CONN_WANT_CLOSE;
        tcp_tx_schedule(conn);
    }
}

tcp_conn_t *tcp_ep_conn_slow(tcp_ep_t *ep, ucs_status_t *status_p)
{
    tcp_iface_t *iface = tcp_iface(ep->super.iface);
    ucs_status_t status;
    tcp_conn_t *conn;

    if (ep->status != UCS_OK) {
        *status_p = ep->status;
        return NULL;
    }

    conn = ep_find_conn(ep);
    if (conn == NULL) {
        status = tcp_conn_create(iface, ep_first_id(ep), ep->path, 1, &conn);
        if (status != UCS_OK) {
            *status_p = status;
            return NULL;
        }
        ep_attach(ep, conn);
        tcp_conn_connect(conn);
    } else {
        ep_attach(ep, conn);
    }
    return conn;
}

/* Stores the peer's addresses, which `params` contains, in `ep`. */
static ucs_status_t ep_set_peer(tcp_ep_t *ep, const uct_ep_params_t *params)
{
    size_t dev_length   = SIZE_MAX;
    size_t iface_length = sizeof(tcp_wire_iface_addr_t);
    tcp_wire_iface_addr_t addr;
    ucs_status_t status;
    uint64_t locality;
    unsigned flags;
    tcp_way_t way;

    if (params->field_mask & UCT_EP_PARAM_FIELD_DEV_ADDR_LENGTH) {
        dev_length = params->dev_addr_length;
    }
    if (params->field_mask & UCT_EP_PARAM_FIELD_IFACE_ADDR_LENGTH) {
        iface_length = params->iface_addr_length;
    }
    if (iface_length < sizeof(addr)) {
        return UCS_ERR_INVALID_ADDR;
    }

    status = tcp_dev_addr_unpack(params->dev_addr, dev_length, &way.addr,
                                 &flags, &locality);
    if (status != UCS_OK) {
        return status;
    }
    memcpy(&addr, params->iface_addr, sizeof(addr));
    way.id = tcp_wire_load(addr.id);
    tcp_sock_addr_set_port(&way.addr, tcp_wire_iface_port(&addr));
    if ((way.id == 0) || (tcp_sock_addr_port(&way.addr) == 0)) {
        return UCS_ERR_INVALID_ADDR;
    }
    ep->peer    = way.addr;
    ep->peer_id = way.id;
    return tcp_ways_unpack(&way,
                           (const uint8_t *)params->iface_addr + sizeof(addr),
                           iface_length - sizeof(addr), &ep->ways);
}

ucs_status_t tcp_ep_create(uct_iface_h uct_iface, const uct_ep_params_t *params,
                           uct_ep_h *ep_p)
{
    const uint64_t addrs = UCT_EP_PARAM_FIELD_DEV_ADDR |
                           UCT_EP_PARAM_FIELD_IFACE_ADDR;
    ucs_status_t status;
    tcp_conn_t *conn;
    tcp_ep_t *ep;

    if ((params->field_mask & addrs) != addrs) {
        return UCS_ERR_UNSUPPORTED;
    }

    ep = calloc(1, sizeof(*ep));
    if (ep == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    status = ep_set_peer(ep, params);
    if (status != UCS_OK) {
        free(ep);
        return status;
    }

    ucx_ep_init(&ep->super, uct_iface);
    ucx_pending_init(&ep->pending);
    tcp_list_init(&ep->node);
    tcp_list_init(&ep->pend_node);
    tcp_list_init(&ep->failed_node);
    ep->status = UCS_OK;
    if (params->field_mask & UCT_EP_PARAM_FIELD_PATH_INDEX) {
        ep->path = (uint8_t)(params->path_index % EP_PATHS);
    }

    /* Use a connection that the peer or another endpoint of this interface has
     * opened. Without one, the first send or check opens one */
    conn = ep_find_conn(ep);
    if (conn != NULL) {
        ep_attach(ep, conn);
    }
    *ep_p = &ep->super;
    return UCS_OK;
}

static void tcp_ep_destroy(uct_ep_h uct_ep)
{
    tcp_ep_t *ep       = tcp_ep(uct_ep);
    tcp_iface_t *iface = tcp_iface(uct_ep->iface);

    if (iface->dispatching == ep) {
        iface->dispatching = NULL;
    }
    ep_detach(ep);
    tcp_list_del(&ep->failed_node);
    free(ep->ways);
    free(ep);
}

/* --- Failure ------------------------------------------------------------- */

void tcp_ep_fail(tcp_ep_t *ep, ucs_status_t status)
{
    tcp_iface_t *iface     = tcp_iface(ep->super.iface);
    const ucx_host_t *host = iface->host;

    ep->status = status;
    if (host->iface_ep_failed(&iface->super, &ep->super, status) != UCS_OK) {
        ucx_diag("%s: an endpoint failed with status %d, and no error handler "
                 "handled it",
                 iface->device.name, (int)status);
    }
}

static ucs_status_t tcp_ep_invalidate(uct_ep_h uct_ep, unsigned flags)
{
    tcp_ep_t *ep       = tcp_ep(uct_ep);
    tcp_iface_t *iface = tcp_iface(uct_ep->iface);

    if (ep->status != UCS_OK) {
        return UCS_OK;
    }
    if (ep->conn != NULL) {
        tcp_flush_cancel_ep(ep->conn, ep, UCS_ERR_CONNECTION_RESET);
    }
    ep_detach(ep);
    ep->status = UCS_ERR_CONNECTION_RESET;
    tcp_list_add_tail(&iface->failed_eps, &ep->failed_node);
    return UCS_OK;
}

/* If there is a connection, the kernel monitors it (keepalive). Otherwise this
 * opens one; if the peer cannot be reached, progress fails the endpoint. */
static ucs_status_t tcp_ep_check(uct_ep_h uct_ep, unsigned flags,
                                 uct_completion_t *comp)
{
    ucs_status_t status = UCS_OK;

    (void)tcp_ep_conn(tcp_ep(uct_ep), &status);
    return status;
}

/* --- Pending requests ---------------------------------------------------- */

static ucs_status_t tcp_ep_pending_add(uct_ep_h uct_ep, uct_pending_req_t *req,
                                       unsigned flags)
{
    tcp_ep_t *ep = tcp_ep(uct_ep);
    ucs_status_t status;
    tcp_conn_t *conn;

    conn = tcp_ep_conn(ep, &status);
    if (conn == NULL) {
        return UCS_ERR_BUSY; /* The caller sends again and gets the error */
    }
    if (ucx_pending_is_empty(&ep->pending) && tcp_tx_has_room(conn)) {
        return UCS_ERR_BUSY;
    }

    ucx_pending_push(&ep->pending, req);
    if (tcp_list_is_empty(&ep->pend_node)) {
        tcp_list_add_tail(&conn->pend_eps, &ep->pend_node);
    }
    if (tcp_list_is_empty(&conn->pend_node)) {
        tcp_list_add_tail(&tcp_iface(uct_ep->iface)->pend_work,
                          &conn->pend_node);
    }
    return UCS_OK;
}

static void tcp_ep_pending_purge(uct_ep_h uct_ep,
                                 uct_pending_purge_callback_t cb, void *arg)
{
    tcp_ep_t *ep = tcp_ep(uct_ep);

    tcp_list_del(&ep->pend_node);
    ucx_pending_purge(&ep->pending, cb, arg);
}

/* Calls one endpoint's pending requests until one returns an error or send
 * resources run out. Returns 0 if a request destroyed the endpoint. */
static int pending_dispatch_ep(tcp_ep_t *ep, unsigned *count_p)
{
    tcp_iface_t *iface = tcp_iface(ep->super.iface);
    tcp_conn_t *conn   = ep->conn;
    uct_pending_req_t *req;
    ucs_status_t status;

    iface->dispatching = ep;
    while (tcp_tx_has_room(conn) &&
           ((req = ucx_pending_pop(&ep->pending)) != NULL)) {
        status = req->func(req);
        if (iface->dispatching == NULL) {
            return 0;
        }
        if (status != UCS_OK) {
            ucx_pending_push_front(&ep->pending, req);
        }
        if ((status != UCS_OK) && (status != UCS_INPROGRESS)) {
            break;
        }
        ++*count_p;
    }
    iface->dispatching = NULL;
    return 1;
}

unsigned tcp_ep_dispatch_pending(tcp_conn_t *conn)
{
    unsigned count = 0;
    tcp_list_t eps;
    tcp_ep_t *ep;

    if (!tcp_tx_has_room(conn)) {
        return 0;
    }

    conn->flags |= TCP_CONN_DISPATCH;
    tcp_list_take(&eps, &conn->pend_eps);
    while (!tcp_list_is_empty(&eps)) {
        ep = tcp_list_first(&eps, tcp_ep_t, pend_node);
        tcp_list_del(&ep->pend_node);
        if (pending_dispatch_ep(ep, &count) &&
            !ucx_pending_is_empty(&ep->pending) &&
            tcp_list_is_empty(&ep->pend_node) && (ep->conn == conn)) {
            tcp_list_add_tail(&conn->pend_eps, &ep->pend_node);
        }
    }
    conn->flags &= ~TCP_CONN_DISPATCH;

    if (tcp_list_is_empty(&conn->pend_eps)) {
        tcp_list_del(&conn->pend_node);
    }
    return count;
}

/* --- Identity ------------------------------------------------------------ */

static int tcp_ep_is_connected(uct_ep_h uct_ep,
                               const uct_device_addr_t *dev_addr,
                               const uct_iface_addr_t *iface_addr,
                               const uct_ep_addr_t *ep_addr)
{
    tcp_ep_t *ep = tcp_ep(uct_ep);
    tcp_wire_iface_addr_t addr;

    if (iface_addr == NULL) {
        return 0;
    }
    memcpy(&addr, iface_addr, sizeof(addr));
    return tcp_wire_load(addr.id) == ep->peer_id;
}

static ucs_status_t tcp_ep_query_sockaddrs(uct_ep_h uct_ep,
                                           struct sockaddr_storage *local,
                                           struct sockaddr_storage *remote)
{
    tcp_ep_t *ep = tcp_ep(uct_ep);
    socklen_t length;

    if ((ep->conn == NULL) || (ep->conn->fd < 0)) {
        return UCS_ERR_NOT_CONNECTED;
    }
    length = sizeof(*local);
    if ((local != NULL) &&
        (getsockname(ep->conn->fd, (struct sockaddr *)local, &length) != 0)) {
        return UCS_ERR_NOT_CONNECTED;
    }
    length = sizeof(*remote);
    if ((remote != NULL) &&
        (getpeername(ep->conn->fd, (struct sockaddr *)remote, &length) != 0)) {
        return UCS_ERR_NOT_CONNECTED;
    }
    return UCS_OK;
}

const ucx_ep_ops_t tcp_ep_ops = {
    .size            = sizeof(tcp_ep_ops),
    .am_short        = tcp_ep_am_short,
    .am_bcopy        = tcp_ep_am_bcopy,
    .am_zcopy        = tcp_ep_am_zcopy,
    .am_short_iov    = tcp_ep_am_short_iov,
    .put_short       = tcp_ep_put_short,
    .put_bcopy       = tcp_ep_put_bcopy,
    .put_zcopy       = tcp_ep_put_zcopy,
    .get_bcopy       = tcp_ep_get_bcopy,
    .get_zcopy       = tcp_ep_get_zcopy,
    .flush           = tcp_ep_flush,
    .fence           = tcp_ep_fence,
    .pending_add     = tcp_ep_pending_add,
    .pending_purge   = tcp_ep_pending_purge,
    .destroy         = tcp_ep_destroy,
    .check           = tcp_ep_check,
    .invalidate      = tcp_ep_invalidate,
    .is_connected    = tcp_ep_is_connected,
    .query_sockaddrs = tcp_ep_query_sockaddrs,
};
