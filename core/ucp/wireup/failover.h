/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Failover: an endpoint continues without a lane that has failed, unless that
 * is lane 0.
 *
 *   lane 0     Its messages are in order and not counted: it is unknown which
 *              have arrived. The endpoint fails, too.
 *   another    The endpoint continues without it. Operations in flight over it:
 *                rendezvous by get or put   restart over the other lanes
 *                the user's gets            likewise
 *                puts, atomics              complete with the error; for those
 *                                           that had completed, the next flush
 *                                           returns it
 *
 *   config --lane fails--> a configuration for the remaining lanes, with the
 *                          same lane numbers (identified by `whole`)
 */
#ifndef UCP_FAILOVER_H
#define UCP_FAILOVER_H

#include "ucp/proto/ep.h"

/** Called when the transport's endpoint of a lane has failed. Returns zero if
 *  the endpoint fails, too. */
int ucp_failover(ucp_ep_h ep, uct_ep_h uct, ucs_status_t status);

/** Called when a lane has returned an error for an operation. The transport may
 *  not have reported the failure yet, so the next progress gives the lane up.
 *  Returns non-zero if the caller shall use other lanes. Returns zero if the
 *  lane is kept, because it is lane 0, memory is exhausted or the endpoint has
 *  failed. */
int ucp_failover_suspect(ucp_ep_h ep, unsigned lane, ucs_status_t status);

/** Returns the lanes that must not get operations. */
static inline ucp_lane_map_t ucp_failover_avoid(ucp_ep_h ep)
{
    return ep->config->lost | ep->suspects;
}

/** Gives up the suspected lanes; called from progress. */
void ucp_failover_suspects(ucp_ep_h ep);

#endif
