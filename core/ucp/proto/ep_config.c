/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Endpoint configurations (ucp_ep_config_t), which endpoints with equal lanes
 * share: the best lane for each kind of operation, the tables of protocols, and
 * the variants after the failure of a lane or a new measurement of bandwidths.
 */
#include "ucp/proto/ep.h"
#include "ucp/proto/lane.h"
#include "ucp/proto/measure.h"
#include "ucs/datastruct/string_buffer.h"
#include "ucs/debug/log.h"
#include "ucs/sys/math.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Sets the rails (rails.h): for the put and the get of a rendezvous, the lanes
 * that share large data; and for each lane, rails of this lane only. */
static void assign_rails(ucp_ep_config_t *config)
{
    const ucp_lane_map_t all = (ucp_lane_map_t)~0;
    unsigned i;

    for (i = 0; i < config->num_lanes; ++i) {
        ucp_rails_single(config, i, 1, &config->single_get[i]);
        ucp_rails_single(config, i, 0, &config->single_put[i]);
    }
    memset(&config->rndv_get, 0, sizeof(config->rndv_get));
    memset(&config->rndv_put, 0, sizeof(config->rndv_put));
    if (config->rndv_lane != UCP_NULL_LANE) {
        ucp_rails_fill(config, config->rndv_lane, all, config->max_rndv_lanes,
                       1, &config->rndv_get);
        ucp_rails_fill(config, config->rndv_lane, all, config->max_rndv_lanes,
                       0, &config->rndv_put);
    }
}

void ucp_ep_config_assign(ucp_ep_config_t *config)
{
    double rndv = INFINITY, rma = INFINITY, amo = INFINITY;
    double device = INFINITY;
    unsigned i;

    config->rndv_lane   = UCP_NULL_LANE;
    config->device_lane = UCP_NULL_LANE;
    config->rma_lane    = UCP_NULL_LANE;
    config->amo_lane    = UCP_NULL_LANE;
    config->rma_lanes   = 0;
    config->amo_lanes   = 0;
    for (i = 0; i < config->num_lanes; ++i) {
        const ucp_lane_config_t *lane = &config->lanes[i];
        double time;

        if (ucp_lane_can_rma(lane)) {
            config->rma_lanes |= UCS_BIT(i);
        }
        if (ucp_lane_can_amo(lane)) {
            config->amo_lanes |= UCS_BIT(i);
        }
        time = ucp_lane_rndv_time(lane, UCP_LANE_LARGE);
        if (time < rndv) {
            rndv              = time;
            config->rndv_lane = (uint8_t)i;
        }
        time = ucp_lane_device_time(lane, UCP_LANE_LARGE);
        if (time < device) {
            device              = time;
            config->device_lane = (uint8_t)i;
        }
        time = ucp_lane_rma_time(lane, UCP_LANE_SMALL);
        if (time < rma) {
            rma              = time;
            config->rma_lane = (uint8_t)i;
        }
        time = ucp_lane_amo_time(lane);
        if (time < amo) {
            amo              = time;
            config->amo_lane = (uint8_t)i;
        }
    }
    assign_rails(config);
}

static int is_same(const ucp_ep_config_t *config,
                   const ucp_selected_lane_t *lanes, unsigned num_lanes,
                   int err_mode, int is_local)
{
    unsigned i;

    if ((config->num_lanes != num_lanes) || (config->err_mode != err_mode) ||
        (config->is_local != is_local) || (config->whole != config) ||
        config->unconnected) {
        return 0;
    }
    for (i = 0; i < num_lanes; ++i) {
        if ((config->lanes[i].iface_index != lanes[i].iface_index) ||
            (config->lanes[i].remote_md != lanes[i].remote_md) ||
            (config->lanes[i].remote_device != lanes[i].remote_device)) {
            return 0;
        }
    }
    return 1;
}

static void show(ucp_worker_h worker, const ucp_ep_config_t *config)
{
    FILE *stream = ucs_log_open_stream();
    ucs_string_buffer_t names;
    char costs[128];
    unsigned i;

    if (stream == NULL) {
        ucs_warn("cannot show the protocols of an endpoint: %m");
        return;
    }
    if (ucp_measure_describe(config, costs, sizeof(costs))) {
        fprintf(stream, "# %s\n", costs);
    }
    ucs_string_buffer_init(&names);
    for (i = 0; i < config->num_lanes; ++i) {
        const ucp_resource_t *resource =
            ucp_worker_iface_resource(worker, config->lanes[i].iface_index);

        ucs_string_buffer_appendf(&names, "%s%s/%s", (i > 0) ? "," : "",
                                  resource->tl_name, resource->dev_name);
    }
    ucp_proto_print(config, ucs_string_buffer_cstr(&names), stream);
    ucs_string_buffer_cleanup(&names);
    fclose(stream);
}

/* For each value of UCX_RNDV_SCHEME, the flag of the protocol that is preferred
 * for the data of a rendezvous; 0: the protocol is selected by cost. */
static const uint16_t schemes[UCP_RNDV_SCHEME_LAST] = {
    [UCP_RNDV_SCHEME_GET] = UCP_PROTO_FLAG_GET,
    [UCP_RNDV_SCHEME_PUT] = UCP_PROTO_FLAG_PUT,
    [UCP_RNDV_SCHEME_AM]  = UCP_PROTO_FLAG_MESSAGES,
};

static ucp_ep_config_t *alloc(ucp_worker_h worker, unsigned num_lanes,
                              int err_mode)
{
    const ucp_config_options_t *options = &worker->context->options;
    ucp_ep_config_t *config             = calloc(1, sizeof(*config));

    if (config != NULL) {
        config->num_lanes      = (uint8_t)num_lanes;
        config->err_mode       = (uint8_t)err_mode;
        config->rndv_prefer    = schemes[options->rndv_scheme];
        config->rndv_frag_size = ucp_config_sizes_get(
            &options->rndv_frag_size, UCS_BIT(UCS_MEMORY_TYPE_HOST));
        config->max_rndv_lanes = (uint8_t)options->max_rndv_lanes;
        config->max_rma_lanes  = (uint8_t)options->max_rma_lanes;
        config->max_lane_ratio = options->max_lane_ratio;
        config->short_end      = options->bcopy_thresh;
        config->whole          = config;
    }
    return config;
}

/* Returns the user's rendezvous threshold for peers on this machine or for
 * peers on other machines, whichever the configuration is for. */
static size_t rndv_thresh(const ucp_config_options_t *options,
                          const ucp_ep_config_t *config)
{
    return config->is_local ? options->rndv_thresh.intra :
                              options->rndv_thresh.inter;
}

/* Completes a configuration whose lanes are set, and adds it to the worker's
 * list. Returns NULL, and frees the configuration, if out of memory. */
static const ucp_ep_config_t *keep(ucp_worker_h worker, ucp_ep_config_t *config)
{
    ucp_context_h context = worker->context;
    ucp_ep_config_t **configs;

    ucp_ep_config_assign(config);
    if (ucp_proto_select(config, context->options.zcopy_thresh,
                         rndv_thresh(&context->options, config)) != UCS_OK) {
        goto err;
    }
    if (config->tag_path == UCP_TAG_PATH_ASK) {
        /* A short send cannot send the message that asks the peer. */
        config->tag_short_end = 0;
    }
    config->staged = !!(worker->flags & UCP_WORKER_FLAG_STAGE);

    configs = realloc(worker->configs,
                      (worker->num_configs + 1) * sizeof(*configs));
    if (configs == NULL) {
        goto err;
    }
    worker->configs                = configs;
    configs[worker->num_configs++] = config;
    return config;

err:
    free(config);
    return NULL;
}

/* As keep(); prints the protocols if the user has set UCX_PROTO_INFO. */
static const ucp_ep_config_t *keep_and_show(ucp_worker_h worker,
                                            ucp_ep_config_t *config)
{
    const ucp_ep_config_t *kept = keep(worker, config);

    if ((kept != NULL) && worker->context->options.proto_info) {
        show(worker, kept);
    }
    return kept;
}

const ucp_ep_config_t *ucp_ep_config_get(ucp_worker_h worker,
                                         const ucp_selected_lane_t *lanes,
                                         unsigned num_lanes, int err_mode,
                                         int is_local)
{
    ucp_ep_config_t *config;
    unsigned i;

    for (i = 0; i < worker->num_configs; ++i) {
        if (is_same(worker->configs[i], lanes, num_lanes, err_mode, is_local)) {
            return worker->configs[i];
        }
    }

    config = alloc(worker, num_lanes, err_mode);
    if (config == NULL) {
        return NULL;
    }
    config->is_local = (uint8_t)is_local;
    for (i = 0; i < num_lanes; ++i) {
        config->lanes[i]           = worker->ifaces[lanes[i].iface_index].lane;
        config->lanes[i].remote_md = lanes[i].remote_md;
        config->lanes[i].remote_device = lanes[i].remote_device;
    }
    config->tag_path = (config->lanes[UCP_AM_LANE].tag.max_bcopy > 0) ?
                           UCP_TAG_PATH_ASK :
                           UCP_TAG_PATH_AM;
    return keep_and_show(worker, config);
}

/* For a lane that has failed: clears its capabilities, so that no protocol uses
 * it. The lane stays in the array, so that the other lanes keep their
 * indices. */
static void disable_lane(ucp_lane_config_t *lane)
{
    memset(&lane->am, 0, sizeof(lane->am));
    memset(&lane->tag, 0, sizeof(lane->tag));
    memset(&lane->put, 0, sizeof(lane->put));
    memset(&lane->get, 0, sizeof(lane->get));
    memset(&lane->amo, 0, sizeof(lane->amo));
    lane->caps = 0;
}

/* Creates the variant of `config` with this path of tagged messages, these
 * failed lanes (`lost`) and these classes of measured bandwidth. The variant
 * has the same lanes, and the same `whole`: the configuration from which all of
 * its variants are derived. The caller changes the lanes and then calls keep().
 * Returns NULL if the variant exists already, which *known_p then points to, or
 * if out of memory: *known_p is then NULL. */
static ucp_ep_config_t *derive(ucp_worker_h worker,
                               const ucp_ep_config_t *config, unsigned tag_path,
                               ucp_lane_map_t lost, unsigned measured,
                               unsigned measured_copy,
                               const ucp_ep_config_t **known_p)
{
    ucp_ep_config_t *variant;
    unsigned i;

    for (i = 0; i < worker->num_configs; ++i) {
        *known_p = worker->configs[i];
        if (((*known_p)->whole == config->whole) &&
            ((*known_p)->tag_path == tag_path) && ((*known_p)->lost == lost) &&
            ((*known_p)->measured == measured) &&
            ((*known_p)->measured_copy == measured_copy)) {
            return NULL;
        }
    }

    *known_p = NULL;
    variant  = alloc(worker, config->num_lanes, config->err_mode);
    if (variant != NULL) {
        memcpy(variant->lanes, config->lanes, sizeof(variant->lanes));
        variant->is_local      = config->is_local;
        variant->tag_path      = (uint8_t)tag_path;
        variant->lost          = lost;
        variant->measured      = (uint8_t)measured;
        variant->measured_copy = (uint8_t)measured_copy;
        variant->whole         = config->whole;
    }
    return variant;
}

const ucp_ep_config_t *ucp_ep_config_without(ucp_worker_h worker,
                                             const ucp_ep_config_t *config,
                                             unsigned lane)
{
    ucp_lane_map_t lost = config->lost | (ucp_lane_map_t)UCS_BIT(lane);
    const ucp_ep_config_t *known;
    ucp_ep_config_t *left = derive(worker, config, config->tag_path, lost,
                                   config->measured, config->measured_copy,
                                   &known);

    if (left == NULL) {
        return known;
    }
    disable_lane(&left->lanes[lane]);
    return keep(worker, left);
}

const ucp_ep_config_t *ucp_ep_config_tag(ucp_worker_h worker,
                                         const ucp_ep_config_t *config,
                                         ucp_tag_path_t path)
{
    const ucp_ep_config_t *known;
    ucp_ep_config_t *variant = derive(worker, config, path, config->lost,
                                      config->measured, config->measured_copy,
                                      &known);

    return (variant == NULL) ? known : keep_and_show(worker, variant);
}

/* Sets the costs of large put and get, on the lane that `whole` uses for them,
 * to the measured bandwidth or, if there is none, to the estimate in
 * `whole`. */
static void set_copy_cost(ucp_ep_config_t *config)
{
    const ucp_ep_config_t *whole = config->whole;
    double bandwidth             = ucp_measure_bandwidth(config->measured_copy);
    const ucp_lane_config_t *assumed;
    ucp_lane_config_t *lane;

    if ((whole->rndv_lane == UCP_NULL_LANE) ||
        (config->lost & UCS_BIT(whole->rndv_lane))) {
        return;
    }
    lane                           = &config->lanes[whole->rndv_lane];
    assumed                        = &whole->lanes[whole->rndv_lane];
    lane->put.cost_zcopy.bandwidth = (bandwidth > 0) ?
                                         bandwidth :
                                         assumed->put.cost_zcopy.bandwidth;
    lane->get.cost_zcopy.bandwidth = (bandwidth > 0) ?
                                         bandwidth :
                                         assumed->get.cost_zcopy.bandwidth;
}

const ucp_ep_config_t *ucp_ep_config_measured(ucp_worker_h worker,
                                              const ucp_ep_config_t *config,
                                              unsigned measured,
                                              unsigned measured_copy)
{
    const ucp_lane_am_t *before = ucp_ep_config_am(config->whole);
    const ucp_ep_config_t *known;
    ucp_ep_config_t *variant = derive(worker, config, config->tag_path,
                                      config->lost, measured, measured_copy,
                                      &known);

    if (variant == NULL) {
        return known;
    }
    variant->lanes[UCP_AM_LANE].am.stream = (measured == 0) ?
                                                before->stream :
                                                ucp_measure_bandwidth(measured);
    set_copy_cost(variant);
    return keep_and_show(worker, variant);
}

/* Returns the lane configuration of the interface that has the smallest limit
 * of buffered copy among those that can carry UCP's messages: a message within
 * this limit can be sent over any of them. */
static const ucp_lane_config_t *poorest_lane(ucp_worker_h worker)
{
    const ucp_lane_config_t *poorest = NULL;
    unsigned i;

    for (i = 0; i < worker->num_ifaces; ++i) {
        const ucp_lane_config_t *lane = &worker->ifaces[i].lane;

        if ((lane->am.max_bcopy >= UCP_MIN_AM_BCOPY) &&
            ((poorest == NULL) ||
             (lane->am.max_bcopy < poorest->am.max_bcopy))) {
            poorest = lane;
        }
    }
    return poorest;
}

ucs_status_t ucp_ep_config_unconnected(ucp_worker_h worker, int err_mode,
                                       const ucp_ep_config_t **config_p)
{
    const ucp_lane_config_t *poorest = poorest_lane(worker);
    ucp_lane_config_t *lane;
    ucp_ep_config_t *config;
    unsigned i;

    for (i = 0; i < worker->num_configs; ++i) {
        if (worker->configs[i]->unconnected &&
            (worker->configs[i]->err_mode == err_mode)) {
            *config_p = worker->configs[i];
            return UCS_OK;
        }
    }

    if (poorest == NULL) {
        ucs_error("cannot connect to a socket address: no transport of this"
                  " worker can send messages; see UCX_TLS");
        return UCS_ERR_UNREACHABLE;
    }
    config = alloc(worker, 1, err_mode);
    if (config == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    config->unconnected = 1;
    lane                = &config->lanes[UCP_AM_LANE];
    lane->iface_index   = poorest->iface_index;
    lane->md_index      = poorest->md_index;
    lane->remote_md     = UCP_NULL_MD;
    lane->caps          = UCT_IFACE_FLAG_AM_BCOPY;
    lane->am.max_bcopy  = poorest->am.max_bcopy;
    lane->am.cost_bcopy = poorest->am.cost_bcopy;
    *config_p           = keep(worker, config);
    return (*config_p == NULL) ? UCS_ERR_NO_MEMORY : UCS_OK;
}

static void hide_latency(ucp_lane_config_t *lane)
{
    ucp_lane_cost_t *costs[] = {
        &lane->am.cost_short,  &lane->am.cost_bcopy,  &lane->am.cost_zcopy,
        &lane->put.cost_short, &lane->put.cost_bcopy, &lane->put.cost_zcopy,
        &lane->get.cost_short, &lane->get.cost_bcopy, &lane->get.cost_zcopy,
    };
    size_t i;

    lane->am.many = 1;
    for (i = 0; i < sizeof(costs) / sizeof(costs[0]); ++i) {
        costs[i]->latency = 0;
    }
}

const ucp_ep_config_t *ucp_ep_config_multi(ucp_worker_h worker,
                                           const ucp_ep_config_t *config)
{
    const ucp_config_options_t *options = &worker->context->options;
    ucp_ep_config_t *multi;
    unsigned i;

    if ((config->multi != NULL) || config->unconnected) {
        return config->unconnected ? config : config->multi;
    }

    multi = malloc(sizeof(*multi));
    if (multi == NULL) {
        return config;
    }
    *multi = *config;
    for (i = 0; i < multi->num_lanes; ++i) {
        hide_latency(&multi->lanes[i]);
    }
    if (ucp_proto_select(multi, options->zcopy_thresh,
                         rndv_thresh(options, multi)) != UCS_OK) {
        free(multi);
        return config;
    }
    ((ucp_ep_config_t *)config)->multi = multi;
    return multi;
}

void ucp_ep_config_free_all(ucp_worker_h worker)
{
    unsigned i;

    for (i = 0; i < worker->num_configs; ++i) {
        free((void *)worker->configs[i]->multi);
        free(worker->configs[i]);
    }
    free(worker->configs);
}
