/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Flush of an endpoint: of its lanes, and of emulated accesses (puts, gets and
 * atomics that it has sent as messages, and that the peer carries out). For the
 * user's flush, or as a step of a fence or a close.
 */
#ifndef UCP_FLUSH_H
#define UCP_FLUSH_H

#include "ucp/order/queue.h"

/** The flushes of a close. */
enum {
    /** Of the user's operations */
    UCP_FLUSH_CLOSE = 1,
    /** Of the last message to the peer, which follows. All operations of the
     *  user are complete, so a loss of the peer is not an error */
    UCP_FLUSH_LEAVE = 2,
};

typedef struct ucp_flush {
    /** For a fence: requests that wait until this flush is complete */
    ucs_queue_head_t held;
    /** Link in the ring ep->rma_flushes; used with `unacked` */
    ucs_queue_elem_t queue;
    /** Used with `unacked`: value that ep->rma_done has to reach, that of
     *  ep->rma_issued when the flush was added to the ring */
    uint32_t rma_issued;
    /** 1: the flush is in the ring ep->rma_flushes, because it waits for
     *  acknowledgements */
    uint8_t unacked;
    /** UCP_FLUSH_CLOSE or UCP_FLUSH_LEAVE: a flush of a close; else 0 */
    uint8_t closing;
    /** 1: the library has created the endpoint (UCP_EP_FLAG_INTERNAL) */
    uint8_t internal;
    /** The user's flush of the whole worker that started this flush; or NULL */
    ucp_request_t *parent;
    /** In the flush of a whole worker: number of its flushes of endpoints that
     *  are incomplete, plus one until all of them were started */
    unsigned children;
    /** Id of the endpoint (ucp_ep::id) if this is a flush of ucp_flush_try()
     *  that continues in the background; else 0 */
    uint32_t tried;
    /** Id of the endpoint (ucp_ep::id) if this flush waits until data over a
     *  lane is in the peer's memory; else 0 */
    uint32_t remote_ep_id;
} ucp_flush_t;

UCP_AREA_ACCESSOR(ucp_send_flush, ucp_request_t, send.op, ucp_flush_t)

/** Marks a request as a flush or, with `closing`, as a close, for
 *  ucp_request_query. Such requests have no buffer. */
static inline void ucp_request_is_flush(ucp_request_t *req, int closing)
{
    req->dt.length               = 0;
    req->dt.mem_type             = UCS_MEMORY_TYPE_UNKNOWN;
    ucp_send_flush(req)->closing = (uint8_t)closing;
}

/** Initializes the request as a flush, and starts it behind the operations that
 *  already wait in the endpoint's queue. `closing`: 0, or UCP_FLUSH_CLOSE or
 *  UCP_FLUSH_LEAVE, after which the endpoint is freed. */
void ucp_flush_start(ucp_request_t *req, ucp_ep_h ep, int closing);

/** Flushes the endpoint if this is possible at once. Otherwise returns
 *  UCS_ERR_NO_RESOURCE; the flush then continues in the background, so that a
 *  later call may succeed. */
ucs_status_t ucp_flush_try(ucp_ep_h ep);

/** For flush and close with UCP_OP_ATTR_FLAG_FORCE_IMM_CMPL: returns the result
 *  of the user's call. The result is `status`; but after a success with
 *  UCP_OP_ATTR_FLAG_NO_IMM_CMPL it is a complete request. */
ucs_status_ptr_t ucp_flush_tried(ucp_worker_h worker, ucs_status_t status,
                                 const ucp_request_param_t *param);

/** First step of a close: starts a flush if emulated accesses are not
 *  acknowledged, or operations wait in the queue or for a fence. The close
 *  waits for this flush, which is an internal request in ep->awaited. Returns
 *  UCS_OK also if no flush is needed. */
ucs_status_t ucp_flush_emulated(ucp_ep_h ep);

/** Implements a fence: starts a flush in the background, for which later
 *  operations of the user wait (fence.h). */
ucs_status_t ucp_flush_as_fence(ucp_ep_h ep);

/** Called when the peer has acknowledged the emulated accesses that this flush
 *  waits for. */
void ucp_flush_acked(ucp_request_t *req);

/** Records that the user's puts, gets and atomics over these lanes are
 *  complete, so that a flush need not wait for them. */
static inline void ucp_flush_forget(ucp_ep_h ep, ucp_lane_map_t lanes)
{
    ep->remote_lanes &= (ucp_lane_map_t)~lanes;
    ep->remote_dirty &= (ucp_lane_map_t)~lanes;
}

/** If the request is a flush that implements a fence, makes later requests wait
 *  for this flush. Called before the request is started or, after it has waited
 *  for an earlier fence, moved to the endpoint's queue. */
void ucp_flush_begins(ucp_request_t *req);

/* Emulated accesses: the peer acknowledges that it has carried them out, see
 * rma/ack.h. */

/** Called when the peer has acknowledged the first `count` emulated accesses of
 *  the endpoint (counted like ep->rma_issued): completes the flushes that
 *  waited for them. */
void ucp_rma_acked(ucp_ep_h ep, uint32_t count);

/** If the peer has not acknowledged all emulated accesses, adds the flush to
 *  ep->rma_flushes and increases the count of its completion (send.comp) by
 *  one. */
void ucp_rma_ack_wait(ucp_request_t *flush);

/** Removes the flush from ep->rma_flushes. The caller decreases the count of
 *  the completion. */
void ucp_rma_ack_wait_end(ucp_request_t *flush);

#endif
