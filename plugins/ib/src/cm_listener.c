/* SPDX-License-Identifier: BSD-3-Clause */
/* Listens for clients and passes their requests to the user. */
#include "cm.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

static ib_cm_t *listener_cm(const ib_cm_listener_t *listener)
{
    return (ib_cm_t *)listener->super.cm;
}

static socklen_t address_length(const struct sockaddr *addr)
{
    switch (addr->sa_family) {
    case AF_INET:
        return sizeof(struct sockaddr_in);
    case AF_INET6:
        return sizeof(struct sockaddr_in6);
    default:
        return 0;
    }
}

/* --- Listening ------------------------------------------------------------ */

static void set_port(struct sockaddr_storage *addr, uint16_t port)
{
    if (addr->ss_family == AF_INET) {
        ((struct sockaddr_in *)addr)->sin_port = port;
    } else {
        ((struct sockaddr_in6 *)addr)->sin6_port = port;
    }
}

/* Determines why an address cannot be used. The kernel returns EADDRNOTAVAIL
 * both for an address that is not local and for a port in use at a wildcard or
 * loopback address. Binding without a port distinguishes the two. */
static ucs_status_t why_not_available(ib_cm_t *cm,
                                      struct sockaddr_storage *addr)
{
    ucs_status_t status = UCS_ERR_INVALID_ADDR;
    struct rdma_cm_id *id;

    if (rdma_create_id(cm->events, &id, NULL, RDMA_PS_TCP) == 0) {
        set_port(addr, 0);
        if (rdma_bind_addr(id, (struct sockaddr *)addr) == 0) {
            status = UCS_ERR_BUSY;
        }
        rdma_destroy_id(id);
    }
    return status;
}

static ucs_status_t start(ib_cm_listener_t *listener,
                          const struct sockaddr *addr, socklen_t length,
                          int backlog)
{
    struct sockaddr_storage copy = {0};

    memcpy(&copy, addr, length);
    if ((rdma_create_id(listener_cm(listener)->events, &listener->id, listener,
                        RDMA_PS_TCP) != 0) ||
        (rdma_bind_addr(listener->id, (struct sockaddr *)&copy) != 0) ||
        (rdma_listen(listener->id, backlog) != 0)) {
        return (errno == EADDRNOTAVAIL) ?
                   why_not_available(listener_cm(listener), &copy) :
                   ib_cm_status(errno);
    }
    return UCS_OK;
}

ucs_status_t ib_cm_listener_create(uct_cm_h cm, const struct sockaddr *addr,
                                   socklen_t addrlen,
                                   const uct_listener_params_t *params,
                                   uct_listener_h *listener_p)
{
    int backlog      = (params->field_mask & UCT_LISTENER_PARAM_FIELD_BACKLOG) ?
                           params->backlog :
                           SOMAXCONN;
    socklen_t length = address_length(addr);
    ib_cm_listener_t *listener;
    ucs_status_t status;

    if (!(params->field_mask & UCT_LISTENER_PARAM_FIELD_CONN_REQUEST_CB) ||
        (params->conn_request_cb == NULL) || (backlog <= 0)) {
        return UCS_ERR_INVALID_PARAM;
    }
    if ((length == 0) || (addrlen < length)) {
        return UCS_ERR_INVALID_ADDR;
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
    ib_link_init(&listener->node);
    status = start(listener, addr, length, backlog);
    if (status != UCS_OK) {
        if (listener->id != NULL) {
            rdma_destroy_id(listener->id);
        }
        free(listener);
        return status;
    }
    ib_link_queue(&((ib_cm_t *)cm)->listeners, &listener->node);
    *listener_p = &listener->super;
    return UCS_OK;
}

static void request_reject(ib_cm_link_t *link);

void ib_cm_listener_destroy(uct_listener_h uct_listener)
{
    ib_cm_listener_t *listener = (ib_cm_listener_t *)uct_listener;
    ib_cm_t *cm                = listener_cm(listener);
    ib_cm_link_t *link;

    if (listener->id != NULL) {
        rdma_destroy_id(listener->id);
    }
    while ((link = ib_cm_link_find(&cm->unknown, listener)) != NULL) {
        ib_cm_link_kill(link);
    }
    while ((link = ib_cm_link_take_of(cm, listener)) != NULL) {
        request_reject(link);
    }
    ib_link_remove(&listener->node);
    free(listener);
}

ucs_status_t ib_cm_listener_query(uct_listener_h uct_listener,
                                  uct_listener_attr_t *attr)
{
    ib_cm_listener_t *listener = (ib_cm_listener_t *)uct_listener;
    struct sockaddr *addr;

    if (attr->field_mask & UCT_LISTENER_ATTR_FIELD_SOCKADDR) {
        if (listener->id == NULL) {
            return UCS_ERR_NO_DEVICE;
        }
        addr = rdma_get_local_addr(listener->id);
        memset(&attr->sockaddr, 0, sizeof(attr->sockaddr));
        memcpy(&attr->sockaddr, addr, address_length(addr));
    }
    return UCS_OK;
}

/* --- Rejecting ------------------------------------------------------------ */

/* Rejects a request. The caller, which may be any thread, has taken the link;
 * the manager's thread closes it. */
static void request_reject(ib_cm_link_t *link)
{
    ib_cm_t *cm = link->cm;

    (void)ib_cm_link_send(link, IB_CM_REJECT, NULL, 0);
    pthread_mutex_lock(&cm->lock);
    link->listener = NULL;
    ib_link_queue(&cm->rejected, &link->node);
    pthread_mutex_unlock(&cm->lock);
    ib_cm_wake(cm);
}

ucs_status_t ib_cm_listener_reject(uct_listener_h uct_listener,
                                   uct_conn_request_h request)
{
    ib_cm_link_t *link = request;

    if ((link == NULL) ||
        (link->listener != (ib_cm_listener_t *)uct_listener) ||
        !ib_cm_link_take(link)) {
        return UCS_ERR_INVALID_PARAM;
    }
    request_reject(link);
    return UCS_OK;
}

void ib_cm_listener_rejected(ib_cm_t *cm)
{
    ib_cm_link_t *link;
    ib_link_t *node;

    for (;;) {
        pthread_mutex_lock(&cm->lock);
        node = cm->rejected.next;
        if (node != &cm->rejected) {
            ib_link_remove(node);
        }
        pthread_mutex_unlock(&cm->lock);
        if (node == &cm->rejected) {
            return;
        }
        link = ib_container_of(node, ib_cm_link_t, node);
        (void)ib_cm_link_adopt(link, cm);
        link->state = IB_CM_ST_LINGERING;
        ib_cm_link_close(link);
    }
}

/* --- Clients -------------------------------------------------------------- */

/* Rejects a client; the private data shows the client that UCX rejected it. */
static void turn_down(struct rdma_cm_id *id)
{
    const ib_cm_intro_t intro = {
        .magic   = htole32(IB_CM_MAGIC),
        .version = IB_CM_VERSION,
    };

    (void)rdma_reject(id, &intro, sizeof(intro));
    rdma_destroy_id(id);
}

static ucs_status_t accept_client(ib_cm_link_t *link)
{
    ib_cm_intro_t intro = {
        .magic    = htole32(IB_CM_MAGIC),
        .version  = IB_CM_VERSION,
        .max_priv = htole32((uint32_t)link->cm->config.priv_data_len),
    };
    struct rdma_conn_param param = {
        .private_data     = &intro,
        .private_data_len = sizeof(intro),
        .rnr_retry_count  = 7,
    };
    ucs_status_t status = ib_cm_link_open(link);

    if ((status == UCS_OK) && (rdma_accept(link->id, &param) != 0)) {
        status = ib_cm_status(errno);
    }
    return status;
}

void ib_cm_listener_connect(ib_cm_listener_t *listener, struct rdma_cm_id *id,
                            const void *priv, size_t length)
{
    ib_cm_t *cm            = listener_cm(listener);
    const ucx_host_t *host = cm->host;
    ib_cm_intro_t intro    = {0};
    ib_cm_link_t *link;

    memcpy(&intro, priv, (length < sizeof(intro)) ? length : sizeof(intro));
    if ((le32toh(intro.magic) != IB_CM_MAGIC) ||
        (intro.version < IB_CM_VERSION)) {
        if (ib_cm_may_log(cm)) {
            ucx_diag("rdmacm: rejected a client: its private data (%zu bytes) "
                     "is none of UCX",
                     length);
        }
        turn_down(id);
        return;
    }
    link = ib_cm_link_create(cm);
    if (link == NULL) {
        turn_down(id);
        return;
    }
    link->id       = id;
    id->context    = link;
    link->listener = listener;
    link->peer_max = le32toh(intro.max_priv);
    link->deadline = host->time() + cm->config.timeout;
    if (accept_client(link) != UCS_OK) {
        /* Destroying the identifier rejects the client */
        ib_cm_link_free(link);
        return;
    }
    ib_cm_link_set_state(link, IB_CM_ST_UNKNOWN);
    ib_cm_timer_set(cm, link->deadline);
    if (cm->num_unknown > cm->config.max_unknown) {
        ib_cm_link_refuse(ib_container_of(cm->unknown.next, ib_cm_link_t, node),
                          "had not sent its request when many more came");
    }
}

void ib_cm_listener_request(ib_cm_link_t *link)
{
    ib_cm_listener_t *listener = link->listener;
    uct_cm_listener_conn_request_args_t args;
    uct_cm_remote_data_t remote;
    struct sockaddr_storage client = {0};
    struct sockaddr *peer          = rdma_get_peer_addr(link->id);

    memcpy(&client, peer, address_length(peer));
    memset(&args, 0, sizeof(args));
    ib_cm_link_remote_data(link, &remote);
    ib_cm_link_dev_name(link, args.dev_name, sizeof(args.dev_name));
    args.field_mask = UCT_CM_LISTENER_CONN_REQUEST_ARGS_FIELD_DEV_NAME |
                      UCT_CM_LISTENER_CONN_REQUEST_ARGS_FIELD_CONN_REQUEST |
                      UCT_CM_LISTENER_CONN_REQUEST_ARGS_FIELD_REMOTE_DATA |
                      UCT_CM_LISTENER_CONN_REQUEST_ARGS_FIELD_CLIENT_ADDR;
    args.conn_request           = link;
    args.remote_data            = &remote;
    args.client_address.addr    = (struct sockaddr *)&client;
    args.client_address.addrlen = address_length(peer);
    ib_cm_link_hand_out(link);
    listener->conn_request_cb(&listener->super, listener->user_data, &args);
}
