/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The queue of an endpoint (ep->waiting): requests that cannot be sent yet,
 * usually because there are no send resources. Also the start of requests,
 * messages of the library itself (control messages), and deferred sends, which
 * complete in the next progress.
 */
#ifndef UCP_QUEUE_H
#define UCP_QUEUE_H

#include "ucp/proto/ep.h"

void ucp_ep_queue_init(ucp_ep_h ep);

/** Callback of the transport's pending queue for a lane other than lane 0: the
 *  lane has send resources again. */
ucs_status_t ucp_ep_lane_resume(uct_pending_req_t *self);

/** ucp_ep_hold() makes later operations wait in the endpoint's queue, for
 *  example until its lanes are connected. ucp_ep_resume() sends the operations
 *  in the queue. */
void ucp_ep_hold(ucp_ep_h ep);
void ucp_ep_resume(ucp_ep_h ep);

/**
 * Called after an event, other than new send resources, that a request in the
 * queue may wait for: a background copy of its data has ended, or the peer has
 * agreed to tag offload. The `lane` of such a request is UCP_NULL_LANE. If the
 * first request in the queue is one, sends the requests in the queue.
 */
void ucp_ep_continue(ucp_ep_h ep);

/** Appends a request to the endpoint's queue. */
void ucp_ep_wait_for_resources(ucp_ep_h ep, ucp_request_t *req);

/** Puts a request, whose lane has no send resources, at the front of the
 *  endpoint's queue, which must not be empty. */
void ucp_ep_wait_in_front(ucp_ep_h ep, ucp_request_t *req);

/**
 * Starts a send: calls the progress function of the request until the request
 * is complete or waits for send resources. If other requests of the endpoint
 * already wait, the request is appended to the queue behind them.
 */
void ucp_request_start(ucp_request_t *req);

/** Sends a small message of the library: at once or, if there are no send
 *  resources, later from a copy. It stays in order with the other messages of
 *  the endpoint. */
ucs_status_t ucp_ep_send_control(ucp_ep_h ep, uint8_t am_id,
                                 const void *message, size_t length);

/** As ucp_ep_send_control(). But if called while a request of the queue is
 *  being sent, for example by the completion of that request, the message
 *  follows that request, ahead of the rest of the queue. */
ucs_status_t ucp_ep_send_next(ucp_ep_h ep, uint8_t am_id, const void *message,
                              size_t length);

/** As ucp_ep_send_control(), but if the user's operations have to wait for a
 *  fence, the message waits, too, so that it stays in order with them. */
ucs_status_t ucp_ep_send_in_order(ucp_ep_h ep, uint8_t am_id,
                                  const void *message, size_t length);

/** As ucp_ep_send_control(), but ahead of the requests in the queue: not in
 *  order with the other messages of the endpoint. For a message that a peer
 *  waits for while the queue may wait for a message of that peer. */
ucs_status_t ucp_ep_send_ahead(ucp_ep_h ep, uint8_t am_id, const void *message,
                               size_t length);

/** Sends a small message to the peer at once, ahead of the requests in the
 *  queue. If lane 0 cannot send the message now, passes it to
 *  ucp_ep_send_control() for another endpoint to the same worker. Best effort:
 *  the message may be lost. */
void ucp_ep_send_urgent(ucp_ep_h ep, uint8_t am_id, const void *message,
                        size_t length);

/** Completes the deferred sends in `queue`: the transport had copied their
 *  data, and has sent it by now. */
void ucp_worker_complete_deferred(ucp_worker_h worker, ucs_queue_head_t *queue);

/** Completes the deferred sends of one endpoint, after a flush of the endpoint
 *  has sent their data. */
void ucp_worker_complete_deferred_of(ucp_worker_h worker, ucp_ep_h ep);

#endif
