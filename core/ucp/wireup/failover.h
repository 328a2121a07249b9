/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Failover: an endpoint continues without a lane that has failed, unless that
 * is lane 0.
 *
 *   lane 0     Its messages are in order and have no sequence numbers: it is
 *              unknown which have arrived. The endpoint fails, too.
 *   another    The endpoint continues without it. Operations in flight over it:
 *                rendezvous by get or put,    restart over the other lanes
 *                the user's zero-copy gets
 *                puts, atomics, other gets    complete with the error
 *              If puts or atomics over this lane were already complete for the
 *              user, the next flush returns the error.
 *
 * The endpoint then has a configuration without the failed lane. The other
 * lanes keep their numbers.
 */
#ifndef UCP_FAILOVER_H
#define UCP_FAILOVER_H

#include "ucp/proto/ep.h"

/** Called when `uct`, the transport's endpoint of a lane, has failed with
 *  `status`. Returns non-zero if the UCP endpoint continues without this lane;
 *  zero if the caller has to make the UCP endpoint fail. */
int ucp_failover(ucp_ep_h ep, uct_ep_h uct, ucs_status_t status);

/** Called when a lane has returned an error for an operation. Returns non-zero
 *  if the caller shall repeat the operation over other lanes; the next progress
 *  removes the lane from the endpoint, even if the transport never reports a
 *  failure of the lane. Returns zero if the lane is kept, because it is lane 0,
 *  memory is exhausted or the endpoint has failed. */
int ucp_failover_suspect(ucp_ep_h ep, unsigned lane, ucs_status_t status);

/** Returns the lanes that must not get operations: they have failed, or are
 *  about to be removed. */
static inline ucp_lane_map_t ucp_failover_avoid(ucp_ep_h ep)
{
    return ep->config->lost | ep->suspects;
}

/** Removes the lanes of ucp_failover_suspect() from the endpoint, or makes the
 *  endpoint fail if that is not possible. Called from progress. */
void ucp_failover_suspects(ucp_ep_h ep);

#endif
