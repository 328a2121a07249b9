/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Selects the scheme of a rendezvous by the costs, the capabilities of the
 * lanes, and the user's configuration.
 */
#include "ucp/rndv/rndv.h"

#include <math.h>

/* Seconds of a small internal message. */
static double message_time(const ucp_ep_config_t *config)
{
    const ucp_lane_cost_t *am = &ucp_ep_config_am(config)->cost_bcopy;

    return UCP_PROTO_REQUEST_TIME + am->pre + am->latency + am->recv;
}

static double reg_time(const ucp_lane_config_t *lane)
{
    return (lane->md_flags & (UCT_MD_FLAG_NEED_RKEY | UCT_MD_FLAG_NEED_MEMH)) ?
           lane->reg_cost.c : 0;
}

/* Size of the first-level data cache of most processors, in bytes. */
enum { FIRST_CACHE = 32 * 1024 };

/* Data that the sender has just written is in this cache, as far as it fits.
 * Reading that part takes as long with zero-copy as with messages. */
static void add_fresh(const ucp_ep_config_t *config,
                      const ucp_lane_config_t *lane, size_t length,
                      ucs_linear_func_t *time)
{
    double stream = ucp_ep_config_am(config)->stream;

    if ((stream <= 0) || lane->is_network) {
        return; /* unknown, or the device reads the data */
    }
    if (length < FIRST_CACHE) {
        time->m += 1.0 / stream;
    } else {
        time->c += FIRST_CACHE / stream;
    }
}

/* Zero-copy of the data: several lanes have the sum of their bandwidths, and
 * each needs its own operation. */
static ucs_linear_func_t
data_time(const ucp_lane_cost_t *cost, const ucp_rails_t *rails, size_t length)
{
    double start      = cost->pre + cost->post + cost->latency + cost->recv;
    double bandwidth  = cost->bandwidth;

    if ((rails->num > 1) && (length >= ucp_rails_min(rails))) {
        bandwidth = rails->bandwidth;
        start    += (rails->num - 1) * (cost->pre + cost->post);
    }
    return ucs_linear_func_make(start, 1.0 / bandwidth);
}

/* Announcement, get, and acknowledgement. */
static ucs_linear_func_t
get_time(const ucp_ep_config_t *config, const ucp_lane_config_t *lane,
         const ucp_rails_t *rails, size_t length)
{
    ucs_linear_func_t time = data_time(&lane->get.cost_zcopy, rails, length);

    time.c += 2 * message_time(config) + reg_time(lane);
    add_fresh(config, lane, length, &time);
    return time;
}

/* Announcement, reply, put, and DONE. Over several lanes DONE waits until the
 * data is complete at the peer. */
static ucs_linear_func_t
put_time(const ucp_ep_config_t *config, const ucp_lane_config_t *lane,
         const ucp_rails_t *rails, size_t length)
{
    const ucp_lane_cost_t *cost = &lane->put.cost_zcopy;
    ucs_linear_func_t time      = data_time(cost, rails, length);

    time.c += 3 * message_time(config) + reg_time(lane);
    if (rails->num > 1) {
        time.c += 2 * cost->latency;
    }
    add_fresh(config, lane, length, &time);
    return time;
}

/* Announcement, reply, data. Both ends copy at the same time: the data counts
 * for one copy, whether fragments are packed or zero-copy, and the first
 * fragment for another one. */
static ucs_linear_func_t
am_time(const ucp_ep_config_t *config, unsigned dt_class)
{
    const ucp_lane_am_t *am     = ucp_ep_config_am(config);
    const ucp_lane_cost_t *cost = ucp_rndv_am_is_zcopy(config, dt_class) ?
                                  &am->cost_zcopy : &am->cost_bcopy;
    double fragment             = (double)ucp_rndv_am_fragment(config,
                                                               dt_class);

    return ucs_linear_func_make(3 * message_time(config) +
                                ucp_lane_am_first(am, fragment),
                                ucp_lane_am_stream(am) +
                                (cost->pre + cost->post + cost->recv) /
                                fragment);
}

/* The lane for data of this class, or NULL. Staged data is flat memory of a
 * device; callers check whether it is. */
static const ucp_lane_config_t *
lane_for(const ucp_ep_config_t *config, unsigned dt_class)
{
    if (dt_class != UCP_DT_CLASS_STAGED) {
        return ucp_ep_config_rndv(config);
    }
    return (config->device_lane == UCP_NULL_LANE) ?
           NULL : &config->lanes[config->device_lane];
}

static const ucp_rails_t *
rails_for(const ucp_ep_config_t *config, unsigned dt_class, int is_get)
{
    if (dt_class != UCP_DT_CLASS_STAGED) {
        return is_get ? &config->rndv_get : &config->rndv_put;
    }
    return is_get ? &config->single_get[config->device_lane] :
                    &config->single_put[config->device_lane];
}

static int can(const ucp_ep_config_t *config, ucp_rndv_scheme_t scheme,
               unsigned dt_class, size_t length)
{
    const ucp_lane_config_t *lane = lane_for(config, dt_class);

    if (scheme == UCP_RNDV_SCHEME_AM) {
        return 1;
    }
    if ((lane == NULL) || (lane->remote_md == UCP_NULL_MD) || (length == 0) ||
        (dt_class == UCP_DT_CLASS_GENERIC) || !ucp_rndv_keys_fit(lane)) {
        return 0;
    }
    if (scheme == UCP_RNDV_SCHEME_GET) {
        return (dt_class != UCP_DT_CLASS_IOV) &&
               (lane->get.max_zcopy > 0) && (length >= lane->get.min_zcopy);
    }
    return (lane->put.max_zcopy > 0) && (length >= lane->put.min_zcopy) &&
           ((dt_class != UCP_DT_CLASS_IOV) ||
            !(lane->md_flags & UCT_MD_FLAG_NEED_MEMH));
}

static ucs_linear_func_t scheme_time(const ucp_ep_config_t *config,
                                     ucp_rndv_scheme_t scheme,
                                     unsigned dt_class, size_t length)
{
    switch (scheme) {
    case UCP_RNDV_SCHEME_GET:
        return get_time(config, lane_for(config, dt_class),
                        rails_for(config, dt_class, 1), length);
    case UCP_RNDV_SCHEME_PUT:
        return put_time(config, lane_for(config, dt_class),
                        rails_for(config, dt_class, 0), length);
    default:
        return am_time(config, dt_class);
    }
}

ucp_rndv_scheme_t ucp_rndv_select(const ucp_ep_config_t *config,
                                  unsigned dt_class, size_t length)
{
    static const ucp_rndv_scheme_t schemes[] = {
        UCP_RNDV_SCHEME_GET, UCP_RNDV_SCHEME_PUT, UCP_RNDV_SCHEME_AM
    };
    ucp_rndv_scheme_t wanted = (ucp_rndv_scheme_t)config->rndv_scheme;
    ucp_rndv_scheme_t best   = UCP_RNDV_SCHEME_AM;
    double best_time         = INFINITY;
    unsigned i;

    if ((wanted != UCP_RNDV_SCHEME_AUTO) &&
        can(config, wanted, dt_class, length)) {
        return wanted;
    }

    for (i = 0; i < sizeof(schemes) / sizeof(schemes[0]); ++i) {
        ucs_linear_func_t func;

        if (can(config, schemes[i], dt_class, length)) {
            func = scheme_time(config, schemes[i], dt_class, length);
            if (func.c + func.m * (double)length < best_time) {
                best_time = func.c + func.m * (double)length;
                best      = schemes[i];
            }
        }
    }
    return best;
}

unsigned ucp_rndv_dt_class(const ucp_dt_iter_t *dt,
                           const ucp_lane_config_t *lane)
{
    return ((dt->dt_class == UCP_DT_CLASS_STAGED) && (lane != NULL) &&
            ucp_dt_iter_is_flat(dt) && ucp_lane_reaches(lane, dt->mem_type)) ?
           UCP_DT_CLASS_CONTIG : dt->dt_class;
}

const ucp_rails_t *ucp_rndv_rails_to(const ucp_ep_config_t *config,
                                     const ucp_dt_iter_t *dt, int is_get)
{
    int to_device = (dt->dt_class == UCP_DT_CLASS_STAGED) &&
                    (config->device_lane != UCP_NULL_LANE) &&
                    ucp_dt_iter_is_flat(dt) &&
                    ucp_lane_reaches_remote(
                            &config->lanes[config->device_lane], dt->mem_type);

    return rails_for(config, to_device ? UCP_DT_CLASS_STAGED :
                                         UCP_DT_CLASS_CONTIG, is_get);
}

/* The first length from `from` on with another scheme, at most `end`. */
static size_t next_change(const ucp_ep_config_t *config, unsigned dt_class,
                          size_t from, size_t end)
{
    ucp_rndv_scheme_t scheme = ucp_rndv_select(config, dt_class, from);
    size_t last              = from;
    size_t middle;

    while ((last < end) &&
           (ucp_rndv_select(config, dt_class, last) == scheme)) {
        from = last;
        last = (last < end / 2) ? 2 * last : end;
    }
    if (ucp_rndv_select(config, dt_class, last) == scheme) {
        return end;
    }
    while (last - from > 1) {
        middle = from + (last - from) / 2;
        if (ucp_rndv_select(config, dt_class, middle) == scheme) {
            from = middle;
        } else {
            last = middle;
        }
    }
    return last;
}

/* Describes the lanes if the data is divided among several. */
static void describe_lanes(const ucp_ep_config_t *config, unsigned dt_class,
                           ucp_rndv_scheme_t scheme, char *text, size_t max)
{
    const ucp_rails_t *rails = (scheme == UCP_RNDV_SCHEME_GET) ?
                               &config->rndv_get : &config->rndv_put;

    text[0] = '\0';
    if ((scheme != UCP_RNDV_SCHEME_AM) && (rails->num > 1) &&
        (dt_class != UCP_DT_CLASS_STAGED)) {
        text[0] = ' ';
        ucp_rails_describe(rails, text + 1, max - 1);
    }
}

void ucp_rndv_print(const ucp_ep_config_t *config, unsigned dt_class,
                    const char *dt_name, const char *lanes, FILE *stream)
{
    static const char *const schemes[] = {"", "get", "put", "am"};
    const size_t last                  = SIZE_MAX / 2;
    char text[128];
    size_t start, end;

    for (start = 1; start < last; start = end) {
        end = next_change(config, dt_class, start, last);
        fprintf(stream, "%-14s %-8s %10zu..", "rndv data", dt_name, start);
        if (end == last) {
            fprintf(stream, "%-10s", "inf");
        } else {
            fprintf(stream, "%-10zu", end - 1);
        }
        describe_lanes(config, dt_class,
                       ucp_rndv_select(config, dt_class, start), text,
                       sizeof(text));
        fprintf(stream, " %-16s %s%s\n",
                schemes[ucp_rndv_select(config, dt_class, start)], lanes, text);
    }
}

static int is_better(const ucp_ep_config_t *config, unsigned dt_class,
                     ucs_linear_func_t other, size_t length)
{
    ucp_rndv_scheme_t scheme = ucp_rndv_select(config, dt_class, length);
    ucs_linear_func_t time   = scheme_time(config, scheme, dt_class, length);

    return ucs_linear_func_apply(time, (double)length) <=
           ucs_linear_func_apply(other, (double)length);
}

size_t ucp_rndv_first_better(const ucp_ep_config_t *config, unsigned dt_class,
                             ucs_linear_func_t other, size_t from)
{
    const size_t last = SIZE_MAX / 2;
    size_t worse      = from;
    size_t middle, better;

    if (is_better(config, dt_class, other, from)) {
        return from;
    }
    for (better = 2 * from; !is_better(config, dt_class, other, better);
         better *= 2) {
        if (better > last / 2) {
            return last;
        }
        worse = better;
    }
    while (better - worse > 1) {
        middle = worse + (better - worse) / 2;
        if (is_better(config, dt_class, other, middle)) {
            better = middle;
        } else {
            worse = middle;
        }
    }
    return better;
}

unsigned ucp_rndv_query(const ucp_proto_query_t *query, size_t max_eager,
                        ucp_proto_range_t *range)
{
    ucp_rndv_scheme_t scheme = ucp_rndv_select(query->config, query->dt_class,
                                               max_eager + 1);

    range->time = scheme_time(query->config, scheme, query->dt_class,
                              max_eager + 1);
    if (query->rndv_thresh == SIZE_MAX) {
        range->min = (max_eager < UCP_RNDV_MIN) ? max_eager + 1 : UCP_RNDV_MIN;
    } else {
        range->min = query->rndv_thresh; /* smaller is eager */
    }
    return query->rndv_thresh != UCP_PROTO_THRESH_NEVER;
}
