/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The sizes that the protocols of put and get support for a key, and the costs
 * of the protocols.
 */
#include "ucp/rma/rkey.h"

#include "ucp/proto/fragment.h"
#include "ucs/sys/math.h"

ucs_linear_func_t ucp_rma_cost(const ucp_lane_cost_t *cost, double own,
                               unsigned copies)
{
    ucs_linear_func_t time;

    time.c = own + cost->pre + cost->post + cost->latency + cost->recv;
    time.m = 1.0 / cost->bandwidth + copies / UCP_PROTO_MEMCPY_BANDWIDTH;
    return time;
}

static int is_get(const ucp_proto_query_t *query)
{
    return query->op == UCP_OP_GET;
}

static const ucp_rma_protos_t *protos_of(const ucp_proto_query_t *query)
{
    return is_get(query) ? &query->key->get : &query->key->put;
}

static const ucp_lane_rma_t *rma_of(const ucp_proto_query_t *query,
                                    unsigned lane)
{
    return ucp_rma_lane(query->config, lane, is_get(query));
}

static int can_zcopy(const ucp_proto_query_t *query)
{
    return (protos_of(query)->zcopy_lane != UCP_NULL_LANE) &&
           ucp_dt_class_is_touchable(query->dt_class);
}

static size_t min_zcopy(const ucp_proto_query_t *query)
{
    size_t lane = rma_of(query, protos_of(query)->zcopy_lane)->min_zcopy;
    size_t user = (query->zcopy_thresh == SIZE_MAX) ? 0 : query->zcopy_thresh;

    return ucs_max(ucs_max(lane, user), (size_t)1);
}

/* Limits the sizes of a protocol that is not zero-copy: excludes size 0. If the
 * user has set UCX_ZCOPY_THRESH and a lane supports zero-copy, also excludes
 * the sizes from min_zcopy() on: they use zero-copy whatever it costs. */
static void limit(const ucp_proto_query_t *query, ucp_proto_range_t *range)
{
    range->min = ucs_max(range->min, (size_t)1);
    if ((query->zcopy_thresh != SIZE_MAX) && can_zcopy(query)) {
        range->max = ucs_min(range->max, min_zcopy(query) - 1);
    }
}

unsigned ucp_rma_query_short(const ucp_proto_query_t *query,
                             ucp_proto_range_t *range)
{
    unsigned lane = protos_of(query)->short_lane;
    const ucp_lane_rma_t *rma;

    if ((lane == UCP_NULL_LANE) || (query->dt_class != UCP_DT_CLASS_CONTIG)) {
        return 0;
    }
    rma         = rma_of(query, lane);
    range->max  = rma->max_short;
    range->time = ucp_rma_cost(&rma->cost_short, 0, 0);
    limit(query, range);
    return 1;
}

/* A put may be sent in several fragments. A get is one operation, whose size is
 * limited by the lane. */
unsigned ucp_rma_query_bcopy(const ucp_proto_query_t *query,
                             ucp_proto_range_t *range)
{
    unsigned lane = protos_of(query)->bcopy_lane;
    const ucp_lane_rma_t *rma;

    if (lane == UCP_NULL_LANE) {
        return 0;
    }
    rma         = rma_of(query, lane);
    range->max  = is_get(query) ? rma->max_bcopy : SIZE_MAX;
    range->time = ucp_rma_cost(&rma->cost_bcopy, UCP_PROTO_REQUEST_TIME, 1);
    limit(query, range);
    return 1;
}

/* Large transfers are divided among all rails (rails.h): each rail adds to the
 * constant cost, and the bandwidths of the rails add up. */
unsigned ucp_rma_query_zcopy(const ucp_proto_query_t *query,
                             ucp_proto_range_t *ranges)
{
    const ucp_rma_protos_t *protos = protos_of(query);
    ucp_proto_range_t *divided     = &ranges[1];
    const ucp_lane_cost_t *cost;

    if (!can_zcopy(query)) {
        return 0;
    }
    cost           = &rma_of(query, protos->zcopy_lane)->cost_zcopy;
    ranges[0].min  = min_zcopy(query);
    ranges[0].time = ucp_rma_cost(cost, UCP_PROTO_REQUEST_TIME, 0);
    if (protos->rails.num <= 1) {
        return 1;
    }
    divided->min    = ucs_max(ucp_rails_min(&protos->rails), ranges[0].min);
    divided->time.m = 1.0 / protos->rails.bandwidth;
    divided->time.c = ranges[0].time.c +
                      (protos->rails.num - 1) * (cost->pre + cost->post);
    ranges[0].max = ucp_rails_min(&protos->rails) - 1;
    return 2;
}

/* Returns whether an access by message is estimated as one message in each
 * direction, with a request: every get, because of its reply, and a put that
 * competes with a copy by this processor. The copy is at the peer when the call
 * returns, but a flush of the put waits for an acknowledgement. Over a network,
 * it waits for one in any case. */
static int is_round_trip(const ucp_proto_query_t *query)
{
    return is_get(query) ||
           (can_zcopy(query) &&
            !query->config->lanes[protos_of(query)->zcopy_lane].is_network);
}

/* Returns the time by active messages. `own`: seconds for the request; 0 if the
 * operation needs no request. */
static ucs_linear_func_t am_time(const ucp_proto_query_t *query, double own)
{
    const ucp_lane_am_t *am     = ucp_ep_config_am(query->config);
    const ucp_lane_cost_t *cost = (am->max_short > 0) ? &am->cost_short :
                                                        &am->cost_bcopy;
    ucs_linear_func_t time;

    time.c = (is_round_trip(query) ? 2 : 1) *
                 (cost->pre + cost->latency + cost->recv) +
             own;
    /* Two copies, which count twice: the memory was not just written */
    time.m = ucp_lane_am_alone(am, &am->cost_bcopy, 4);
    return time;
}

/* Returns the cost of a transfer in fragments. The sender copies a fragment
 * while the receiver copies the previous one: the transfer takes as long as one
 * copy of all data and a second copy of one fragment. The cost nevertheless
 * includes two copies of all data, for two reasons: the copies also occupy the
 * processor of the memory's owner, and the transfer stops while the owner makes
 * no progress. As a consequence, an access over a lane is preferred unless the
 * lane has less than half of the bandwidth of the messages. `max`: bytes of
 * data in one message of buffered copy. */
static ucs_linear_func_t am_fragments_time(const ucp_proto_query_t *query,
                                           size_t max)
{
    const ucp_lane_am_t *am     = ucp_ep_config_am(query->config);
    const ucp_lane_cost_t *cost = &am->cost_zcopy;
    ucs_linear_func_t time      = am_time(query, UCP_PROTO_REQUEST_TIME);
    double fragment;

    /* The owner sends the reply from contiguous memory, whatever the datatype
     * at the initiator is. */
    fragment = (double)(is_get(query) ?
                            ucp_rma_reply_fragment(query->config, SIZE_MAX) :
                            ucp_rma_put_fragment(query->config, query->dt_class,
                                                 SIZE_MAX));
    if (fragment == 0) {
        cost     = &am->cost_bcopy;
        fragment = (double)max;
    }
    time.c += ucp_lane_am_first(am, fragment);
    time.m = 2 * (ucp_lane_am_stream(am) +
                  (cost->pre + cost->post + cost->recv) / fragment);
    return time;
}

unsigned ucp_rma_query_am(const ucp_proto_query_t *query,
                          ucp_proto_range_t *ranges)
{
    size_t max = ucp_ep_config_am(query->config)->max_bcopy -
                 (is_get(query) ? sizeof(ucp_rma_get_reply_t) :
                                  sizeof(ucp_rma_put_t));
    int no_request = !is_round_trip(query) &&
                     (query->dt_class == UCP_DT_CLASS_CONTIG);
    size_t begin  = ucs_min(max, (size_t)UCP_LANE_AM_BEGIN);
    double longer = ucp_lane_am_begin(&query->config->lanes[UCP_AM_LANE]);
    unsigned i;

    if (!query->key->by_cpu) {
        return 0;
    }
    ranges[0].max  = begin;
    ranges[0].time = am_time(query, no_request ? 0 : UCP_PROTO_REQUEST_TIME);
    ranges[1].min  = begin + 1;
    ranges[1].max  = max;
    ranges[1].time = ranges[0].time;
    ranges[0].time.m += longer;
    ranges[1].time.c += longer * (double)begin;
    ranges[2].min  = max + 1;
    ranges[2].time = am_fragments_time(query, max);
    for (i = 0; i < 3; ++i) {
        limit(query, &ranges[i]);
    }
    return 3;
}
