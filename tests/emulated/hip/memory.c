/* SPDX-License-Identifier: BSD-3-Clause */
/* Allocation, registration, attributes of addresses. */
#include "face.h"

#include <string.h>
#include <sys/mman.h>

static size_t used[EMU_MAX_DEVICES]; /* Bytes that each device has allocated */

static size_t pages_of(size_t length)
{
    return emu_round(length, emu_page_size());
}

/* -------------------------------------------------------------- mapping -- */

/* With EMULATED_LARGE_BAR=1 the processor can access device memory: maps the
 * pages at `start` with access rights. Returns 0 on failure. */
static int map_bar(uintptr_t start, const emu_pages_t *pages)
{
    if (emu_variable("EMULATED_LARGE_BAR", 0, 1) == 0) {
        return 1;
    }
    return mmap((void *)start, pages->length, PROT_READ | PROT_WRITE,
                MAP_SHARED | MAP_FIXED, pages->fd, 0) != MAP_FAILED;
}

hipError_t face_map(const emu_range_t *model, emu_range_t **range_p)
{
    emu_range_t range = *model;

    range.start = (uintptr_t)emu_reserve(range.length, 0);
    if (range.start == 0) {
        return hipErrorOutOfMemory;
    }
    *range_p = map_bar(range.start, range.pages) ? emu_range_add(&range) : NULL;
    if (*range_p == NULL) {
        munmap((void *)range.start, pages_of(range.length));
        return hipErrorOutOfMemory;
    }
    return hipSuccess;
}

static int is_allocated(const emu_range_t *range)
{
    return (range->kind == EMU_DEVICE) && !(range->flags & EMU_RANGE_IMPORTED);
}

void face_release(emu_range_t *range)
{
    if (is_allocated(range)) {
        used[range->device] -= pages_of(range->length);
    }
    emu_range_remove(range, !(range->flags & EMU_RANGE_REGISTERED));
}

void face_memory_of_context(emu_context_t *context)
{
    emu_range_t *range, *next;

    for (range = emu_ranges; range != NULL; range = next) {
        next = range->next;
        if (range->context == context) {
            face_release(range);
        }
    }
}

/* ----------------------------------------------------------- allocation -- */

static hipError_t allocate(size_t length, unsigned flags, void **address)
{
    size_t limit      = emu_variable("EMULATED_MEMORY", 1ul << 30, 1ul << 40);
    emu_range_t model = {
        .kind    = EMU_DEVICE,
        .length  = length,
        .flags   = flags,
        .context = face_current(),
        .device  = face_current()->device,
    };
    emu_range_t *range;
    hipError_t result;

    if ((address == NULL) || (length == 0)) {
        return hipErrorInvalidValue;
    }
    if ((length > limit) || (used[model.device] > limit - pages_of(length))) {
        return hipErrorOutOfMemory;
    }
    model.pages = emu_pages_new(model.device, length);
    if (model.pages == NULL) {
        return hipErrorOutOfMemory;
    }
    result = face_map(&model, &range);
    emu_pages_drop(model.pages);
    if (result == hipSuccess) {
        used[model.device] += pages_of(length);
        *address = (void *)range->start;
    }
    return result;
}

hipError_t hipMalloc(void **address, size_t length)
{
    ENTER(hipMalloc, DEVICE);
    LEAVE(allocate(length, 0, address));
}

/* Allocates from the pool of the device. hipIpcGetMemHandle() rejects such
 * memory. */
hipError_t hipMallocAsync(void **address, size_t length, hipStream_t handle)
{
    emu_stream_t *stream;
    hipError_t result;

    ENTER(hipMallocAsync, DEVICE);
    result = face_stream(handle, &stream);
    LEAVE((result == hipSuccess) ? allocate(length, EMU_RANGE_POOL, address) :
                                   result);
}

/* Allocates memory that the processor can access. It belongs to the current
 * device of the thread. */
static hipError_t map_host(emu_kind_t kind, size_t length, void **address)
{
    emu_range_t model = {
        .kind    = kind,
        .length  = length,
        .context = face_current(),
        .device  = face_current()->device,
    };
    void *start;

    if ((address == NULL) || (length == 0)) {
        return hipErrorInvalidValue;
    }
    start = mmap(NULL, pages_of(length), PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (start == MAP_FAILED) {
        return hipErrorOutOfMemory;
    }
    model.start = (uintptr_t)start;
    if (emu_range_add(&model) == NULL) {
        munmap(start, pages_of(length));
        return hipErrorOutOfMemory;
    }
    *address = start;
    return hipSuccess;
}

hipError_t hipMallocManaged(void **address, size_t length, unsigned flags)
{
    ENTER(hipMallocManaged, DEVICE);
    LEAVE((flags != hipMemAttachGlobal) ?
              hipErrorInvalidValue :
              map_host(EMU_MANAGED, length, address));
}

hipError_t hipHostMalloc(void **address, size_t length, unsigned flags)
{
    (void)flags;
    ENTER(hipHostMalloc, DEVICE);
    LEAVE(map_host(EMU_HOST, length, address));
}

/* Waits for the device, and releases the range that begins at the address. It
 * is a mistake if no range begins there, if `is_host` does not match its kind,
 * or if its flags in `mask` differ from `flags`. */
static hipError_t release(const void *address, int is_host, unsigned mask,
                          unsigned flags, const char *call)
{
    emu_range_t *range = emu_range_find((uintptr_t)address);

    if ((range == NULL) || (range->start != (uintptr_t)address) ||
        ((range->kind == EMU_HOST) != is_host) ||
        ((range->flags & mask) != flags)) {
        emu_mistake("%s of %p, which does not begin there or is another call's",
                    call, address);
        return hipErrorInvalidValue;
    }
    emu_device_wait(range->device);
    face_release(range);
    return hipSuccess;
}

hipError_t hipFree(void *address)
{
    ENTER(hipFree, ANY);
    LEAVE((address == NULL) ?
              hipSuccess :
              release(address, 0, EMU_RANGE_IMPORTED, 0, "hipFree"));
}

hipError_t hipHostFree(void *address)
{
    ENTER(hipHostFree, ANY);
    LEAVE((address == NULL) ?
              hipSuccess :
              release(address, 1, EMU_RANGE_REGISTERED, 0, "hipHostFree"));
}

/* --------------------------------------------------------- registration -- */

hipError_t hipHostRegister(void *address, size_t length, unsigned flags)
{
    emu_range_t model = {
        .kind   = EMU_HOST,
        .flags  = EMU_RANGE_REGISTERED,
        .start  = (uintptr_t)address,
        .length = length,
    };
    const size_t in_page = (uintptr_t)address % emu_page_size();

    (void)flags;
    ENTER(hipHostRegister, DEVICE);
    if ((length == 0) || (model.start + length < model.start)) {
        LEAVE(hipErrorInvalidValue);
    }
    if (emu_ranges_overlap(model.start, length)) {
        LEAVE(hipErrorHostMemoryAlreadyRegistered);
    }
    /* msync() fails if a part is not mapped */
    if (msync((char *)address - in_page, length + in_page, MS_ASYNC) != 0) {
        LEAVE(hipErrorInvalidValue);
    }
    model.context = face_current();
    model.device  = face_current()->device;
    LEAVE((emu_range_add(&model) != NULL) ? hipSuccess : hipErrorOutOfMemory);
}

hipError_t hipHostUnregister(void *address)
{
    ENTER(hipHostUnregister, ANY);
    LEAVE((release(address, 1, EMU_RANGE_REGISTERED, EMU_RANGE_REGISTERED,
                   "hipHostUnregister") == hipSuccess) ?
              hipSuccess :
              hipErrorHostMemoryNotRegistered);
}

hipError_t hipHostGetDevicePointer(void **device, void *host, unsigned flags)
{
    const emu_range_t *range;

    ENTER(hipHostGetDevicePointer, DEVICE);
    range = emu_range_find((uintptr_t)host);
    if ((flags != 0) || (range == NULL) || (range->kind != EMU_HOST)) {
        LEAVE(hipErrorInvalidValue);
    }
    *device = host;
    LEAVE(hipSuccess);
}

/* ----------------------------------------------------------- attributes -- */

static int type_of(const emu_range_t *range)
{
    if (!face_is_version_6()) {
        return (range->kind == EMU_HOST) ? HIP_5_MEMORY_HOST :
                                           HIP_5_MEMORY_DEVICE;
    }
    return (range->kind == EMU_HOST)    ? HIP_6_MEMORY_HOST :
           (range->kind == EMU_MANAGED) ? HIP_6_MEMORY_MANAGED :
                                          HIP_6_MEMORY_DEVICE;
}

static hipError_t get(void *data, hipPointer_attribute attribute,
                      const emu_range_t *range)
{
    switch (attribute) {
    case HIP_POINTER_ATTRIBUTE_MEMORY_TYPE:
        *(int *)data = type_of(range);
        break;
    case HIP_POINTER_ATTRIBUTE_BUFFER_ID:
        *(uint32_t *)data = (uint32_t)range->id;
        break;
    case HIP_POINTER_ATTRIBUTE_IS_MANAGED:
        *(unsigned char *)data = (range->kind == EMU_MANAGED);
        break;
    case HIP_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
        *(int *)data = range->device;
        break;
    case HIP_POINTER_ATTRIBUTE_RANGE_START_ADDR:
        *(uintptr_t *)data = range->start;
        break;
    case HIP_POINTER_ATTRIBUTE_RANGE_SIZE:
        *(size_t *)data = range->length;
        break;
    default:
        emu_mistake("attribute %d of an address is not emulated", attribute);
        return hipErrorInvalidValue;
    }
    return hipSuccess;
}

hipError_t hipPointerGetAttribute(void *data, hipPointer_attribute attribute,
                                  hipDeviceptr_t address)
{
    const emu_range_t *range;

    ENTER(hipPointerGetAttribute, ANY);
    range = emu_range_find((uintptr_t)address);
    LEAVE((range == NULL) ? hipErrorInvalidValue : get(data, attribute, range));
}

/* For an unknown address, this call fails in versions before 6.0. In later
 * versions it returns the memory type HIP_6_MEMORY_NONE. */
hipError_t hipDrvPointerGetAttributes(unsigned count,
                                      hipPointer_attribute *attributes,
                                      void **data, hipDeviceptr_t address)
{
    const emu_range_t *range;
    hipError_t result = hipSuccess;
    unsigned i;

    ENTER(hipDrvPointerGetAttributes, ANY);
    range = emu_range_find((uintptr_t)address);
    if ((range == NULL) && !face_is_version_6()) {
        LEAVE(hipErrorInvalidValue);
    }
    for (i = 0; (i < count) && (result == hipSuccess); ++i) {
        if (range != NULL) {
            result = get(data[i], attributes[i], range);
        } else if (attributes[i] == HIP_POINTER_ATTRIBUTE_MEMORY_TYPE) {
            *(int *)data[i] = HIP_6_MEMORY_NONE;
        }
    }
    LEAVE(result);
}
