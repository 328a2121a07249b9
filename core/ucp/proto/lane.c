/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Estimated times of typical operations over a lane, from the costs in
 * ucp_lane_config_t. They decide which interfaces become lanes of an endpoint,
 * and which lanes are the best ones in ucp_ep_config_t. The selection of
 * protocols uses a more precise model, which each protocol implements
 * (ucp_proto_t::query).
 */
#include "ucp/proto/lane.h"

#include "ucp/proto/proto.h"

#include <math.h>

static double least(double a, double b)
{
    return (a < b) ? a : b;
}

static double cost_time(const ucp_lane_cost_t *cost, size_t length)
{
    return cost->pre + cost->post + cost->latency + cost->recv +
           ((length > 0) ? (double)length / cost->bandwidth : 0);
}

/* Returns the time of a put or get in seconds, by the fastest method that
 * supports this size. Zero-copy supports any size from min_zcopy on, because
 * large data takes several operations. */
static double rma_time(const ucp_lane_rma_t *rma, size_t length)
{
    double time = INFINITY;

    if (length <= rma->max_short) {
        time = least(time, cost_time(&rma->cost_short, length));
    }
    if (length <= rma->max_bcopy) {
        time = least(time, cost_time(&rma->cost_bcopy, length));
    }
    if ((rma->max_zcopy > 0) && (length >= rma->min_zcopy)) {
        time = least(time, cost_time(&rma->cost_zcopy, length));
    }
    return time;
}

static double zcopy_time(const ucp_lane_config_t *lane, size_t length)
{
    double time = INFINITY;

    if (!ucp_md_serves_any_memory(lane->md_flags)) {
        return INFINITY;
    }
    if (lane->put.max_zcopy > 0) {
        time = least(time, cost_time(&lane->put.cost_zcopy, length));
    }
    if (lane->get.max_zcopy > 0) {
        time = least(time, cost_time(&lane->get.cost_zcopy, length));
    }
    return time;
}

double ucp_lane_rndv_time(const ucp_lane_config_t *lane, size_t length)
{
    return lane->is_device_only ? INFINITY : zcopy_time(lane, length);
}

double ucp_lane_device_time(const ucp_lane_config_t *lane, size_t length)
{
    return lane->is_device_only ? zcopy_time(lane, length) : INFINITY;
}

double ucp_lane_rma_time(const ucp_lane_config_t *lane, size_t length)
{
    if (lane->is_device_only || !ucp_md_serves_any_memory(lane->md_flags)) {
        return INFINITY;
    }
    return least(rma_time(&lane->put, length), rma_time(&lane->get, length));
}

double ucp_lane_amo_time(const ucp_lane_config_t *lane)
{
    return (lane->amo.fetch32 | lane->amo.fetch64) ?
               cost_time(&lane->amo.cost_fetch, 0) :
               INFINITY;
}

/* Seconds per byte of the copies of a single message, if the bandwidth between
 * the processors is not known. They take half the usual time because the data
 * is in the cache: that of the sender, which has just written it, or that of
 * the receiver, which has just received it. */
#define CACHED_COPY (0.5 / UCP_PROTO_MEMCPY_BANDWIDTH)

/* am->stream is the bandwidth of many messages in flight, in which both sides
 * copy at the same time. The receiver of a single message waits for the
 * sender's copy. */
double ucp_lane_am_alone(const ucp_lane_am_t *am, const ucp_lane_cost_t *cost,
                         unsigned copies)
{
    if (am->many) {
        return ucp_lane_am_stream(am);
    }
    return (am->stream > 0) ? 2.0 / am->stream :
                              1.0 / cost->bandwidth + copies * CACHED_COPY;
}

double ucp_lane_am_begin(const ucp_lane_config_t *lane)
{
    const ucp_lane_am_t *am = &lane->am;

    if (lane->is_network || am->many) {
        return 0;
    }
    /* Each byte counts twice: once more for the transfer and for two copies */
    return ucp_lane_am_alone(am, &am->cost_bcopy, 0) + 2 * CACHED_COPY;
}

double ucp_lane_am_in_place(const ucp_lane_am_t *am,
                            const ucp_lane_cost_t *cost, unsigned copies)
{
    return (am->stream > 0) ? ucp_lane_am_stream(am) :
                              ucp_lane_am_alone(am, cost, copies);
}

double ucp_lane_am_stream(const ucp_lane_am_t *am)
{
    return (am->stream > 0) ? 1.0 / am->stream :
                              1.0 / am->cost_bcopy.bandwidth +
                                  1.0 / UCP_PROTO_MEMCPY_BANDWIDTH;
}

double ucp_lane_am_first(const ucp_lane_am_t *am, double length)
{
    return length /
           ((am->stream > 0) ? am->stream : UCP_PROTO_MEMCPY_BANDWIDTH);
}

double ucp_lane_am_fragment(const ucp_lane_am_t *am)
{
    return (am->stream > 0) ? 0.5 * am->cost_bcopy.latency : 0;
}

double ucp_lane_am_time(const ucp_lane_config_t *lane, size_t length)
{
    const ucp_lane_am_t *am = &lane->am;
    double time             = INFINITY;
    double byte;

    if (length <= am->max_short) {
        time = least(time, cost_time(&am->cost_short, length));
    }
    if (am->max_bcopy > 0) {
        byte = (length > am->max_bcopy) ?
                   ucp_lane_am_stream(am) :
                   ucp_lane_am_alone(am, &am->cost_bcopy, 2);
        time = least(time,
                     cost_time(&am->cost_bcopy, 0) + byte * (double)length);
    }
    return time;
}
