/* SPDX-License-Identifier: BSD-3-Clause */
/* The messages of a link, in both directions. Listeners and endpoints interpret
 * them. */
#include "cm.h"

#include <endian.h>
#include <string.h>

enum {
    LINK_SEND = 0x100, /* Flag in wr_id of sends; receives do not have it */
};

/* Seconds from REQUEST to the first ib_cm_link_nudge() */
static const double FIRST_NUDGE = 0.01;

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
    msg = (ib_cm_msg_t *)ib_cm_link_buffer(link, 1, index);
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
    const ib_cm_msg_t *msg = (ib_cm_msg_t *)ib_cm_link_buffer(link, 0, index);

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
