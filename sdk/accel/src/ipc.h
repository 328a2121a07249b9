/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The IPC transport: put and get of device memory between processes of one
 * host. The peer's memory is mapped into this process (mapping.h). The copies
 * use the same queues and functions as those of the copy transport (copy.h).
 */
#ifndef ACCEL_IPC_H
#define ACCEL_IPC_H

#include "copy.h"
#include "export.h"

/** A memory handle of the IPC domain: a registration of exported memory. */
typedef struct accel_ipc_region {
    accel_region_t super; /**< is_pinned and is_allocated are always 0 */
    accel_export_t *export;
} accel_ipc_region_t;

/** Options of an interface. */
typedef struct accel_ipc_options {
    /** Maximum number of mappings (mapping.h) kept while no operation uses
     *  them */
    unsigned max_mappings;
} accel_ipc_options_t;

typedef struct accel_ipc_ep {
    uct_ep_t super;
    struct accel_ipc_ep *next; /**< Next endpoint of the interface */
    accel_process_t peer;      /**< The process to which the endpoint leads */
} accel_ipc_ep_t;

typedef struct accel_ipc_iface {
    accel_copy_iface_t copy;
    accel_process_t self; /**< This process: the interface's address */
    /** The interface's worker, which may serve the domain's socket
     *  (fd_server.h) */
    accel_fd_worker_t fd_worker;
    accel_mappings_t mappings;
    accel_ipc_ep_t *eps; /**< List of all endpoints of the interface */
    /** The descriptor for wake-up. It is never readable: while copies are in
     * flight, arming returns UCS_ERR_BUSY, so that the user polls */
    int event_fd;
} accel_ipc_iface_t;

/** The two transports, without their names, which are in accel_driver.names. */
extern const ucx_transport_t accel_copy_transport;
extern const ucx_transport_t accel_ipc_transport;

/** The table of accel_ipc_options_t, without its prefix, which is in
 *  accel_driver.names. */
extern const ucx_config_table_t accel_ipc_config;

/** Sets the slots for the memory domain and for remote keys of the IPC
 *  component. */
void accel_ipc_component_init(ucx_component_t *component);

#endif
