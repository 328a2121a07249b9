/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bandwidths that transports measure while an endpoint exists: how fast data in
 * messages reaches this peer (same and remote caches differ by a factor of ten,
 * and processes migrate), and how fast large put and get are on this processor.
 * Where it affects the protocol selection, the lanes are queried from time to
 * time. The classes of the results select one of the endpoint's configurations,
 * which differ in costs only.
 *
 *   config --other classes--> a configuration for those classes, with the same
 *                             lanes and limits (identified by `whole`)
 *
 * Requests in flight continue, because the members of a configuration that they
 * use are the same in all of these configurations.
 */
#ifndef UCP_MEASURE_H
#define UCP_MEASURE_H

#include "ucp/proto/ep.h"

enum {
    UCP_MEASURE_MIN      = 4096, /**< Bytes; shorter operations do not query */
    /** Minimum in bytes for the lane of large put and get: its transport may
     *  copy for a tenth of a millisecond at its first query */
    UCP_MEASURE_COPY_MIN = 32768,
    UCP_MEASURE_EVERY    = 65536, /**< Bytes between two queries */
};

/** Queries the transports and changes the endpoint's configuration if needed.
 *  `length`: bytes of the operation that is about to start. */
void ucp_ep_measure(ucp_ep_h ep, size_t length);

/** Returns the class of a bandwidth (bytes/s), a quarter of a power of two; 0
 *  if the bandwidth is unknown. `now`: the current class, which is kept unless
 *  the bandwidth is clearly outside it. */
unsigned ucp_measure_class(double bandwidth, unsigned now);

/** Returns the bandwidth (bytes/s) of a class; 0 for class 0. */
double ucp_measure_bandwidth(unsigned class);

/** Writes the bandwidths by which protocols are selected, and whether they are
 *  measured or assumed. Returns 0 if there is nothing to select. */
int ucp_measure_describe(const ucp_ep_config_t *config, char *text, size_t max);

/** Called before the protocol for an operation of `length` bytes is
 *  selected. */
static UCS_F_ALWAYS_INLINE void ucp_measure_before(ucp_ep_h ep, size_t length)
{
    if (length >= UCP_MEASURE_MIN) {
        if (length >= ep->unmeasured) {
            ucp_ep_measure(ep, length);
        } else {
            ep->unmeasured -= (uint32_t)length;
        }
    }
}

#endif
