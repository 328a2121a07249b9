/* SPDX-License-Identifier: BSD-3-Clause */
/* The entry point, and the table through which the accelerator library
 * (<ucx/accel.h>) calls the drivers of Level Zero. */
#include "driver.h"

#ifndef ZE_PLUGIN_VERSION
#define ZE_PLUGIN_VERSION "0.0.0"
#endif

const accel_driver_t accel_driver = {
    .names =
        {
            .plugin         = "ze",
            .version        = ZE_PLUGIN_VERSION,
            .copy_component = "ze_cpy",
            .copy_transport = "ze_copy",
            .ipc_component  = "ze_ipc",
            .ipc_transport  = "ze_ipc",
            .ipc_prefix     = "ZE_IPC_",
            .types =
                {
                    [ACCEL_PAGEABLE] = UCS_MEMORY_TYPE_HOST,
                    [ACCEL_PINNED]   = UCS_MEMORY_TYPE_ZE_HOST,
                    [ACCEL_DEVICE]   = UCS_MEMORY_TYPE_ZE_DEVICE,
                    [ACCEL_MANAGED]  = UCS_MEMORY_TYPE_ZE_MANAGED,
                },
        },
    /* Seconds, and bytes per second. Assumed, not measured: see README.md. */
    .costs =
        {
            .copy_overhead    = 3e-6,
            .copy_latency     = 8e-6,
            .copy_bandwidth   = 40e9,
            .device_bandwidth = 800e9,
            .export_overhead  = 1e-6,
        },
    .load          = ze_load,
    .start         = ze_start,
    .is_started    = ze_is_started,
    .num_devices   = ze_num_devices,
    .check_device  = ze_check_device,
    .finish        = ze_finish,
    .status        = ze_status,
    .error         = ze_error,
    .pci_address   = ze_pci_address,
    .retain        = ze_retain,
    .release       = ze_release,
    .enter         = ze_enter,
    .leave         = ze_leave,
    .find          = ze_find,
    .describe      = ze_describe,
    .allocate      = ze_allocate,
    .deallocate    = ze_deallocate,
    .export_dmabuf = ze_export_dmabuf,
    .staging_new   = ze_staging_new,
    .staging_free  = ze_staging_free,
    .queue_open    = ze_queue_open,
    .queue_close   = ze_queue_close,
    .queue_enter   = ze_queue_enter,
    .queue_copy    = ze_queue_copy,
    .queue_signal  = ze_queue_signal,
    .queue_query   = ze_queue_query,
    .num_key_kinds = ZE_NUM_KEY_KINDS,
    .export_memory = ze_export_memory,
    .open_memory   = ze_open_memory,
    .close_memory  = ze_close_memory,
};

ucs_status_t ucx_plugin_entry(const ucx_plugin_args_t *args,
                              const ucx_plugin_t **plugin_p)
{
    return accel_plugin_open(args, plugin_p);
}
