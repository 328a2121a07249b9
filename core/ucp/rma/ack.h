/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Acknowledgements of emulated accesses. Both sides count, in order: the
 * initiator the messages that it has sent over an endpoint, the target those
 * that it has carried out for this endpoint. The target tells its count
 *
 *   - at the end of the progress round in which there was a put or a posted
 *     atomic, by one ACK for all of them: before the user of that process runs
 *     again, so that a flush which follows a barrier needs no more of the target
 *   - at once when an access has failed, with the error
 *   - by the answer to a get or a fetching atomic, which acknowledges all that
 *     was sent before this operation, too
 *
 * A flush completes when everything that was sent before it is acknowledged. It
 * sends nothing.
 */
#ifndef UCP_RMA_ACK_H
#define UCP_RMA_ACK_H

#include "ucp/rma/rma.h"
#include "ucp/wireup/introduce.h"

/** Target: queues the endpoint for the ACKs of this progress round. */
void ucp_rma_ack_later(ucp_ep_h ep);

/** Target: an access of `sender` has failed; tells it at once. */
void ucp_rma_ack_failure(ucp_worker_h worker, const ucp_wire_end_t *sender,
                         const char *what, ucs_status_t status);

/** Target: a put or posted atomic of `sender` has been carried out. Hot path. */
static UCS_F_ALWAYS_INLINE void
ucp_rma_ack_count(ucp_worker_h worker, const ucp_wire_end_t *sender)
{
    ucp_ep_h ep = ucp_wireup_reply_ep(worker, sender);

    if (ucs_likely(ep != NULL)) {
        ++ep->rma_handled;
        if (ucs_unlikely(!ep->rma_owes)) {
            ucp_rma_ack_later(ep);
        }
    }
}

/** Target: a get or fetching atomic is about to be answered over `ep`. */
static UCS_F_ALWAYS_INLINE void ucp_rma_ack_by_answer(ucp_ep_h ep)
{
    ep->rma_acked = ++ep->rma_handled;
}

/** Target: the endpoint is being freed. */
void ucp_rma_ack_forget(ucp_ep_h ep);

/** Initiator: everything up to the count is acknowledged; flushes that waited
 *  for it complete. */
void ucp_rma_acked(ucp_ep_h ep, uint32_t count);

/** Initiator: a flush that begins to wait for acknowledgements adds one to the
 *  count of its completion, unless there is nothing to wait for. */
void ucp_rma_ack_wait(ucp_request_t *flush);

/** Initiator: the flush waits no longer; it takes the count back itself. */
void ucp_rma_ack_wait_end(ucp_request_t *flush);

#endif
