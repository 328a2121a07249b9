/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Opens and closes the interfaces of a worker, one for each resource of the
 * context (a transport on a device) except copiers (stage/stage.h). Sets the
 * handlers of the messages of all classes of operations (base/class.h) on each
 * interface.
 */
#include "ucp/base/worker.h"

#include "ucp/core/worker.h"
#include "ucp/proto/ep.h"
#include "ucp/stats/stats.h"
#include "ucp/wireup/failover.h"
#include "ucp/wireup/handshake.h"
#include "ucs/debug/log.h"
#include "ucs/host/topo.h"

#include <stdlib.h>
#include <string.h>

static ucs_status_t set_handler(ucp_worker_iface_t *wiface,
                                const ucp_class_message_t *message)
{
    uct_am_callback_t handler = message->handler;
    void *arg                 = wiface->worker;

    if (wiface->worker->stats != NULL) {
        ucp_stats_wrap_handler(wiface, message, &handler, &arg);
    }
    return uct_iface_set_am_handler(wiface->iface, message->id, handler, arg,
                                    0);
}

/* Sets the handlers of received messages. An interface that supports only put
 * and get receives no messages and needs no handlers. */
static ucs_status_t set_handlers(ucp_worker_iface_t *wiface)
{
    const uint64_t messages = UCT_IFACE_FLAG_AM_SHORT |
                              UCT_IFACE_FLAG_AM_BCOPY | UCT_IFACE_FLAG_AM_ZCOPY;
    const ucp_class_t *const *class;
    ucs_status_t status;
    unsigned i;

    if (!(wiface->attr->base.cap.flags & messages)) {
        return UCS_OK;
    }

    for (class = ucp_classes; *class != NULL; ++class) {
        for (i = 0; i < (*class)->num_messages; ++i) {
            status = set_handler(wiface, &(*class)->messages[i]);
            if (status != UCS_OK) {
                return status;
            }
        }
    }
    return UCS_OK;
}

/* Error handler of the interfaces: a transport's endpoint has failed. Finds the
 * UCP endpoint that has this endpoint as a lane. The UCP endpoint continues
 * without the lane (wireup/failover.h), or fails. */
static ucs_status_t lane_failed(void *arg, uct_ep_h uct_ep, ucs_status_t status)
{
    ucp_worker_iface_t *wiface = arg;
    ucp_ep_h ep;

    ucs_list_for_each(ep, &wiface->worker->eps, link) {
        if (ucp_ep_has_lane(ep, uct_ep) || ucp_wireup_owns(ep, uct_ep)) {
            if (!ucp_failover(ep, uct_ep, status)) {
                ucp_ep_fail(ep, status);
            }
            return UCS_OK;
        }
    }
    return ucp_wireup_link_failed(wiface->worker, uct_ep) ? UCS_OK :
                                                            UCS_ERR_NO_ELEM;
}

/* Reads the settings of a transport from the environment and files. Settings
 * that the program has made by ucp_config_modify override them. */
static ucs_status_t read_iface_config(ucp_context_h context,
                                      const ucp_resource_t *resource,
                                      uct_iface_config_t **config_p)
{
    ucs_status_t status;

    status = uct_md_iface_config_read(context->mds[resource->md_index].md,
                                      resource->tl_name, context->app_prefix,
                                      context->config_file, config_p);
    if (status == UCS_OK) {
        ucp_context_apply_overrides(context, *config_p);
    }
    return status;
}

/* Returns the latency in seconds between the device and the CPUs to which the
 * calling thread is bound (ucp_affinity_begin()). Returns 0 if it is not
 * known. */
static double cpu_distance(const ucp_resource_t *resource)
{
    ucs_sys_dev_distance_t distance;

    return (ucs_topo_get_distance_to_cpu(resource->sys_dev, &distance) ==
            UCS_OK) ?
               distance.latency :
               0;
}

static ucs_status_t open_iface(ucp_worker_h worker, unsigned resource_index,
                               const ucp_worker_params_t *params,
                               const uct_iface_config_t *config,
                               ucp_worker_iface_t *wiface)
{
    ucp_context_h context          = worker->context;
    const ucp_resource_t *resource = &context->resources[resource_index];
    uct_iface_params_t iface_params;
    ucs_status_t status;

    memset(&iface_params, 0, sizeof(iface_params));
    iface_params.field_mask = UCT_IFACE_PARAM_FIELD_OPEN_MODE |
                              UCT_IFACE_PARAM_FIELD_DEVICE |
                              UCT_IFACE_PARAM_FIELD_RX_HEADROOM |
                              UCT_IFACE_PARAM_FIELD_ERR_HANDLER |
                              UCT_IFACE_PARAM_FIELD_ERR_HANDLER_ARG |
                              UCT_IFACE_PARAM_FIELD_ERR_HANDLER_FLAGS;
    iface_params.open_mode            = UCT_IFACE_OPEN_MODE_DEVICE;
    iface_params.mode.device.tl_name  = resource->tl_name;
    iface_params.mode.device.dev_name = resource->dev_name;
    iface_params.err_handler          = lane_failed;
    iface_params.err_handler_arg      = wiface;
    ucp_classes_layout(worker, &iface_params);
    if (params->field_mask & UCP_WORKER_PARAM_FIELD_CPU_MASK) {
        iface_params.field_mask |= UCT_IFACE_PARAM_FIELD_CPU_MASK;
        iface_params.cpu_mask = params->cpu_mask;
        wiface->cpu_distance  = cpu_distance(resource);
    }

    wiface->worker   = worker;
    wiface->resource = (uint8_t)resource_index;
    wiface->event_fd = -1;
    status = uct_iface_open(context->mds[resource->md_index].md, worker->uct,
                            &iface_params, config, &wiface->iface);
    if (status != UCS_OK) {
        return status;
    }

    wiface->attr = uct_iface_attr(wiface->iface);
    ucp_lane_config_fill(wiface);
    status = set_handlers(wiface);
    if (status == UCS_OK) {
        status = ucp_classes_iface_opened(wiface);
    }
    if (status != UCS_OK) {
        uct_iface_close(wiface->iface);
        return status;
    }

    uct_iface_progress_enable(wiface->iface,
                              UCT_PROGRESS_SEND | UCT_PROGRESS_RECV);
    return UCS_OK;
}

/* Skips a device that cannot be opened, because others may be sufficient.
 * Returns UCS_ERR_INVALID_PARAM if a setting is invalid, because the user must
 * correct it; the log names the setting. */
ucs_status_t ucp_worker_open_ifaces(ucp_worker_h worker,
                                    const ucp_worker_params_t *params)
{
    ucp_context_h context = worker->context;
    ucs_status_t status   = UCS_ERR_NO_DEVICE;
    uct_iface_config_t *config;
    unsigned i;

    worker->ifaces = calloc(context->num_resources, sizeof(*worker->ifaces));
    if (worker->ifaces == NULL) {
        return UCS_ERR_NO_MEMORY;
    }

    for (i = 0; i < context->num_resources; ++i) {
        if (context->resources[i].is_copier) {
            continue;
        }
        status = read_iface_config(context, &context->resources[i], &config);
        if (status != UCS_OK) {
            return status;
        }
        status = open_iface(worker, i, params, config,
                            &worker->ifaces[worker->num_ifaces]);
        uct_config_release(config);
        if (status == UCS_ERR_INVALID_PARAM) {
            return status;
        }
        if (status == UCS_OK) {
            ++worker->num_ifaces;
        } else {
            ucs_diag("%s/%s: cannot be opened: %s",
                     context->resources[i].tl_name,
                     context->resources[i].dev_name, ucs_status_string(status));
        }
    }
    return (worker->num_ifaces > 0) ? UCS_OK : status;
}

void ucp_worker_close_ifaces(ucp_worker_h worker)
{
    unsigned i;

    for (i = 0; i < worker->num_ifaces; ++i) {
        uct_iface_progress_disable(worker->ifaces[i].iface,
                                   UCT_PROGRESS_SEND | UCT_PROGRESS_RECV);
        uct_iface_close(worker->ifaces[i].iface);
    }
    free(worker->ifaces);
}
