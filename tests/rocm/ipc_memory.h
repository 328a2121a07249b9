/* SPDX-License-Identifier: BSD-3-Clause */
/* Allocates and releases memory for the owner process, as described in
 * tests/cuda/ipc_memory.h. The HIP runtime does not open memory by a
 * descriptor, so all kinds but UNEXPORTABLE are ordinary memory. */
#ifndef TEST_IPC_MEMORY_H
#define TEST_IPC_MEMORY_H

#include "../cuda/ipc_owner.h"

static inline uint64_t memory_allocate(memory_kind_t kind, uint64_t address)
{
    void *memory;

    (void)address;
    if (kind != UNEXPORTABLE) {
        return (uintptr_t)device_allocate(LENGTH);
    }
    ck_hip(hipMallocAsync(&memory, LENGTH, NULL));
    return (uintptr_t)memory;
}

static inline void memory_release(memory_kind_t kind, uint64_t address)
{
    (void)kind;
    device_free((void *)(uintptr_t)address);
}

#endif
