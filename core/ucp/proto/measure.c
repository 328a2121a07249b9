/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Applies the bandwidths that transports have measured: see measure.h.
 */
#include "ucp/proto/measure.h"

#include "ucs/debug/log.h"

#include <math.h>

/* A bandwidth within this factor of its class stays in the class. */
#define WITHIN 1.7

enum { MIN_CLASS = 20, MAX_CLASS = 50 };

unsigned ucp_measure_class(double bandwidth, unsigned now)
{
    double center = ldexp(1.0, (int)now);
    int exponent;

    if (!(bandwidth > 0)) {
        return 0;
    }
    if ((now != 0) && (bandwidth < center * WITHIN) &&
        (bandwidth > center / WITHIN)) {
        return now;
    }
    if (bandwidth > ldexp(1.0, MAX_CLASS)) {
        return MAX_CLASS;
    }
    if (frexp(bandwidth, &exponent) < M_SQRT1_2) {
        --exponent;
    }
    return (exponent < MIN_CLASS) ? MIN_CLASS : (unsigned)exponent;
}

/* Bytes per second of messages to this peer; 0: unknown, or the same as the
 * interface declares for any peer. */
static double bandwidth_to(ucp_ep_h ep)
{
    const ucp_ep_config_t *whole   = ep->config->whole;
    const ucp_lane_config_t *lane  = &whole->lanes[UCP_AM_LANE];
    const ucp_worker_iface_t *from = &ep->worker->ifaces[lane->iface_index];
    ucx_perf_t perf;

    if ((ucp_lane_estimate(from, UCX_OP_AM_BCOPY, ep->am, &perf) != UCS_OK) ||
        (perf.stream_bandwidth == lane->am.stream)) {
        return 0;
    }
    return perf.stream_bandwidth;
}

void ucp_ep_measure(ucp_ep_h ep)
{
    const ucp_ep_config_t *config = ep->config;
    unsigned found;

    ep->unmeasured = UCP_MEASURE_EVERY;
    /* with one lane there is nothing to select, and the endpoint of a lane that
     * is not connected yet is not the transport's */
    if ((config->num_lanes < 2) || config->unconnected ||
        (ep->wireup != NULL) || (ep->flags & UCP_EP_FLAG_FAILED)) {
        return;
    }

    found = ucp_measure_class(bandwidth_to(ep), config->measured);
    if (found == config->measured) {
        return;
    }
    config = ucp_ep_config_measured(ep->worker, config, found);
    if (config != NULL) {
        ucs_debug("ep %p to worker %lx: messages bring 2^%u bytes/s, after"
                  " 2^%u", ep, ep->peer_uuid, found, ep->config->measured);
        ep->config = config;
    }
}
