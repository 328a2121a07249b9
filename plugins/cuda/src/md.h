/* SPDX-License-Identifier: BSD-3-Clause */
/* The memory domain and its device contexts. */
#ifndef CUDA_MD_H
#define CUDA_MD_H

#include "calls.h"
#include "fd_server.h"

#include <pthread.h>

/** A domain for all devices of the process; both components have one. */
typedef struct cuda_md {
    uct_md_t         super;
    const ucx_host_t *host;
    pthread_mutex_t  lock;                         /**< Protects the rest */
    /** Retained primary contexts, or NULL */
    CUcontext        contexts[CUDA_MAX_DEVICES];
    ucs_sys_device_t sys_devs[CUDA_MAX_DEVICES];
    int              num_sys_devs;                 /**< That are known */
    pthread_mutex_t  exports_lock;
    /** Exported memory, used last first */
    struct cuda_export *exports;
    cuda_fd_server_t   fd_server;
} cuda_md_t;

/** A memory handle: an allocation, or a registration that may have pinned the
 * memory. */
typedef struct cuda_region {
    void   *address;
    size_t length;
    int    is_pinned;     /**< By this registration */
    int    is_allocated;  /**< By mem_alloc */
    int    device;
    /** Of the device's context at that time; 0: not known */
    unsigned long long context_id;
} cuda_region_t;

extern const ucx_md_ops_t cuda_md_ops;

ucs_status_t cuda_md_resources(const ucx_component_t *component,
                               uct_md_resource_desc_t **mds_p, unsigned *num_p);
ucs_status_t cuda_md_open(const ucx_component_t *component,
                          const ucx_md_open_args_t *args, uct_md_h *md_p);

/** Also closes a domain of cuda_ipc. */
void cuda_md_close(uct_md_h md);

/** Checks that there is a driver and a usable device; `reason`: why not. */
ucs_status_t cuda_inspect(const ucx_component_t *component, char *reason,
                          size_t reason_size);

/** Returns the primary context of a device, retained until the domain is
 * closed. Any thread. The first call is slow (0.1 s if no process uses the
 * device). */
CUresult cuda_md_context(cuda_md_t *md, int device, CUcontext *context_p);

/** Activates the primary context of a device again after the program has reset
 * it. Requires cuda_md_context(). */
CUresult cuda_md_revive(int device);

/** Makes that context current on this thread until cuda_leave(). */
CUresult cuda_md_enter(cuda_md_t *md, int device, cuda_scope_t *scope);

#endif
