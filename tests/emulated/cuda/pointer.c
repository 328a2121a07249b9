/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Attributes of memory addresses.
 */
#include "face.h"

#include <string.h>

static int is_legacy(const emu_range_t *range)
{
    return (range->kind == EMU_DEVICE) &&
           !(range->flags &
             (EMU_RANGE_VIRTUAL | EMU_RANGE_POOL | EMU_RANGE_IMPORTED));
}

/* Returns the context of a range. Memory of virtual memory handles and of pools
 * has none. */
static CUcontext context_of(const emu_range_t *range)
{
    return (range->flags & (EMU_RANGE_VIRTUAL | EMU_RANGE_POOL)) ?
               NULL :
               (CUcontext)range->context;
}

static CUresult get(void *data, CUpointer_attribute attribute,
                    const emu_range_t *range, CUdeviceptr address)
{
    int is_device = (range->kind != EMU_HOST);

    switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
        *(CUcontext *)data = context_of(range);
        break;
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
        *(unsigned *)data = is_device ? CU_MEMORYTYPE_DEVICE :
                                        CU_MEMORYTYPE_HOST;
        break;
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
        *(CUdeviceptr *)data = address;
        break;
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
        if (range->kind == EMU_DEVICE) {
            return CUDA_ERROR_INVALID_VALUE;
        }
        *(void **)data = (void *)(uintptr_t)address;
        break;
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
        *(unsigned long long *)data = range->id;
        break;
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
        *(unsigned *)data = (range->kind == EMU_MANAGED);
        break;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
        *(int *)data = range->device;
        break;
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
        *(unsigned *)data = is_legacy(range);
        break;
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
        *(void **)data = (void *)range->start;
        break;
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
        *(size_t *)data = range->length;
        break;
    case CU_POINTER_ATTRIBUTE_MAPPED:
        *(unsigned *)data = 1;
        break;
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
        *(unsigned long long *)data =
            (range->flags & EMU_RANGE_EXPORTS_FD) ?
                CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR :
                0;
        break;
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
        *(unsigned long long *)data = face_pool_handle(range);
        break;
    default:
        emu_mistake("attribute %d of an address is not emulated", attribute);
        return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

CUresult cuPointerGetAttribute(void *data, CUpointer_attribute attribute,
                               CUdeviceptr address)
{
    const emu_range_t *range;

    ENTER(cuPointerGetAttribute, ANY);
    range = emu_range_find(address);
    LEAVE((range == NULL) ? CUDA_ERROR_INVALID_VALUE :
                            get(data, attribute, range, address));
}

static size_t size_of(CUpointer_attribute attribute)
{
    switch (attribute) {
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
    case CU_POINTER_ATTRIBUTE_MAPPED:
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
        return 4;
    default:
        return 8;
    }
}

/* For an unknown address this call succeeds: all attributes are 0, except the
 * ordinal, which is invalid. */
CUresult cuPointerGetAttributes(unsigned count, CUpointer_attribute *attributes,
                                void **data, CUdeviceptr address)
{
    const emu_range_t *range;
    unsigned i;

    ENTER(cuPointerGetAttributes, ANY);
    range = emu_range_find(address);
    for (i = 0; i < count; ++i) {
        memset(data[i], 0, size_of(attributes[i]));
        if (range == NULL) {
            if (attributes[i] == CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL) {
                *(int *)data[i] = -2;
            }
        } else {
            (void)get(data[i], attributes[i], range, address);
        }
    }
    LEAVE(CUDA_SUCCESS);
}

CUresult cuPointerSetAttribute(const void *value, CUpointer_attribute attribute,
                               CUdeviceptr address)
{
    (void)value;
    ENTER(cuPointerSetAttribute, ANY);
    LEAVE(((emu_range_find(address) == NULL) ||
           (attribute != CU_POINTER_ATTRIBUTE_SYNC_MEMOPS)) ?
              CUDA_ERROR_INVALID_VALUE :
              CUDA_SUCCESS);
}
