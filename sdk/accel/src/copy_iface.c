/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The interface of the copy transport and its endpoints, which are connected to
 * the interface itself. The transport is a copier: it copies between host and
 * device memory of the process (see ucx_transport in <ucx/transport.h>).
 */
#include "copy.h"
#include "ipc.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

ucs_status_t accel_query_devices(uct_md_h md, ucx_device_desc_t **devices_p,
                                 unsigned *num_p)
{
    ucx_device_desc_t *device = calloc(1, sizeof(*device));

    if (device == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    snprintf(device->name, sizeof(device->name), "%s", ACCEL_NAME);
    device->type    = UCT_DEVICE_TYPE_ACC;
    device->sys_dev = UCS_SYS_DEVICE_ID_UNKNOWN;
    *devices_p      = device;
    *num_p          = 1;
    return UCS_OK;
}

/* -------------------------------------------------------------- polling -- */

static unsigned poll_iface(void *arg)
{
    return accel_copy_progress(arg);
}

ucs_status_t accel_poll_start(accel_copy_iface_t *iface)
{
    ucs_status_t status;

    if ((iface->progress_id != ACCEL_NO_PROGRESS_ID) ||
        (atomic_load(&iface->progress_flags) == 0)) {
        return UCS_OK;
    }
    status = iface->host->progress_add(iface->super.worker, poll_iface,
                                       &iface->super, &iface->progress_id);
    if (status != UCS_OK) {
        iface->progress_id = ACCEL_NO_PROGRESS_ID;
    }
    return status;
}

void accel_poll_stop(accel_copy_iface_t *iface)
{
    if (iface->progress_id != ACCEL_NO_PROGRESS_ID) {
        iface->host->progress_remove(iface->super.worker, iface->progress_id);
        iface->progress_id = ACCEL_NO_PROGRESS_ID;
    }
}

/* Starts or stops polling after a change of the progress flags. Called by the
 * worker's thread. */
static void update_polling(void *arg)
{
    accel_copy_iface_t *iface = arg;
    const ucx_host_t *host    = iface->host;

    if (atomic_load(&iface->progress_flags) == 0) {
        accel_poll_stop(iface);
    } else if (!accel_copy_is_idle(iface) &&
               (accel_poll_start(iface) != UCS_OK)) {
        ucx_error("%s: an interface is not progressed: out of memory",
                  ACCEL_NAME);
    }
}

/* Applies new progress flags. With UCT_PROGRESS_THREAD_SAFE, the caller may be
 * another thread than the worker's, so the worker's next progress applies
 * them. */
static void progress_changed(accel_copy_iface_t *iface, unsigned flags)
{
    const ucx_host_t *host = iface->host;

    if (!(flags & UCT_PROGRESS_THREAD_SAFE)) {
        update_polling(iface);
    } else if (host->progress_oneshot(iface->super.worker, update_polling,
                                      iface) != UCS_OK) {
        ucx_error("%s: progress of an interface is not changed: out of"
                  " memory",
                  ACCEL_NAME);
    }
}

void accel_progress_enable(uct_iface_h super, unsigned flags)
{
    accel_copy_iface_t *iface = (accel_copy_iface_t *)super;

    atomic_fetch_or(&iface->progress_flags,
                    flags & (UCT_PROGRESS_SEND | UCT_PROGRESS_RECV));
    progress_changed(iface, flags);
}

void accel_progress_disable(uct_iface_h super, unsigned flags)
{
    accel_copy_iface_t *iface = (accel_copy_iface_t *)super;

    atomic_fetch_and(&iface->progress_flags, ~flags);
    progress_changed(iface, flags);
}

/* ------------------------------------------------------------- interface -- */

void accel_copy_iface_init(accel_copy_iface_t *iface, uct_md_h md)
{
    unsigned i;

    ucx_pending_init(&iface->pending);
    iface->md          = (accel_md_t *)md;
    iface->host        = iface->md->host;
    iface->progress_id = ACCEL_NO_PROGRESS_ID;
    for (i = 0; i < ACCEL_MAX_OPS; ++i) {
        iface->ops[i].next = iface->free_ops;
        iface->free_ops    = &iface->ops[i];
    }
}

void accel_copy_iface_cleanup(accel_copy_iface_t *iface)
{
    int i;

    iface->host->progress_cancel(iface->super.worker, update_polling, iface);
    accel_copy_finish(iface);
    for (i = 0; i < ACCEL_MAX_DEVICES; ++i) {
        if (iface->lanes[i] != NULL) {
            accel_lane_free(iface->lanes[i]);
        }
    }
}

static ucs_status_t iface_open(uct_md_h md, const ucx_iface_open_args_t *args,
                               uct_iface_h *iface_p)
{
    static _Atomic uint32_t count;
    accel_copy_iface_t *iface = calloc(1, sizeof(*iface));

    if (iface == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    ucx_iface_init(&iface->super, args);
    accel_copy_iface_init(iface, md);
    iface->id = ((uint64_t)getpid() << 32) | atomic_fetch_add(&count, 1);
    *iface_p  = &iface->super;
    return UCS_OK;
}

static void iface_close(uct_iface_h super)
{
    accel_copy_iface_cleanup((accel_copy_iface_t *)super);
    free(super);
}

static ucs_status_t iface_query(uct_iface_h iface, ucx_iface_attr_t *attr)
{
    uct_iface_attr_t *base = &attr->base;

    base->cap.flags = UCT_IFACE_FLAG_PUT_SHORT | UCT_IFACE_FLAG_PUT_ZCOPY |
                      UCT_IFACE_FLAG_GET_SHORT | UCT_IFACE_FLAG_GET_ZCOPY |
                      UCT_IFACE_FLAG_PENDING | UCT_IFACE_FLAG_CONNECT_TO_IFACE;
    base->cap.put.max_short       = ACCEL_MAX_SHORT;
    base->cap.put.max_zcopy       = SIZE_MAX / 2;
    base->cap.put.max_iov         = ACCEL_MAX_IOV;
    base->cap.put.opt_zcopy_align = 1;
    base->cap.put.align_mtu       = 1;
    base->cap.get.max_short       = ACCEL_MAX_SHORT;
    base->cap.get.max_zcopy       = SIZE_MAX / 2;
    base->cap.get.max_iov         = ACCEL_MAX_IOV;
    base->cap.get.opt_zcopy_align = 1;
    base->cap.get.align_mtu       = 1;
    base->iface_addr_len          = sizeof(uint64_t);
    base->overhead                = accel_driver.costs.copy_overhead;
    base->latency.c               = accel_driver.costs.copy_latency;
    base->bandwidth.shared        = accel_driver.costs.copy_bandwidth;
    base->max_num_eps             = SIZE_MAX;
    base->dev_num_paths           = 1;
    attr->max_inflight_eps        = SIZE_MAX;
    return UCS_OK;
}

static ucs_status_t get_device_address(uct_iface_h iface,
                                       uct_device_addr_t *address)
{
    return UCS_OK; /* The device address is empty */
}

static ucs_status_t get_address(uct_iface_h iface, uct_iface_addr_t *address)
{
    memcpy(address, &((accel_copy_iface_t *)iface)->id, sizeof(uint64_t));
    return UCS_OK;
}

static int is_reachable(uct_iface_h iface, const ucx_reachable_args_t *args)
{
    return (args->iface_addr != NULL) &&
           (args->iface_addr_length == sizeof(uint64_t)) &&
           (memcmp(args->iface_addr, &((accel_copy_iface_t *)iface)->id,
                   sizeof(uint64_t)) == 0);
}

ucs_status_t accel_iface_flush(uct_iface_h iface, unsigned flags,
                               uct_completion_t *comp)
{
    return accel_copy_flush((accel_copy_iface_t *)iface, NULL, flags, comp);
}

/* ------------------------------------------------------------ endpoints -- */

static ucs_status_t ep_create(uct_iface_h iface, const uct_ep_params_t *params,
                              uct_ep_h *ep_p)
{
    ucx_reachable_args_t peer = {
        .size              = sizeof(peer),
        .iface_addr_length = sizeof(uint64_t),
    };
    uct_ep_t *ep;

    if (!(params->field_mask & UCT_EP_PARAM_FIELD_IFACE_ADDR)) {
        return UCS_ERR_UNSUPPORTED;
    }
    peer.iface_addr = params->iface_addr;
    if (params->field_mask & UCT_EP_PARAM_FIELD_IFACE_ADDR_LENGTH) {
        peer.iface_addr_length = params->iface_addr_length;
    }
    if (!is_reachable(iface, &peer)) {
        return UCS_ERR_UNREACHABLE;
    }
    ep = malloc(sizeof(*ep));
    if (ep == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    ucx_ep_init(ep, iface);
    *ep_p = ep;
    return UCS_OK;
}

/* Operations in flight of the endpoint still complete, because they do not
 * access it. */
static void ep_destroy(uct_ep_h ep)
{
    free(ep);
}

ucs_status_t accel_ep_flush(uct_ep_h ep, unsigned flags, uct_completion_t *comp)
{
    return accel_copy_flush((accel_copy_iface_t *)ep->iface, ep, flags, comp);
}

ucs_status_t accel_pending_add(uct_ep_h ep, uct_pending_req_t *request,
                               unsigned flags)
{
    accel_copy_iface_t *iface = (accel_copy_iface_t *)ep->iface;

    if (iface->free_ops != NULL) {
        return UCS_ERR_BUSY;
    }
    ucx_pending_push_of(&iface->pending, ep, request);
    return UCS_OK;
}

void accel_pending_purge(uct_ep_h ep, uct_pending_purge_callback_t callback,
                         void *arg)
{
    accel_copy_iface_t *iface = (accel_copy_iface_t *)ep->iface;

    ucx_pending_purge_of(&iface->pending, ep, callback, arg);
}

static const ucx_iface_ops_t iface_ops = {
    .size               = sizeof(iface_ops),
    .close              = iface_close,
    .query              = iface_query,
    .get_device_address = get_device_address,
    .get_address        = get_address,
    .is_reachable       = is_reachable,
    .ep_create          = ep_create,
    .progress           = accel_copy_progress,
    .progress_enable    = accel_progress_enable,
    .progress_disable   = accel_progress_disable,
    .flush              = accel_iface_flush,
};

static const ucx_ep_ops_t ep_ops = {
    .size          = sizeof(ep_ops),
    .put_short     = accel_copy_put_short,
    .put_zcopy     = accel_copy_put_zcopy,
    .get_short     = accel_copy_get_short,
    .get_zcopy     = accel_copy_get_zcopy,
    .flush         = accel_ep_flush,
    .pending_add   = accel_pending_add,
    .pending_purge = accel_pending_purge,
    .destroy       = ep_destroy,
};

const ucx_transport_t accel_copy_transport = {
    .size          = sizeof(accel_copy_transport),
    .query_devices = accel_query_devices,
    .iface_open    = iface_open,
    .iface_ops     = &iface_ops,
    .ep_ops        = &ep_ops,
};
