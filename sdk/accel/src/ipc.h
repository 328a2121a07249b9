/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * IPC: put and get between processes of one host. The peer's memory is mapped
 * into this process; the copies are those of the copier (copy.h).
 */
#ifndef ACCEL_IPC_H
#define ACCEL_IPC_H

#include "copy.h"
#include "export.h"

/** A registration of exported memory. */
typedef struct accel_ipc_region {
    accel_region_t super; /**< is_pinned and is_allocated are always 0 */
    accel_export_t *export;
} accel_ipc_region_t;

/** Options of an interface. */
typedef struct accel_ipc_options {
    unsigned max_mappings;
} accel_ipc_options_t;

typedef struct accel_ipc_ep {
    uct_ep_t super;
    struct accel_ipc_ep *next; /**< Next endpoint of the interface */
    accel_process_t peer;
} accel_ipc_ep_t;

typedef struct accel_ipc_iface {
    accel_copy_iface_t copy;
    accel_process_t self;
    accel_fd_worker_t fd_worker; /**< Worker that may serve the domain's
                                  *   socket */
    accel_mappings_t mappings;
    accel_ipc_ep_t *eps;
    /** Never readable. Arming fails while copies are in flight, so that the
     * worker polls */
    int event_fd;
} accel_ipc_iface_t;

/** The transports. Their names are set by the plugin. */
extern const ucx_transport_t accel_copy_transport;
extern const ucx_transport_t accel_ipc_transport;

/** Options of the IPC interface. Their prefix is set by the plugin. */
extern const ucx_config_table_t accel_ipc_config;

/** Sets the component's slots for keys. */
void accel_ipc_component_init(ucx_component_t *component);

#endif
