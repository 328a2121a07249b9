/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kind of memory at an address, by one driver call. The call for several
 * attributes is used because it is faster for host memory (0.24 us against 0.76
 * us), for which it returns no error.
 */
#ifndef CUDA_MEMORY_H
#define CUDA_MEMORY_H

#include "calls.h"

typedef enum {
    CUDA_PAGEABLE,   /**< Host memory unknown to the driver */
    CUDA_PINNED,     /**< Host memory known to the driver */
    CUDA_DEVICE,
    CUDA_MANAGED
} cuda_kind_t;

typedef struct cuda_memory {
    cuda_kind_t kind;
    int         device;
    void        *base;     /**< Of the allocation */
    size_t      length;
} cuda_memory_t;

/** Queries an address. Any thread, with or without a current context. */
CUresult cuda_memory_find(const void *address, cuda_memory_t *memory);

static inline int cuda_is_host(cuda_kind_t kind)
{
    return kind <= CUDA_PINNED;
}

#endif
