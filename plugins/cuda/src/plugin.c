/* SPDX-License-Identifier: BSD-3-Clause */
/* The entry point, and the table through which the accelerator library
 * (<ucx/accel.h>) calls the CUDA driver. */
#include "parts.h"

#ifndef CUDA_PLUGIN_VERSION
#define CUDA_PLUGIN_VERSION "0.0.0"
#endif

const accel_driver_t accel_driver = {
    .names =
        {
            .plugin         = "cuda",
            .version        = CUDA_PLUGIN_VERSION,
            .copy_component = "cuda_cpy",
            .copy_transport = "cuda_copy",
            .ipc_component  = "cuda_ipc",
            .ipc_transport  = "cuda_ipc",
            .ipc_prefix     = "CUDA_IPC_",
            .types =
                {
                    [ACCEL_PAGEABLE] = UCS_MEMORY_TYPE_HOST,
                    [ACCEL_PINNED]   = UCS_MEMORY_TYPE_HOST,
                    [ACCEL_DEVICE]   = UCS_MEMORY_TYPE_CUDA,
                    [ACCEL_MANAGED]  = UCS_MEMORY_TYPE_CUDA_MANAGED,
                },
        },
    /* Seconds, and bytes per second. Measured on an H100: see README.md. */
    .costs =
        {
            .copy_overhead    = 3e-6,
            .copy_latency     = 6.5e-6,
            .copy_bandwidth   = 50e9,
            .device_bandwidth = 1400e9,
            .pin_overhead     = 180e-6,
            .pin_per_byte     = 1 / 22e9,
            .export_overhead  = 0.5e-6,
        },
    .load             = cuda_load,
    .start            = cuda_start,
    .is_started       = cuda_is_started,
    .num_devices      = cuda_num_devices,
    .check_device     = cuda_check_device,
    .status           = cuda_status,
    .error            = cuda_error,
    .pci_address      = cuda_pci_address,
    .current_device   = cuda_current_device,
    .retain           = cuda_retain,
    .release          = cuda_release,
    .revive           = cuda_revive,
    .enter            = cuda_enter,
    .leave            = cuda_leave,
    .find             = cuda_find,
    .describe         = cuda_describe,
    .allocate         = cuda_allocate,
    .deallocate       = cuda_deallocate,
    .pin              = cuda_pin,
    .unpin            = cuda_unpin,
    .export_dmabuf    = cuda_export_dmabuf,
    .staging_new      = cuda_staging_new,
    .staging_free     = cuda_staging_free,
    .queue_open       = cuda_queue_open,
    .queue_close      = cuda_queue_close,
    .queue_enter      = cuda_queue_enter,
    .queue_copy       = cuda_queue_copy,
    .queue_copy_batch = cuda_queue_copy_batch,
    .queue_signal     = cuda_queue_signal,
    .queue_query      = cuda_queue_query,
    .num_key_kinds    = CUDA_NUM_KEY_KINDS,
    .lost_kinds       = 1u << CUDA_KEY_LEGACY,
    .transient_kinds  = 1u << CUDA_KEY_POOL,
    .export_memory    = cuda_export_memory,
    .open_memory      = cuda_open_memory,
    .close_memory     = cuda_close_memory,
};

ucs_status_t ucx_plugin_entry(const ucx_plugin_args_t *args,
                              const ucx_plugin_t **plugin_p)
{
    return accel_plugin_open(args, plugin_p);
}
