/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Posting work requests: the common part of all send operations. Hot path: no
 * allocation beyond a pool, no lock, no system call.
 */
#ifndef IB_RC_SEND_H
#define IB_RC_SEND_H

#include "rc_iwarp.h"

#include <string.h>

enum {
    /* While an endpoint has fewer outstanding requests than this, each new
     * request is signaled. The completions of signaled requests show that the
     * data has arrived, so a flush posts no further request. Such a request
     * would fail if the peer has received the data and closed its endpoint. */
    RC_ALL_SIGNALED = 16,
    /* Short messages have no operation (ib_op_t) that waits for their
     * completions. While only they are outstanding, progress does not poll the
     * send completions each time. It polls them when an endpoint has at least
     * RC_POLL_SENT outstanding requests, so that the next request is signaled
     * again (RC_ALL_SIGNALED), and after RC_POLL_ROUNDS rounds without a poll,
     * so that failures are detected. */
    RC_POLL_SENT    = RC_ALL_SIGNALED - 1,
    RC_POLL_ROUNDS  = 16,
};

/* Makes the next progress poll the send completions. */
static inline void rc_poll_sends_soon(rc_iface_t *iface)
{
    iface->unpolled = RC_POLL_ROUNDS;
}

/* Returns whether all requests have completed for which a flush waits. */
static inline int rc_ep_is_flushed(const rc_ep_t *ep)
{
    return (int16_t)(ep->done_sn - ep->user_sn) >= 0;
}

/* Returns UCS_OK if the endpoint can post a request, otherwise the status that
 * the send operation must return. */
static inline ucs_status_t rc_check(rc_iface_t *iface, rc_ep_t *ep)
{
    if (ib_unlikely((ep->state & (RC_EP_CONNECTED | RC_EP_FAILED |
                                  RC_EP_HELD)) != RC_EP_CONNECTED)) {
        return (ep->state & RC_EP_FAILED) ? (ucs_status_t)ep->status :
                                            UCS_ERR_NO_RESOURCE;
    }
    if (ib_unlikely(((uint16_t)(ep->sn - ep->done_sn) >= iface->queue_len) ||
                    (iface->cq_free == 0))) {
        rc_poll_sends_soon(iface);
        return UCS_ERR_NO_RESOURCE;
    }
    return UCS_OK;
}

/* As rc_check(), for an active message, which also needs a credit. */
static inline ucs_status_t rc_check_am(rc_iface_t *iface, rc_ep_t *ep)
{
    ucs_status_t status = rc_check(iface, ep);

    if (ib_unlikely((status == UCS_OK) && (ep->credits == 0))) {
        return UCS_ERR_NO_RESOURCE;
    }
    return status;
}

/*
 * Posts one request after rc_check(). The caller has set opcode, addresses and
 * IBV_SEND_INLINE. With `signal` the request is always signaled. If the request
 * has an ib_op_t, the caller adds it with rc_op_add() afterwards.
 */
static IB_INLINE ucs_status_t rc_post(rc_iface_t *iface, rc_ep_t *ep,
                                      struct ibv_send_wr *wr, int signal)
{
    uint16_t outstanding = (uint16_t)(ep->sn - ep->done_sn);
    unsigned flags       = wr->send_flags;
    struct ibv_send_wr *bad;

    wr->wr_id = ((uint64_t)ep->index << 32) | ep->sn;
    wr->next  = NULL;
    if (signal || (outstanding < RC_ALL_SIGNALED) ||
        (++ep->unsignaled >= iface->moderation)) {
        flags |= IBV_SEND_SIGNALED;
        ep->unsignaled = 0;
    }
    if (outstanding + 1 >= RC_POLL_SENT) {
        rc_poll_sends_soon(iface);
    }
    if (ib_unlikely(ep->state & RC_EP_FENCE)) {
        flags |= IBV_SEND_FENCE;
        ep->state &= (uint16_t)~RC_EP_FENCE;
    }
    wr->send_flags = flags;
    if (ib_unlikely(iface->join != NULL)) {
        rc_iwarp_prepare(iface, wr);
    }
    if (ib_unlikely(ibv_post_send(ep->qp, wr, &bad) != 0)) {
        ep->state |= (flags & IBV_SEND_FENCE) ? RC_EP_FENCE : 0;
        /* The last request may be unsignaled */
        ep->unsignaled = (outstanding > 0);
        return UCS_ERR_NO_RESOURCE;
    }
    if (ib_unlikely(iface->join != NULL)) {
        rc_order_posted(iface, ep, wr->opcode);
    }
    ep->user_sn = ++ep->sn;
    --iface->cq_free;
    return UCS_OK;
}

/* Adds an operation that completes with the last request for which a flush
 * waits: after rc_post(), the one just posted. */
static inline void rc_op_add(rc_ep_t *ep, ib_op_t *op)
{
    op->sn        = (uint16_t)(ep->user_sn - 1);
    op->next      = NULL;
    *ep->ops_tail = op;
    ep->ops_tail  = &op->next;
    ++rc_iface_of(ep)->num_ops;
}

/* Returns the header byte of the next message, which rc_post_am() posts. */
static inline uint8_t rc_am_header(rc_iface_t *iface, rc_ep_t *ep, uint8_t id)
{
    uint8_t header = id;

    if (ib_unlikely(ep->since_ask + 1 >= ep->half_window)) {
        header |= RC_AM_ASK;
    }
    if (ib_unlikely(!rc_link_is_alone(&iface->owing))) {
        header |= rc_credits_select(iface, ep);
    }
    return header;
}

/* Posts a message with this header byte, and updates the endpoint's flow
 * control. */
static IB_INLINE ucs_status_t rc_post_am(rc_iface_t *iface, rc_ep_t *ep,
                                         struct ibv_send_wr *wr, uint8_t header,
                                         int signal)
{
    ucs_status_t status;

    if (ib_unlikely(header & RC_AM_GRANT)) {
        rc_credits_attach(iface, ep, wr);
    }
    status = rc_post(iface, ep, wr, signal);
    if (ib_unlikely(status != UCS_OK)) {
        return status;
    }
    ep->credits -= iface->credit_step;
    ep->since_ask = (header & RC_AM_ASK) ? 0 :
                                           ep->since_ask + iface->credit_step;
    if (ib_unlikely(header & RC_AM_GRANT)) {
        rc_credits_carried(iface, ep);
    }
    return UCS_OK;
}

/* rc_wr_inline() and rc_wr_init() set only the members that the providers of
 * libibverbs read for these requests. Clearing the whole structure is slow: the
 * compiler uses a string instruction for it. */

/* Fills a request with inline data. The local keys in `sge` are not used. */
static inline void rc_wr_inline(struct ibv_send_wr *wr,
                                enum ibv_wr_opcode opcode, struct ibv_sge *sge,
                                int num_sge)
{
    wr->opcode     = opcode;
    wr->sg_list    = sge;
    wr->num_sge    = num_sge;
    wr->send_flags = IBV_SEND_INLINE;
}

static inline void rc_wr_init(struct ibv_send_wr *wr, enum ibv_wr_opcode opcode,
                              struct ibv_sge *sge, int num_sge)
{
    wr->opcode              = opcode;
    wr->sg_list             = sge;
    wr->num_sge             = num_sge;
    wr->send_flags          = 0;
    wr->wr.rdma.remote_addr = 0; /* The caller does not set it for writes
                                  * of 0 bytes */
    wr->wr.rdma.rkey        = 0;
}

static inline void rc_wr_remote(struct ibv_send_wr *wr, uint64_t remote_addr,
                                uct_rkey_t rkey)
{
    wr->wr.rdma.remote_addr = remote_addr;
    wr->wr.rdma.rkey        = (uint32_t)rkey;
}

/* Converts the user's vector to scatter/gather entries and skips empty blocks.
 * Returns the number of entries, or -1 if a block has no memory handle or is
 * strided (`count` above 1). */
static inline int rc_sge_of_iov(struct ibv_sge *sge, const uct_iov_t *iov,
                                size_t iovcnt)
{
    int num = 0;

    for (size_t i = 0; i < iovcnt; ++i) {
        if (iov[i].length == 0) {
            continue;
        }
        if (ib_unlikely((iov[i].memh == UCT_MEM_HANDLE_NULL) ||
                        (iov[i].count > 1))) {
            return -1;
        }
        sge[num].addr   = (uintptr_t)iov[i].buffer;
        sge[num].length = (uint32_t)iov[i].length;
        sge[num].lkey   = ib_lkey(iov[i].memh);
        ++num;
    }
    return num;
}

static inline rc_desc_t *rc_desc_get(rc_iface_t *iface)
{
    return ucx_mpool_get(iface->host, iface->descs);
}

/* ib_op_t.done of an rc_desc_t without a completion: releases the buffer. */
void rc_desc_done(rc_ep_t *ep, ib_op_t *op, ucs_status_t status);

/* ib_op_t.done of an rc_user_op_t: calls the user's completion. */
static inline void rc_user_done(rc_ep_t *ep, ib_op_t *op, ucs_status_t status)
{
    rc_user_op_t *user     = (rc_user_op_t *)op;
    uct_completion_t *comp = user->comp;

    ucx_mpool_put(rc_iface_of(ep)->user_ops, op);
    ucx_complete(comp, status);
}

#endif
