/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bandwidths that transports measure while an endpoint exists: of data in
 * messages to this peer (same and remote caches differ by a factor of ten, and
 * processes migrate), and of large put and get by this processor. If they
 * affect the selection of protocols, the transports of the lanes are queried
 * from time to time. A measured bandwidth is rounded to a class
 * (ucp_measure_class()). The classes of both bandwidths select one of the
 * endpoint's configurations, which differ only in their costs and the protocols
 * that follow from these.
 *
 *   config --other classes--> the configuration for these classes, with the
 *                             same lanes, limits and `whole`
 *
 * Requests in flight continue, because the members of a configuration that they
 * use are the same in all of these configurations.
 */
#ifndef UCP_MEASURE_H
#define UCP_MEASURE_H

#include "ucp/proto/ep.h"

enum {
    /** Operations with fewer bytes do not cause a query. A transport may send
     *  messages differently after it has measured, for example by other
     *  stores, which begins to matter at this size */
    UCP_MEASURE_MIN      = 512,
    /** Minimum number of bytes of an operation that may cause a query of the
     *  lane of large put and get: its transport may copy for a tenth of a
     *  millisecond at the first query */
    UCP_MEASURE_COPY_MIN = 32768,
    /** A query is due after this many bytes in operations of at least
     *  UCP_MEASURE_MIN bytes */
    UCP_MEASURE_EVERY    = 65536,
    /** As UCP_MEASURE_EVERY, after a query that has shown known bandwidths and
     *  no change: with messages of 64 KiB, queries after each 64 KiB took 2 %
     *  of the time, after each 256 KiB 0.7 % */
    UCP_MEASURE_AGAIN    = 2 << 20,
};

/** Queries the transports, and changes the endpoint's configuration if the
 *  bandwidths are in other classes. `length`: bytes of the operation that is
 *  about to start. */
void ucp_ep_measure(ucp_ep_h ep, size_t length);

/** Returns the class of a bandwidth in bytes per second. There are four classes
 *  per power of two; class 0 means that the bandwidth is unknown. `now`: the
 *  present class, which is kept unless the bandwidth is clearly outside it. */
unsigned ucp_measure_class(double bandwidth, unsigned now);

/** Returns the bandwidth in bytes per second that a class stands for; 0 for
 *  class 0. */
double ucp_measure_bandwidth(unsigned class);

/** Writes to `text` the bandwidths by which protocols are selected, and whether
 *  each is measured or assumed. Returns 0, and writes nothing, if large put and
 *  get use lane 0, a network device or a lane that has failed, or if no lane
 *  supports them. */
int ucp_measure_describe(const ucp_ep_config_t *config, char *text, size_t max);

/** Called before the protocol of an operation of `length` bytes is selected, or
 *  after a short send, for later operations: queries the bandwidths if that is
 *  due. */
static UCS_F_ALWAYS_INLINE void ucp_measure_if_due(ucp_ep_h ep, size_t length)
{
    if (ucs_unlikely(length >= UCP_MEASURE_MIN)) {
        if (length >= ep->unmeasured) {
            ucp_ep_measure(ep, length);
        } else {
            ep->unmeasured -= (uint32_t)length;
        }
    }
}

#endif
