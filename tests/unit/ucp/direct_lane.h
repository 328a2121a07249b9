/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Opens a worker with an endpoint to itself over two lanes, which use two
 * loopback interfaces. The functions direct_lane_limit_*(), which the caller's
 * `modify` calls, limit the first interface to messages, the second to put and
 * get.
 */
#ifndef TESTS_UCP_DIRECT_LANE_H
#define TESTS_UCP_DIRECT_LANE_H

#include "local.h"

#include "ucp/proto/ep.h"

/* Bandwidth of messages over the first lane, and of put and get over the second
 * one, in bytes per second */
#define DIRECT_LANE_MESSAGES  1e10
#define DIRECT_LANE_BANDWIDTH 1e10

static inline ucs_status_t direct_lane_address(uct_iface_h iface,
                                               uct_device_addr_t *addr)
{
    *(uint8_t *)addr = 1;
    return UCS_OK;
}

/* Also gives messages a fixed bandwidth: that of loopback is measured. */
static inline void direct_lane_limit_messages(ucp_worker_iface_t *wiface)
{
    wiface->lane.am.cost_short.bandwidth = DIRECT_LANE_MESSAGES;
    wiface->lane.am.cost_bcopy.bandwidth = DIRECT_LANE_MESSAGES;
    wiface->lane.am.cost_zcopy.bandwidth = DIRECT_LANE_MESSAGES;
    memset(&wiface->lane.put, 0, sizeof(wiface->lane.put));
    memset(&wiface->lane.get, 0, sizeof(wiface->lane.get));
    memset(&wiface->lane.amo, 0, sizeof(wiface->lane.amo));
}

/* Changes an interface so that it supports only put and get by zero-copy, with
 * fixed costs, and has another device address than the first interface. `ops`
 * is memory for the interface's changed operations table; it must exist as long
 * as the interface. */
static inline void direct_lane_limit_direct(ucp_worker_iface_t *wiface,
                                            ucx_iface_ops_t *ops)
{
    ucx_iface_attr_t *attr = (ucx_iface_attr_t *)wiface->attr;

    attr->base.device_addr_len = 1;
    *ops                       = *wiface->iface->ops;
    ops->get_device_address    = direct_lane_address;
    wiface->iface->ops         = ops;

    memset(&wiface->lane.am, 0, sizeof(wiface->lane.am));
    memset(&wiface->lane.amo, 0, sizeof(wiface->lane.amo));
    wiface->lane.put.max_short = wiface->lane.get.max_short = 0;
    wiface->lane.put.max_bcopy = wiface->lane.get.max_bcopy = 0;
    wiface->lane.get.cost_zcopy.bandwidth = DIRECT_LANE_BANDWIDTH;
    wiface->lane.put.cost_zcopy.bandwidth = DIRECT_LANE_BANDWIDTH;
    wiface->lane.get.cost_zcopy.pre       = 1e-6;
    wiface->lane.put.cost_zcopy.pre       = 1e-6;
}

/* Opens the worker with `count` interfaces, one or two. `modify` is called with
 * them, to change them before the endpoint is created. */
static inline void direct_lane_open(local_t *local, unsigned count,
                                    void (*modify)(ucp_worker_iface_t *ifaces))
{
    ucp_params_t params = {
        .field_mask = UCP_PARAM_FIELD_FEATURES,
        .features   = UCP_FEATURE_TAG | UCP_FEATURE_RMA,
    };
    ucp_worker_params_t worker_params = {0};
    ucp_context_h context;

    ck_assert_int_eq(ucp_init(&params, NULL, &context), UCS_OK);
    ck_assert_uint_eq(context->num_resources, 1);
    context->resources = realloc(context->resources,
                                 2 * sizeof(*context->resources));
    ck_assert_ptr_nonnull(context->resources);
    context->resources[1]  = context->resources[0];
    context->num_resources = count;
    ck_assert_int_eq(ucp_worker_create(context, &worker_params, &local->worker),
                     UCS_OK);
    modify(local->worker->ifaces);
    local->context = context;
    local->ep      = local_ep(local, 0);
    ck_assert_uint_eq(local->ep->config->num_lanes, count);
}

#endif
