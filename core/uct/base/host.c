/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * uct_host: the table of services that every plugin gets (<ucx/host.h>), and
 * the short functions in it. The other functions are in host_*.c, rcache.c,
 * memtype.c, mem_events.c and worker.c.
 */
#include <stdarg.h>

#include "ucs/debug/log.h"
#include "ucs/host/guid.h"
#include "ucs/host/topo.h"
#include "ucs/time/time.h"
#include "uct/base/host_services.h"
#include "uct/base/mem_events.h"
#include "uct/base/memtype.h"
#include "uct/base/rcache.h"
#include "uct/base/state.h"
#include "uct/base/worker.h"

static void __attribute__((format(printf, 4, 5)))
uct_host_log(int level, const char *file, int line, const char *format, ...)
{
    va_list ap;

    if (level > (int)ucs_log_level_get()) {
        return;
    }
    va_start(ap, format);
    ucs_log_dispatchv(NULL, file, (unsigned)line, "", (ucs_log_level_t)level,
                      format, ap);
    va_end(ap);
}

/* --- Progress ------------------------------------------------------------ */

static ucs_status_t uct_host_progress_add(uct_worker_h worker,
                                          ucx_progress_cb_t cb, void *arg,
                                          int *id_p)
{
    ucs_status_t status;

    if (uct_checks != NULL) {
        status = uct_checks->progress_wrap(&cb, &arg);
        if (status != UCS_OK) {
            return status;
        }
    }
    *id_p = ucs_callbackq_add(&worker->progress_q, cb, arg);
    if (uct_checks != NULL) {
        uct_checks->progress_added(worker, arg, *id_p);
    }
    return (*id_p == UCS_CALLBACKQ_ID_NULL) ? UCS_ERR_NO_MEMORY : UCS_OK;
}

static void uct_host_progress_remove(uct_worker_h worker, int id)
{
    ucs_callbackq_remove(&worker->progress_q, id);
    if (uct_checks != NULL) {
        uct_checks->progress_removed(worker, id);
    }
}

/* --- Failures ------------------------------------------------------------- */

static ucs_status_t uct_host_iface_ep_failed(uct_iface_h iface, uct_ep_h ep,
                                             ucs_status_t status)
{
    uct_iface_state_t *state = uct_iface_state(iface);

    if ((state->err_handler != NULL) && (uct_checks != NULL)) {
        return uct_checks->failure(state->check.iface, state->err_handler,
                                   state->err_handler_arg, ep, status);
    }
    if (state->err_handler != NULL) {
        return state->err_handler(state->err_handler_arg, ep, status);
    }

    ucs_error("transport %s: an endpoint failed: %s; this interface has no "
              "error handler, operations on the endpoint will fail",
              state->tl->desc.name, ucs_status_string(status));
    return status;
}

static void uct_host_iface_async_event(uct_iface_h iface, unsigned flags)
{
    uct_iface_state_t *state = uct_iface_state(iface);

    if (state->async_event_cb != NULL) {
        state->async_event_cb(state->async_event_arg, flags);
    }
}

/* --- Topology ------------------------------------------------------------- */

static ucs_status_t uct_host_sys_device_by_pci(const ucx_pci_address_t *pci,
                                               ucs_sys_device_t *sys_dev_p)
{
    const ucs_sys_bus_id_t bus_id = {
        .domain   = pci->domain,
        .bus      = pci->bus,
        .slot     = pci->slot,
        .function = pci->function,
    };

    return ucs_topo_find_device_by_bus_id(&bus_id, sys_dev_p);
}

static ucs_status_t uct_host_sys_device_by_sysfs(const char *path,
                                                 ucs_sys_device_t *sys_dev_p)
{
    ucs_status_t status = ucs_topo_find_device_by_sysfs(path, sys_dev_p);

    return (status == UCS_ERR_NO_DEVICE) ? UCS_ERR_NO_ELEM : status;
}

static ucs_status_t uct_host_sys_device_distance(ucs_sys_device_t a,
                                                 ucs_sys_device_t b,
                                                 ucx_sys_distance_t *distance)
{
    ucs_sys_dev_distance_t known;
    ucs_status_t status;

    status = ucs_topo_get_distance(a, b, &known);
    if (status == UCS_OK) {
        distance->latency   = known.latency;
        distance->bandwidth = known.bandwidth;
    }
    return status;
}

static double uct_host_time(void)
{
    return ucs_time_to_sec(ucs_get_time());
}

static double uct_host_ticks_per_second(void)
{
    return UCS_NSEC_PER_SEC;
}

const ucx_host_t uct_host = {
    .size                  = sizeof(uct_host),
    .abi                   = UCX_PLUGIN_ABI_VERSION,
    .log_level             = (const int *)&ucs_log_current_level,
    .log                   = uct_host_log,
    .mpool_create          = uct_host_mpool_create,
    .mpool_grow            = uct_host_mpool_grow,
    .mpool_destroy         = uct_host_mpool_destroy,
    .rcache_create         = uct_rcache_create_watched,
    .rcache_get            = uct_rcache_get,
    .rcache_put            = uct_rcache_put,
    .rcache_destroy        = uct_rcache_destroy,
    .async_add_fd          = uct_host_async_add_fd,
    .async_modify_fd       = uct_host_async_modify_fd,
    .async_add_timer       = uct_host_async_add_timer,
    .async_remove          = uct_host_async_remove,
    .progress_add          = uct_host_progress_add,
    .progress_remove       = uct_host_progress_remove,
    .progress_oneshot      = uct_worker_oneshot_add,
    .progress_cancel       = uct_worker_oneshot_cancel,
    .iface_ep_failed       = uct_host_iface_ep_failed,
    .iface_async_event     = uct_host_iface_async_event,
    .mem_event_subscribe   = uct_host_mem_event_subscribe,
    .mem_event_unsubscribe = uct_host_mem_event_unsubscribe,
    .mem_type_allocated    = uct_memtype_add,
    .mem_type_released     = uct_memtype_remove,
    .sys_device_by_pci     = uct_host_sys_device_by_pci,
    .sys_device_by_sysfs   = uct_host_sys_device_by_sysfs,
    .sys_device_set_name   = ucs_topo_sys_device_set_name,
    .sys_device_distance   = uct_host_sys_device_distance,
    .mem_detect            = uct_mem_detect,
    .machine_guid          = ucs_boot_guid,
    .time                  = uct_host_time,
    .counters_create       = uct_host_counters_create,
    .counters_destroy      = uct_host_counters_destroy,
    .ticks_per_second      = uct_host_ticks_per_second,
};
