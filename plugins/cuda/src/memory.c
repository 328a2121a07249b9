/* SPDX-License-Identifier: BSD-3-Clause */
/* Queries the driver for the kind of memory at an address. */
#include "memory.h"

#include <stdint.h>

CUresult cuda_memory_find(const void *address, cuda_memory_t *memory)
{
    static const CUpointer_attribute attributes[] = {
        CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_IS_MANAGED,
        CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
        CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, CU_POINTER_ATTRIBUTE_RANGE_SIZE
    };
    unsigned type    = 0;
    unsigned managed = 0;
    void *data[]     = {&type, &managed, &memory->device, &memory->base,
                        &memory->length};
    CUresult result;

    memory->kind   = CUDA_PAGEABLE;
    memory->device = -1;
    memory->base   = NULL;
    memory->length = 0;
    if (!cuda_is_started()) {
        return CUDA_SUCCESS;
    }
    result = cuda.cuPointerGetAttributes(
            sizeof(attributes) / sizeof(attributes[0]),
            (CUpointer_attribute *)attributes, data, (uintptr_t)address);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    if (managed) {
        memory->kind = CUDA_MANAGED;
    } else if (type == CU_MEMORYTYPE_DEVICE) {
        memory->kind = CUDA_DEVICE;
    } else {
        memory->kind = (type == CU_MEMORYTYPE_HOST) ? CUDA_PINNED :
                                                      CUDA_PAGEABLE;
    }
    return CUDA_SUCCESS;
}
