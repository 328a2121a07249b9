/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Following what transports have measured: see measure.h.
 */
#include "ucp/proto/measure.h"

#include "ucs/debug/log.h"
#include "ucs/sys/math.h"

#include <math.h>
#include <stdio.h>

/* Bandwidths within this ratio are alike, and overheads within this ratio or so
 * many seconds: less is noise. */
#define ALIKE          1.1
#define ALIKE_OVERHEAD 1.3
#define ALIKE_SECONDS  50e-9

/* Limits of what is believed: bytes per second, seconds. */
#define MIN_BANDWIDTH 1e6
#define MAX_BANDWIDTH 1e15
#define MAX_OVERHEAD  1e-3

static int within(double a, double b, double ratio)
{
    return (a <= b * ratio) && (b <= a * ratio);
}

int ucp_measured_is_alike(const ucp_measured_t *a, const ucp_measured_t *b)
{
    return within(a->stream, b->stream, ALIKE) &&
           within(a->bandwidth, b->bandwidth, ALIKE) &&
           (within(a->overhead, b->overhead, ALIKE_OVERHEAD) ||
            (fabs(a->overhead - b->overhead) <= ALIKE_SECONDS));
}

static double ratio(double a, double b)
{
    return (a == b) ? 1 : (a > b) ? a / b : b / a;
}

double ucp_measured_distance(const ucp_measured_t *a, const ucp_measured_t *b)
{
    return ucs_max(ratio(a->stream, b->stream),
                   ratio(a->bandwidth, b->bandwidth));
}

/* Not a number, zero and less: not known. */
static double sane_bandwidth(double bandwidth)
{
    return (bandwidth > 0) ? ucs_min(ucs_max(bandwidth, MIN_BANDWIDTH),
                                     MAX_BANDWIDTH) : 0;
}

static double stream_to(ucp_ep_h ep)
{
    const ucp_lane_config_t *lane  = &ep->config->whole->lanes[UCP_AM_LANE];
    const ucp_worker_iface_t *from = &ep->worker->ifaces[lane->iface_index];
    ucp_lane_cost_t cost;
    double stream;

    stream = ucp_lane_cost(from, UCX_OP_AM_BCOPY, ep->am, &cost);
    return (stream == lane->am.stream) ? 0 : sane_bandwidth(stream);
}

/* Zeroes if the figures are those of any peer. */
static void measure_rma(ucp_ep_h ep, ucp_measured_t *measured)
{
    unsigned index                 = ep->config->whole->rndv_lane;
    const ucp_lane_config_t *lane  = &ep->config->whole->lanes[index];
    const ucp_worker_iface_t *from = &ep->worker->ifaces[lane->iface_index];
    ucp_lane_cost_t any            = {0};
    ucp_lane_cost_t cost           = {0};

    ucp_lane_cost(from, UCX_OP_GET_ZCOPY, NULL, &any);
    ucp_lane_cost(from, UCX_OP_GET_ZCOPY, ucp_ep_lane(ep, index), &cost);
    measured->bandwidth = 0;
    measured->overhead  = 0;
    if ((cost.bandwidth != any.bandwidth) || (cost.pre != any.pre)) {
        measured->bandwidth = sane_bandwidth(cost.bandwidth);
        measured->overhead  = (cost.pre > 0) ? ucs_min(cost.pre, MAX_OVERHEAD) :
                                               0;
    }
}

static int has_rma(const ucp_ep_config_t *config)
{
    unsigned index = config->whole->rndv_lane;

    return (index != UCP_NULL_LANE) && (index != UCP_AM_LANE) &&
           !(config->lost & UCS_BIT(index)) &&
           (config->whole->lanes[index].get.max_zcopy > 0);
}

void ucp_ep_measure(ucp_ep_h ep, size_t length)
{
    const ucp_ep_config_t *config = ep->config;
    ucp_measured_t found          = config->measured;

    ep->unmeasured = ((found.stream > 0) && (found.bandwidth > 0)) ?
                     UCP_MEASURE_SELDOM : UCP_MEASURE_EVERY;
    /* With one lane there is nothing to select from; and a lane that is not
     * connected yet is not the transport's */
    if ((config->num_lanes < 2) || config->unconnected ||
        (ep->wireup != NULL) || (ep->flags & UCP_EP_FLAG_FAILED)) {
        return;
    }

    found.stream = stream_to(ep);
    if ((length >= UCP_MEASURE_RMA_MIN) && has_rma(config)) {
        measure_rma(ep, &found);
    }
    if (ucp_measured_is_alike(&found, &config->measured)) {
        return;
    }
    config = ucp_ep_config_measured(ep->worker, config, &found);
    if (config != NULL) {
        ucs_debug("ep %p to worker %lx: measured %.1f GB/s in messages, %.1f"
                  " GB/s + %.2f us by put and get (0: not known)", ep,
                  ep->peer_uuid, found.stream * 1e-9, found.bandwidth * 1e-9,
                  found.overhead * 1e6);
        ep->config = config;
    }
}

static const char *origin(double measured)
{
    return (measured > 0) ? "measured" : "assumed";
}

int ucp_measure_describe(const ucp_ep_config_t *config, unsigned lane,
                         char *text, size_t max)
{
    const ucp_lane_cost_t *cost = &config->lanes[lane].get.cost_zcopy;

    if (config->unconnected) {
        return 0;
    }
    if ((lane == UCP_AM_LANE) && (config->num_lanes > 1)) {
        snprintf(text, max, "messages %.1f GB/s (%s)",
                 1e-9 / ucp_lane_am_stream(ucp_ep_config_am(config)),
                 origin(config->measured.stream));
        return 1;
    }
    if ((lane == config->whole->rndv_lane) && has_rma(config)) {
        snprintf(text, max, "put and get %.1f GB/s + %.2f us (%s)",
                 cost->bandwidth * 1e-9, cost->pre * 1e6,
                 origin(config->measured.bandwidth));
        return 1;
    }
    return 0;
}
