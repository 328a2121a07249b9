/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Failover: an endpoint goes on without a lane that has failed, as long as it
 * is not the first.
 *
 *   lane 0     its messages are in order and are not counted: nobody knows
 *              which of them have arrived. The endpoint fails with it.
 *   another    the endpoint goes on without it. What was under way over it:
 *                rendezvous, fetched or put   begun again over the others
 *                the user's gets              likewise
 *                puts, atomics                end with the error, if they have
 *                                             not ended before; those that have
 *                                             make the next flush return it
 *
 *   config --lane fails--> a configuration of its own for what is left, with
 *                          the same numbers of lanes (`whole` tells them apart)
 */
#ifndef UCP_FAILOVER_H
#define UCP_FAILOVER_H

#include "ucp/core/ep.h"

/** The transport's endpoint of some lane can do no more. Zero: neither can the
 *  endpoint. */
int ucp_failover(ucp_ep_h ep, uct_ep_h uct, ucs_status_t status);

/** A lane has refused an operation with an error. If that is a failed endpoint's
 *  the lane is given up, from the next progress: the transport may not have told
 *  yet. Non-zero: so it is, and others are to be used from now on. */
int ucp_failover_suspect(ucp_ep_h ep, unsigned lane, ucs_status_t status);

/** Lanes that no operation is to be given. */
static inline ucp_lane_map_t ucp_failover_avoid(ucp_ep_h ep)
{
    return ep->config->lost | ep->suspects;
}

/** Gives up those lanes; from progress. */
void ucp_failover_suspects(ucp_ep_h ep);

#endif
