/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What transports learn while an endpoint lives: how fast data in messages comes
 * to this peer (near cores and far ones differ by a factor of ten, and processes
 * migrate). Now and then, where the choice of a protocol matters, the lane of
 * messages is asked; the answer's class, its power of two, selects among the
 * configurations of the endpoint, which differ in nothing but costs.
 *
 *   config --another class--> a configuration for that class, with the same
 *                             lanes and limits (`whole` tells them apart)
 *
 * Requests under way go on as they began: what they use of a configuration is
 * the same in all of them.
 */
#ifndef UCP_MEASURE_H
#define UCP_MEASURE_H

#include "ucp/core/ep.h"

enum {
    UCP_MEASURE_MIN   = 4096,  /**< Bytes; for less nobody is asked */
    UCP_MEASURE_EVERY = 65536  /**< Asked once for so many bytes */
};

/** Asks the transport, and follows what it says. */
void ucp_ep_measure(ucp_ep_h ep);

/** The class of a bandwidth (bytes/s); 0: not known. `now`: the class so far,
 *  which stays unless it is clearly wrong. */
unsigned ucp_measure_class(double bandwidth, unsigned now);

/** Before the protocol for an operation of `length` bytes is chosen. */
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
