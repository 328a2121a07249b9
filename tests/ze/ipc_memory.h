/* SPDX-License-Identifier: BSD-3-Clause */
/* Allocates and releases memory for the owner process, as described in
 * tests/cuda/ipc_memory.h. The driver of Level Zero opens all device memory of
 * other processes by a file descriptor, so all kinds but UNEXPORTABLE are the
 * same. */
#ifndef TEST_IPC_MEMORY_H
#define TEST_IPC_MEMORY_H

#include "../cuda/ipc_owner.h"

static inline uint64_t memory_allocate(memory_kind_t kind, uint64_t address)
{
    const ze_host_mem_alloc_desc_t desc = {
        .stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC,
    };
    void *memory;

    if (kind == UNEXPORTABLE) {
        ck_ze(zeMemAllocHost(device_context, &desc, LENGTH, 0, &memory));
        return (uintptr_t)memory;
    }
    if (address != 0) {
        device_free((void *)(uintptr_t)address);
    }
    return (uintptr_t)device_allocate(LENGTH);
}

static inline void memory_release(memory_kind_t kind, uint64_t address)
{
    (void)kind;
    device_free((void *)(uintptr_t)address);
}

#endif
