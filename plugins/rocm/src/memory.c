/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory: what an address belongs to, allocation, pinning, dmabuf. */
#include "driver.h"

#include <string.h>

/* Reads several attributes of an address in one call. Uses the first two
 * entries of `attributes` and `data` itself; the caller has set the others.
 * Stores one of HIP_6_MEMORY_* in *type_p, also with runtimes before version 6.
 * It is HIP_6_MEMORY_NONE for an address that is not HIP's: some versions of
 * the runtime then return an error, others success without a type. */
static hipError_t look_up(const void *address, hipPointer_attribute *attributes,
                          unsigned count, void **data, int *type_p)
{
    int type       = -1;
    int is_managed = 0;
    hipError_t result;

    attributes[0] = HIP_POINTER_ATTRIBUTE_MEMORY_TYPE;
    attributes[1] = HIP_POINTER_ATTRIBUTE_IS_MANAGED;
    data[0]       = &type;
    data[1]       = &is_managed;
    result        = hip.hipDrvPointerGetAttributes(count, attributes, data,
                                                   (hipDeviceptr_t)address);
    *type_p       = HIP_6_MEMORY_NONE;
    if (result == hipErrorInvalidValue) {
        (void)hip.hipGetLastError(); /* Clear the error, so that the program
                                      * does not see it */
        return hipSuccess;
    }
    if ((result != hipSuccess) || (type < 0)) {
        return result;
    }
    *type_p = is_managed                    ? HIP_6_MEMORY_MANAGED :
              rocm_is_version_6()           ? type :
              (type == HIP_5_MEMORY_DEVICE) ? HIP_6_MEMORY_DEVICE :
                                              HIP_6_MEMORY_HOST;
    return result;
}

static accel_kind_t kind_of(int type)
{
    switch (type) {
    case HIP_6_MEMORY_HOST:
        return ACCEL_PINNED;
    case HIP_6_MEMORY_DEVICE:
        return ACCEL_DEVICE;
    case HIP_6_MEMORY_MANAGED:
        return ACCEL_MANAGED;
    default:
        return ACCEL_PAGEABLE;
    }
}

int rocm_find(const void *address, accel_memory_t *memory)
{
    hipPointer_attribute attributes[] = {
        0,
        0,
        HIP_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
        HIP_POINTER_ATTRIBUTE_RANGE_START_ADDR,
        HIP_POINTER_ATTRIBUTE_RANGE_SIZE,
    };
    void *data[] = {NULL, NULL, &memory->device, &memory->base,
                    &memory->length};
    hipError_t result;
    int type;

    *memory = (accel_memory_t){.kind = ACCEL_PAGEABLE, .device = -1};
    if (!rocm_is_started()) {
        return UCS_OK;
    }
    result       = look_up(address, attributes, 5, data, &type);
    memory->kind = kind_of(type);
    if (memory->kind == ACCEL_PAGEABLE) {
        memory->device = -1;
    }
    return result;
}

int rocm_describe(uint64_t address, accel_allocation_t *allocation)
{
    hipPointer_attribute attributes[] = {
        0,
        0,
        HIP_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
        HIP_POINTER_ATTRIBUTE_RANGE_START_ADDR,
        HIP_POINTER_ATTRIBUTE_RANGE_SIZE,
        HIP_POINTER_ATTRIBUTE_BUFFER_ID,
    };
    void *data[] = {NULL,
                    NULL,
                    &allocation->device,
                    &allocation->start,
                    &allocation->length,
                    &allocation->id};
    hipError_t result;
    int type;

    memset(allocation, 0, sizeof(*allocation));
    if (rocm_num_devices() == 0) {
        return UCS_OK;
    }
    result = look_up((void *)(uintptr_t)address, attributes, 6, data, &type);
    if (type == HIP_6_MEMORY_NONE) {
        allocation->id = 0;
    }
    allocation->is_device = (type == HIP_6_MEMORY_DEVICE) &&
                            (allocation->device >= 0);
    return result;
}

/* -------------------------------------------------- allocation, pinning -- */

int rocm_allocate(ucs_memory_type_t type, int device, size_t length,
                  uint64_t *address_p)
{
    void *address = NULL;
    hipError_t result;

    result     = (type == UCS_MEMORY_TYPE_ROCM) ?
                     hip.hipMalloc(&address, length) :
                     hip.hipMallocManaged(&address, length, hipMemAttachGlobal);
    *address_p = (uintptr_t)address;
    return result;
}

int rocm_deallocate(uint64_t address)
{
    return hip.hipFree((void *)(uintptr_t)address);
}

int rocm_pin(void *address, size_t length)
{
    hipError_t result = hip.hipHostRegister(address, length,
                                            hipHostRegisterPortable);

    if (result == hipErrorHostMemoryAlreadyRegistered) {
        (void)hip.hipGetLastError();
        return UCS_ERR_ALREADY_EXISTS;
    }
    return result;
}

int rocm_unpin(void *address)
{
    return hip.hipHostUnregister(address);
}

/* HSA exports the buffer object that contains the range, and returns the offset
 * of the range in this object. */
int rocm_export_dmabuf(int device, uint64_t start, size_t length, int *fd_p,
                       uint64_t *offset_p)
{
    if (hip.hsa_amd_portable_export_dmabuf == NULL) {
        return UCS_ERR_UNSUPPORTED;
    }
    return (hip.hsa_amd_portable_export_dmabuf((void *)(uintptr_t)start, length,
                                               fd_p, offset_p) ==
            HSA_STATUS_SUCCESS) ?
               UCS_OK :
               UCS_ERR_UNSUPPORTED;
}
