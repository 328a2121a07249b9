/* SPDX-License-Identifier: BSD-3-Clause */
/* Registered buffers, the shared receive queue, and received messages. */
#include "rc_iwarp.h"
#include "rc_join.h"
#include "rc_send.h"

#include <stdlib.h>

enum { DATA_ALIGN = 64 };

/* --- Receive buffers ------------------------------------------------------ */

static void recv_put(rc_iface_t *iface, struct ibv_recv_wr *wr)
{
    wr->next         = iface->recv_free;
    iface->recv_free = wr;
    ++iface->num_recv_free;
}

/* Posts free buffers, limited by the size of the completion queue: completions
 * that are not polled yet also use its entries. Buffers that the device rejects
 * stay free. */
static void post(rc_iface_t *iface)
{
    unsigned limit = iface->config.rx_queue_len - iface->num_recv_posted;
    struct ibv_recv_wr *first = iface->recv_free, *last = first, *bad, *next;
    unsigned num = 1;

    if ((first == NULL) || (limit == 0)) {
        return;
    }
    for (; (num < limit) && (last->next != NULL); ++num) {
        last = last->next;
    }
    iface->recv_free = last->next;
    last->next       = NULL;
    iface->num_recv_free -= num;
    iface->num_recv_posted += num;
    if (ib_unlikely(ibv_post_srq_recv(iface->srq, first, &bad) != 0)) {
        for (; bad != NULL; bad = next) {
            next = bad->next;
            recv_put(iface, bad);
            --iface->num_recv_posted;
        }
    }
}

/* Called when the user releases a buffer that was kept. */
static void recv_release(ucx_recv_desc_owner_t *self, void *desc)
{
    rc_iface_t *iface = ib_container_of(self, rc_iface_t, recv_owner);

    --iface->num_recv_kept;
    recv_put(iface, (struct ibv_recv_wr *)((char *)desc + iface->headroom -
                                           iface->recv_data));
}

/* Adds as many buffers as the receive queue has entries. */
static ucs_status_t recv_grow(rc_iface_t *iface)
{
    size_t stride = (iface->recv_data + iface->config.seg_size + DATA_ALIGN -
                     1) &
                    ~(size_t)(DATA_ALIGN - 1);
    unsigned count    = iface->config.rx_queue_len;
    ib_chunk_t *chunk = ib_chunk_map(iface->md, count * stride);
    rc_recv_t *recv;

    if (chunk == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    chunk->next        = iface->recv_chunks;
    iface->recv_chunks = chunk;
    for (unsigned i = 0; i < count; ++i) {
        recv = (rc_recv_t *)((char *)chunk + IB_CHUNK_HEAD + (i * stride));
        recv->sge.addr   = (uintptr_t)recv + iface->recv_data - 1;
        recv->sge.length = (uint32_t)iface->config.seg_size;
        recv->sge.lkey   = chunk->mr->lkey;
        recv->wr.wr_id   = (uintptr_t)recv;
        recv->wr.sg_list = &recv->sge;
        recv->wr.num_sge = 1;
        recv_put(iface, &recv->wr);
    }
    iface->num_recv += count;
    return UCS_OK;
}

ucs_status_t rc_recv_init(rc_iface_t *iface)
{
    ucs_status_t status;

    /* Space for rc_recv_t, the owner's word, the user's headroom, and a
     * message's header byte. */
    iface->recv_data = (sizeof(rc_recv_t) + sizeof(void *) + iface->headroom +
                        1 + DATA_ALIGN - 1) &
                       ~(size_t)(DATA_ALIGN - 1);
    iface->recv_owner.release = recv_release;
    status                    = recv_grow(iface);
    if (status == UCS_OK) {
        post(iface);
    }
    return status;
}

void rc_recv_cleanup(rc_iface_t *iface)
{
    ib_chunk_t *chunk;

    while ((chunk = iface->recv_chunks) != NULL) {
        iface->recv_chunks = chunk->next;
        ib_chunk_unmap(chunk);
    }
}

/* --- Received messages --------------------------------------------------- */

/* Handles one message: flow control, then the user's handler. */
static void deliver(rc_iface_t *iface, rc_recv_t *recv, const struct ibv_wc *wc)
{
    char *data      = (char *)recv + iface->recv_data;
    uint8_t header  = (uint8_t)data[-1];
    unsigned length = wc->byte_len;
    ucs_status_t status;

    /* The receive has failed, or the message has no header byte */
    if (ib_unlikely((wc->status != IBV_WC_SUCCESS) || (length == 0))) {
        recv_put(iface, &recv->wr);
        return;
    }
    if (ib_unlikely(header & (RC_AM_ASK | RC_AM_GRANT))) {
        rc_credits_take(iface, wc, header);
    }
    if (ib_unlikely(header & RC_AM_ONLY_FC)) {
        if ((header & RC_AM_ID_MASK) == RC_AM_BYE) {
            rc_linger_bye(iface, wc->qp_num);
        } else if ((header & RC_AM_ID_MASK) == RC_AM_HELLO) {
            rc_join_greeted(iface, wc->qp_num);
        }
        recv_put(iface, &recv->wr);
        return;
    }
    /* Without headroom the header is a part of the owner's word: read it before
     * the word is set. */
    ucx_recv_desc_set(data - iface->headroom, &iface->recv_owner);
    status = ucx_iface_deliver_am(&iface->super, header & RC_AM_ID_MASK, data,
                                  length - 1, UCT_CB_PARAM_FLAG_DESC);
    if (status == UCS_INPROGRESS) {
        ++iface->num_recv_kept;
    } else {
        recv_put(iface, &recv->wr);
    }
}

/* Returns whether the user keeps more than half of all buffers, or so many that
 * a message for which the peer has a credit might find no buffer. */
static inline int has_too_few(const rc_iface_t *iface)
{
    size_t needed = ib_min(iface->num_given + RC_POST_BATCH,
                           iface->config.rx_queue_len);

    return (iface->num_recv_kept > iface->num_recv / 2) ||
           (iface->num_recv - iface->num_recv_kept < needed);
}

void rc_recv_refill(rc_iface_t *iface)
{
    if (ib_unlikely((iface->num_recv_kept > 0) && has_too_few(iface))) {
        (void)recv_grow(iface);
    }
    if (rc_recv_has_free(iface)) {
        post(iface);
    }
}

void rc_recv_handle(rc_iface_t *iface, const struct ibv_wc *wc, unsigned num)
{
    iface->num_recv_posted -= num;
    if (ib_unlikely(!rc_link_is_alone(&iface->ending))) {
        /* Fewer completions than requested show that the queue is empty. Then
         * all messages that stopped endpoints had received are delivered in
         * this round. */
        iface->recv_seen += (num < iface->config.rx_max_poll) ?
                                iface->config.rx_queue_len :
                                num;
    }
    do {
        deliver(iface, (rc_recv_t *)(uintptr_t)wc->wr_id, wc);
        ++wc;
    } while (--num > 0);
    rc_recv_refill(iface);
}
