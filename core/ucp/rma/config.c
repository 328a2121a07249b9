/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Selects lanes and protocols of put, get and atomics for a key: for each kind
 * of transfer the fastest lane, and for each size the protocol of the lowest
 * cost. Computed once for all keys with equal ucp_rma_config::by_cpu that the
 * same lanes can use, on endpoints with equal lanes.
 */
#include "ucp/rma/rkey.h"

#include "ucs/debug/log.h"

#include <math.h>
#include <stdlib.h>

static double at(ucs_linear_func_t time, size_t length)
{
    return time.c + time.m * (double)length;
}

/* Selects the best lane for each of short, buffered copy and zero-copy. */
static void select_lanes(const ucp_rma_config_t *config, int is_get,
                         ucp_rma_protos_t *protos)
{
    double best_short = INFINITY, best_bcopy = INFINITY, best_zcopy = INFINITY;
    unsigned i;

    protos->short_lane = UCP_NULL_LANE;
    protos->bcopy_lane = UCP_NULL_LANE;
    protos->zcopy_lane = UCP_NULL_LANE;
    for (i = 0; i < config->ep_config->num_lanes; ++i) {
        const ucp_lane_rma_t *rma = ucp_rma_lane(config->ep_config, i, is_get);
        double time;

        if (!(config->lanes & UCS_BIT(i))) {
            continue;
        }
        time = at(ucp_rma_cost(&rma->cost_short, 0, 0), UCP_LANE_SMALL);
        if ((rma->max_short > 0) && (time < best_short)) {
            best_short         = time;
            protos->short_lane = (uint8_t)i;
        }
        time = at(ucp_rma_cost(&rma->cost_bcopy, 0, 1), UCP_LANE_SMALL);
        if ((rma->max_bcopy > 0) && (time < best_bcopy)) {
            best_bcopy         = time;
            protos->bcopy_lane = (uint8_t)i;
        }
        time = at(ucp_rma_cost(&rma->cost_zcopy, 0, 0), UCP_LANE_LARGE);
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

/* Sets protos->zcopy and protos->copy, for requests that cannot or must not use
 * the protocol in the table: zero-copy, and the first candidate that copies and
 * supports any size. */
static void select_others(const ucp_proto_query_t *query,
                          ucp_rma_protos_t *protos)
{
    ucp_proto_query_t by_cost = *query;
    ucp_proto_candidate_t list[UCP_PROTO_MAX_CANDIDATES];
    unsigned count, i;

    by_cost.zcopy_thresh = SIZE_MAX;
    protos->zcopy        = NULL;
    protos->copy         = NULL;
    count                = ucp_proto_list(&by_cost, list);
    for (i = 0; i < count; ++i) {
        if (list[i].proto->flags & UCP_PROTO_FLAG_ZCOPY) {
            protos->zcopy = list[i].proto;
        } else if ((list[i].max == SIZE_MAX) && (protos->copy == NULL)) {
            protos->copy = list[i].proto;
        }
    }
}

/* Returns the first size that does not use a short protocol, if the table
 * begins with short protocols; else 0. A row for size 0 without a protocol may
 * precede them. */
static size_t short_end(const ucp_proto_step_t *step)
{
    size_t end = 0;

    for (;; ++step) {
        if ((step->proto != NULL) &&
            (step->proto->flags & UCP_PROTO_FLAG_SHORT)) {
            end = (step->max == SIZE_MAX) ? SIZE_MAX : step->max + 1;
        } else if (step->max > 0) {
            return end;
        }
        if (step->max == SIZE_MAX) {
            return end;
        }
    }
}

static ucs_status_t fill_tables(ucp_worker_h worker, ucp_rma_config_t *config,
                                ucp_op_t op, ucp_rma_protos_t *protos)
{
    ucp_proto_query_t query = {
        .op           = op,
        .config       = config->ep_config,
        .zcopy_thresh = worker->context->options.zcopy_thresh,
        .key          = config,
    };
    ucs_status_t status;
    unsigned dt_class;

    select_lanes(config, op == UCP_OP_GET, protos);
    for (dt_class = 0; dt_class < UCP_DT_CLASS_LAST; ++dt_class) {
        query.dt_class = (ucp_dt_class_t)dt_class;
        status         = ucp_proto_fill(&query, &protos->tables[dt_class]);
        if (status != UCS_OK) {
            return status;
        }
    }

    query.dt_class = UCP_DT_CLASS_CONTIG;
    select_others(&query, protos);
    protos->short_end = short_end(protos->tables[UCP_DT_CLASS_CONTIG].steps);
    return UCS_OK;
}

/* Returns the first size in bytes that a put does not send as a short active
 * message; 0 if the table does not begin with messages, or if am_short has no
 * space for data. */
static size_t am_put_end(const ucp_rma_config_t *config)
{
    const ucp_lane_am_t *am = ucp_ep_config_am(config->ep_config);
    size_t end              = UCP_RMA_AM_SHORT_MAX + 1;
    const ucp_proto_step_t *step =
        config->put.tables[UCP_DT_CLASS_CONTIG].steps;

    if (step->max == 0) {
        ++step; /* row of size 0, without a protocol */
    }
    if ((step->proto == NULL) ||
        !(step->proto->flags & UCP_PROTO_FLAG_MESSAGES) ||
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

static void show(ucp_worker_h worker, const ucp_rma_config_t *config)
{
    FILE *stream     = ucs_log_open_stream();
    unsigned classes = (worker->flags & UCP_WORKER_FLAG_STAGE) ?
                           UCP_DT_CLASS_LAST :
                           UCP_DT_CLASS_STAGED;
    unsigned i;

    if (stream == NULL) {
        ucs_warn("cannot show the protocols of put and get: %m");
        return;
    }
    for (i = 0; i < classes; ++i) {
        ucp_proto_print_table(&config->put.tables[i], UCP_OP_PUT, i,
                              config->ep_config, "", stream);
    }
    for (i = 0; i < classes; ++i) {
        ucp_proto_print_table(&config->get.tables[i], UCP_OP_GET, i,
                              config->ep_config, "", stream);
    }
    fclose(stream);
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

static void select_atomics(ucp_rma_config_t *config)
{
    ucp_proto_query_t query = {
        .op     = UCP_OP_ATOMIC,
        .config = config->ep_config,
        .key    = config,
    };
    ucp_proto_candidate_t list[UCP_PROTO_MAX_CANDIDATES];
    unsigned op, fetch, is64;

    select_amo_lane(config);
    for (op = 0; op < UCP_ATOMIC_OP_LAST; ++op) {
        for (fetch = 0; fetch < 2; ++fetch) {
            for (is64 = 0; is64 < 2; ++is64) {
                query.atomic_op   = (ucp_atomic_op_t)op;
                query.fetch       = (uint8_t)fetch;
                query.atomic_size = is64 ? 8 : 4;
                config->atomics[op][fetch][is64] =
                    (ucp_proto_list(&query, list) > 0) ? list[0].proto : NULL;
            }
        }
    }
}

const ucp_rma_config_t *ucp_rma_config_get(ucp_worker_h worker,
                                           const ucp_ep_config_t *ep_config,
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
    if ((fill_tables(worker, config, UCP_OP_PUT, &config->put) != UCS_OK) ||
        (fill_tables(worker, config, UCP_OP_GET, &config->get) != UCS_OK)) {
        free(config);
        return NULL;
    }
    if (worker->context->options.proto_info) {
        show(worker, config);
    }
    config->am_put_end = am_put_end(config);
    select_atomics(config);

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
