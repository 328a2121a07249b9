/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory of each kind: see the header of the same name in tests/cuda. All device
 * memory is opened by a descriptor. */
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
