/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bandwidths that transports measure while an endpoint exists: how fast data
 * in messages reaches this peer (same and remote caches differ by a factor of
 * ten, and processes migrate). From time to time, where it affects the
 * protocol selection, the lane for messages is queried. The class of the
 * result, its power of two, selects one of the endpoint's configurations,
 * which differ in costs only.
 *
 *   config --another class--> a configuration for that class, with the same
 *                             lanes and limits (identified by `whole`)
 *
 * Requests in flight continue: what they use of a configuration is the same in
 * all of them.
 */
#ifndef UCP_MEASURE_H
#define UCP_MEASURE_H

#include "ucp/core/ep.h"

enum {
    UCP_MEASURE_MIN   = 4096,  /**< Bytes; shorter operations do not query */
    UCP_MEASURE_EVERY = 65536  /**< Bytes between two queries */
};

/** Queries the transport and changes the endpoint's configuration if needed. */
void ucp_ep_measure(ucp_ep_h ep);

/** The class of a bandwidth (bytes/s); 0: unknown. `now`: the current class,
 *  which is kept unless the bandwidth is clearly outside it. */
unsigned ucp_measure_class(double bandwidth, unsigned now);

/** Called before the protocol for an operation of `length`
 *  bytes is selected. */
static UCS_F_ALWAYS_INLINE void ucp_measure_before(ucp_ep_h ep, size_t length)
{
    if (length >= UCP_MEASURE_MIN) {
        if (length >= ep->unmeasured) {
            ucp_ep_measure(ep);
        } else {
            ep->unmeasured -= (uint32_t)length;
        }
    }
}

#endif
