/* SPDX-License-Identifier: BSD-3-Clause */
/* Handles the events of librdmacm for links and listeners. */
#include "cm.h"

#include <endian.h>
#include <errno.h>
#include <math.h>
#include <string.h>

/* A reason of RDMA_CM_EVENT_REJECTED: no process listens at the address */
enum { REJECT_NO_SERVICE = 8 };

/* A copy of an event of librdmacm. The event itself is acknowledged before the
 * copy is handled, because a handler may call rdma_destroy_id(), which waits
 * for the acknowledgement. */
typedef struct cm_event {
    enum rdma_cm_event_type type;
    int status;
    struct rdma_cm_id *id;
    void *listener; /* The ib_cm_listener_t, for CONNECT_REQUEST */
    uint8_t length; /* Bytes of private data */
    uint8_t priv[UINT8_MAX];
} cm_event_t;

ucs_status_t ib_cm_status(int error)
{
    switch (error) {
    case EADDRINUSE:
        return UCS_ERR_BUSY;
    case EADDRNOTAVAIL:
    case EAFNOSUPPORT:
    case EINVAL:
        return UCS_ERR_INVALID_ADDR;
    case ENOMEM:
        return UCS_ERR_NO_MEMORY;
    case ENODEV:
    case ENETUNREACH:
    case EHOSTUNREACH:
    case ECONNREFUSED:
    case ETIMEDOUT:
        return UCS_ERR_UNREACHABLE;
    default:
        return UCS_ERR_IO_ERROR;
    }
}

/* Copies the private data. Returns 0 if it is not an ib_cm_intro_t of a
 * compatible version. */
static int take_intro(const cm_event_t *event, ib_cm_intro_t *intro)
{
    if (event->length < sizeof(*intro)) {
        return 0;
    }
    memcpy(intro, event->priv, sizeof(*intro));
    return (le32toh(intro->magic) == IB_CM_MAGIC) &&
           (intro->version >= IB_CM_VERSION);
}

/* --- Establishing a connection -------------------------------------------- */

static void resolve_route(ib_cm_link_t *link)
{
    int ms = (int)fmin(link->cm->config.timeout * 1e3, INT32_MAX);

    if (rdma_resolve_route(link->id, ms) != 0) {
        ib_cm_ep_lost(link->ep, ib_cm_status(errno));
    }
}

static void start_connect(ib_cm_link_t *link)
{
    ib_cm_intro_t intro = {
        .magic    = htole32(IB_CM_MAGIC),
        .version  = IB_CM_VERSION,
        .max_priv = htole32((uint32_t)link->cm->config.priv_data_len),
    };
    /* `retry_count` is not 7: for 7 the kernel's software RDMA retries without
     * limit. */
    struct rdma_conn_param param = {
        .private_data     = &intro,
        .private_data_len = sizeof(intro),
        .retry_count      = 6,
        .rnr_retry_count  = 7,
    };
    ucs_status_t status = ib_cm_link_open(link);

    if ((status == UCS_OK) && (rdma_connect(link->id, &param) != 0)) {
        status = ib_cm_status(errno);
    }
    if (status != UCS_OK) {
        ib_cm_ep_lost(link->ep, status);
    }
}

static void established(ib_cm_link_t *link, const cm_event_t *event)
{
    const ucx_host_t *host = link->cm->host;
    ib_cm_intro_t intro;

    if (link->state != IB_CM_ST_CONNECTING) {
        return; /* The server's side waits for the message REQUEST, not for this
                 * event */
    }
    if (!take_intro(event, &intro)) {
        ucx_diag("rdmacm: the server that answered is none of UCX: its private "
                 "data is malformed");
        ib_cm_ep_lost(link->ep, UCS_ERR_UNREACHABLE);
        return;
    }
    link->peer_max = le32toh(intro.max_priv);
    ib_cm_ep_connected(link->ep);
}

/* --- End of a connection -------------------------------------------------- */

static void link_lost(ib_cm_link_t *link, ucs_status_t status)
{
    if (link->ep != NULL) {
        ib_cm_ep_lost(link->ep, status);
    } else if (link->state == IB_CM_ST_UNKNOWN) {
        ib_cm_link_refuse(link, "left without a request");
    } else {
        ib_cm_link_kill(link);
    }
}

/* Called when a connection has ended. First handles the messages that were
 * received before and are still in the completion queue. */
static void disconnected(ib_cm_link_t *link)
{
    link->gone = 1; /* If one of these messages is REQUEST, a thread takes the
                     * link and must know that the connection has ended */
    if (ib_cm_link_poll(link) && (link->state != IB_CM_ST_DEAD)) {
        link_lost(link, UCS_ERR_CONNECTION_RESET);
    }
}

static void rejected(ib_cm_link_t *link, const cm_event_t *event)
{
    const ucx_host_t *host = link->cm->host;
    ib_cm_intro_t intro;

    if (take_intro(event, &intro)) {
        link_lost(link, UCS_ERR_REJECTED);
        return;
    }
    ucx_debug("rdmacm: not connected: %s (reason %d)",
              (event->status == REJECT_NO_SERVICE) ? "nobody listens there" :
                                                     "rejected",
              event->status);
    link_lost(link, UCS_ERR_UNREACHABLE);
}

static void listener_lost(ib_cm_t *cm, ib_cm_listener_t *listener)
{
    const ucx_host_t *host = cm->host;

    ucx_warn("rdmacm: a listener ends, because its device was removed");
    rdma_destroy_id(listener->id);
    listener->id = NULL;
}

/* --- Dispatching ---------------------------------------------------------- */

static void link_event(ib_cm_link_t *link, const cm_event_t *event)
{
    switch (event->type) {
    case RDMA_CM_EVENT_ADDR_RESOLVED:
        resolve_route(link);
        break;
    case RDMA_CM_EVENT_ROUTE_RESOLVED:
        start_connect(link);
        break;
    case RDMA_CM_EVENT_ESTABLISHED:
        established(link, event);
        break;
    case RDMA_CM_EVENT_REJECTED:
        rejected(link, event);
        break;
    case RDMA_CM_EVENT_ADDR_ERROR:
    case RDMA_CM_EVENT_ROUTE_ERROR:
    case RDMA_CM_EVENT_CONNECT_ERROR:
    case RDMA_CM_EVENT_UNREACHABLE:
        link_lost(link, UCS_ERR_UNREACHABLE);
        break;
    case RDMA_CM_EVENT_DISCONNECTED:
        disconnected(link);
        break;
    case RDMA_CM_EVENT_DEVICE_REMOVAL:
        link_lost(link, UCS_ERR_IO_ERROR);
        break;
    default:
        break;
    }
}

/* Returns non-zero if the link is in REQUESTED or a thread has taken it.
 * Then the manager must not handle the event. If the event ends the connection,
 * sets `gone`, from which the thread that takes the link learns this. */
static int link_is_out(ib_cm_t *cm, ib_cm_link_t *link,
                       enum rdma_cm_event_type type)
{
    int out;

    pthread_mutex_lock(&cm->lock);
    out = link->taken || (link->state == IB_CM_ST_REQUESTED);
    if (out && ((type == RDMA_CM_EVENT_DISCONNECTED) ||
                (type == RDMA_CM_EVENT_DEVICE_REMOVAL))) {
        link->gone = 1;
    }
    pthread_mutex_unlock(&cm->lock);
    return out;
}

/* Returns `context` if it is a listener of this manager, otherwise NULL. */
static ib_cm_listener_t *find_listener(ib_cm_t *cm, const void *context)
{
    ib_link_t *node;

    for (node = cm->listeners.next; node != &cm->listeners; node = node->next) {
        if (ib_container_of(node, ib_cm_listener_t, node) == context) {
            return (ib_cm_listener_t *)context;
        }
    }
    return NULL;
}

static void dispatch(ib_cm_t *cm, const cm_event_t *event, void *context)
{
    ib_cm_listener_t *listener;

    if (event->type == RDMA_CM_EVENT_CONNECT_REQUEST) {
        ib_cm_listener_connect(event->listener, event->id, event->priv,
                               event->length);
        return;
    }
    listener = find_listener(cm, context);
    if (listener == NULL) {
        link_event(context, event);
    } else if (event->type == RDMA_CM_EVENT_DEVICE_REMOVAL) {
        listener_lost(cm, listener);
    }
}

void ib_cm_events(ib_cm_t *cm)
{
    struct rdma_cm_event *raw;
    cm_event_t event;
    void *context;
    int out;

    while (rdma_get_cm_event(cm->events, &raw) == 0) {
        context        = raw->id->context;
        event.type     = raw->event;
        event.status   = raw->status;
        event.id       = raw->id;
        event.length   = 0;
        event.listener = (raw->listen_id == NULL) ? NULL :
                                                    raw->listen_id->context;
        if (((raw->event == RDMA_CM_EVENT_CONNECT_REQUEST) ||
             (raw->event == RDMA_CM_EVENT_ESTABLISHED) ||
             (raw->event == RDMA_CM_EVENT_REJECTED)) &&
            (raw->param.conn.private_data != NULL)) {
            event.length = raw->param.conn.private_data_len;
            memcpy(event.priv, raw->param.conn.private_data, event.length);
        }
        out = (event.type != RDMA_CM_EVENT_CONNECT_REQUEST) &&
              (find_listener(cm, context) == NULL) &&
              link_is_out(cm, context, event.type);
        rdma_ack_cm_event(raw);
        if (!out) {
            dispatch(cm, &event, context);
        }
    }
}
