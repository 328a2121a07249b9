/* SPDX-License-Identifier: BSD-3-Clause */
/* The memory domain and its device contexts. */
#ifndef CUDA_MD_H
#define CUDA_MD_H

#include "plugin.h"
#include "calls.h"

#include <pthread.h>

/** One domain for all devices of the process. */
typedef struct cuda_md {
    uct_md_t         super;
    const ucx_host_t *host;
    pthread_mutex_t  lock;                         /**< Protects `contexts` */
    /** Retained primary contexts, or NULL */
    CUcontext        contexts[CUDA_MAX_DEVICES];
    ucs_sys_device_t sys_devs[CUDA_MAX_DEVICES];
} cuda_md_t;

/** A memory handle: an allocation, or a registration that may have pinned the
 * memory. */
typedef struct cuda_region {
    void   *address;
    size_t length;
    int    is_pinned;     /**< By this registration */
    int    is_allocated;  /**< By mem_alloc */
    int    device;
} cuda_region_t;

extern const ucx_md_ops_t cuda_md_ops;

ucs_status_t cuda_md_resources(const ucx_component_t *component,
                               uct_md_resource_desc_t **mds_p, unsigned *num_p);
ucs_status_t cuda_md_open(const ucx_component_t *component,
                          const ucx_md_open_args_t *args, uct_md_h *md_p);

/** Returns the primary context of a device, retained until the domain is
 * closed. Any thread. The first call is slow (0.1 s if no process uses the
 * device). */
CUresult cuda_md_context(cuda_md_t *md, int device, CUcontext *context_p);

#endif
