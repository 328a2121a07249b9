/* SPDX-License-Identifier: BSD-3-Clause */
/* The interface. Its address is the name of a socket; the endpoints of peers
 * connect to that socket and send. */
#include "plain.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>
#include <ucx/am.h>

enum { MESSAGES_A_ROUND = 16 };

/* Maximum seconds by which the report of a lost peer is delayed while received
 * messages, which may be from that peer, wait for delivery. */
static const double LAST_WORDS_TIME = 1;

/* A connection from a peer's endpoint. */
typedef struct plain_conn {
    poller_memory_t memory;
    struct plain_conn *next;
    plain_iface_t *iface;
    poller_source_t *source;
} plain_conn_t;

static const ucx_config_field_t fields[] = {
    {
        .name   = "SEG_SIZE",
        .type   = UCX_CONFIG_MEMUNITS,
        .offset = offsetof(plain_config_t, seg_size),
        .dflt   = "512",
        .help   = "Bytes of a message, at most (256 to 64k).",
        .min    = PLAIN_MIN_SEG,
        .max    = PLAIN_MAX_SEG,
    },
};

static const ucx_config_table_t config_table = {
    .size         = sizeof(config_table),
    .prefix       = "PLAIN_",
    .options_size = sizeof(plain_config_t),
    .field_size   = sizeof(ucx_config_field_t),
    .fields       = fields,
    .num_fields   = sizeof(fields) / sizeof(fields[0]),
};

/* ----------------------------------------------------------- receiving -- */

static void close_conn(plain_conn_t *conn)
{
    plain_conn_t **link = &conn->iface->conns;

    while (*link != conn) {
        link = &(*link)->next;
    }
    *link = conn->next;
    poller_remove(&conn->iface->poller, conn->source);
    poller_free(&conn->iface->poller, conn, &conn->memory);
}

/* Receives messages from one connection. The first byte of a message is its
 * id. */
static void receive(poller_source_t *source, uint32_t events)
{
    plain_conn_t *conn   = source->owner;
    plain_iface_t *iface = conn->iface;
    uint8_t id;
    ssize_t length;
    unsigned i;

    (void)events;
    for (i = 0; i < MESSAGES_A_ROUND; ++i) {
        /* Do not use iface->buffer: the handler of the message may send, which
         * uses that buffer */
        char *message = malloc(1 + iface->seg_size);

        if (message == NULL) {
            return;
        }
        length = sock_recv(source->fd, message, 1 + iface->seg_size);
        id     = (length > 0) ? (uint8_t)message[0] : 0;
        if ((length > 0) && (id < UCT_AM_ID_MAX)) {
            ucx_iface_deliver_am(&iface->super, id, message + 1,
                                 (unsigned)length - 1, 0);
        }
        free(message);
        if (length == UCS_ERR_NO_PROGRESS) {
            return;
        }
        if ((length < 0) || (id >= UCT_AM_ID_MAX)) {
            close_conn(conn);
            return;
        }
    }
}

static void accept_all(poller_source_t *source, uint32_t events)
{
    plain_iface_t *iface = source->owner;
    plain_conn_t *conn;
    int fd;

    (void)events;
    while ((fd = sock_accept(source->fd)) >= 0) {
        conn = calloc(1, sizeof(*conn));
        if (conn == NULL) {
            close(fd);
            return;
        }
        conn->iface  = iface;
        conn->source = poller_add(&iface->poller, fd, EPOLLIN, receive, conn);
        if (conn->source == NULL) {
            free(conn);
            return;
        }
        conn->next   = iface->conns;
        iface->conns = conn;
    }
}

/* Returns an endpoint whose failure is not reported yet; there must be one. */
static plain_ep_t *find_lost(const plain_iface_t *iface)
{
    plain_ep_t *ep = iface->eps;

    while ((ep->source != NULL) || ep->is_told) {
        ep = ep->next;
    }
    return ep;
}

/* Returns whether messages that a lost peer has sent may still wait for
 * delivery: they arrive on a connection of the peer's endpoint, and it is not
 * known which of the connections that is. */
static int has_last_words(const plain_iface_t *iface, const plain_ep_t *ep)
{
    const ucx_host_t *host = local_host_of(iface->super.md);
    const plain_conn_t *conn;

    if (host->time() > ep->lost_at + LAST_WORDS_TIME) {
        return 0;
    }
    for (conn = iface->conns; conn != NULL; conn = conn->next) {
        if (sock_has_message(conn->source->fd)) {
            return 1;
        }
    }
    return 0;
}

/* Reports failed endpoints. The error handler may destroy any endpoint, so the
 * search begins again at the head of the list. */
static unsigned tell_failures(plain_iface_t *iface)
{
    const ucx_host_t *host = local_host_of(iface->super.md);
    unsigned count         = 0;
    plain_ep_t *ep;

    while (iface->num_failed > 0) {
        ep = find_lost(iface);
        if (has_last_words(iface, ep)) {
            break;
        }
        ep->is_told = 1;
        --iface->num_failed;
        ++count;
        host->iface_ep_failed(&iface->super, &ep->super,
                              UCS_ERR_CONNECTION_RESET);
    }
    return count;
}

static unsigned iface_progress(uct_iface_h super)
{
    plain_iface_t *iface = (plain_iface_t *)super;

    return poller_run(&iface->poller) + tell_failures(iface);
}

/* ---------------------------------------------------------------- life -- */

static ucs_status_t iface_open(uct_md_h md, const ucx_iface_open_args_t *args,
                               uct_iface_h *iface_p)
{
    const plain_config_t *config = args->config;
    plain_iface_t *iface;
    int fd;

    (void)md;
    if (config == NULL) {
        return UCS_ERR_INVALID_PARAM;
    }

    iface = calloc(1, sizeof(*iface));
    if (iface == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    ucx_iface_init(&iface->super, args);
    iface->seg_size = config->seg_size;
    iface->buffer   = malloc(config->seg_size);
    if ((iface->buffer == NULL) || (poller_open(&iface->poller) != UCS_OK)) {
        goto err;
    }

    fd              = sock_listen(&iface->name);
    iface->listener = (fd < 0) ? NULL :
                                 poller_add(&iface->poller, fd, EPOLLIN,
                                            accept_all, iface);
    if (iface->listener == NULL) {
        poller_close(&iface->poller);
        goto err;
    }
    *iface_p = &iface->super;
    return UCS_OK;

err:
    free(iface->buffer);
    free(iface);
    return UCS_ERR_IO_ERROR;
}

static void iface_close(uct_iface_h super)
{
    plain_iface_t *iface = (plain_iface_t *)super;

    while (iface->conns != NULL) {
        close_conn(iface->conns);
    }
    poller_remove(&iface->poller, iface->listener);
    poller_close(&iface->poller);
    free(iface->buffer);
    free(iface);
}

static ucs_status_t iface_query(uct_iface_h super, ucx_iface_attr_t *attr)
{
    plain_iface_t *iface   = (plain_iface_t *)super;
    uct_iface_attr_t *base = &attr->base;

    base->cap.flags = UCT_IFACE_FLAG_AM_BCOPY | UCT_IFACE_FLAG_PENDING |
                      UCT_IFACE_FLAG_CB_SYNC | UCT_IFACE_FLAG_CONNECT_TO_IFACE |
                      UCT_IFACE_FLAG_ERRHANDLE_PEER_FAILURE;
    base->cap.am.max_bcopy = iface->seg_size;
    base->device_addr_len  = sizeof(sock_host_t);
    base->iface_addr_len   = sizeof(sock_name_t);
    base->overhead         = 2e-6;
    base->latency.c        = 5e-6;
    base->bandwidth.shared = 300e6;
    base->max_num_eps      = SIZE_MAX;
    base->dev_num_paths    = 1;
    attr->max_inflight_eps = SIZE_MAX;
    return UCS_OK;
}

static ucs_status_t get_device_address(uct_iface_h iface,
                                       uct_device_addr_t *address)
{
    sock_host_t name = sock_host(local_host_of(iface->md));

    memcpy(address, &name, sizeof(name));
    return UCS_OK;
}

static ucs_status_t get_address(uct_iface_h iface, uct_iface_addr_t *address)
{
    memcpy(address, &((plain_iface_t *)iface)->name, sizeof(sock_name_t));
    return UCS_OK;
}

static int is_reachable(uct_iface_h iface, const ucx_reachable_args_t *args)
{
    return sock_is_here(local_host_of(iface->md), args->dev_addr,
                        args->dev_addr_length) &&
           ((args->iface_addr == NULL) ||
            (args->iface_addr_length == sizeof(sock_name_t)));
}

/* There is nothing to wait for, because sends pass their data to the kernel
 * before they return. */
static ucs_status_t iface_flush(uct_iface_h iface, unsigned flags,
                                uct_completion_t *comp)
{
    (void)iface;
    (void)flags;
    (void)comp;
    return UCS_OK;
}

static const ucx_iface_ops_t iface_ops = {
    .size               = sizeof(iface_ops),
    .close              = iface_close,
    .query              = iface_query,
    .get_device_address = get_device_address,
    .get_address        = get_address,
    .is_reachable       = is_reachable,
    .ep_create          = plain_ep_create,
    .progress           = iface_progress,
    .flush              = iface_flush,
};

const ucx_transport_t plain_transport = {
    .size          = sizeof(plain_transport),
    .name          = PLAIN_NAME,
    .config        = &config_table,
    .query_devices = local_query_devices,
    .iface_open    = iface_open,
    .iface_ops     = &iface_ops,
    .ep_ops        = &plain_ep_ops,
};
