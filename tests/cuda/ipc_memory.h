/* SPDX-License-Identifier: BSD-3-Clause */
/* Allocates and releases each kind of memory (memory_kind_t) of the CUDA driver
 * for the owner process (ipc_owner.h). tests/ze and tests/rocm have a header of
 * this name; the include path of a build selects one of the three. */
#ifndef TEST_IPC_MEMORY_H
#define TEST_IPC_MEMORY_H

#include "ipc_owner.h"
#include "virtual.h"

/** Defined if the driver has memory pools that can be exported. A process that
 * has opened memory of a pool must close that memory before the owner frees
 * it. */
#define DEVICE_POOLS

/* The pool of the SHARED memory. There is at most one such memory at a time. */
static CUmemoryPool memory_pool;

/* Creates a pool that can be exported, and allocates memory of it. */
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

/** Allocates at least LENGTH bytes of this kind, and returns their address.
 * `address` is used only for BY_FD: the address of earlier memory of this kind,
 * which the new memory replaces; 0: the driver selects the address. */
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
