/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sets ucp_lane_config_t, the limits and costs of a lane: reads them from the
 * transport when the interface is opened.
 */
#include "ucp/mem/mem.h"
#include "ucp/proto/ep.h"
#include "uct/base/md.h"

#include <string.h>

ucs_status_t ucp_lane_estimate(const ucp_worker_iface_t *wiface, ucx_op_t op,
                               uct_ep_h ep, ucx_perf_t *perf)
{
    *perf = (ucx_perf_t){
        .size            = sizeof(*perf),
        .op              = op,
        .local_mem_type  = UCS_MEMORY_TYPE_HOST,
        .remote_mem_type = UCS_MEMORY_TYPE_HOST,
        .local_sys_dev   = UCS_SYS_DEVICE_ID_UNKNOWN,
        .remote_sys_dev  = UCS_SYS_DEVICE_ID_UNKNOWN,
        .ep              = ep,
    };
    return uct_iface_estimate(wiface->iface, perf);
}

/* Bytes per second that are assumed if the transport states no bandwidth: less
 * than any real one, so that other transports are preferred. It must not be 0,
 * because all times would be infinite or NaN, and no comparison would select
 * the transport where it is the only one. */
static const double unknown_bandwidth = 1e6;

/* Sets *cost from the transport's estimate. Returns the bandwidth of many
 * messages in flight in bytes per second; 0 if the transport does not estimate
 * it. */
static double lane_cost(const ucp_worker_iface_t *wiface, ucx_op_t op,
                        ucp_lane_cost_t *cost)
{
    ucp_context_h context = wiface->worker->context;
    double bandwidth;
    ucx_perf_t perf;

    cost->bandwidth = unknown_bandwidth;
    if (ucp_lane_estimate(wiface, op, NULL, &perf) != UCS_OK) {
        return 0; /* Without an estimate all other costs stay 0 */
    }

    cost->pre     = perf.send_pre_overhead;
    cost->post    = perf.send_post_overhead;
    cost->recv    = perf.recv_overhead;
    cost->latency = perf.latency.c +
                    perf.latency.m * (double)context->estimated_num_eps;
    bandwidth = perf.bandwidth.dedicated +
                perf.bandwidth.shared / (double)context->estimated_num_ppn;
    if (bandwidth > 0) {
        cost->bandwidth = bandwidth;
    }
    return perf.stream_bandwidth;
}

static void fill_am(ucp_lane_am_t *am, ucp_worker_iface_t *wiface)
{
    const uct_iface_attr_t *attr = &wiface->attr->base;
    uint64_t flags               = attr->cap.flags;

    if (flags & UCT_IFACE_FLAG_AM_SHORT) {
        am->max_short = attr->cap.am.max_short;
        lane_cost(wiface, UCX_OP_AM_SHORT, &am->cost_short);
    }
    if (flags & UCT_IFACE_FLAG_AM_BCOPY) {
        am->max_bcopy = attr->cap.am.max_bcopy;
        am->stream    = lane_cost(wiface, UCX_OP_AM_BCOPY, &am->cost_bcopy);
    }
    if (flags & UCT_IFACE_FLAG_AM_ZCOPY) {
        am->max_zcopy = attr->cap.am.max_zcopy;
        am->max_hdr   = attr->cap.am.max_hdr;
        am->max_iov   = attr->cap.am.max_iov;
        lane_cost(wiface, UCX_OP_AM_ZCOPY, &am->cost_zcopy);
    }
}

/* The arrival of an unexpected tagged message causes no event of the transport.
 * So a worker whose user may sleep (UCP_FEATURE_WAKEUP) does not use tag
 * offload. */
static void fill_tag(ucp_lane_tag_t *tag, ucp_worker_iface_t *wiface)
{
    const uct_iface_attr_t *attr = &wiface->attr->base;
    const uint64_t features      = wiface->worker->context->features;

    if (!(attr->cap.flags & UCT_IFACE_FLAG_TAG_EAGER_BCOPY) ||
        (attr->cap.tag.rndv.max_hdr < UCP_MIN_TAG_HDR) ||
        !(features & UCP_FEATURE_TAG) || (features & UCP_FEATURE_WAKEUP)) {
        return;
    }
    tag->max_bcopy = attr->cap.tag.eager.max_bcopy;
    if (attr->cap.flags & UCT_IFACE_FLAG_TAG_EAGER_SHORT) {
        tag->max_short = attr->cap.tag.eager.max_short;
    }
}

static void fill_put(ucp_lane_rma_t *put, ucp_worker_iface_t *wiface)
{
    const uct_iface_attr_t *attr = &wiface->attr->base;
    uint64_t flags               = attr->cap.flags;

    if (flags & UCT_IFACE_FLAG_PUT_SHORT) {
        put->max_short = attr->cap.put.max_short;
        lane_cost(wiface, UCX_OP_PUT_SHORT, &put->cost_short);
    }
    if (flags & UCT_IFACE_FLAG_PUT_BCOPY) {
        put->max_bcopy = attr->cap.put.max_bcopy;
        lane_cost(wiface, UCX_OP_PUT_BCOPY, &put->cost_bcopy);
    }
    if (flags & UCT_IFACE_FLAG_PUT_ZCOPY) {
        put->min_zcopy = attr->cap.put.min_zcopy;
        put->max_zcopy = attr->cap.put.max_zcopy;
        put->max_iov   = attr->cap.put.max_iov;
        lane_cost(wiface, UCX_OP_PUT_ZCOPY, &put->cost_zcopy);
    }
}

static void fill_get(ucp_lane_rma_t *get, ucp_worker_iface_t *wiface)
{
    const uct_iface_attr_t *attr = &wiface->attr->base;
    uint64_t flags               = attr->cap.flags;

    if (flags & UCT_IFACE_FLAG_GET_SHORT) {
        get->max_short = attr->cap.get.max_short;
        lane_cost(wiface, UCX_OP_GET_SHORT, &get->cost_short);
    }
    if (flags & UCT_IFACE_FLAG_GET_BCOPY) {
        get->max_bcopy = attr->cap.get.max_bcopy;
        lane_cost(wiface, UCX_OP_GET_BCOPY, &get->cost_bcopy);
    }
    if (flags & UCT_IFACE_FLAG_GET_ZCOPY) {
        get->min_zcopy = attr->cap.get.min_zcopy;
        get->max_zcopy = attr->cap.get.max_zcopy;
        get->max_iov   = attr->cap.get.max_iov;
        lane_cost(wiface, UCX_OP_GET_ZCOPY, &get->cost_zcopy);
    }
}

/* Returns the index of the first resource of the context that is on the same
 * device as the resource with index `resource`. */
static uint8_t device_of(const ucp_context_t *context, unsigned resource)
{
    const ucp_resource_t *own = &context->resources[resource];
    unsigned i;

    for (i = 0; i < resource; ++i) {
        if ((context->resources[i].dev_type == own->dev_type) &&
            (strcmp(context->resources[i].dev_name, own->dev_name) == 0)) {
            return (uint8_t)i;
        }
    }
    return (uint8_t)resource;
}

void ucp_lane_config_fill(ucp_worker_iface_t *wiface)
{
    ucp_context_h context        = wiface->worker->context;
    ucp_resource_t *resource     = &context->resources[wiface->resource];
    const uct_iface_attr_t *attr = &wiface->attr->base;
    ucp_lane_config_t *lane      = &wiface->lane;
    const ucx_md_attr_t *md_attr = uct_md_attr(
        context->mds[resource->md_index].md);
    const uint64_t reg_types = ucp_md_reg_types(context, resource->md_index);

    memset(lane, 0, sizeof(*lane));
    lane->iface_index    = (uint8_t)(wiface - wiface->worker->ifaces);
    lane->md_index       = resource->md_index;
    lane->remote_md      = UCP_NULL_MD;
    lane->device         = device_of(context, wiface->resource);
    lane->is_network     = (resource->dev_type == UCT_DEVICE_TYPE_NET);
    lane->caps           = attr->cap.flags;
    lane->md_flags       = md_attr->flags;
    lane->mem_types      = (md_attr->flags & UCT_MD_FLAG_NEED_MEMH) ?
                               reg_types :
                               md_attr->access_mem_types;
    lane->remote_types   = (md_attr->flags & UCT_MD_FLAG_NEED_RKEY) ?
                               reg_types | md_attr->alloc_mem_types :
                               md_attr->access_mem_types;
    lane->is_device_only = (lane->remote_types != 0) &&
                           !(lane->remote_types &
                             UCS_MEMORY_TYPES_CPU_ACCESSIBLE);
    lane->rkey_size        = md_attr->rkey_packed_size;
    lane->process_key_size = md_attr->process_key_packed_size;
    lane->reg_cost         = md_attr->reg_cost;
    fill_am(&lane->am, wiface);
    fill_tag(&lane->tag, wiface);
    fill_put(&lane->put, wiface);
    fill_get(&lane->get, wiface);

    lane->amo.post32  = attr->cap.atomic32.op_flags;
    lane->amo.post64  = attr->cap.atomic64.op_flags;
    lane->amo.fetch32 = attr->cap.atomic32.fop_flags;
    lane->amo.fetch64 = attr->cap.atomic64.fop_flags;
    lane_cost(wiface, UCX_OP_ATOMIC_POST, &lane->amo.cost_post);
    lane_cost(wiface, UCX_OP_ATOMIC_FETCH, &lane->amo.cost_fetch);
}
