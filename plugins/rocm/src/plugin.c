/* SPDX-License-Identifier: BSD-3-Clause */
/* The entry point, and the table through which the accelerator library
 * (<ucx/accel.h>) calls the HIP runtime. */
#include "driver.h"

#ifndef ROCM_PLUGIN_VERSION
#define ROCM_PLUGIN_VERSION "0.0.0"
#endif

const accel_driver_t accel_driver = {
    .names =
        {
            .plugin         = "rocm",
            .version        = ROCM_PLUGIN_VERSION,
            .copy_component = "rocm_cpy",
            .copy_transport = "rocm_copy",
            .ipc_component  = "rocm_ipc",
            .ipc_transport  = "rocm_ipc",
            .ipc_prefix     = "ROCM_IPC_",
            .types =
                {
                    [ACCEL_PAGEABLE] = UCS_MEMORY_TYPE_HOST,
                    [ACCEL_PINNED]   = UCS_MEMORY_TYPE_HOST,
                    [ACCEL_DEVICE]   = UCS_MEMORY_TYPE_ROCM,
                    [ACCEL_MANAGED]  = UCS_MEMORY_TYPE_ROCM_MANAGED,
                },
        },
    /* Seconds, and bytes per second. Assumed, not measured: see README.md. */
    .costs =
        {
            .copy_overhead    = 3e-6,
            .copy_latency     = 8e-6,
            .copy_bandwidth   = 40e9,
            .device_bandwidth = 800e9,
            .pin_overhead     = 100e-6,
            .pin_per_byte     = 40e-12,
            .export_overhead  = 1e-6,
        },
    .load           = rocm_load,
    .start          = rocm_start,
    .is_started     = rocm_is_started,
    .num_devices    = rocm_num_devices,
    .check_device   = rocm_check_device,
    .status         = rocm_status,
    .error          = rocm_error,
    .pci_address    = rocm_pci_address,
    .current_device = rocm_current_device,
    .retain         = rocm_retain,
    .release        = rocm_release,
    .enter          = rocm_enter,
    .leave          = rocm_leave,
    .find           = rocm_find,
    .describe       = rocm_describe,
    .allocate       = rocm_allocate,
    .deallocate     = rocm_deallocate,
    .pin            = rocm_pin,
    .unpin          = rocm_unpin,
    .export_dmabuf  = rocm_export_dmabuf,
    .touch_limit    = rocm_touch_limit,
    .touch_end      = rocm_touch_end,
    .staging_new    = rocm_staging_new,
    .staging_free   = rocm_staging_free,
    .queue_open     = rocm_queue_open,
    .queue_close    = rocm_queue_close,
    .queue_enter    = rocm_queue_enter,
    .queue_copy     = rocm_queue_copy,
    .queue_signal   = rocm_queue_signal,
    .queue_query    = rocm_queue_query,
    .num_key_kinds  = ROCM_NUM_KEY_KINDS,
    .lost_kinds     = 1u << ROCM_KEY_HANDLE,
    .export_memory  = rocm_export_memory,
    .open_memory    = rocm_open_memory,
    .close_memory   = rocm_close_memory,
};

ucs_status_t ucx_plugin_entry(const ucx_plugin_args_t *args,
                              const ucx_plugin_t **plugin_p)
{
    return accel_plugin_open(args, plugin_p);
}
