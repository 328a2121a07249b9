/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Acknowledgements of emulated accesses, that is, of puts, gets and atomics
 * that are sent as messages and carried out by the target's processor. Both
 * sides count in order: the initiator counts the messages that it sends over
 * an endpoint, the target counts those of this endpoint that it has carried out
 * or rejected. The target sends its count
 *
 *   - at the end of the progress round (a call of ucp_worker_progress()), one
 *     ACK for all puts and posted atomics of the round. Unless send resources
 *     are exhausted, the ACK is sent before that call returns, so that a flush
 *     after a barrier does not depend on further progress of the target
 *   - at once when a put or an atomic fails, with the error
 *   - with the reply to a get or a fetching atomic, which also acknowledges
 *     all accesses that were sent before it
 *
 * A flush waits until all emulated accesses that were sent before it are
 * acknowledged. It sends no message for this.
 */
#ifndef UCP_RMA_ACK_H
#define UCP_RMA_ACK_H

#include "ucp/order/flush.h"
#include "ucp/rma/rma.h"
#include "ucp/wireup/introduce.h"

/** Target: makes `ep`, which replies to a peer, send an ACK to this peer at the
 *  end of the progress round. */
void ucp_rma_ack_later(ucp_ep_h ep);

/** Target: called when a put or an atomic of the peer's endpoint `sender` has
 *  failed; sends the error at once. `what`: the kind of access, for a log
 *  message. */
void ucp_rma_ack_failure(ucp_worker_h worker, const ucp_wire_end_t *sender,
                         const char *what, ucs_status_t status);

/** Target: called when a put or posted atomic of `sender` has been carried out.
 *  Hot path. */
static UCS_F_ALWAYS_INLINE void ucp_rma_ack_count(ucp_worker_h worker,
                                                  const ucp_wire_end_t *sender)
{
    ucp_ep_h ep = ucp_wireup_reply_ep(worker, sender);

    if (ucs_likely(ep != NULL)) {
        ++ucp_ep_rma(ep)->handled;
        if (ucs_unlikely(!ucp_ep_rma_bits(ep)->owes)) {
            ucp_rma_ack_later(ep);
        }
    }
}

/** Target: called before `ep` sends the reply to a get or a fetching atomic:
 *  counts this access as carried out, and all accesses so far as
 *  acknowledged. */
static UCS_F_ALWAYS_INLINE void ucp_rma_ack_by_reply(ucp_ep_h ep)
{
    ucp_ep_rma(ep)->acked = ++ucp_ep_rma(ep)->handled;
}

/** Target: called when the endpoint is freed; removes it from the list of
 *  endpoints that send an ACK. */
void ucp_rma_ack_forget(ucp_ep_h ep);

#endif
