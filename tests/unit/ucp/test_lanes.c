/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Selection of an endpoint's lanes, and of protocols by the lanes' costs.
 */
#include "two_lanes.h"

#include "ucp/order/queue.h"
#include "ucp/rma/rkey.h"
#include "ucp/tag/eager.h"
#include "ucp/tag/rndv.h"

START_TEST(what_messages_lack_gets_a_lane_of_its_own)
{
    ucp_transport_entry_t entries[4];
    ucp_ep_attr_t attr = {
        .field_mask             = UCP_EP_ATTR_FIELD_TRANSPORTS,
        .transports.entries     = entries,
        .transports.num_entries = 4,
        .transports.entry_size  = sizeof(entries[0]),
    };
    const ucp_ep_config_t *config;
    local_t local;

    open_two(&local, "auto");
    config = local.ep->config;
    ck_assert_uint_eq(config->num_lanes, 2);
    ck_assert_uint_eq(config->rndv_lane, 1);
    ck_assert_uint_eq(config->rma_lane, 1);
    ck_assert_uint_eq(config->rma_lanes, 2);
    ck_assert_ptr_eq(ucp_ep_lane(local.ep, 1)->ops, &far.ops);
    ck_assert_int_eq(ucp_ep_query(local.ep, &attr), UCS_OK);
    ck_assert_uint_eq(attr.transports.num_entries, 2);
    ck_assert_str_eq(entries[1].transport_name, "self");
    attr.transports.num_entries = 1;
    ck_assert_int_eq(ucp_ep_query(local.ep, &attr), UCS_OK);
    ck_assert_uint_eq(attr.transports.num_entries, 1);
    local_close(&local);
}
END_TEST

/* Returns the protocol that UCP selects for a tagged send of `length` bytes;
 * the send is then cancelled. */
static const ucp_proto_t *protocol_of(local_t *local, size_t length,
                                      uint32_t flags)
{
    ucp_request_param_t param = {
        .op_attr_mask = UCP_OP_ATTR_FLAG_NO_IMM_CMPL | flags,
    };
    const ucp_proto_t *proto;
    ucs_status_ptr_t request;

    ucp_ep_hold(local->ep);
    request = ucp_tag_send_nbx(local->ep, buffer, length, 1, &param);
    ck_assert(UCS_PTR_IS_PTR(request));
    proto = ucp_request_of(request)->send.proto;
    ucp_request_cancel(local->worker, request);
    ck_assert_int_eq(local_wait(local, request), UCS_ERR_CANCELED);
    ucp_ep_resume(local->ep);
    return proto;
}

/* The lane has a long latency, which makes the announcement of a rendezvous
 * expensive. With UCP_OP_ATTR_FLAG_MULTI_SEND the latency is not counted,
 * because other messages are sent meanwhile. */
START_TEST(many_in_flight_do_not_count_the_latency)
{
    enum { LENGTH = 5000 };
    ucp_lane_am_t *am;
    ucp_ep_config_t *config;
    local_t local;

    local_open(&local);
    config = (ucp_ep_config_t *)local.ep->config;
    am     = &config->lanes[UCP_AM_LANE].am;
    ck_assert_uint_gt(am->max_bcopy, LENGTH);
    am->cost_bcopy.latency                              = 1e-3;
    am->cost_bcopy.bandwidth                            = 1e9;
    am->cost_zcopy                                      = am->cost_bcopy;
    config->lanes[UCP_AM_LANE].get.cost_zcopy           = am->cost_bcopy;
    config->lanes[UCP_AM_LANE].get.cost_zcopy.bandwidth = 1e12;
    ck_assert_int_eq(ucp_proto_select(config, SIZE_MAX, SIZE_MAX), UCS_OK);

    ck_assert_ptr_ne(protocol_of(&local, LENGTH, 0), &ucp_proto_tag_rndv);
    ck_assert_ptr_eq(protocol_of(&local, LENGTH, UCP_OP_ATTR_FLAG_MULTI_SEND),
                     &ucp_proto_tag_rndv);
    ck_assert_ptr_ne(protocol_of(&local, LENGTH, 0), &ucp_proto_tag_rndv);
    ck_assert_ptr_ne(protocol_of(&local, LENGTH,
                                 UCP_OP_ATTR_FLAG_MULTI_SEND |
                                     UCP_OP_ATTR_FLAG_FAST_CMPL),
                     &ucp_proto_tag_rndv);
    local_close(&local);
}
END_TEST

/* Opens a context with three emulated network devices of the same bandwidth.
 * Returns the index of the device that an endpoint uses for messages.
 * `local_id`: UCX_LOCAL_NODE_ID, the number of the process on its host; NULL:
 * not set. `near_cpus`: index of the device near the worker's processors;
 * another value: there is none. */
static unsigned device_taken(const char *local_id, unsigned near_cpus)
{
    enum { COUNT = 3 };
    ucp_params_t params = {
        .field_mask = UCP_PARAM_FIELD_FEATURES,
        .features   = UCP_FEATURE_TAG,
    };
    ucp_worker_params_t worker_params = {0};
    ucp_worker_attr_t attr    = {.field_mask = UCP_WORKER_ATTR_FIELD_ADDRESS};
    ucp_ep_params_t ep_params = {
        .field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS,
    };
    ucp_context_h context;
    ucp_worker_h worker;
    unsigned i, taken;
    ucp_ep_h ep;

    if (local_id != NULL) {
        setenv("UCX_LOCAL_NODE_ID", local_id, 1);
    }
    ck_assert_int_eq(ucp_init(&params, NULL, &context), UCS_OK);
    unsetenv("UCX_LOCAL_NODE_ID");
    context->resources = realloc(context->resources,
                                 COUNT * sizeof(*context->resources));
    for (i = 0; i < COUNT; ++i) {
        context->resources[i]          = context->resources[0];
        context->resources[i].dev_type = UCT_DEVICE_TYPE_NET;
    }
    context->num_resources = COUNT;
    ck_assert_int_eq(ucp_worker_create(context, &worker_params, &worker),
                     UCS_OK);
    for (i = 0; i < COUNT; ++i) {
        worker->ifaces[i].cpu_distance = (near_cpus == i) ? 0 : 1e-7;
    }
    ck_assert_int_eq(ucp_worker_query(worker, &attr), UCS_OK);
    ep_params.address = attr.address;
    ck_assert_int_eq(ucp_ep_create(worker, &ep_params, &ep), UCS_OK);
    ucp_worker_release_address(worker, attr.address);
    taken = ep->config->lanes[UCP_AM_LANE].iface_index;
    ucp_ep_close_nbx(ep, &force);
    ucp_worker_destroy(worker);
    ucp_cleanup(context);
    return taken;
}

START_TEST(processes_of_a_host_spread_over_equal_devices)
{
    enum { NONE = 99 };

    ck_assert_uint_eq(device_taken(NULL, NONE), 0);
    ck_assert_uint_eq(device_taken("0", NONE), 0);
    ck_assert_uint_eq(device_taken("1", NONE), 1);
    ck_assert_uint_eq(device_taken("2", NONE), 2);
    ck_assert_uint_eq(device_taken("3", NONE), 0);
    ck_assert_uint_eq(device_taken("301", NONE), 1);
}
END_TEST

START_TEST(of_equal_devices_that_near_the_workers_processors_is_taken)
{
    ck_assert_uint_eq(device_taken(NULL, 1), 1);
    ck_assert_uint_eq(device_taken(NULL, 2), 2);
    /* the device near the processors has a lower cost, which counts more than
     * the number of the process */
    ck_assert_uint_eq(device_taken("1", 2), 2);
}
END_TEST

static ucs_status_t no_ep(uct_iface_h iface, const uct_ep_params_t *params,
                          uct_ep_h *ep_p)
{
    return UCS_ERR_NO_DEVICE;
}

START_TEST(a_lane_that_cannot_be_had_is_left_out)
{
    ucp_worker_attr_t attr = {.field_mask = UCP_WORKER_ATTR_FIELD_ADDRESS};
    ucp_ep_params_t params = {
        .field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS,
    };
    ucx_iface_ops_t iface_ops;
    local_t local;
    ucp_ep_h ep;

    open_two(&local, "auto");
    iface_ops                          = *local.worker->ifaces[1].iface->ops;
    iface_ops.ep_create                = no_ep;
    local.worker->ifaces[1].iface->ops = &iface_ops;
    ck_assert_int_eq(ucp_worker_query(local.worker, &attr), UCS_OK);
    params.address = attr.address;
    ck_assert_int_eq(ucp_ep_create(local.worker, &params, &ep), UCS_OK);
    ucp_worker_release_address(local.worker, attr.address);
    ck_assert_uint_eq(ep->config->num_lanes, 1);
    ck_assert_uint_eq(ep->config->rndv_lane, UCP_NULL_LANE);
    ck_assert_ptr_null(ucp_ep_close_nbx(ep, &force));
    local_close(&local);
}
END_TEST

static ucs_status_t no_bandwidth(uct_iface_h iface, ucx_perf_t *perf)
{
    perf->bandwidth = (uct_ppn_bandwidth_t){0, 0};
    return UCS_OK;
}

static ucs_status_t no_estimate(uct_iface_h iface, ucx_perf_t *perf)
{
    return UCS_ERR_UNSUPPORTED;
}

/* Opens a worker whose only transport estimates costs by this function. */
static void open_with_estimate(local_t *local,
                               ucs_status_t (*estimate)(uct_iface_h iface,
                                                        ucx_perf_t *perf),
                               ucx_iface_ops_t *ops)
{
    ucp_params_t params = {
        .field_mask = UCP_PARAM_FIELD_FEATURES,
        .features   = UCP_FEATURE_TAG | UCP_FEATURE_RMA,
    };
    ucp_worker_params_t worker_params = {0};
    ucp_worker_iface_t *wiface;

    ck_assert_int_eq(ucp_init(&params, NULL, &local->context), UCS_OK);
    ck_assert_int_eq(ucp_worker_create(local->context, &worker_params,
                                       &local->worker),
                     UCS_OK);
    ck_assert_uint_eq(local->worker->num_ifaces, 1);
    wiface             = local->worker->ifaces;
    *ops               = *wiface->iface->ops;
    ops->estimate      = estimate;
    wiface->iface->ops = ops;
    ucp_lane_config_fill(wiface);
    local->ep = local_ep(local, 0);
}

/* A transport that does not know its bandwidth is used for all that it can, if
 * it is the only one. */
START_TEST(a_lane_of_unknown_bandwidth_is_used)
{
    ucs_status_t (*const estimates[])(uct_iface_h, ucx_perf_t *) = {
        no_bandwidth,
        no_estimate,
    };
    const ucp_rma_config_t *config;
    const ucp_rma_protos_t *protos;
    ucx_iface_ops_t ops;
    local_t local;
    unsigned i, is_get;

    for (i = 0; i < 2; ++i) {
        open_with_estimate(&local, estimates[i], &ops);
        ck_assert_uint_eq(local.ep->config->rma_lanes, 1);
        /* Only lanes can access the memory */
        config = ucp_rma_config_get(local.worker, local.ep->config, 1, 0);
        ck_assert_ptr_nonnull(config);
        for (is_get = 0; is_get < 2; ++is_get) {
            protos = is_get ? &config->get : &config->put;
            ck_assert_uint_eq(protos->bcopy_lane, 0);
            ck_assert_uint_eq(protos->zcopy_lane, 0);
            ck_assert_double_gt(protos->rails.bandwidth, 0);
            ck_assert_ptr_nonnull(
                ucp_proto_find(&protos->tables[UCP_DT_CLASS_CONTIG], 8));
            ck_assert_ptr_nonnull(
                ucp_proto_find(&protos->tables[UCP_DT_CLASS_CONTIG],
                               sizeof(buffer)));
        }
        ck_assert_uint_eq(config->put.short_lane, 0);
        local_close(&local);
    }
}
END_TEST

SUITE_MAIN("lanes", what_messages_lack_gets_a_lane_of_its_own,
           many_in_flight_do_not_count_the_latency,
           processes_of_a_host_spread_over_equal_devices,
           of_equal_devices_that_near_the_workers_processors_is_taken,
           a_lane_that_cannot_be_had_is_left_out,
           a_lane_of_unknown_bandwidth_is_used)
