/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Links: an RDMA connection with its messages in both directions. Listeners and
 * endpoints interpret the messages.
 *
 * Each side sends each kind of message at most once. Only the first message of
 * a side may have private data (REQUEST or ACCEPT). Therefore receive buffers
 * for all messages are posted in advance: first a large one, then small ones.
 * The connection of a peer that sends more or longer messages is closed.
 */
#include "cm.h"
#include "device.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    LINK_CQ_LEN = 4 * (IB_CM_SMALL + 1),
    LINK_SEND   = 0x100, /* Flag in wr_id of sends; receives do not have it */
};

/* Seconds for which a closed link waits for acknowledgements, at most */
static const double LINGER_TIME = 2.0;
/* Seconds from REQUEST to the first ib_cm_link_nudge() */
static const double FIRST_NUDGE = 0.01;

/* --- Buffers -------------------------------------------------------------- */

/* Returns a send or receive buffer. The buffer with index 0 is the large one,
 * those with the indices 1 to IB_CM_SMALL are small. */
static char *buffer_of(const ib_cm_link_t *link, int is_send, unsigned index)
{
    size_t half = link->large + (IB_CM_SMALL * sizeof(ib_cm_msg_t));
    size_t at   = (index == 0) ?
                      0 :
                      link->large + ((index - 1) * sizeof(ib_cm_msg_t));

    return link->memory + (is_send ? half : 0) + at;
}

static size_t buffer_size(const ib_cm_link_t *link, unsigned index)
{
    return (index == 0) ? link->large : sizeof(ib_cm_msg_t);
}

static ucs_status_t make_buffers(ib_cm_link_t *link)
{
    const ucx_host_t *host = link->cm->host;
    struct ibv_recv_wr wr  = {.num_sge = 1}, *bad;
    struct ibv_sge sge;

    link->large = sizeof(ib_cm_msg_t) + link->cm->config.priv_data_len;
    link->memory_size =
        (2 * (link->large + (IB_CM_SMALL * sizeof(ib_cm_msg_t))) + 4095) &
        ~(size_t)4095;
    link->memory = mmap(NULL, link->memory_size, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (link->memory == MAP_FAILED) {
        link->memory = NULL;
        return UCS_ERR_NO_MEMORY;
    }
    link->mr = ibv_reg_mr(link->id->pd, link->memory, link->memory_size,
                          IBV_ACCESS_LOCAL_WRITE);
    if (link->mr == NULL) {
        ucx_error("rdmacm: cannot register %zu bytes of buffers: %s; the limit "
                  "of locked memory (ulimit -l) is the usual reason",
                  link->memory_size, strerror(errno));
        return UCS_ERR_NO_MEMORY;
    }
    for (unsigned i = 0; i <= IB_CM_SMALL; ++i) {
        sge.addr   = (uintptr_t)buffer_of(link, 0, i);
        sge.length = (uint32_t)buffer_size(link, i);
        sge.lkey   = link->mr->lkey;
        wr.wr_id   = i;
        wr.sg_list = &sge;
        if (ibv_post_recv(link->id->qp, &wr, &bad) != 0) {
            return UCS_ERR_IO_ERROR;
        }
    }
    return UCS_OK;
}

/* --- Creation and destruction --------------------------------------------- */

ib_cm_link_t *ib_cm_link_create(ib_cm_t *cm)
{
    ib_cm_link_t *link = calloc(1, sizeof(*link));

    if (link != NULL) {
        ib_link_init(&link->node);
        link->cm    = cm;
        link->state = IB_CM_ST_CONNECTING;
    }
    return link;
}

static ucs_status_t make_queues(ib_cm_link_t *link)
{
    struct ibv_context *context  = link->id->verbs;
    struct ibv_qp_init_attr init = {
        .qp_type = IBV_QPT_RC,
        .cap =
            {
                .max_send_wr  = IB_CM_SMALL + 2,
                .max_recv_wr  = IB_CM_SMALL + 1,
                .max_send_sge = 1,
                .max_recv_sge = 1,
            },
    };

    link->channel = ibv_create_comp_channel(context);
    if ((link->channel == NULL) ||
        (fcntl(link->channel->fd, F_SETFL,
               fcntl(link->channel->fd, F_GETFL) | O_NONBLOCK) != 0)) {
        return UCS_ERR_IO_ERROR;
    }
    link->cq = ibv_create_cq(context, LINK_CQ_LEN, NULL, link->channel, 0);
    if ((link->cq == NULL) || (ibv_req_notify_cq(link->cq, 0) != 0)) {
        return UCS_ERR_IO_ERROR;
    }
    init.send_cq = link->cq;
    init.recv_cq = link->cq;
    return (rdma_create_qp(link->id, NULL, &init) == 0) ? UCS_OK :
                                                          UCS_ERR_IO_ERROR;
}

ucs_status_t ib_cm_link_watch(ib_cm_link_t *link)
{
    ucs_status_t status = ib_cm_watch(link->cm, EPOLL_CTL_ADD,
                                      link->channel->fd, link);

    link->watched = (status == UCS_OK);
    return status;
}

ucs_status_t ib_cm_link_open(ib_cm_link_t *link)
{
    const ucx_host_t *host = link->cm->host;
    ucs_status_t status    = make_queues(link);

    if (status != UCS_OK) {
        ucx_error("rdmacm: cannot create a queue pair: %s. ulimit -l and -n "
                  "limit them",
                  strerror(errno));
        return status;
    }
    status = make_buffers(link);
    return (status == UCS_OK) ? ib_cm_link_watch(link) : status;
}

static void unwatch(ib_cm_link_t *link)
{
    if (link->watched) {
        link->watched = 0;
        (void)ib_cm_watch(link->cm, EPOLL_CTL_DEL, link->channel->fd, link);
    }
}

/* Destroys the link's objects of librdmacm and libibverbs. This ends the
 * connection, which the peer's librdmacm reports to the peer. */
static void release(ib_cm_link_t *link)
{
    unwatch(link);
    if ((link->id != NULL) && (link->id->qp != NULL)) {
        rdma_destroy_qp(link->id);
    }
    if (link->cq != NULL) {
        ibv_destroy_cq(link->cq);
        link->cq = NULL;
    }
    if (link->channel != NULL) {
        ibv_destroy_comp_channel(link->channel);
        link->channel = NULL;
    }
    if (link->mr != NULL) {
        ibv_dereg_mr(link->mr);
        link->mr = NULL;
    }
    if (link->id != NULL) {
        rdma_destroy_id(link->id);
        link->id = NULL;
    }
}

void ib_cm_link_free(ib_cm_link_t *link)
{
    release(link);
    if (link->memory != NULL) {
        munmap(link->memory, link->memory_size);
    }
    free(link);
}

void ib_cm_link_set_state(ib_cm_link_t *link, enum ib_cm_state state)
{
    ib_cm_t *cm = link->cm;

    if (!ib_link_is_alone(&link->node) && (link->state == IB_CM_ST_UNKNOWN)) {
        --cm->num_unknown;
    }
    ib_link_remove(&link->node);
    link->state = (uint8_t)state;
    if (state == IB_CM_ST_DEAD) {
        ib_link_queue(&cm->dead, &link->node);
        if (!cm->in_progress) {
            ib_cm_wake(cm);
        }
    } else if (state == IB_CM_ST_UNKNOWN) {
        ib_link_queue(&cm->unknown, &link->node);
        ++cm->num_unknown;
    } else {
        ib_link_queue(&cm->links, &link->node);
    }
}

void ib_cm_link_kill(ib_cm_link_t *link)
{
    if (link->state == IB_CM_ST_DEAD) {
        return;
    }
    link->ep       = NULL;
    link->listener = NULL;
    ib_cm_link_set_state(link, IB_CM_ST_DEAD);
    release(link);
}

/* Waits for the acknowledgements, because a destroyed queue pair neither
 * retransmits messages nor sends queued ones. */
void ib_cm_link_close(ib_cm_link_t *link)
{
    if ((link->unsent == 0) || link->gone) {
        ib_cm_link_kill(link);
        return;
    }
    link->ep       = NULL;
    link->listener = NULL;
    link->nudge_at = 0;
    link->deadline = link->cm->host->time() + LINGER_TIME;
    ib_cm_link_set_state(link, IB_CM_ST_LINGERING);
    ib_cm_timer_set(link->cm, link->deadline);
    if (!link->watched && (ib_cm_link_watch(link) != UCS_OK)) {
        ib_cm_link_kill(link);
    }
}

void ib_cm_link_refuse(ib_cm_link_t *link, const char *what)
{
    const ucx_host_t *host = link->cm->host;

    if (ib_cm_may_log(link->cm)) {
        ucx_diag("rdmacm: closed a connection of a client that %s", what);
    }
    ib_cm_link_kill(link);
}

/* --- Requests: owned by the user, on any thread --------------------------- */

ib_cm_link_t *ib_cm_link_find(const ib_link_t *list,
                              const ib_cm_listener_t *listener)
{
    ib_cm_link_t *link;
    ib_link_t *node;

    for (node = list->next; node != list; node = node->next) {
        link = ib_container_of(node, ib_cm_link_t, node);
        if (link->listener == listener) {
            return link;
        }
    }
    return NULL;
}

void ib_cm_link_hand_out(ib_cm_link_t *link)
{
    ib_cm_t *cm = link->cm;

    unwatch(link);
    link->deadline = 0;
    --cm->num_unknown;
    ib_link_remove(&link->node);
    pthread_mutex_lock(&cm->lock);
    link->state = IB_CM_ST_REQUESTED;
    ib_link_queue(&cm->requested, &link->node);
    pthread_mutex_unlock(&cm->lock);
}

/* Takes a link in REQUESTED. The caller holds the lock. */
static void take(ib_cm_link_t *link)
{
    link->taken = 1;
    ib_link_remove(&link->node);
    link->state = IB_CM_ST_DEAD;
}

int ib_cm_link_take(ib_cm_link_t *link)
{
    ib_cm_t *cm = link->cm;
    int is_free;

    pthread_mutex_lock(&cm->lock);
    is_free = (link->state == IB_CM_ST_REQUESTED);
    if (is_free) {
        take(link);
    }
    pthread_mutex_unlock(&cm->lock);
    return is_free;
}

ib_cm_link_t *ib_cm_link_take_of(ib_cm_t *cm, const ib_cm_listener_t *listener)
{
    ib_cm_link_t *link;

    pthread_mutex_lock(&cm->lock);
    link = ib_cm_link_find(&cm->requested, listener);
    if (link != NULL) {
        take(link);
    }
    pthread_mutex_unlock(&cm->lock);
    return link;
}

ucs_status_t ib_cm_link_adopt(ib_cm_link_t *link, ib_cm_t *cm)
{
    ib_cm_t *from = link->cm;

    /* Moves the identifier to the event channel of `cm`. rdma_migrate_id()
     * returns when `from` has acknowledged all events of the identifier, so
     * that `from` does not use the link any more. */
    if ((from != cm) && (rdma_migrate_id(link->id, cm->events) != 0)) {
        return ib_cm_status(errno);
    }
    pthread_mutex_lock(&from->lock);
    link->taken = 0;
    link->cm    = cm;
    pthread_mutex_unlock(&from->lock);
    return UCS_OK;
}

/* --- Sending -------------------------------------------------------------- */

static void fill_device(const ib_cm_link_t *link, ib_wire_device_t *dev)
{
    const ib_md_config_t config = {.gid_index = UINT32_MAX, .hop_limit = 255};
    ib_port_t port;

    if (ib_port_open(link->cm->host, link->id->verbs, link->id->port_num,
                     &config, &port) == UCS_OK) {
        ib_port_address(&port, dev);
    }
}

static int is_iwarp(const ib_cm_link_t *link)
{
    return link->id->verbs->device->transport_type == IBV_TRANSPORT_IWARP;
}

/* Schedules ib_cm_link_nudge() after `delay` seconds. */
static void plan_nudge(ib_cm_link_t *link, double delay)
{
    link->nudge_delay = delay;
    link->nudge_at    = link->cm->host->time() + delay;
    ib_cm_timer_set(link->cm, link->nudge_at);
}

ucs_status_t ib_cm_link_send(ib_cm_link_t *link, enum ib_cm_kind kind,
                             const void *priv, size_t length)
{
    int is_large          = (kind == IB_CM_REQUEST) || (kind == IB_CM_ACCEPT);
    unsigned index        = is_large ? 0 : 1u + link->small_sent;
    struct ibv_send_wr wr = {
        .wr_id      = LINK_SEND | index,
        .opcode     = IBV_WR_SEND,
        .send_flags = IBV_SEND_SIGNALED,
        .num_sge    = 1,
    };
    struct ibv_send_wr *bad;
    struct ibv_sge sge;
    ib_cm_msg_t *msg;

    if ((length > link->cm->config.priv_data_len) ||
        (length > link->peer_max)) {
        return UCS_ERR_EXCEEDS_LIMIT;
    }
    if (index > IB_CM_SMALL) {
        return UCS_ERR_INVALID_PARAM;
    }
    msg = (ib_cm_msg_t *)buffer_of(link, 1, index);
    memset(msg, 0, sizeof(*msg));
    msg->magic  = htole32(IB_CM_MAGIC);
    msg->kind   = (uint8_t)kind;
    msg->length = htole16((uint16_t)length);
    if (is_large) {
        fill_device(link, &msg->dev);
    }
    if (length > 0) {
        memcpy(msg + 1, priv, length);
    }
    sge.addr   = (uintptr_t)msg;
    sge.length = (uint32_t)(sizeof(*msg) + length);
    sge.lkey   = link->mr->lkey;
    wr.sg_list = &sge;
    if (ibv_post_send(link->id->qp, &wr, &bad) != 0) {
        return UCS_ERR_CONNECTION_RESET;
    }
    link->small_sent += !is_large;
    ++link->unsent;
    if ((kind == IB_CM_REQUEST) && is_iwarp(link)) {
        plan_nudge(link, FIRST_NUDGE);
    }
    return UCS_OK;
}

void ib_cm_link_nudge(ib_cm_link_t *link)
{
    struct ibv_send_wr wr = {
        .wr_id      = LINK_SEND,
        .opcode     = IBV_WR_RDMA_WRITE,
        .send_flags = IBV_SEND_SIGNALED,
    };
    struct ibv_send_wr *bad;

    /* While another send is outstanding, the send queue may have no free
     * entry; then the write is omitted. */
    if ((link->unsent == 0) && (ibv_post_send(link->id->qp, &wr, &bad) == 0)) {
        ++link->unsent;
    }
    /* The write is repeated with increasing delays until the delay reaches
     * UCX_RDMA_CM_TIMEOUT. By then the peer's device has accepted the
     * connection. Only the reply is missing, which the server's user may send
     * much later. */
    if (link->nudge_delay < link->cm->config.timeout) {
        plan_nudge(link, 2 * link->nudge_delay);
    } else {
        link->nudge_at = 0;
    }
}

/* --- Receiving ------------------------------------------------------------ */

/* Returns whether a message is malformed or not allowed in this state. */
static int is_bad(const ib_cm_link_t *link, const ib_cm_msg_t *msg,
                  size_t length)
{
    if ((length < sizeof(*msg)) || (le32toh(msg->magic) != IB_CM_MAGIC) ||
        (le16toh(msg->length) != length - sizeof(*msg))) {
        return 1;
    }
    switch (link->state) {
    case IB_CM_ST_UNKNOWN:
        return msg->kind != IB_CM_REQUEST;
    case IB_CM_ST_ASKED:
        return (msg->kind != IB_CM_ACCEPT) && (msg->kind != IB_CM_REJECT);
    case IB_CM_ST_ACCEPTED:
        return (msg->kind != IB_CM_NOTIFY) && (msg->kind != IB_CM_DISCONNECT);
    case IB_CM_ST_CONNECTED:
        return (msg->kind != IB_CM_DISCONNECT) && (msg->kind != IB_CM_LEFT);
    case IB_CM_ST_LINGERING:
        return 0;
    default:
        return 1;
    }
}

/* Handles a received message. Returns 0 if the user or another thread may now
 * own the link. */
static int received(ib_cm_link_t *link, unsigned index, size_t length)
{
    const ib_cm_msg_t *msg = (ib_cm_msg_t *)buffer_of(link, 0, index);

    link->nudge_at = 0;
    if (is_bad(link, msg, length)) {
        if (link->ep != NULL) {
            ib_cm_ep_lost(link->ep, UCS_ERR_CONNECTION_RESET);
        } else {
            ib_cm_link_refuse(link, "sent a malformed request");
        }
    } else if (link->state == IB_CM_ST_UNKNOWN) {
        ib_cm_listener_request(link);
        return 0;
    } else if (link->ep != NULL) {
        ib_cm_ep_message(link->ep, (enum ib_cm_kind)msg->kind);
    }
    return 1;
}

static void acknowledged(ib_cm_link_t *link)
{
    if (--link->unsent > 0) {
        return;
    }
    if (link->state == IB_CM_ST_LINGERING) {
        ib_cm_link_kill(link);
    } else if (link->ep != NULL) {
        ib_cm_flush_check(link->ep);
    }
}

static void failed(ib_cm_link_t *link, const struct ibv_wc *wc)
{
    ucs_status_t status = (wc->status == IBV_WC_RETRY_EXC_ERR) ?
                              UCS_ERR_ENDPOINT_TIMEOUT :
                              UCS_ERR_CONNECTION_RESET;

    if (link->ep != NULL) {
        ib_cm_ep_lost(link->ep, status);
    } else if (link->state == IB_CM_ST_UNKNOWN) {
        ib_cm_link_refuse(link, "left without a request, or sent a longer one "
                                "than UCX_RDMA_CM_PRIV_DATA_LEN");
    } else {
        ib_cm_link_kill(link);
    }
}

int ib_cm_link_poll(ib_cm_link_t *link)
{
    struct ibv_cq *cq;
    struct ibv_wc wc;
    void *context;

    if (link->cq == NULL) {
        return 1; /* Closed earlier in this pass of cm_progress() */
    }
    if (ibv_get_cq_event(link->channel, &cq, &context) == 0) {
        ibv_ack_cq_events(cq, 1);
        (void)ibv_req_notify_cq(cq, 0);
    }
    while ((link->cq != NULL) && (ibv_poll_cq(link->cq, 1, &wc) > 0)) {
        if (wc.status != IBV_WC_SUCCESS) {
            failed(link, &wc);
        } else if (wc.wr_id & LINK_SEND) {
            acknowledged(link);
        } else if (!received(link, (unsigned)wc.wr_id, wc.byte_len)) {
            return 0;
        }
    }
    return 1;
}

/* --- Queries -------------------------------------------------------------- */

void ib_cm_link_dev_name(const ib_cm_link_t *link, char *name, size_t size)
{
    snprintf(name, size, "%.*s:%u", (int)(size - 5),
             ibv_get_device_name(link->id->verbs->device), link->id->port_num);
}

void ib_cm_link_remote_data(const ib_cm_link_t *link,
                            uct_cm_remote_data_t *data)
{
    const ib_cm_msg_t *msg = (ib_cm_msg_t *)buffer_of(link, 0, 0);

    data->field_mask = UCT_CM_REMOTE_DATA_FIELD_DEV_ADDR |
                       UCT_CM_REMOTE_DATA_FIELD_DEV_ADDR_LENGTH |
                       UCT_CM_REMOTE_DATA_FIELD_CONN_PRIV_DATA |
                       UCT_CM_REMOTE_DATA_FIELD_CONN_PRIV_DATA_LENGTH;
    data->dev_addr              = (const uct_device_addr_t *)&msg->dev;
    data->dev_addr_length       = sizeof(msg->dev);
    data->conn_priv_data        = msg + 1;
    data->conn_priv_data_length = le16toh(msg->length);
}
