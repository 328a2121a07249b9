/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cuda_ipc: put and get between processes of one host. The peer's memory is
 * mapped into this process; the copies are those of cuda_copy (copy.h).
 */
#ifndef CUDA_IPC_H
#define CUDA_IPC_H

#include "copy.h"
#include "export.h"

/** A registration of exported memory. */
typedef struct cuda_ipc_region {
    cuda_region_t super;     /**< Never pinned or allocated by it */
    cuda_export_t *export;
} cuda_ipc_region_t;

/** Options of an interface. */
typedef struct cuda_ipc_config {
    unsigned max_mappings;
} cuda_ipc_config_t;

typedef struct cuda_ipc_ep {
    uct_ep_t           super;
    struct cuda_ipc_ep *next;   /**< Of the interface */
    cuda_process_t     peer;
} cuda_ipc_ep_t;

typedef struct cuda_ipc_iface {
    cuda_copy_iface_t copy;
    cuda_process_t    self;
    cuda_fd_worker_t  fd_worker;   /**< It may serve the domain's socket */
    cuda_mappings_t   mappings;
    cuda_ipc_ep_t     *eps;
    /** Never readable: a worker with copies in flight cannot be armed */
    int               event_fd;
} cuda_ipc_iface_t;

/** Fills in the slots for keys of the component. */
void cuda_ipc_component_init(ucx_component_t *component);

#endif
