/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Look-ups in an endpoint and its configuration: whether the endpoint has a
 * transport's endpoint as a lane, and the memory domain of a lane. Protocols
 * include this file to get all definitions for endpoints.
 */
#ifndef UCP_PROTO_EP_H
#define UCP_PROTO_EP_H

#include "ucp/base/ep.h"
#include "ucp/base/life.h"
#include "ucp/proto/proto.h"

static inline int ucp_ep_has_lane(ucp_ep_h ep, uct_ep_h uct)
{
    unsigned i;

    for (i = 0; i < ep->config->num_lanes; ++i) {
        if (ucp_ep_lane(ep, i) == uct) {
            return 1;
        }
    }
    return 0;
}

/** Returns the index in ucp_context::mds of a lane's memory domain in this
 *  process. The member remote_md of the lane's configuration is the index at
 *  the peer. */
static inline unsigned ucp_ep_lane_md_index(ucp_ep_h ep, unsigned lane)
{
    return ep->config->lanes[lane].md_index;
}

static inline const ucp_md_t *ucp_ep_lane_domain(ucp_ep_h ep, unsigned lane)
{
    return &ep->worker->context->mds[ucp_ep_lane_md_index(ep, lane)];
}

#endif
