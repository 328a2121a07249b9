/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Acknowledgements of emulated accesses (ack.h): the target counts the
 * accesses that it has carried out and sends the count; the initiator
 * completes its flushes.
 */
#include "ucp/rma/ack.h"

#include "ucp/base/ids.h"
#include "ucp/base/life.h"
#include "ucp/order/flush.h"
#include "ucs/debug/log.h"

/* -------------------------------------------------------- target's side -- */

/* An ACK. The count of a queued ACK is read when it is queued, not when it is
 * sent: a later count would include gets whose replies are queued behind the
 * ACK, and acknowledge them before their data is sent. */
typedef struct {
    ucp_ep_h ep;
    uint32_t count;
} ack_t;

static size_t ack_pack(void *dest, void *arg)
{
    const ack_t *ack   = arg;
    ucp_rma_ack_t *msg = dest;

    msg->end    = ucp_le64(ack->ep->peer_ep_id);
    msg->count  = ucp_le32(ack->count);
    msg->status = ucp_ep_rma_bits(ack->ep)->status;
    return sizeof(*msg);
}

static ucs_status_t send_ack(ucp_ep_h ep, uint32_t count)
{
    ack_t ack = {ep, count};
    ssize_t packed;

    /* am_short is not used, because some transports keep short messages until
     * the next progress, which the user may never call. */
    packed = ep->am->ops->am_bcopy(ep->am, UCP_AM_ID_RMA_ACK, ack_pack, &ack,
                                   0);
    if (packed < 0) {
        return (ucs_status_t)packed;
    }
    ucp_ep_rma_bits(ep)->status = UCS_OK;
    return UCS_OK;
}

static void acknowledge(ucp_ep_h ep);

static void queued_end(ucp_request_t *req, ucs_status_t status)
{
    ucp_ep_rma_bits(req->send.ep)->acking = 0;
    ucp_request_complete_send(req, status);
}

static ucs_status_t queued_progress(ucp_request_t *req)
{
    ucp_ep_h ep         = req->send.ep;
    ucs_status_t status = send_ack(ep, ucp_send_flush(req)->rma_issued);

    if (status == UCS_ERR_NO_RESOURCE) {
        return status;
    }
    queued_end(req, status);
    acknowledge(ep); /* Acknowledge the accesses that were carried out since
                      * the ACK was queued, if any */
    return UCS_OK;
}

static const ucp_proto_t ack_proto = {
    .name     = "ack",
    .progress = queued_progress,
    .abort    = queued_end,
};

/* Queues an ACK until there are send resources. `acking` is set until then, so
 * that at most one ACK of an endpoint waits. */
static void queue_ack(ucp_ep_h ep, uint32_t count)
{
    ucp_request_t *req = ucp_request_get_internal(ep->worker);

    if (req == NULL) {
        ucs_error("ep %p: out of memory for an acknowledgement that its peer "
                  "waits for; the endpoint fails",
                  ep);
        ucp_ep_fail_later(ep, UCS_ERR_NO_MEMORY);
        return;
    }
    req->send.ep                    = ep;
    req->send.proto                 = &ack_proto;
    ucp_send_flush(req)->rma_issued = count;
    ucp_ep_rma_bits(ep)->acking     = 1;
    ucp_ep_wait_for_resources(ep, req);
}

/* Sends or queues an ACK if the peer does not have the count yet, or if there
 * is an error to report. Does nothing if the endpoint has failed, or while an
 * ACK is queued: queued_progress() then calls this function again. */
static void acknowledge(ucp_ep_h ep)
{
    ucp_rma_ep_t *rma   = ucp_ep_rma(ep);
    uint32_t count      = rma->handled;
    ucs_status_t status = UCS_ERR_NO_RESOURCE;

    if (((rma->acked == count) && (ucp_ep_rma_bits(ep)->status == UCS_OK)) ||
        ucp_ep_rma_bits(ep)->acking || (ep->flags & UCP_EP_FLAG_FAILED)) {
        return;
    }

    rma->acked = count;
    if (!(ep->flags & UCP_EP_FLAG_BLOCKED)) {
        status = send_ack(ep, count);
    }
    if (status == UCS_ERR_NO_RESOURCE) {
        queue_ack(ep, count);
    } else if (status != UCS_OK) {
        ucs_diag("ep %p: puts of the peer are not acknowledged: %s", ep,
                 ucs_status_string(status));
    }
}

/* Progress callback that sends the ACKs at the end of a progress round (a call
 * of ucp_worker_progress()). ucp_rma_ack_later() adds it as the last callback
 * of the round. It removes itself, so that rounds without accesses have no
 * cost. */
static unsigned acknowledge_all(void *arg)
{
    ucp_worker_h worker   = arg;
    ucp_rma_worker_t *rma = ucp_worker_rma(worker);
    int id                = rma->unacked_cb;
    unsigned count        = 0;
    ucp_ep_h ep;

    rma->unacked_cb = UCS_CALLBACKQ_ID_NULL;
    ucs_callbackq_remove(&worker->uct->progress_q, id);
    while ((ep = rma->unacked) != NULL) {
        rma->unacked              = ucp_ep_rma(ep)->ack_next;
        ucp_ep_rma_bits(ep)->owes = 0;
        acknowledge(ep);
        ++count;
    }
    return count;
}

void ucp_rma_ack_later(ucp_ep_h ep)
{
    ucp_worker_h worker = ep->worker;

    if (ucp_worker_rma(worker)->unacked_cb == UCS_CALLBACKQ_ID_NULL) {
        ucp_worker_rma(worker)->unacked_cb = ucs_callbackq_add(
            &worker->uct->progress_q, acknowledge_all, worker);
    }
    if (ucs_unlikely(ucp_worker_rma(worker)->unacked_cb ==
                     UCS_CALLBACKQ_ID_NULL)) {
        acknowledge(ep); /* No memory for the callback: acknowledge now instead
                          * of at the end of the round */
        return;
    }
    ucp_ep_rma_bits(ep)->owes       = 1;
    ucp_ep_rma(ep)->ack_next        = ucp_worker_rma(worker)->unacked;
    ucp_worker_rma(worker)->unacked = ep;
}

void ucp_rma_ack_failure(ucp_worker_h worker, const ucp_wire_end_t *sender,
                         const char *what, ucs_status_t status)
{
    ucp_ep_h ep = ucp_wireup_reply_ep(worker, sender);

    ucs_diag("rejected a %s by worker %lx: %s", what,
             ucp_le64_get(sender->worker_uuid), ucs_status_string(status));
    if (ep == NULL) {
        return;
    }

    ++ucp_ep_rma(ep)->handled;
    if (ucp_ep_rma_bits(ep)->status == UCS_OK) {
        ucp_ep_rma_bits(ep)->status = (int8_t)status;
    }
    acknowledge(ep); /* At once: the failed access has been counted, and the
                      * reply to a later get would acknowledge it without the
                      * error */
}

void ucp_rma_ack_forget(ucp_ep_h ep)
{
    ucp_ep_h *link;

    if (ucp_ep_rma_bits(ep)->owes) {
        for (link = &ucp_worker_rma(ep->worker)->unacked; *link != ep;
             link = &ucp_ep_rma(*link)->ack_next) {
        }
        *link = ucp_ep_rma(ep)->ack_next;
    }
}

/* ----------------------------------------------------- initiator's side -- */

ucs_status_t ucp_rma_ack_handler(void *arg, void *data, size_t length,
                                 unsigned flags)
{
    ucp_worker_h worker      = arg;
    const ucp_rma_ack_t *msg = data;
    ucp_ep_h ep              = NULL;
    uint64_t end             = 0;
    ucs_status_t status;
    uint32_t count;

    if (length == sizeof(*msg)) {
        end = ucp_le64_get(msg->end);
        ep  = ucp_id_get(worker->ep_ids, end & UINT32_MAX);
    }
    if ((ep == NULL) || (ep->secret != (uint32_t)(end >> 32))) {
        ucs_debug("dropped an acknowledgement of %zu bytes: no such endpoint",
                  length);
        return UCS_OK;
    }

    count  = ucp_le32_get(msg->count);
    status = ucp_rma_wire_status(msg->status);
    if ((count - ep->rma_done) > (ep->rma_issued - ep->rma_done)) {
        /* This may be an ACK that a reply has overtaken: its error is still
         * recorded below. */
        ucs_debug("ep %p: an acknowledgement of %u accesses is out of order",
                  ep, count);
        count = ep->rma_done;
    }
    if ((status != UCS_OK) && (ep->lost_status == UCS_OK)) {
        ep->lost_status = (int8_t)status;
    }
    ucp_rma_acked(ep, count);
    return UCS_OK;
}
