/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Flushing an endpoint's lane, as a step of a close or for the user.
 */
#ifndef UCP_FLUSH_H
#define UCP_FLUSH_H

#include "ucp/core/ep.h"

/** Makes a flush of the request and starts it, behind what already waits. With
 *  `closing` the endpoint is freed when it is done. */
void ucp_flush_start(ucp_request_t *req, ucp_ep_h ep, int closing);

/** Flushes what can be flushed at once. UCS_ERR_NO_RESOURCE: it takes longer, and
 *  goes on in the background. */
ucs_status_t ucp_flush_try(ucp_ep_h ep);

/** What a call with UCP_OP_ATTR_FLAG_FORCE_IMM_CMPL returns that has no buffer and
 *  has ended with `status`. */
ucs_status_ptr_t ucp_flush_tried(ucp_worker_h worker, ucs_status_t status,
                                 const ucp_request_param_t *param);

/** The progress of every flush, by which it is known. */
ucs_status_t ucp_flush_progress(ucp_request_t *req);

/** Before a close takes leave: flushes what the peer has to answer for, as a
 *  request that the close waits for. UCS_OK also if there is nothing. */
ucs_status_t ucp_flush_emulated(ucp_ep_h ep);

/** Starts a flush that holds back accesses issued after it. */
ucs_status_t ucp_flush_as_fence(ucp_ep_h ep);

/** What it waited for is acknowledged: takes the count of that back. */
void ucp_flush_acked(ucp_request_t *req);

/** Nothing of the user's is under way over these lanes any more. */
static inline void ucp_flush_forget(ucp_ep_h ep, ucp_lane_map_t lanes)
{
    ep->remote_lanes &= (ucp_lane_map_t)~lanes;
    ep->remote_dirty &= (ucp_lane_map_t)~lanes;
}

/** What was held behind a fence is about to start: a fence in it begins to
 *  hold what follows. */
void ucp_flush_begins(ucp_request_t *req);

#endif
