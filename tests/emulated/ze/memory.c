/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory of devices, host memory and shared memory; and handles of memory for
 * other processes.
 *
 * The specification permits a driver to report memory of another context as
 * unknown. This driver, like that of Intel, keeps all allocations in one list,
 * so that each context knows the memory of all contexts.
 */
#include "face.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MAGIC = 0x5a454950 };

/* The contents of a handle. As in the driver of Intel, the first bytes are a
 * file descriptor. A program that sends a handle to another process must also
 * send the descriptor, and the receiver must store its own number of the
 * descriptor in the handle. */
typedef struct {
    int32_t fd;
    uint32_t magic;
} wire_t;

_Static_assert(sizeof(wire_t) <= sizeof(ze_ipc_mem_handle_t), "it fits");

static size_t used[EMU_MAX_DEVICES]; /* Bytes that each device has allocated */

/* ------------------------------------------------------------ allocation -- */

static size_t pages_of(size_t length)
{
    return emu_round(length, emu_page_size());
}

/* Adds a range like `model` at new addresses. The processor gets access rights,
 * except to device memory. NULL: out of memory. */
static emu_range_t *add_range(emu_range_t *model, size_t alignment)
{
    emu_range_t *range;
    void *start;

    if (model->kind == EMU_DEVICE) {
        start = emu_reserve(model->length, alignment);
    } else {
        start = emu_reserve(model->length, alignment);
        if ((start != NULL) && (mprotect(start, pages_of(model->length),
                                         PROT_READ | PROT_WRITE) != 0)) {
            munmap(start, pages_of(model->length));
            start = NULL;
        }
    }
    if (start == NULL) {
        return NULL;
    }
    model->start = (uintptr_t)start;
    range        = emu_range_add(model);
    if (range == NULL) {
        munmap(start, pages_of(model->length));
    }
    return range;
}

static ze_result_t check_request(size_t length, size_t alignment,
                                 void *const *address)
{
    if (address == NULL) {
        return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    }
    if (length == 0) {
        return ZE_RESULT_ERROR_UNSUPPORTED_SIZE;
    }
    return ((alignment & (alignment - 1)) != 0) ?
               ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT :
               ZE_RESULT_SUCCESS;
}

static ze_result_t allocate_host(face_context_t *context, emu_kind_t kind,
                                 int device, size_t length, size_t alignment,
                                 void **address)
{
    emu_range_t model = {
        .kind    = kind,
        .length  = length,
        .device  = device,
        .context = context,
    };
    ze_result_t result = check_request(length, alignment, address);
    emu_range_t *range;

    if (result != ZE_RESULT_SUCCESS) {
        return result;
    }
    range = add_range(&model, alignment);
    if (range == NULL) {
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
    *address = (void *)range->start;
    return ZE_RESULT_SUCCESS;
}

ze_result_t face_zeMemAllocHost(ze_context_handle_t handle,
                                const ze_host_mem_alloc_desc_t *desc,
                                size_t length, size_t alignment, void **address)
{
    face_context_t *context;

    ENTER(zeMemAllocHost);
    FIND(context, handle, FACE_CONTEXT);
    LEAVE((desc == NULL) ?
              ZE_RESULT_ERROR_INVALID_NULL_POINTER :
              allocate_host(context, EMU_HOST, -1, length, alignment, address));
}

/* If `device_handle` is NULL, the memory belongs to no particular device. */
ze_result_t face_zeMemAllocShared(ze_context_handle_t handle,
                                  const ze_device_mem_alloc_desc_t *device_desc,
                                  const ze_host_mem_alloc_desc_t *host_desc,
                                  size_t length, size_t alignment,
                                  ze_device_handle_t device_handle,
                                  void **address)
{
    face_device_t *device = NULL;
    face_context_t *context;

    ENTER(zeMemAllocShared);
    FIND(context, handle, FACE_CONTEXT);
    if (device_handle != NULL) {
        FIND(device, device_handle, FACE_DEVICE);
    }
    LEAVE(((device_desc == NULL) || (host_desc == NULL)) ?
              ZE_RESULT_ERROR_INVALID_NULL_POINTER :
              allocate_host(context, EMU_MANAGED,
                            (device == NULL) ? -1 : device->number, length,
                            alignment, address));
}

ze_result_t face_zeMemAllocDevice(ze_context_handle_t handle,
                                  const ze_device_mem_alloc_desc_t *desc,
                                  size_t length, size_t alignment,
                                  ze_device_handle_t device_handle,
                                  void **address)
{
    const size_t limit = emu_variable("EMULATED_MEMORY", 1ul << 30, 1ul << 40);
    emu_range_t model  = {.kind = EMU_DEVICE, .length = length};
    face_context_t *context;
    face_device_t *device;
    emu_range_t *range;
    ze_result_t result;

    ENTER(zeMemAllocDevice);
    FIND(context, handle, FACE_CONTEXT);
    FIND(device, device_handle, FACE_DEVICE);
    result = (desc == NULL) ? ZE_RESULT_ERROR_INVALID_NULL_POINTER :
                              check_request(length, alignment, address);
    if (result == ZE_RESULT_SUCCESS) {
        result = face_device_status(device->number);
    }
    if (result != ZE_RESULT_SUCCESS) {
        LEAVE(result);
    }
    if ((length > limit) || (used[device->number] > limit - pages_of(length))) {
        LEAVE(ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
    }
    model.device  = device->number;
    model.context = context;
    model.pages   = emu_pages_new(device->number, length);
    range         = (model.pages == NULL) ? NULL : add_range(&model, alignment);
    emu_pages_drop(model.pages);
    if (range == NULL) {
        LEAVE(ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
    }
    used[device->number] += pages_of(length);
    *address = (void *)range->start;
    LEAVE(ZE_RESULT_SUCCESS);
}

static ze_result_t release(face_context_t *context, const void *address,
                           unsigned imported, const char *call)
{
    emu_range_t *range = emu_range_find((uintptr_t)address);

    if ((range == NULL) || (range->start != (uintptr_t)address) ||
        ((range->flags & EMU_RANGE_IMPORTED) != imported)) {
        emu_mistake("%s of %p, where nothing for it begins", call, address);
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    }
    if (range->context != context) {
        emu_mistake("%s of %p, which is of another context", call, address);
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    }
    if (face_is_in_use(range)) {
        emu_mistake("%s of %p, which a command still uses", call, address);
    }
    if ((range->kind == EMU_DEVICE) && !imported) {
        used[range->device] -= pages_of(range->length);
    }
    emu_range_remove(range, 1);
    return ZE_RESULT_SUCCESS;
}

ze_result_t face_zeMemFree(ze_context_handle_t handle, void *address)
{
    face_context_t *context;

    ENTER(zeMemFree);
    FIND(context, handle, FACE_CONTEXT);
    LEAVE(release(context, address, 0, "zeMemFree"));
}

/* --------------------------------------------------------------- queries -- */

static ze_memory_type_t type_of(const emu_range_t *range)
{
    switch (range->kind) {
    case EMU_DEVICE:
        return ZE_MEMORY_TYPE_DEVICE;
    case EMU_MANAGED:
        return ZE_MEMORY_TYPE_SHARED;
    default:
        return ZE_MEMORY_TYPE_HOST;
    }
}

/* Returns the descriptor of the allocation as a dmabuf. It remains a descriptor
 * of the driver: the caller must not close it. */
static ze_result_t export_fd(const emu_range_t *range,
                             ze_external_memory_export_fd_t *exported)
{
    if ((exported->stype != ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_FD) ||
        (exported->flags != ZE_EXTERNAL_MEMORY_TYPE_FLAG_DMA_BUF)) {
        return ZE_RESULT_ERROR_INVALID_ENUMERATION;
    }
    if ((range == NULL) || (range->kind != EMU_DEVICE) ||
        (emu_variable("EMULATED_DMABUF", 1, 1) == 0)) {
        return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
    }
    exported->fd = range->pages->fd;
    return ZE_RESULT_SUCCESS;
}

ze_result_t
face_zeMemGetAllocProperties(ze_context_handle_t handle, const void *address,
                             ze_memory_allocation_properties_t *properties,
                             ze_device_handle_t *device)
{
    ze_device_handle_t owner = NULL;
    face_context_t *context;
    emu_range_t *range;

    ENTER(zeMemGetAllocProperties);
    FIND(context, handle, FACE_CONTEXT);
    range            = emu_range_find((uintptr_t)address);
    properties->type = ZE_MEMORY_TYPE_UNKNOWN;
    if (range != NULL) {
        properties->type     = type_of(range);
        properties->id       = range->id;
        properties->pageSize = emu_page_size();
        if (range->device >= 0) {
            owner = face_device_handle(range->device);
        }
    }
    if (device != NULL) {
        *device = owner;
    }
    LEAVE((properties->pNext == NULL) ?
              ZE_RESULT_SUCCESS :
              export_fd(range, (void *)properties->pNext));
}

ze_result_t face_zeMemGetAddressRange(ze_context_handle_t handle,
                                      const void *address, void **base,
                                      size_t *length)
{
    face_context_t *context;
    emu_range_t *range;

    ENTER(zeMemGetAddressRange);
    FIND(context, handle, FACE_CONTEXT);
    range = emu_range_find((uintptr_t)address);
    if (range == NULL) {
        LEAVE(ZE_RESULT_ERROR_UNKNOWN);
    }
    if (base != NULL) {
        *base = (void *)range->start;
    }
    if (length != NULL) {
        *length = range->length;
    }
    LEAVE(ZE_RESULT_SUCCESS);
}

/* -------------------------------------------- memory of other processes -- */

ze_result_t face_zeMemGetIpcHandle(ze_context_handle_t handle,
                                   const void *address,
                                   ze_ipc_mem_handle_t *ipc)
{
    wire_t wire = {.magic = MAGIC};
    face_context_t *context;
    emu_range_t *range;

    ENTER(zeMemGetIpcHandle);
    FIND(context, handle, FACE_CONTEXT);
    range = emu_range_find((uintptr_t)address);
    if ((range == NULL) || (range->kind != EMU_DEVICE) ||
        (range->start != (uintptr_t)address) ||
        (range->flags & EMU_RANGE_IMPORTED)) {
        LEAVE(ZE_RESULT_ERROR_INVALID_ARGUMENT);
    }
    wire.fd = range->pages->fd;
    memset(ipc, 0, sizeof(*ipc));
    memcpy(ipc, &wire, sizeof(wire));
    LEAVE(ZE_RESULT_SUCCESS);
}

static ze_result_t open_pages(face_context_t *context, int device, int fd,
                              void **address)
{
    emu_range_t model = {
        .kind    = EMU_DEVICE,
        .flags   = EMU_RANGE_IMPORTED,
        .device  = device,
        .context = context,
    };
    emu_range_t *range;

    model.pages = emu_pages_adopt(fd, 0);
    if (model.pages == NULL) {
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    }
    model.length = model.pages->length;
    range        = add_range(&model, 0);
    emu_pages_drop(model.pages);
    if (range == NULL) {
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
    *address = (void *)range->start;
    return ZE_RESULT_SUCCESS;
}

/* Opens memory by the descriptor in the handle, which it duplicates: the caller
 * still has to close the descriptor. */
ze_result_t face_zeMemOpenIpcHandle(ze_context_handle_t handle,
                                    ze_device_handle_t device_handle,
                                    ze_ipc_mem_handle_t ipc,
                                    ze_ipc_memory_flags_t flags, void **address)
{
    face_context_t *context;
    face_device_t *device;
    wire_t wire;
    int fd;

    ENTER(zeMemOpenIpcHandle);
    FIND(context, handle, FACE_CONTEXT);
    FIND(device, device_handle, FACE_DEVICE);
    memcpy(&wire, &ipc, sizeof(wire));
    if ((flags != 0) || (wire.magic != MAGIC)) {
        LEAVE(ZE_RESULT_ERROR_INVALID_ARGUMENT);
    }
    fd = fcntl(wire.fd, F_DUPFD_CLOEXEC, 0);
    LEAVE((fd < 0) ? ZE_RESULT_ERROR_INVALID_ARGUMENT :
                     open_pages(context, device->number, fd, address));
}

ze_result_t face_zeMemCloseIpcHandle(ze_context_handle_t handle,
                                     const void *address)
{
    face_context_t *context;

    ENTER(zeMemCloseIpcHandle);
    FIND(context, handle, FACE_CONTEXT);
    LEAVE(release(context, address, EMU_RANGE_IMPORTED, "zeMemCloseIpcHandle"));
}
