/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The queue of an endpoint: requests that wait for send resources, the start
 * of requests, messages of the library (control messages), and sends that
 * complete in the next progress (deferred).
 */
#ifndef UCP_QUEUE_H
#define UCP_QUEUE_H

#include "ucp/proto/ep.h"

/** Prepares the queue of a new endpoint. */
void ucp_ep_queue_init(ucp_ep_h ep);

/** Pending callback of the transport for a lane other than the first: the lane
 *  has send resources again. */
ucs_status_t ucp_ep_lane_resume(uct_pending_req_t *self);

/** ucp_ep_hold(): later operations wait in the endpoint's queue, for example
 *  until its lanes are connected. ucp_ep_resume(): sends the operations in the
 *  queue. */
void ucp_ep_hold(ucp_ep_h ep);
void ucp_ep_resume(ucp_ep_h ep);

/**
 * A request whose data is being copied in the background sets its lane to
 * UCP_NULL_LANE and waits in the queue like one that waits for send resources.
 * ucp_ep_copied() is called when such a copy is complete: if the first request
 * in the queue waits for a copy, sends the requests in the queue.
 */
void ucp_ep_copied(ucp_ep_h ep);

/** Appends a request to the queue of those that wait for send resources. */
void ucp_ep_wait_for_resources(ucp_ep_h ep, ucp_request_t *req);

/**
 * Progresses a send until it is complete or waits for send resources of its
 * endpoint. It does not overtake requests that already wait.
 */
void ucp_request_start(ucp_request_t *req);

/** Sends a small message of the library: at once, or as a copy when there are
 *  send resources. It is in order with the other messages of the endpoint. */
ucs_status_t ucp_ep_send_control(ucp_ep_h ep, uint8_t am_id,
                                 const void *message, size_t length);

/** As ucp_ep_send_control(), but in order with the user's operations: if a
 *  fence delays these, the message waits for the fence, too. */
ucs_status_t ucp_ep_send_in_order(ucp_ep_h ep, uint8_t am_id,
                                  const void *message, size_t length);

/** Sends a message to the peer at once, ahead of requests that wait for send
 *  resources. If the lane does not accept it, uses another endpoint to the
 *  same worker. Best effort. */
void ucp_ep_send_urgent(ucp_ep_h ep, uint8_t am_id, const void *message,
                        size_t length);

/** Completes deferred sends: the transport had accepted their data and sends
 *  it in a later progress. */
void ucp_worker_complete_deferred(ucp_worker_h worker, ucs_queue_head_t *queue);

/** Completes the deferred sends of one endpoint, after its flush. */
void ucp_worker_complete_deferred_of(ucp_worker_h worker, ucp_ep_h ep);

#endif
