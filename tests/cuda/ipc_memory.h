/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory of each kind that the owner process allocates (ipc_owner.h). Other
 * drivers have a header of this name in their folder; the include path selects
 * one. */
#ifndef TEST_IPC_MEMORY_H
#define TEST_IPC_MEMORY_H

#include "ipc_owner.h"
#include "virtual.h"

/** Defined if the driver has pools, whose memory must be closed before its
 * owner frees it. */
#define DEVICE_POOLS

static CUmemoryPool memory_pool;

/* Allocates memory of a pool that can be exported. */
static inline CUdeviceptr allocate_shared(void)
{
    const CUmemPoolProps props = {
        .allocType   = CU_MEM_ALLOCATION_TYPE_PINNED,
        .handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
        .location    = {CU_MEM_LOCATION_TYPE_DEVICE, 0},
    };
    CUdeviceptr address;

    ck_cuda(cuMemPoolCreate(&memory_pool, &props));
    ck_cuda(cuMemAllocFromPoolAsync(&address, LENGTH, memory_pool, NULL));
    ck_cuda(cuStreamSynchronize(NULL));
    return address;
}

/** Allocates memory of this kind. BY_FD: in place of the memory at `address`,
 * unless that is 0. */
static inline uint64_t memory_allocate(memory_kind_t kind, uint64_t address)
{
    CUdeviceptr pooled;

    switch (kind) {
    case BY_FD:
        return map_virtual(address);
    case SHARED:
        return allocate_shared();
    case UNEXPORTABLE:
        ck_cuda(cuMemAllocAsync(&pooled, LENGTH, NULL));
        ck_cuda(cuStreamSynchronize(NULL));
        return pooled;
    default:
        return (uintptr_t)device_allocate(LENGTH);
    }
}

static inline void memory_release(memory_kind_t kind, uint64_t address)
{
    switch (kind) {
    case BY_FD:
        unmap_virtual(address);
        break;
    case SHARED:
    case UNEXPORTABLE:
        ck_cuda(cuMemFreeAsync(address, NULL));
        ck_cuda(cuStreamSynchronize(NULL));
        if (kind == SHARED) {
            ck_cuda(cuMemPoolDestroy(memory_pool));
        }
        break;
    default:
        device_free((void *)(uintptr_t)address);
        break;
    }
}

#endif
