/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory: what an address belongs to, export as dmabuf, and allocation.
 *
 * Addresses are looked up in the plugin's own context, not in the program's.
 * The specification permits a driver to report memory of another context as
 * unknown, but Intel's driver finds the allocations of all contexts.
 */
#include "driver.h"

#include <fcntl.h>
#include <string.h>

/* Asks the drivers one by one for the memory at an address. Stores its
 * properties, its device (-1: none) and the context of its driver.
 * properties->type is ZE_MEMORY_TYPE_UNKNOWN if no driver knows the address. */
static ze_result_t look_up(const void *address,
                           ze_memory_allocation_properties_t *properties,
                           int *device_p, ze_context_handle_t *context_p)
{
    ze_result_t result = ZE_RESULT_SUCCESS;
    ze_device_handle_t handle;
    int i;

    *properties = (ze_memory_allocation_properties_t){
        .stype = ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES,
        .type  = ZE_MEMORY_TYPE_UNKNOWN,
    };
    *device_p = -1;
    for (i = 0; i < ze_num_drivers(); ++i) {
        handle = NULL;
        result = ze_context(i, context_p);
        if (result == ZE_RESULT_SUCCESS) {
            result = ze.zeMemGetAllocProperties(*context_p, address, properties,
                                                &handle);
        }
        if ((result != ZE_RESULT_SUCCESS) ||
            (properties->type != ZE_MEMORY_TYPE_UNKNOWN)) {
            *device_p = ze_device_by_handle(handle);
            break;
        }
    }
    return result;
}

static accel_kind_t kind_of(ze_memory_type_t type)
{
    switch (type) {
    case ZE_MEMORY_TYPE_HOST:
        return ACCEL_PINNED;
    case ZE_MEMORY_TYPE_DEVICE:
        return ACCEL_DEVICE;
    case ZE_MEMORY_TYPE_SHARED:
        return ACCEL_MANAGED;
    default:
        return ACCEL_PAGEABLE;
    }
}

/* Shared memory may belong to no device. Device 0 is then used for copies. */
int ze_find(const void *address, accel_memory_t *memory)
{
    ze_memory_allocation_properties_t properties;
    ze_context_handle_t context;
    ze_result_t result;

    *memory = (accel_memory_t){.kind = ACCEL_PAGEABLE, .device = -1};
    if (!ze_is_started()) {
        return UCS_OK;
    }
    result = look_up(address, &properties, &memory->device, &context);
    if ((result != ZE_RESULT_SUCCESS) ||
        (properties.type == ZE_MEMORY_TYPE_UNKNOWN)) {
        return result;
    }
    memory->kind = kind_of(properties.type);
    if ((memory->kind == ACCEL_MANAGED) && (memory->device < 0)) {
        memory->device = 0;
    }
    return ze.zeMemGetAddressRange(context, address, &memory->base,
                                   &memory->length);
}

int ze_describe(uint64_t address, accel_allocation_t *allocation)
{
    const void *pointer = (void *)(uintptr_t)address;
    ze_memory_allocation_properties_t properties;
    ze_context_handle_t context;
    ze_result_t result;
    size_t length;
    void *base;

    memset(allocation, 0, sizeof(*allocation));
    result = look_up(pointer, &properties, &allocation->device, &context);
    if ((result != ZE_RESULT_SUCCESS) ||
        (properties.type == ZE_MEMORY_TYPE_UNKNOWN)) {
        return result;
    }
    result = ze.zeMemGetAddressRange(context, pointer, &base, &length);
    if (result == ZE_RESULT_SUCCESS) {
        allocation->start     = (uintptr_t)base;
        allocation->length    = length;
        allocation->id        = properties.id;
        allocation->is_device = (properties.type == ZE_MEMORY_TYPE_DEVICE) &&
                                (allocation->device >= 0);
    }
    return result;
}

/* Exports a duplicate of the driver's descriptor of the allocation, because the
 * driver keeps its own descriptor. */
int ze_export_dmabuf(int device, uint64_t start, size_t length, int *fd_p,
                     uint64_t *offset_p)
{
    const void *pointer                     = (void *)(uintptr_t)start;
    ze_external_memory_export_fd_t exported = {
        .stype = ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_FD,
        .flags = ZE_EXTERNAL_MEMORY_TYPE_FLAG_DMA_BUF,
        .fd    = -1,
    };
    ze_memory_allocation_properties_t properties = {
        .stype = ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES,
        .pNext = &exported,
    };
    ze_context_handle_t context;
    ze_result_t result;
    size_t all;
    void *base;

    result = ze_context(ze_device(device)->driver, &context);
    if (result == ZE_RESULT_SUCCESS) {
        result = ze.zeMemGetAllocProperties(context, pointer, &properties,
                                            NULL);
    }
    if (result == ZE_RESULT_SUCCESS) {
        result = ze.zeMemGetAddressRange(context, pointer, &base, &all);
    }
    if (result != ZE_RESULT_SUCCESS) {
        return result;
    }
    /* If the driver does not support the export, exported.fd is still -1 and
     * fcntl() fails. */
    *fd_p     = fcntl(exported.fd, F_DUPFD_CLOEXEC, 0);
    *offset_p = start - (uintptr_t)base;
    return (*fd_p < 0) ? UCS_ERR_UNSUPPORTED : ZE_RESULT_SUCCESS;
}

/* ----------------------------------------------------------- allocation -- */

static ze_result_t allocate_host(int device, size_t length, void **address)
{
    const ze_host_mem_alloc_desc_t desc = {
        .stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC,
    };
    ze_context_handle_t context;
    ze_result_t result = ze_context(ze_device(device)->driver, &context);

    return (result != ZE_RESULT_SUCCESS) ?
               result :
               ze.zeMemAllocHost(context, &desc, length, 0, address);
}

int ze_allocate(ucs_memory_type_t type, int device, size_t length,
                uint64_t *address_p)
{
    const ze_device_mem_alloc_desc_t device_desc = {
        .stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC,
    };
    const ze_host_mem_alloc_desc_t host_desc = {
        .stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC,
    };
    ze_device_handle_t handle = ze_device(device)->handle;
    void *address             = NULL;
    ze_context_handle_t context;
    ze_result_t result = ze_context(ze_device(device)->driver, &context);

    if (result != ZE_RESULT_SUCCESS) {
        return result;
    }
    switch (type) {
    case UCS_MEMORY_TYPE_ZE_HOST:
        result = ze.zeMemAllocHost(context, &host_desc, length, 0, &address);
        break;
    case UCS_MEMORY_TYPE_ZE_DEVICE:
        result = ze.zeMemAllocDevice(context, &device_desc, length, 0, handle,
                                     &address);
        break;
    default:
        result = ze.zeMemAllocShared(context, &device_desc, &host_desc, length,
                                     0, handle, &address);
        break;
    }
    *address_p = (uintptr_t)address;
    return result;
}

int ze_deallocate(uint64_t address)
{
    void *pointer = (void *)(uintptr_t)address;
    ze_memory_allocation_properties_t properties;
    ze_context_handle_t context;
    ze_result_t result;
    int device;

    result = look_up(pointer, &properties, &device, &context);
    return (result != ZE_RESULT_SUCCESS) ? result :
                                           ze.zeMemFree(context, pointer);
}

/* The driver allocates this host memory, because devices cannot access other
 * host memory. The memory stays valid when a device is lost. */
void *ze_staging_new(int device, size_t length)
{
    void *memory = NULL;

    return (allocate_host(device, length, &memory) == ZE_RESULT_SUCCESS) ?
               memory :
               NULL;
}

void ze_staging_free(void *memory)
{
    (void)ze_deallocate((uintptr_t)memory);
}
