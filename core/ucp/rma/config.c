/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Selects lanes and protocols of put, get and atomics for a key: for each kind
 * of transfer the fastest lane, and for each size the kind of the lowest cost.
 * Computed once for keys that open the same lanes of equal endpoints.
 */
#include "ucp/rma/rkey.h"

#include "ucp/proto/fragment.h"
#include "ucs/debug/log.h"

#include <math.h>
#include <stdlib.h>

enum {
    ZCOPY     = 2,   /* zero-copy over one lane */
    DIVIDED   = 5,   /* zero-copy over several lanes */
    NUM_CANDIDATES
};

/* Time of one message: the request's own cost `own`, then the data. `copies`:
 * number of copies by the processors. */
static ucs_linear_func_t cost_time(const ucp_lane_cost_t *cost, double own,
                                   unsigned copies)
{
    ucs_linear_func_t time;

    time.c = own + cost->pre + cost->post + cost->latency + cost->recv;
    time.m = 1.0 / cost->bandwidth + copies / UCP_PROTO_MEMCPY_BANDWIDTH;
    return time;
}

static const ucp_lane_rma_t *
rma_of(const ucp_rma_config_t *config, unsigned lane, int is_get)
{
    const ucp_lane_config_t *lane_config = &config->ep_config->lanes[lane];

    return is_get ? &lane_config->get : &lane_config->put;
}

static double at(ucs_linear_func_t time, size_t length)
{
    return time.c + time.m * (double)length;
}

/* Selects the best lane of each kind of transfer. */
static void select_lanes(const ucp_rma_config_t *config, int is_get,
                         ucp_rma_protos_t *protos)
{
    double best_short = INFINITY, best_bcopy = INFINITY, best_zcopy = INFINITY;
    unsigned i;

    protos->short_lane = UCP_NULL_LANE;
    protos->bcopy_lane = UCP_NULL_LANE;
    protos->zcopy_lane = UCP_NULL_LANE;
    for (i = 0; i < config->ep_config->num_lanes; ++i) {
        const ucp_lane_rma_t *rma = rma_of(config, i, is_get);
        double time;

        if (!(config->lanes & UCS_BIT(i))) {
            continue;
        }
        time = at(cost_time(&rma->cost_short, 0, 0), UCP_LANE_SMALL);
        if ((rma->max_short > 0) && (time < best_short)) {
            best_short         = time;
            protos->short_lane = (uint8_t)i;
        }
        time = at(cost_time(&rma->cost_bcopy, 0, 1), UCP_LANE_SMALL);
        if ((rma->max_bcopy > 0) && (time < best_bcopy)) {
            best_bcopy         = time;
            protos->bcopy_lane = (uint8_t)i;
        }
        time = at(cost_time(&rma->cost_zcopy, 0, 0), UCP_LANE_LARGE);
        if ((rma->max_zcopy > 0) && (time < best_zcopy)) {
            best_zcopy         = time;
            protos->zcopy_lane = (uint8_t)i;
        }
    }

    memset(&protos->rails, 0, sizeof(protos->rails));
    if (protos->zcopy_lane != UCP_NULL_LANE) {
        ucp_rails_fill(config->ep_config, protos->zcopy_lane, config->lanes,
                       config->ep_config->max_rma_lanes, is_get,
                       &protos->rails);
    }
}

/* By active messages: a put costs one message, a get one in each direction.
 * `own`: cost of the request, 0 without one. */
static ucs_linear_func_t
am_time(const ucp_rma_config_t *config, int is_get, double own)
{
    const ucp_lane_am_t *am     = ucp_ep_config_am(config->ep_config);
    const ucp_lane_cost_t *cost = (am->max_short > 0) ? &am->cost_short :
                                                        &am->cost_bcopy;
    ucs_linear_func_t time;

    time.c = (is_get ? 2 : 1) * (cost->pre + cost->latency + cost->recv) + own;
    time.m = ucp_lane_am_alone(am, &am->cost_bcopy, 2);
    return time;
}

/* In fragments: both ends copy at the same time, so that the data takes the
 * time of one copy, and the first fragment that of another one. It costs both
 * copies all the same: the owner's processor is busy as well, and the access
 * waits while the owner makes no progress. So an access that needs no owner is
 * preferred unless it is less than half as fast. `header`: of each message. */
static ucs_linear_func_t am_fragments_time(const ucp_rma_config_t *config,
                                           int is_get, unsigned dt_class,
                                           size_t header)
{
    const ucp_ep_config_t *ep   = config->ep_config;
    const ucp_lane_am_t *am     = ucp_ep_config_am(ep);
    const ucp_lane_cost_t *cost = &am->cost_zcopy;
    ucs_linear_func_t time      = am_time(config, is_get,
                                          UCP_PROTO_REQUEST_TIME);
    double fragment;

    /* The owner sends the reply from contiguous memory, whatever the datatype
     * at the initiator is. */
    fragment = (double)(is_get ?
                        ucp_rma_reply_fragment(ep, SIZE_MAX) :
                        ucp_rma_put_fragment(ep, dt_class, SIZE_MAX));
    if (fragment == 0) {
        cost     = &am->cost_bcopy;
        fragment = (double)(am->max_bcopy - header);
    }
    time.c += ucp_lane_am_first(am, fragment);
    time.m  = 2 * (ucp_lane_am_stream(am) +
                  (cost->pre + cost->post + cost->recv) / fragment);
    return time;
}

/* Large transfers use all rails: higher cost per transfer, less time per
 * byte. */
static void divide(const ucp_rails_t *rails, const ucp_lane_rma_t *rma,
                   ucp_proto_candidate_t list[NUM_CANDIDATES])
{
    ucp_proto_candidate_t *zcopy = &list[ZCOPY], *divided = &list[DIVIDED];

    if (rails->num > 1) {
        *divided        = *zcopy;
        divided->min    = ucp_rails_min(rails);
        divided->time.m = 1.0 / rails->bandwidth;
        divided->time.c += (rails->num - 1) *
                           (rma->cost_zcopy.pre + rma->cost_zcopy.post);
        zcopy->max      = divided->min - 1;
    }
}

/* Fills in the available kinds. Of equal costs, the first in the list is
 * selected. */
static void list_candidates(const ucp_rma_config_t *config, int is_get,
                            const ucp_rma_protos_t *protos,
                            ucp_dt_class_t dt_class,
                            ucp_proto_candidate_t list[NUM_CANDIDATES])
{
    const double own    = UCP_PROTO_REQUEST_TIME;
    const size_t header = is_get ? sizeof(ucp_rma_get_reply_t) :
                                   sizeof(ucp_rma_put_t);
    const ucp_lane_rma_t *rma;
    unsigned i;

    for (i = 0; i < NUM_CANDIDATES; ++i) {
        list[i] = (ucp_proto_candidate_t){.min = 1, .max = 0};
    }

    list[0].proto = is_get ? &ucp_proto_get_short : &ucp_proto_put_short;
    if ((protos->short_lane != UCP_NULL_LANE) &&
        (dt_class == UCP_DT_CLASS_CONTIG)) {
        rma          = rma_of(config, protos->short_lane, is_get);
        list[0].max  = rma->max_short;
        list[0].time = cost_time(&rma->cost_short, 0, 0);
    }

    list[1].proto = is_get ? &ucp_proto_get_bcopy : &ucp_proto_put_bcopy;
    if (protos->bcopy_lane != UCP_NULL_LANE) {
        rma          = rma_of(config, protos->bcopy_lane, is_get);
        /* A put continues with further fragments, a get is one message. */
        list[1].max  = is_get ? rma->max_bcopy : SIZE_MAX;
        list[1].time = cost_time(&rma->cost_bcopy, own, 1);
    }

    list[ZCOPY].proto   = is_get ? &ucp_proto_get_zcopy : &ucp_proto_put_zcopy;
    list[DIVIDED].proto = list[ZCOPY].proto;
    if ((protos->zcopy_lane != UCP_NULL_LANE) &&
        ucp_dt_class_is_touchable(dt_class)) {
        rma              = rma_of(config, protos->zcopy_lane, is_get);
        list[ZCOPY].min  = (rma->min_zcopy > 0) ? rma->min_zcopy : 1;
        list[ZCOPY].max  = SIZE_MAX;
        list[ZCOPY].time = cost_time(&rma->cost_zcopy, own, 0);
        divide(&protos->rails, rma, list);
    }

    list[3].proto = is_get ? &ucp_proto_get_am : &ucp_proto_put_am;
    list[4].proto = list[3].proto;
    if (config->by_cpu) {
        list[3].max  = ucp_ep_config_am(config->ep_config)->max_bcopy - header;
        list[4].min  = list[3].max + 1;
        list[4].max  = SIZE_MAX;
        list[4].time = am_fragments_time(config, is_get, dt_class, header);
        list[3].time = am_time(config, is_get,
                               (!is_get && (dt_class == UCP_DT_CLASS_CONTIG)) ?
                               0 : own);
    }
}

/* A user's threshold replaces the comparison of costs at this size. */
static void
apply_threshold(ucp_proto_candidate_t list[NUM_CANDIDATES], size_t thresh)
{
    unsigned i;

    if ((thresh == SIZE_MAX) || (list[ZCOPY].max < list[ZCOPY].min)) {
        return;
    }
    if (thresh < list[ZCOPY].min) {
        thresh = list[ZCOPY].min;
    }
    for (i = 0; i < NUM_CANDIDATES; ++i) {
        if ((i == ZCOPY) || (i == DIVIDED)) {
            list[i].min = (list[i].min < thresh) ? thresh : list[i].min;
        } else if (list[i].max >= thresh) {
            list[i].max = thresh - 1;
        }
    }
}

static ucs_status_t fill_way(ucp_worker_h worker, ucp_rma_config_t *config,
                             int is_get, ucp_rma_protos_t *protos)
{
    const ucp_proto_step_t *step;
    ucp_proto_candidate_t list[NUM_CANDIDATES];
    ucs_status_t status;
    unsigned dt_class;

    select_lanes(config, is_get, protos);
    for (dt_class = 0; dt_class < UCP_DT_CLASS_LAST; ++dt_class) {
        list_candidates(config, is_get, protos, (ucp_dt_class_t)dt_class, list);
        apply_threshold(list, worker->context->options.zcopy_thresh);
        /* no protocol is for size 0 */
        status = ucp_proto_envelope(list, NUM_CANDIDATES,
                                    &protos->tables[dt_class]);
        if (status != UCS_OK) {
            return status;
        }
        if (worker->context->options.proto_info &&
            ((dt_class != UCP_DT_CLASS_STAGED) ||
             (worker->flags & UCP_WORKER_FLAG_STAGE))) {
            ucp_proto_print_table(&protos->tables[dt_class],
                                  is_get ? "get" : "put", dt_class, NULL,
                                  stdout);
        }
    }

    /* The leading rows that are short; a row for size 0 may precede them. */
    protos->short_end = 0;
    for (step = protos->tables[UCP_DT_CLASS_CONTIG].steps;; ++step) {
        if (step->proto == list[0].proto) {
            protos->short_end = (step->max == SIZE_MAX) ? SIZE_MAX :
                                                          step->max + 1;
        } else if (step->max > 0) {
            break;
        }
        if (step->max == SIZE_MAX) {
            break;
        }
    }
    return UCS_OK;
}

/* End of the puts that use short active messages, if these begin the table. */
static size_t am_put_end(const ucp_rma_config_t *config)
{
    const ucp_lane_am_t *am      = ucp_ep_config_am(config->ep_config);
    size_t end                   = UCP_RMA_AM_SHORT_MAX + 1;
    const ucp_proto_step_t *step =
            config->put.tables[UCP_DT_CLASS_CONTIG].steps;

    if (step->max == 0) {
        ++step; /* row of size 0, without a protocol */
    }
    if ((step->proto != &ucp_proto_put_am) ||
        (am->max_short <= sizeof(ucp_rma_put_t))) {
        return 0;
    }
    if (step->max < end) {
        end = step->max + 1;
    }
    if (am->max_short - sizeof(ucp_rma_put_t) < end) {
        end = am->max_short - sizeof(ucp_rma_put_t) + 1;
    }
    return end;
}

static void select_amo_lane(ucp_rma_config_t *config)
{
    double best = INFINITY;
    unsigned i;

    config->amo_lane = UCP_NULL_LANE;
    for (i = 0; i < config->ep_config->num_lanes; ++i) {
        double time = ucp_lane_amo_time(&config->ep_config->lanes[i]);

        if ((config->lanes & config->ep_config->amo_lanes & UCS_BIT(i)) &&
            (time < best)) {
            best             = time;
            config->amo_lane = (uint8_t)i;
        }
    }
}

const ucp_rma_config_t *
ucp_rma_config_get(ucp_worker_h worker, const ucp_ep_config_t *ep_config,
                   ucp_lane_map_t lanes, int by_cpu)
{
    ucp_rma_config_t *config;

    for (config = ucp_worker_rma(worker)->configs; config != NULL;
         config = config->next) {
        if ((config->ep_config == ep_config) && (config->lanes == lanes) &&
            (config->by_cpu == by_cpu)) {
            return config;
        }
    }

    config = calloc(1, sizeof(*config));
    if (config == NULL) {
        return NULL;
    }

    config->ep_config = ep_config;
    config->lanes     = lanes;
    config->by_cpu    = (uint8_t)by_cpu;
    if ((fill_way(worker, config, 0, &config->put) != UCS_OK) ||
        (fill_way(worker, config, 1, &config->get) != UCS_OK)) {
        free(config);
        return NULL;
    }
    config->am_put_end = am_put_end(config);
    if (worker->flags & UCP_WORKER_FLAG_STAGE) {
        /* With staging, the memory type of each buffer is detected first. */
        config->put.short_end = 0;
        config->get.short_end = 0;
        config->am_put_end    = 0;
    }
    select_amo_lane(config);

    config->next                    = ucp_worker_rma(worker)->configs;
    ucp_worker_rma(worker)->configs = config;
    return config;
}

void ucp_rma_config_free_all(ucp_worker_h worker)
{
    ucp_rma_config_t *config;

    while ((config = ucp_worker_rma(worker)->configs) != NULL) {
        ucp_worker_rma(worker)->configs = config->next;
        free(config);
    }
}
