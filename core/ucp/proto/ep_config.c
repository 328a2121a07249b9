/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Endpoint configurations: the limits and costs of lanes, read once from their
 * transports, and the protocol tables that follow from them.
 */
#include "ucp/core/ep.h"
#include "ucp/wireup/select.h"
#include "ucs/datastruct/string_buffer.h"
#include "ucs/debug/log.h"
#include "uct/base/md.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void lane_cost(uct_iface_h iface, ucx_op_t op, ucp_lane_cost_t *cost)
{
    ucx_perf_t perf = {
        .size            = sizeof(perf),
        .op              = op,
        .local_mem_type  = UCS_MEMORY_TYPE_HOST,
        .remote_mem_type = UCS_MEMORY_TYPE_HOST,
        .local_sys_dev   = UCS_SYS_DEVICE_ID_UNKNOWN,
        .remote_sys_dev  = UCS_SYS_DEVICE_ID_UNKNOWN
    };

    if (uct_iface_estimate(iface, &perf) != UCS_OK) {
        return; /* zero cost: the limits alone decide */
    }

    cost->pre       = perf.send_pre_overhead;
    cost->post      = perf.send_post_overhead;
    cost->recv      = perf.recv_overhead;
    cost->latency   = perf.latency.c;
    cost->bandwidth = perf.bandwidth.dedicated + perf.bandwidth.shared;
}

static void fill_am(ucp_lane_am_t *am, ucp_worker_iface_t *wiface)
{
    const uct_iface_attr_t *attr = &wiface->attr->base;
    uint64_t flags               = attr->cap.flags;

    if (flags & UCT_IFACE_FLAG_AM_SHORT) {
        am->max_short = attr->cap.am.max_short;
        lane_cost(wiface->iface, UCX_OP_AM_SHORT, &am->cost_short);
    }
    if (flags & UCT_IFACE_FLAG_AM_BCOPY) {
        am->max_bcopy = attr->cap.am.max_bcopy;
        lane_cost(wiface->iface, UCX_OP_AM_BCOPY, &am->cost_bcopy);
    }
    if (flags & UCT_IFACE_FLAG_AM_ZCOPY) {
        am->max_zcopy = attr->cap.am.max_zcopy;
        am->max_hdr   = attr->cap.am.max_hdr;
        am->max_iov   = attr->cap.am.max_iov;
        lane_cost(wiface->iface, UCX_OP_AM_ZCOPY, &am->cost_zcopy);
    }
}

static void fill_put(ucp_lane_rma_t *put, ucp_worker_iface_t *wiface)
{
    const uct_iface_attr_t *attr = &wiface->attr->base;
    uint64_t flags               = attr->cap.flags;

    if (flags & UCT_IFACE_FLAG_PUT_SHORT) {
        put->max_short = attr->cap.put.max_short;
        lane_cost(wiface->iface, UCX_OP_PUT_SHORT, &put->cost_short);
    }
    if (flags & UCT_IFACE_FLAG_PUT_BCOPY) {
        put->max_bcopy = attr->cap.put.max_bcopy;
        lane_cost(wiface->iface, UCX_OP_PUT_BCOPY, &put->cost_bcopy);
    }
    if (flags & UCT_IFACE_FLAG_PUT_ZCOPY) {
        put->min_zcopy = attr->cap.put.min_zcopy;
        put->max_zcopy = attr->cap.put.max_zcopy;
        put->max_iov   = attr->cap.put.max_iov;
        lane_cost(wiface->iface, UCX_OP_PUT_ZCOPY, &put->cost_zcopy);
    }
}

static void fill_get(ucp_lane_rma_t *get, ucp_worker_iface_t *wiface)
{
    const uct_iface_attr_t *attr = &wiface->attr->base;
    uint64_t flags               = attr->cap.flags;

    if (flags & UCT_IFACE_FLAG_GET_SHORT) {
        get->max_short = attr->cap.get.max_short;
        lane_cost(wiface->iface, UCX_OP_GET_SHORT, &get->cost_short);
    }
    if (flags & UCT_IFACE_FLAG_GET_BCOPY) {
        get->max_bcopy = attr->cap.get.max_bcopy;
        lane_cost(wiface->iface, UCX_OP_GET_BCOPY, &get->cost_bcopy);
    }
    if (flags & UCT_IFACE_FLAG_GET_ZCOPY) {
        get->min_zcopy = attr->cap.get.min_zcopy;
        get->max_zcopy = attr->cap.get.max_zcopy;
        get->max_iov   = attr->cap.get.max_iov;
        lane_cost(wiface->iface, UCX_OP_GET_ZCOPY, &get->cost_zcopy);
    }
}

void ucp_lane_config_fill(ucp_worker_iface_t *wiface)
{
    ucp_context_h context        = wiface->worker->context;
    ucp_resource_t *resource     = &context->resources[wiface->resource];
    const uct_iface_attr_t *attr = &wiface->attr->base;
    ucp_lane_config_t *lane      = &wiface->lane;
    const ucx_md_attr_t *md_attr =
            uct_md_attr(context->mds[resource->md_index].md);

    memset(lane, 0, sizeof(*lane));
    lane->iface_index = (uint8_t)(wiface - wiface->worker->ifaces);
    lane->md_index    = resource->md_index;
    lane->remote_md   = UCP_NULL_MD;
    lane->caps        = attr->cap.flags;
    lane->md_flags    = md_attr->flags;
    lane->rkey_size   = md_attr->rkey_packed_size;
    lane->reg_cost    = md_attr->reg_cost;
    fill_am(&lane->am, wiface);
    fill_put(&lane->put, wiface);
    fill_get(&lane->get, wiface);

    lane->amo.post32  = attr->cap.atomic32.op_flags;
    lane->amo.post64  = attr->cap.atomic64.op_flags;
    lane->amo.fetch32 = attr->cap.atomic32.fop_flags;
    lane->amo.fetch64 = attr->cap.atomic64.fop_flags;
    lane_cost(wiface->iface, UCX_OP_ATOMIC_POST, &lane->amo.cost_post);
    lane_cost(wiface->iface, UCX_OP_ATOMIC_FETCH, &lane->amo.cost_fetch);
}

void ucp_ep_config_assign(ucp_ep_config_t *config)
{
    double rndv = INFINITY, rma = INFINITY, amo = INFINITY;
    unsigned i;

    config->rndv_lane = UCP_NULL_LANE;
    config->rma_lane  = UCP_NULL_LANE;
    config->amo_lane  = UCP_NULL_LANE;
    config->rma_lanes = 0;
    config->amo_lanes = 0;
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
}

static int is_same(const ucp_ep_config_t *config, const ucp_lane_choice_t *lanes,
                   unsigned num_lanes, int err_mode)
{
    unsigned i;

    if ((config->num_lanes != num_lanes) || (config->err_mode != err_mode)) {
        return 0;
    }
    for (i = 0; i < num_lanes; ++i) {
        if ((config->lanes[i].iface_index != lanes[i].iface_index) ||
            (config->lanes[i].remote_md != lanes[i].remote_md)) {
            return 0;
        }
    }
    return 1;
}

static void show(ucp_worker_h worker, const ucp_ep_config_t *config)
{
    ucs_string_buffer_t names;
    unsigned i;

    ucs_string_buffer_init(&names);
    for (i = 0; i < config->num_lanes; ++i) {
        ucs_string_buffer_appendf(
                &names, "%s%s", (i > 0) ? "," : "",
                ucp_worker_iface_resource(
                        worker, config->lanes[i].iface_index)->tl_name);
    }
    ucp_proto_print(config, ucs_string_buffer_cstr(&names), stdout);
    ucs_string_buffer_cleanup(&names);
}

static ucp_ep_config_t *
create(ucp_worker_h worker, const ucp_lane_choice_t *lanes, unsigned num_lanes,
       int err_mode)
{
    ucp_context_h context = worker->context;
    ucp_ep_config_t *config;
    unsigned i;

    config = calloc(1, sizeof(*config));
    if (config == NULL) {
        return NULL;
    }

    config->num_lanes = (uint8_t)num_lanes;
    config->err_mode  = (uint8_t)err_mode;
    config->rndv_scheme    = (uint8_t)context->options.rndv_scheme;
    config->rndv_frag_size = context->options.rndv_frag_size;
    for (i = 0; i < num_lanes; ++i) {
        config->lanes[i]           = worker->ifaces[lanes[i].iface_index].lane;
        config->lanes[i].remote_md = lanes[i].remote_md;
    }
    ucp_ep_config_assign(config);
    if (ucp_proto_select(config, context->options.zcopy_thresh,
                         context->options.rndv_thresh) != UCS_OK) {
        free(config);
        return NULL;
    }
    if (context->options.proto_info) {
        show(worker, config);
    }
    return config;
}

const ucp_ep_config_t *
ucp_ep_config_get(ucp_worker_h worker, const ucp_lane_choice_t *lanes,
                  unsigned num_lanes, int err_mode)
{
    ucp_ep_config_t **configs;
    ucp_ep_config_t *config;
    unsigned i;

    for (i = 0; i < worker->num_configs; ++i) {
        if (is_same(worker->configs[i], lanes, num_lanes, err_mode)) {
            return worker->configs[i];
        }
    }

    configs = realloc(worker->configs,
                      (worker->num_configs + 1) * sizeof(*configs));
    if (configs == NULL) {
        return NULL;
    }
    worker->configs = configs;

    config = create(worker, lanes, num_lanes, err_mode);
    if (config != NULL) {
        configs[worker->num_configs++] = config;
    }
    return config;
}

void ucp_ep_config_free_all(ucp_worker_h worker)
{
    unsigned i;

    for (i = 0; i < worker->num_configs; ++i) {
        free(worker->configs[i]);
    }
    free(worker->configs);
}
