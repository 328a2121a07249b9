/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Queries the bandwidths that transports have measured, and changes the
 * endpoint's configuration to the one whose costs follow from them (measure.h).
 */
#include "ucp/proto/measure.h"

#include "ucs/debug/log.h"
#include "ucs/sys/math.h"

#include <math.h>
#include <stdio.h>

/* The present class is kept if the new bandwidth differs by less than this
 * factor from the bandwidth that the class stands for. So noise does not change
 * the configuration. */
#define WITHIN 1.7

/* STEPS: number of classes per power of two. Class i stands for 2^(i / STEPS)
 * bytes per second; MIN_CLASS and MAX_CLASS are the lowest and the highest
 * one. */
enum { STEPS = 4, MIN_CLASS = 20 * STEPS, MAX_CLASS = 50 * STEPS };

/* 2^(i/4), and the borders between classes, which are the geometric means of
 * adjacent classes. These are tables because log() is in libm, which the core
 * does not link. */
static const double quarters[STEPS] = {1, 1.189207, 1.414214, 1.681793};
static const double limits[STEPS]   = {1.090508, 1.296840, 1.542211, 1.834008};

double ucp_measure_bandwidth(unsigned class)
{
    return (class == 0) ? 0 :
                          ldexp(quarters[class % STEPS], (int)(class / STEPS));
}

unsigned ucp_measure_class(double bandwidth, unsigned now)
{
    double center = ucp_measure_bandwidth(now);
    double mantissa;
    int exponent, class;
    unsigned i;

    if (!(bandwidth > 0)) {
        return 0;
    }
    if ((now != 0) && (bandwidth < center * WITHIN) &&
        (bandwidth > center / WITHIN)) {
        return now;
    }
    if (bandwidth > ucp_measure_bandwidth(MAX_CLASS)) {
        return MAX_CLASS;
    }
    mantissa = 2 * frexp(bandwidth, &exponent);
    class    = STEPS * (exponent - 1);
    for (i = 0; (i < STEPS) && (mantissa > limits[i]); ++i) {
        ++class;
    }
    return (class < MIN_CLASS) ? MIN_CLASS : (unsigned)class;
}

/* Returns the bandwidth of messages to this peer in bytes per second. Returns 0
 * if it is unknown, or if it equals the estimate for any peer, which means that
 * nothing was measured. */
static double messages_to(ucp_ep_h ep)
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

/* Returns the lane of large put and get (rndv_lane of `whole`) if the processor
 * copies its data, as in shared memory. Returns UCP_NULL_LANE if not, if the
 * lane has failed, or if it is lane 0. */
static unsigned copy_lane(const ucp_ep_config_t *config)
{
    const ucp_ep_config_t *whole = config->whole;
    unsigned index               = whole->rndv_lane;

    return ((index == UCP_NULL_LANE) || (index == UCP_AM_LANE) ||
            whole->lanes[index].is_network || (config->lost & UCS_BIT(index))) ?
               UCP_NULL_LANE :
               index;
}

/* As messages_to(), for large put and get over the lane `index`. */
static double copies_to(ucp_ep_h ep, unsigned index)
{
    const ucp_lane_config_t *lane  = &ep->config->whole->lanes[index];
    const ucp_worker_iface_t *from = &ep->worker->ifaces[lane->iface_index];
    unsigned long ppn              = ep->worker->context->estimated_num_ppn;
    ucx_perf_t any, perf;

    if ((ucp_lane_estimate(from, UCX_OP_GET_ZCOPY, NULL, &any) != UCS_OK) ||
        (ucp_lane_estimate(from, UCX_OP_GET_ZCOPY, ucp_ep_lane(ep, index),
                           &perf) != UCS_OK) ||
        ((perf.bandwidth.shared == any.bandwidth.shared) &&
         (perf.bandwidth.dedicated == any.bandwidth.dedicated))) {
        return 0;
    }
    return perf.bandwidth.dedicated + perf.bandwidth.shared / (double)ppn;
}

void ucp_ep_measure(ucp_ep_h ep, size_t length)
{
    const ucp_ep_config_t *config = ep->config;
    unsigned found, found_copy, index;

    ep->unmeasured = UCP_MEASURE_EVERY;
    /* With one lane of a network there is nothing to select. While lanes are
     * being connected, placeholders stand for the endpoints of their
     * transports; they cannot be queried. */
    if (((config->num_lanes < 2) && !config->is_local) || config->unconnected ||
        ep->connecting || (ep->flags & UCP_EP_FLAG_FAILED) ||
        !ep->worker->context->options.proto_measure) {
        return;
    }

    found      = ucp_measure_class(messages_to(ep), config->measured);
    found_copy = config->measured_copy;
    index      = copy_lane(config);
    if ((length >= UCP_MEASURE_COPY_MIN) && (index != UCP_NULL_LANE)) {
        found_copy = ucp_measure_class(copies_to(ep, index), found_copy);
    }
    if ((found == config->measured) && (found_copy == config->measured_copy)) {
        if ((found != 0) && ((found_copy != 0) || (index == UCP_NULL_LANE))) {
            ep->unmeasured = UCP_MEASURE_AGAIN;
        }
        return;
    }
    config = ucp_ep_config_measured(ep->worker, config, found, found_copy);
    if (config != NULL) {
        ucs_debug("ep %p to worker %lx: messages bring %.1f GB/s, put and get"
                  " %.1f GB/s (0: not measured)",
                  ep, ep->peer_uuid, ucp_measure_bandwidth(found) * 1e-9,
                  ucp_measure_bandwidth(found_copy) * 1e-9);
        ep->config = config;
    }
}

static const char *origin(unsigned class)
{
    return (class > 0) ? "measured" : "assumed";
}

UCS_F_COLD int ucp_measure_describe(const ucp_ep_config_t *config, char *text,
                                    size_t max)
{
    unsigned index = copy_lane(config);

    if (config->unconnected || (index == UCP_NULL_LANE)) {
        return 0;
    }
    snprintf(text, max, "messages %.1f GB/s (%s), put and get %.1f GB/s (%s)",
             1e-9 / ucp_lane_am_stream(ucp_ep_config_am(config)),
             origin(config->measured),
             config->lanes[index].get.cost_zcopy.bandwidth * 1e-9,
             origin(config->measured_copy));
    return 1;
}
