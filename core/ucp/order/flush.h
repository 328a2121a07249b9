/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Flush of an endpoint: of its lanes, and of the puts, gets and atomics that
 * it has sent as messages (emulated). For the user's flush, or as a step of a
 * fence or a close.
 */
#ifndef UCP_FLUSH_H
#define UCP_FLUSH_H

#include "ucp/order/queue.h"

/** State of a flush. */
typedef struct ucp_flush {
    ucs_queue_head_t held;  /**< For a fence: operations that wait until this
                             *   flush is complete */
    ucs_queue_elem_t queue; /**< Used with `unacked` */
    uint32_t rma_issued;    /**< Value of ep->rma_issued at the start: the peer
                             *   must acknowledge that many emulated accesses */
    uint8_t unacked;        /**< In the ring ep->rma_flushes: waits for that
                             *   acknowledgement */
    uint8_t closing;
    ucp_request_t *parent; /**< The worker's flush that started this one, or
                            *   NULL */
    /** In a worker's flush: incomplete flushes of endpoints */
    unsigned children;
    /** Id of the endpoint if the flush continues in the background after
     *  ucp_flush_try(), else 0 */
    uint32_t tried;
    /** Id of the endpoint if a flush of a lane up to the peer's memory has
     *  started, else 0 */
    uint32_t remote_ep_id;
} ucp_flush_t;

UCP_AREA_ACCESSOR(ucp_send_flush, ucp_request_t, send.op, ucp_flush_t)

/** Marks a user's request as a flush or, with `closing`, as a close. Such
 *  requests have no buffer. */
static inline void ucp_request_is_flush(ucp_request_t *req, int closing)
{
    req->dt.length               = 0;
    req->dt.mem_type             = UCS_MEMORY_TYPE_UNKNOWN;
    ucp_send_flush(req)->closing = (uint8_t)closing;
}

/** Initializes the request as a flush and starts it behind the operations that
 *  already wait. With `closing` the endpoint is freed when the flush
 *  completes. */
void ucp_flush_start(ucp_request_t *req, ucp_ep_h ep, int closing);

/** Flushes the endpoint without waiting. Returns UCS_ERR_NO_RESOURCE if it is
 *  not complete: the flush continues in the background, and a later call may
 *  succeed. */
ucs_status_t ucp_flush_try(ucp_ep_h ep);

/** Returns the result of a call with UCP_OP_ATTR_FLAG_FORCE_IMM_CMPL that has
 *  no buffer and has completed with `status`. */
ucs_status_ptr_t ucp_flush_tried(ucp_worker_h worker, ucs_status_t status,
                                 const ucp_request_param_t *param);

/** First step of a close: starts a flush of emulated accesses and queued
 *  operations, by an internal request for which the close waits (ep->awaited).
 *  Returns UCS_OK also if there is nothing to flush. */
ucs_status_t ucp_flush_emulated(ucp_ep_h ep);

/** Implements a fence: starts a flush that holds back later operations of the
 *  user. */
ucs_status_t ucp_flush_as_fence(ucp_ep_h ep);

/** Called when the emulated accesses that the flush waits for are
 *  acknowledged. */
void ucp_flush_acked(ucp_request_t *req);

/** Records that the user's puts, gets and atomics over these lanes are
 *  complete. */
static inline void ucp_flush_forget(ucp_ep_h ep, ucp_lane_map_t lanes)
{
    ep->remote_lanes &= (ucp_lane_map_t)~lanes;
    ep->remote_dirty &= (ucp_lane_map_t)~lanes;
}

/** Called when a request that a fence has held back is queued. If the request
 *  is itself a flush for a fence, the requests behind it are held back
 *  again. */
void ucp_flush_begins(ucp_request_t *req);

/* Emulated accesses, which peers acknowledge: see rma/ack.h. */

/** Called when the peer has acknowledged the first `count` emulated accesses
 *  of the endpoint: completes the flushes that waited for them. */
void ucp_rma_acked(ucp_ep_h ep, uint32_t count);

/** Makes the flush wait for unacknowledged accesses, if there are any: then the
 *  count of its completion is increased by one. */
void ucp_rma_ack_wait(ucp_request_t *flush);

/** Ends the wait that ucp_rma_ack_wait() has begun; the caller decreases the
 *  count. */
void ucp_rma_ack_wait_end(ucp_request_t *flush);

#endif
