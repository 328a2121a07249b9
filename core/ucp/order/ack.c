/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Flushes that wait until the peer has acknowledged emulated accesses (puts,
 * gets and atomics that it carries out because a message requests them, see
 * rma/ack.h). The flushes form the ring ep->rma_flushes.
 */
#include "ucp/order/flush.h"

static void push_flush(ucp_ep_h ep, ucs_queue_elem_t *flush)
{
    ucs_queue_elem_t *last = ep->rma_flushes;

    flush->next     = flush;
    ep->rma_flushes = flush;
    if (last != NULL) {
        flush->next = last->next;
        last->next  = flush;
    }
}

static void remove_flush(ucp_ep_h ep, ucs_queue_elem_t *flush)
{
    ucs_queue_elem_t *before = ep->rma_flushes;

    /* For the first flush the loop ends at once, because ep->rma_flushes is the
     * last one of the ring */
    while (before->next != flush) {
        before = before->next;
    }
    before->next = flush->next;
    if (ep->rma_flushes == flush) {
        ep->rma_flushes = (before == flush) ? NULL : before;
    }
}

void ucp_rma_ack_wait(ucp_request_t *flush)
{
    ucp_ep_h ep = flush->send.ep;

    if ((ep->rma_issued == ep->rma_done) || ucp_send_flush(flush)->unacked) {
        return;
    }

    ucp_send_flush(flush)->unacked    = 1;
    ucp_send_flush(flush)->rma_issued = ep->rma_issued;
    push_flush(ep, &ucp_send_flush(flush)->queue);
    if (!(flush->flags & UCP_REQUEST_FLAG_ON_EP)) {
        ucp_request_ep_add(flush, ep);
    }
    ++flush->send.comp.count;
}

void ucp_rma_ack_wait_end(ucp_request_t *flush)
{
    ucp_send_flush(flush)->unacked = 0;
    remove_flush(flush->send.ep, &ucp_send_flush(flush)->queue);
}

static ucp_request_t *of_queue(ucs_queue_elem_t *elem)
{
    ucp_flush_t *flush = ucs_container_of(elem, ucp_flush_t, queue);

    return ucs_container_of(flush, ucp_request_t, send.op);
}

void ucp_rma_acked(ucp_ep_h ep, uint32_t count)
{
    ucp_request_t *flush;

    if ((int32_t)(count - ep->rma_done) <= 0) {
        /* The count is old: a later acknowledgement was received before this
         * one */
        return;
    }

    ep->rma_done = count;
    if (ep->rma_done == ep->rma_issued) {
        ep->flags &= ~UCP_EP_FLAG_ORDERED;
    }
    while (ep->rma_flushes != NULL) {
        flush = of_queue(ep->rma_flushes->next);
        if ((int32_t)(ucp_send_flush(flush)->rma_issued - ep->rma_done) > 0) {
            break;
        }
        ucp_rma_ack_wait_end(flush);
        ucp_flush_acked(flush);
    }
}
