/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The candidates for the data of a rendezvous: the sizes that get, put and
 * fragments of messages support, and their estimated times; and the estimate
 * for the whole rendezvous, which competes with eager protocols.
 */
#include "ucp/rndv/rndv.h"

#include "ucs/sys/math.h"

/* Returns the time of a small internal message in seconds. */
static double message_time(const ucp_ep_config_t *config)
{
    const ucp_lane_cost_t *am = &ucp_ep_config_am(config)->cost_bcopy;

    return UCP_PROTO_REQUEST_TIME + am->pre + am->latency + am->recv;
}

static double reg_time(const ucp_lane_config_t *lane)
{
    return (lane->md_flags & (UCT_MD_FLAG_NEED_RKEY | UCT_MD_FLAG_NEED_MEMH)) ?
               lane->reg_cost.c :
               0;
}

/* Size of the first-level data cache of most processors, in bytes. */
enum { FIRST_CACHE = 32 * 1024 };

/* Adds the time to move data from the first-level cache of the sender's
 * processor, which has just written it: at most FIRST_CACHE bytes. This takes
 * half the time of messages: a message moves the cache lines of its buffer
 * twice, back to the sender and then to the receiver; a get or put by the
 * processor moves the lines of the data once. */
static void add_fresh(const ucp_ep_config_t *config,
                      const ucp_lane_config_t *lane, size_t length,
                      ucs_linear_func_t *time)
{
    double stream = ucp_ep_config_am(config)->stream;

    if ((stream <= 0) || lane->is_network) {
        return; /* The bandwidth between caches is not known, or a network
                 * device reads the data */
    }
    if (length < FIRST_CACHE) {
        time->m += 0.5 / stream;
    } else {
        time->c += 0.5 * FIRST_CACHE / stream;
    }
}

/* Returns the time of zero-copy of the data: several lanes have the sum of
 * their bandwidths, and each needs its own operation. */
static ucs_linear_func_t data_time(const ucp_lane_cost_t *cost,
                                   const ucp_rails_t *rails, size_t length)
{
    double start     = cost->pre + cost->post + cost->latency + cost->recv;
    double bandwidth = cost->bandwidth;

    if ((rails->num > 1) && (length >= ucp_rails_min(rails))) {
        bandwidth = rails->bandwidth;
        start += (rails->num - 1) * (cost->pre + cost->post);
    }
    return ucs_linear_func_make(start, 1.0 / bandwidth);
}

/* Returns the time of a put or get of `length` bytes, with the messages that it
 * needs: announcement, get and acknowledgement; or announcement, reply, put and
 * DONE. Over several lanes, DONE is sent only after a flush has confirmed that
 * the data is at the peer: this adds a round trip. The flush of a single lane,
 * if that is not lane 0 (put.c), is not counted. */
static ucs_linear_func_t zcopy_time(const ucp_ep_config_t *config,
                                    const ucp_lane_config_t *lane,
                                    const ucp_rails_t *rails, int is_get,
                                    size_t length)
{
    const ucp_lane_cost_t *cost = is_get ? &lane->get.cost_zcopy :
                                           &lane->put.cost_zcopy;
    ucs_linear_func_t time      = data_time(cost, rails, length);

    time.c += (is_get ? 2 : 3) * message_time(config) + reg_time(lane);
    if (!is_get && (rails->num > 1)) {
        time.c += 2 * cost->latency;
    }
    add_fresh(config, lane, length, &time);
    return time;
}

/* Returns the time of announcement, reply and data in messages, whose fragments
 * have `fragment` bytes. Sender and receiver copy at the same time, so that the
 * data takes the time of a stream (ucp_lane_am_stream()), whether its fragments
 * are packed or zero-copy. The receiver cannot begin before the first fragment
 * is there: this time is added once (ucp_lane_am_first()). */
static ucs_linear_func_t am_time(const ucp_ep_config_t *config,
                                 unsigned dt_class, double fragment)
{
    const ucp_lane_am_t *am     = ucp_ep_config_am(config);
    const ucp_lane_cost_t *cost = ucp_rndv_am_is_zcopy(config, dt_class) ?
                                      &am->cost_zcopy :
                                      &am->cost_bcopy;

    return ucs_linear_func_make(
        3 * message_time(config) + ucp_lane_am_first(am, fragment),
        ucp_lane_am_stream(am) +
            (cost->pre + cost->post + cost->recv + ucp_lane_am_fragment(am)) /
                fragment);
}

/* Returns the lane of put and get for data of this class, or NULL. If the
 * processor cannot access the data (STAGED), the caller has checked that it is
 * one block of memory. */
static const ucp_lane_config_t *lane_for(const ucp_ep_config_t *config,
                                         unsigned dt_class)
{
    if (dt_class != UCP_DT_CLASS_STAGED) {
        return ucp_ep_config_rndv(config);
    }
    return (config->device_lane == UCP_NULL_LANE) ?
               NULL :
               &config->lanes[config->device_lane];
}

const ucp_rails_t *ucp_rndv_get_rails(const ucp_ep_config_t *config,
                                      unsigned dt_class)
{
    return (dt_class == UCP_DT_CLASS_STAGED) ?
               &config->single_get[config->device_lane] :
               &config->rndv_get;
}

const ucp_rails_t *ucp_rndv_put_rails(const ucp_ep_config_t *config,
                                      unsigned dt_class)
{
    return (dt_class == UCP_DT_CLASS_STAGED) ?
               &config->single_put[config->device_lane] :
               &config->rndv_put;
}

/* Returns non-zero if the lane can access memory of the peer, with a key that
 * an announcement or its reply can carry. Generic data has no address that a
 * lane could access. */
static int has_memory(const ucp_lane_config_t *lane, unsigned dt_class)
{
    return (lane != NULL) && (lane->remote_md != UCP_NULL_MD) &&
           (dt_class != UCP_DT_CLASS_GENERIC) && ucp_rndv_keys_fit(lane);
}

/* Returns the last length whose cost is the same linear function of the length
 * as that of `from` bytes. */
static size_t last_alike(const ucp_rails_t *rails, size_t from)
{
    size_t last = (from < FIRST_CACHE) ? FIRST_CACHE - 1 : SIZE_MAX;

    if ((rails->num > 1) && (from < ucp_rails_min(rails))) {
        last = ucs_min(last, ucp_rails_min(rails) - 1);
    }
    return last;
}

/* Writes the ranges of a put or get over a lane; returns their number. */
static unsigned zcopy_ranges(const ucp_proto_query_t *query,
                             const ucp_lane_config_t *lane, int is_get,
                             ucp_proto_range_t *ranges)
{
    const ucp_lane_rma_t *rma = is_get ? &lane->get : &lane->put;
    const ucp_rails_t *rails  = is_get ? ucp_rndv_get_rails(query->config,
                                                            query->dt_class) :
                                         ucp_rndv_put_rails(query->config,
                                                            query->dt_class);
    size_t from               = ucs_max(rma->min_zcopy, (size_t)1);
    ucp_proto_range_t *range  = ranges;

    if (rma->max_zcopy == 0) {
        return 0;
    }
    for (;; ++range) {
        range->min  = from;
        range->max  = last_alike(rails, from);
        range->time = zcopy_time(query->config, lane, rails, is_get, from);
        if (range->max == SIZE_MAX) {
            return (unsigned)(range - ranges) + 1;
        }
        from = range->max + 1;
    }
}

/* A get of the whole data by the receiver: not for IOV data, which has no
 * single address. */
unsigned ucp_rndv_query_get(const ucp_proto_query_t *query,
                            ucp_proto_range_t *ranges)
{
    const ucp_lane_config_t *lane = lane_for(query->config, query->dt_class);

    return (has_memory(lane, query->dt_class) &&
            (query->dt_class != UCP_DT_CLASS_IOV)) ?
               zcopy_ranges(query, lane, 1, ranges) :
               0;
}

unsigned ucp_rndv_query_put(const ucp_proto_query_t *query,
                            ucp_proto_range_t *ranges)
{
    const ucp_lane_config_t *lane = lane_for(query->config, query->dt_class);

    return (has_memory(lane, query->dt_class) &&
            ((query->dt_class != UCP_DT_CLASS_IOV) ||
             !(lane->md_flags & UCT_MD_FLAG_NEED_MEMH))) ?
               zcopy_ranges(query, lane, 0, ranges) :
               0;
}

unsigned ucp_rndv_query_am(const ucp_proto_query_t *query,
                           ucp_proto_range_t *ranges)
{
    const ucp_ep_config_t *config = query->config;
    size_t limit             = ucp_rndv_am_fragment(config, query->dt_class);
    size_t from              = 1;
    ucp_proto_range_t *range = ranges;

    for (;; ++range) {
        range->min  = from;
        range->max  = ucp_fragment_last(config, limit, from);
        range->time = am_time(config, query->dt_class,
                              (double)ucp_fragment_best(config, limit, from));
        if (range->max == SIZE_MAX) {
            return (unsigned)(range - ranges) + 1;
        }
        from = range->max + 1;
    }
}

unsigned ucp_rndv_dt_class(const ucp_dt_iter_t *dt,
                           const ucp_lane_config_t *lane)
{
    return ((dt->dt_class == UCP_DT_CLASS_STAGED) && (lane != NULL) &&
            ucp_dt_iter_is_flat(dt) && ucp_lane_reaches(lane, dt->mem_type)) ?
               UCP_DT_CLASS_CONTIG :
               dt->dt_class;
}

const ucp_rails_t *ucp_rndv_rails_to(const ucp_ep_config_t *config,
                                     const ucp_dt_iter_t *dt, int is_get)
{
    int to_device = (dt->dt_class == UCP_DT_CLASS_STAGED) &&
                    (config->device_lane != UCP_NULL_LANE) &&
                    ucp_dt_iter_is_flat(dt) &&
                    ucp_lane_reaches_remote(&config->lanes[config->device_lane],
                                            dt->mem_type);

    unsigned dt_class = to_device ? UCP_DT_CLASS_STAGED : UCP_DT_CLASS_CONTIG;

    return is_get ? ucp_rndv_get_rails(config, dt_class) :
                    ucp_rndv_put_rails(config, dt_class);
}

static ucp_proto_query_t data_query(const ucp_proto_query_t *message)
{
    return (ucp_proto_query_t){
        .op       = UCP_OP_RNDV,
        .dt_class = message->dt_class,
        .config   = message->config,
    };
}

size_t ucp_rndv_first_better(const ucp_proto_query_t *query,
                             ucs_linear_func_t other, size_t from)
{
    ucp_proto_query_t data = data_query(query);

    return ucp_proto_first_better(&data, other, from);
}

/* Returns the minimum length of a message by rendezvous if the user has not set
 * it. The bandwidth of messages that is assumed before one is measured
 * (measure.h) may be far too low for short contiguous messages. */
static size_t default_min(const ucp_proto_query_t *query)
{
    return ((query->dt_class == UCP_DT_CLASS_CONTIG) && (query->prefer == 0)) ?
               UCP_RNDV_MIN_CONTIG :
               UCP_RNDV_MIN;
}

unsigned ucp_rndv_query(const ucp_proto_query_t *query, size_t max_eager,
                        ucp_proto_range_t *range)
{
    ucp_proto_query_t data = data_query(query);

    range->time = ucp_proto_cost(&data, max_eager + 1);
    if (query->rndv_thresh == SIZE_MAX) {
        range->min = ucs_min(max_eager + 1, default_min(query));
    } else {
        range->min = query->rndv_thresh; /* smaller messages are eager */
    }
    return query->rndv_thresh != UCP_PROTO_THRESH_NEVER;
}
