/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What transports measure while an endpoint lives: the bandwidth of messages to
 * its peer, and overhead and bandwidth of zero-copy put and get. Processors
 * differ by a factor of three in each, distances between cores by ten, and
 * processes migrate. Now and then, where protocol selection matters, the lanes
 * are asked; figures that differ from those of the endpoint's configuration
 * select another one, which differs in nothing but costs.
 *
 *   config --other figures--> a configuration for about those figures, with the
 *                             same lanes and limits (`whole` tells them apart)
 *
 * Requests under way go on as they began: what they use of a configuration is
 * the same in all of them.
 */
#ifndef UCP_MEASURE_H
#define UCP_MEASURE_H

#include "ucp/core/ep.h"

enum {
    UCP_MEASURE_MIN         = 4096,  /**< Bytes; for less nobody is asked */
    UCP_MEASURE_RMA_MIN     = 32768, /**< Likewise the lane of put and get: the
                                          first time it may copy for some tens
                                          of microseconds */
    UCP_MEASURE_EVERY       = 65536, /**< Asked once for so many bytes ... */
    UCP_MEASURE_SELDOM      = 524288, /**< ... or, once both are known, for these */
    UCP_MEASURE_MAX_CONFIGS = 48     /**< Of the same lanes, in a worker */
};

/** Asks the transports, and follows what they say. `length`: of the operation
 *  that is about to begin. */
void ucp_ep_measure(ucp_ep_h ep, size_t length);

/** Non-zero: so near to each other that protocol selection is the same. */
int ucp_measured_is_alike(const ucp_measured_t *a, const ucp_measured_t *b);

/** How far figures are from each other: the largest ratio of two bandwidths, at
 *  least 1; infinite if one is known and the other is not. */
double ucp_measured_distance(const ucp_measured_t *a, const ucp_measured_t *b);

/** Writes what a lane's large data costs, and whether that was measured or is
 *  assumed. Zero: nothing is known of this lane. */
int ucp_measure_describe(const ucp_ep_config_t *config, unsigned lane,
                         char *text, size_t max);

/** Before the protocol for an operation of `length` bytes is chosen. */
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
