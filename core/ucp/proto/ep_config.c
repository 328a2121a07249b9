/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Endpoint configurations: the limits and costs of a lane, read once from its
 * transport, and the protocol tables that follow from them.
 */
#include "ucp/core/ep.h"

#include "ucs/debug/log.h"
#include "uct/base/md.h"

#include <stdlib.h>

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

static void fill_limits(ucp_ep_config_t *config, ucp_worker_iface_t *wiface,
                        const ucx_md_attr_t *md_attr)
{
    const uct_iface_attr_t *attr = &wiface->attr->base;
    uint64_t flags               = attr->cap.flags;

    config->max_short     = (flags & UCT_IFACE_FLAG_AM_SHORT) ?
                            attr->cap.am.max_short : 0;
    config->max_bcopy     = attr->cap.am.max_bcopy;
    config->max_zcopy     = (flags & UCT_IFACE_FLAG_AM_ZCOPY) ?
                            attr->cap.am.max_zcopy : 0;
    config->max_zcopy_hdr = attr->cap.am.max_hdr;
    config->max_iov       = attr->cap.am.max_iov;
    if (flags & UCT_IFACE_FLAG_PUT_ZCOPY) {
        config->max_put_zcopy = attr->cap.put.max_zcopy;
        config->min_put_zcopy = attr->cap.put.min_zcopy;
        config->max_put_iov   = attr->cap.put.max_iov;
    }
    config->rkey_size = md_attr->rkey_packed_size;
    config->md_flags  = md_attr->flags;
    config->reg_cost  = md_attr->reg_cost;

    lane_cost(wiface->iface, UCX_OP_AM_SHORT, &config->cost_short);
    lane_cost(wiface->iface, UCX_OP_AM_BCOPY, &config->cost_bcopy);
    lane_cost(wiface->iface, UCX_OP_AM_ZCOPY, &config->cost_zcopy);
    lane_cost(wiface->iface, UCX_OP_PUT_ZCOPY, &config->cost_put);
}

const ucp_ep_config_t *
ucp_ep_config_get(ucp_worker_h worker, unsigned iface_index, int err_mode)
{
    ucp_context_h context      = worker->context;
    ucp_worker_iface_t *wiface = &worker->ifaces[iface_index];
    ucp_resource_t *resource   = &context->resources[wiface->resource];
    ucp_ep_config_t **configs;
    ucp_ep_config_t *config;
    unsigned i;

    for (i = 0; i < worker->num_configs; ++i) {
        config = worker->configs[i];
        if ((config->iface_index == iface_index) &&
            (config->err_mode == err_mode)) {
            return config;
        }
    }

    configs = realloc(worker->configs,
                      (worker->num_configs + 1) * sizeof(*configs));
    if (configs == NULL) {
        return NULL;
    }
    worker->configs = configs;

    config = calloc(1, sizeof(*config));
    if (config == NULL) {
        return NULL;
    }

    config->iface_index = iface_index;
    config->err_mode    = err_mode;
    fill_limits(config, wiface,
                uct_md_attr(context->mds[resource->md_index].md));
    if (ucp_proto_select(config, context->options.zcopy_thresh,
                         context->options.rndv_thresh) != UCS_OK) {
        free(config);
        return NULL;
    }
    if (context->options.proto_info) {
        ucp_proto_print(config, resource->tl_name, stdout);
    }

    configs[worker->num_configs++] = config;
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
