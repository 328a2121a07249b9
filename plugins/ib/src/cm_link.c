/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Links: creation, states and end of an RDMA connection, and its buffers.
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

enum { LINK_CQ_LEN = 4 * (IB_CM_SMALL + 1) };

/* Seconds for which a closed link waits for acknowledgements, at most */
static const double LINGER_TIME = 2.0;

/* --- Buffers -------------------------------------------------------------- */

char *ib_cm_link_buffer(const ib_cm_link_t *link, int is_send, unsigned index)
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
        sge.addr   = (uintptr_t)ib_cm_link_buffer(link, 0, i);
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

/* --- Queries -------------------------------------------------------------- */

void ib_cm_link_dev_name(const ib_cm_link_t *link, char *name, size_t size)
{
    snprintf(name, size, "%.*s:%u", (int)(size - 5),
             ibv_get_device_name(link->id->verbs->device), link->id->port_num);
}

void ib_cm_link_remote_data(const ib_cm_link_t *link,
                            uct_cm_remote_data_t *data)
{
    const ib_cm_msg_t *msg = (ib_cm_msg_t *)ib_cm_link_buffer(link, 0, 0);

    data->field_mask = UCT_CM_REMOTE_DATA_FIELD_DEV_ADDR |
                       UCT_CM_REMOTE_DATA_FIELD_DEV_ADDR_LENGTH |
                       UCT_CM_REMOTE_DATA_FIELD_CONN_PRIV_DATA |
                       UCT_CM_REMOTE_DATA_FIELD_CONN_PRIV_DATA_LENGTH;
    data->dev_addr              = (const uct_device_addr_t *)&msg->dev;
    data->dev_addr_length       = sizeof(msg->dev);
    data->conn_priv_data        = msg + 1;
    data->conn_priv_data_length = le16toh(msg->length);
}
