/* SPDX-License-Identifier: BSD-3-Clause */
/* Progress: send completions, pending requests, failed endpoints. */
#include "rc_iwarp.h"
#include "rc_join.h"
#include "rc_send.h"

#include <stdlib.h>

/* Converts the status of a failed work request to a UCS status. */
static ucs_status_t status_of(enum ibv_wc_status status)
{
    switch (status) {
    case IBV_WC_RETRY_EXC_ERR:
    case IBV_WC_RNR_RETRY_EXC_ERR:
    case IBV_WC_RESP_TIMEOUT_ERR:
        return UCS_ERR_ENDPOINT_TIMEOUT;
    case IBV_WC_REM_ABORT_ERR:
    case IBV_WC_REM_INV_RD_REQ_ERR:
        return UCS_ERR_CONNECTION_RESET;
    case IBV_WC_REM_ACCESS_ERR:
        return UCS_ERR_INVALID_ADDR;
    case IBV_WC_WR_FLUSH_ERR:
        return UCS_ERR_CANCELED;
    default:
        return UCS_ERR_IO_ERROR;
    }
}

void rc_desc_done(rc_ep_t *ep, ib_op_t *op, ucs_status_t status)
{
    ucx_mpool_put(rc_iface_of(ep)->descs, op);
}

/* Removes the operations of the requests up to and including the sequence
 * number `sn`, and calls the function `done` of each. */
static void end_ops(rc_ep_t *ep, uint16_t sn, ucs_status_t status)
{
    ib_op_t *op;

    ++ep->busy;
    while (((op = ep->ops) != NULL) && ((int16_t)(op->sn - sn) <= 0)) {
        ep->ops = op->next;
        if (ep->ops == NULL) {
            ep->ops_tail = &ep->ops;
        }
        --rc_iface_of(ep)->num_ops;
        op->done(ep, op, status);
    }
    --ep->busy;
}

void rc_complete_to(rc_ep_t *ep, uint16_t sn, ucs_status_t status)
{
    rc_iface_of(ep)->cq_free += (uint16_t)(sn + 1 - ep->done_sn);
    ep->done_sn = (uint16_t)(sn + 1);
    if (ep->ops != NULL) {
        end_ops(ep, sn, status);
    }
    if (ib_unlikely(ep->state & RC_EP_UNSEEN) && (ep->done_sn == ep->sn) &&
        !(ep->state & (RC_EP_FAILED | RC_EP_ZOMBIE))) {
        /* iWARP: no request is outstanding, but nothing shows that all requests
         * have arrived. Post the read that shows this now and not when the user
         * flushes, because the peer may have closed by then. */
        (void)rc_ep_post_empty(ep);
    }
    if (ib_unlikely(ep->state & RC_EP_ZOMBIE)) {
        rc_ep_finish(ep);
    }
}

/*
 * Posts a signaled request to a queue pair in the error state. The device
 * completes this request with an error, after all other requests. Without it,
 * nothing would show that the last requests have ended if they are unsignaled
 * and were acknowledged. The send queue has an entry for this request that
 * rc_check() does not count. If send_cq has no free entry or the
 * request cannot be posted, progress tries again.
 */
static void post_drain(rc_iface_t *iface, rc_ep_t *ep)
{
    struct ibv_send_wr wr;

    ep->state |= RC_EP_DRAIN;
    if (iface->cq_free > 0) {
        rc_wr_init(&wr, IBV_WR_RDMA_WRITE, NULL, 0);
        if (rc_post(iface, ep, &wr, 1) == UCS_OK) {
            ep->state &= (uint16_t)~RC_EP_DRAIN;
            return;
        }
    }
    rc_link_remove(&ep->waiting);
    rc_link_add_tail(&iface->waiting, &ep->waiting);
}

void rc_ep_stop(rc_ep_t *ep)
{
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};
    rc_iface_t *iface       = rc_iface_of(ep);

    (void)ibv_modify_qp(ep->qp, &attr, IBV_QP_STATE);
    /* The receive completion queue contains at most rx_queue_len completions.
     * After so many polled completions, no message of this endpoint is left in
     * the queue. */
    ep->recv_mark = iface->recv_seen + iface->config.rx_queue_len;
}

void rc_ep_fail(rc_ep_t *ep, ucs_status_t status, int tell)
{
    rc_iface_t *iface = rc_iface_of(ep);

    if (ep->state & RC_EP_FAILED) {
        return;
    }
    ep->state |= RC_EP_FAILED;
    ep->status = (int8_t)status;
    /* The device completes the requests that it has not executed, with an
     * error. */
    rc_ep_stop(ep);
    rc_credits_repeat(ep);
    if (iface->watch.is_gone) {
        rc_ep_abandon(ep);
    } else if ((iface->join == NULL) && (ep->done_sn != ep->sn)) {
        post_drain(iface, ep);
    }
    if (tell && !(ep->state & RC_EP_ZOMBIE)) {
        ep->state |= RC_EP_TELL;
        rc_link_remove(&ep->ending);
        rc_link_add_tail(&iface->ending, &ep->ending);
    }
    rc_order_await(ep);
}

void rc_ep_abandon(rc_ep_t *ep)
{
    rc_iface_of(ep)->cq_free += (uint16_t)(ep->sn - ep->done_sn);
    ep->done_sn = ep->sn;
    end_ops(ep, (uint16_t)(ep->sn - 1), (ucs_status_t)ep->status);
}

static inline void completed(rc_iface_t *iface, rc_ep_t *ep, uint16_t sn,
                             ucs_status_t status)
{
    if (ib_unlikely(iface->join != NULL)) {
        rc_order_done(ep, sn, status);
    } else {
        rc_complete_to(ep, sn, status);
    }
}

static void send_failed(rc_iface_t *iface, rc_ep_t *ep, const struct ibv_wc *wc)
{
    const ucx_host_t *host = iface->host;

    if (!(ep->state & RC_EP_FAILED)) {
        ucx_diag("%s:%u: connection 0x%x failed: %s (vendor error 0x%x)",
                 ibv_get_device_name(iface->md->context->device),
                 iface->port.number, ep->qp->qp_num,
                 ibv_wc_status_str(wc->status), wc->vendor_err);
        /* Without an earlier failure, IBV_WC_WR_FLUSH_ERR means that the peer
         * has closed the iWARP connection. */
        rc_ep_fail(ep,
                   (wc->status == IBV_WC_WR_FLUSH_ERR) ?
                       UCS_ERR_CONNECTION_RESET :
                       status_of(wc->status),
                   1);
    }
    completed(iface, ep, (uint16_t)wc->wr_id,
              (wc->status == IBV_WC_WR_FLUSH_ERR) ? (ucs_status_t)ep->status :
                                                    status_of(wc->status));
}

/* Returns whether handling wc[1] includes wc[0]: both are successful
 * completions of the same endpoint, and the second shows that all earlier
 * requests are complete. On iWARP it does not show that (rc_order.c). */
static inline int is_included(const rc_iface_t *iface, const struct ibv_wc *wc)
{
    return (((wc[0].wr_id ^ wc[1].wr_id) >> 32) == 0) &&
           (wc[0].status == IBV_WC_SUCCESS) &&
           (wc[1].status == IBV_WC_SUCCESS) && (iface->join == NULL);
}

static unsigned poll_sends(rc_iface_t *iface)
{
    struct ibv_wc wc[RC_MAX_POLL];
    rc_ep_t *ep;
    int num;

    if (ib_unlikely(iface->watch.is_gone)) {
        return 0; /* rc_ep_abandon() completes the requests of a lost device */
    }
    num = ibv_poll_cq(iface->send_cq, (int)iface->config.tx_max_poll, wc);
    iface->send_cq_empty = num < (int)iface->config.tx_max_poll;
    if (!iface->send_cq_empty) {
        rc_poll_sends_soon(iface);
    }
    for (int i = 0; i < num; ++i) {
        if ((i + 1 < num) && is_included(iface, &wc[i])) {
            continue;
        }
        ep = iface->eps[wc[i].wr_id >> 32];
        if (ib_likely(wc[i].status == IBV_WC_SUCCESS)) {
            completed(iface, ep, (uint16_t)wc[i].wr_id, UCS_OK);
        } else if (ep != NULL) { /* NULL on iWARP: the endpoint was freed, and a
                                  * post that had failed completes anyway */
            send_failed(iface, ep, &wc[i]);
        }
    }
    return (num > 0) ? (unsigned)num : 0;
}

/* Continues the endpoints that wait for send resources: posts what the plugin
 * has to send, or dispatches the user's pending requests. Each endpoint is
 * tried once. */
static unsigned dispatch(rc_iface_t *iface)
{
    unsigned count = 0;
    rc_ep_link_t list;
    rc_ep_t *ep;

    /* Uses a local list, because endpoints that must wait again are added to
     * iface->waiting. */
    list            = iface->waiting;
    list.next->prev = &list;
    list.prev->next = &list;
    rc_link_init(&iface->waiting);
    while (!rc_link_is_alone(&list)) {
        ep = ib_container_of(list.next, rc_ep_t, waiting);
        rc_link_remove(&ep->waiting);
        if (ep->state & RC_EP_DRAIN) {
            post_drain(iface, ep);
            continue;
        }
        if (ib_unlikely((ep->state & (RC_EP_GREETS | RC_EP_JOINING)) ==
                        RC_EP_GREETS)) {
            rc_join_greet(ep);
            continue;
        }
        ++ep->busy;
        count += ucx_pending_dispatch(&ep->pending);
        --ep->busy;
        if (ep->state & RC_EP_ZOMBIE) {
            rc_ep_finish(ep);
        } else if (!ucx_pending_is_empty(&ep->pending) &&
                   rc_link_is_alone(&ep->waiting)) {
            rc_link_add_tail(&iface->waiting, &ep->waiting);
        }
    }
    return count;
}

/* Handles the endpoints in iface->ending whose requests have completed and
 * whose received messages are delivered. Reports failed endpoints to the user,
 * and frees endpoints that the user has destroyed. Returns the number of
 * reports. */
static unsigned end_endpoints(rc_iface_t *iface)
{
    rc_ep_link_t *link, *next;
    unsigned count = 0;
    rc_ep_t *ep;

    for (link = iface->ending.next; link != &iface->ending; link = next) {
        next = link->next;
        ep   = ib_container_of(link, rc_ep_t, ending);
        if (ep->state & (RC_EP_LINGERS | RC_EP_FLUSHING)) {
            if (rc_iwarp_wait(ep)) {
                next = iface->ending.next;
            }
            continue;
        }
        if ((ep->done_sn != ep->sn) || (iface->recv_seen < ep->recv_mark)) {
            continue;
        }
        if (ep->state & RC_EP_ZOMBIE) {
            rc_ep_free(ep);
            continue;
        }
        rc_link_remove(link);
        if (!(ep->state & RC_EP_TELL)) {
            continue;
        }
        ep->state &= (uint16_t)~RC_EP_TELL;
        ++count;
        (void)iface->host->iface_ep_failed(&iface->super, &ep->super,
                                           (ucs_status_t)ep->status);
        /* The error handler may have removed other endpoints from the list. */
        next = iface->ending.next;
    }
    return count;
}

/* Returns whether progress has more to do than to receive. Uses one branch
 * instead of several, because there is mostly nothing to do. */
static inline int has_work(const rc_iface_t *iface)
{
    return (iface->num_ops | (unsigned)((iface->unpolled > RC_POLL_ROUNDS) |
                                        rc_recv_has_free(iface) |
                                        !rc_link_is_alone(&iface->waiting) |
                                        !rc_link_is_alone(&iface->ending) |
                                        !rc_link_is_alone(&iface->owing))) != 0;
}

/* The part of progress other than receiving; `received`: number of receive
 * completions that were handled before. */
static __attribute__((noinline)) unsigned work(rc_iface_t *iface,
                                               unsigned received)
{
    unsigned count = received;

    if (received == 0) {
        iface->recv_seen += iface->config.rx_queue_len; /* recv_cq was empty */
        rc_recv_refill(iface);
    }
    if ((iface->num_ops > 0) || (iface->unpolled > RC_POLL_ROUNDS) ||
        ib_unlikely(!rc_link_is_alone(&iface->waiting) ||
                    !rc_link_is_alone(&iface->ending))) {
        iface->unpolled = 0;
        count += poll_sends(iface);
    }
    if (ib_unlikely(!rc_link_is_alone(&iface->owing))) {
        rc_credits_progress(iface, count > 0);
    }
    if (ib_unlikely(!rc_link_is_alone(&iface->waiting))) {
        count += dispatch(iface);
    }
    if (ib_unlikely(!rc_link_is_alone(&iface->ending))) {
        count += end_endpoints(iface);
    }
    return count;
}

unsigned rc_iface_progress(uct_iface_h uct_iface)
{
    rc_iface_t *iface = (rc_iface_t *)uct_iface;
    struct ibv_wc wc[RC_MAX_POLL];
    int num = ibv_poll_cq(iface->recv_cq, (int)iface->config.rx_max_poll, wc);
    unsigned received = 0;

    if (num > 0) {
        received = (unsigned)num;
        rc_recv_handle(iface, wc, received);
    }
    ++iface->unpolled;
    return has_work(iface) ? work(iface, received) : received;
}
