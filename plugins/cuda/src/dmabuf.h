/* SPDX-License-Identifier: BSD-3-Clause */
/* Export of device memory to other devices, such as network adapters. */
#ifndef CUDA_DMABUF_H
#define CUDA_DMABUF_H

#include "md.h"
#include "memory.h"

/**
 * Exports the pages of [address, +length) as a dmabuf. Stores the descriptor,
 * which the caller owns, and the offset of `address` in it. The descriptor stays
 * -1 if the range is not within the allocation `memory`, if the memory is managed,
 * or if the driver or the kernel has no dmabuf. Any thread.
 */
void cuda_dmabuf_export(cuda_md_t *md, const void *address, size_t length,
                        const cuda_memory_t *memory, ucx_mem_attr_t *attr);

#endif
