/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Allocation and registration of memory.
 */
#include "face.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static size_t used[MAX_DEVICES]; /* Bytes that each device has allocated */

CUresult face_account(int device, size_t length)
{
    size_t limit = emu_variable("EMULATED_MEMORY", 1ul << 30, 1ul << 40);

    length = emu_round(length, emu_page_size());
    if ((length > limit) || (used[device] > limit - length)) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    used[device] += length;
    return CUDA_SUCCESS;
}

void face_unaccount(int device, size_t length)
{
    used[device] -= emu_round(length, emu_page_size());
}

/* See face.h. The addresses have no access rights. */
CUresult face_allocate(const emu_range_t *model, emu_range_t **range_p)
{
    emu_range_t range = *model;
    CUresult result;

    result = face_account(range.device, range.length);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    range.pages = emu_pages_new(range.device, range.length);
    range.start = (uintptr_t)emu_reserve(range.length, 0);
    *range_p    = ((range.pages != NULL) && (range.start != 0)) ?
                      emu_range_add(&range) :
                      NULL;
    emu_pages_drop(range.pages);
    if (*range_p == NULL) {
        if (range.start != 0) {
            munmap((void *)range.start,
                   emu_round(range.length, emu_page_size()));
        }
        face_unaccount(range.device, range.length);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    return CUDA_SUCCESS;
}

void face_release(emu_range_t *range)
{
    if ((range->kind == EMU_DEVICE) && !(range->flags & EMU_RANGE_IMPORTED)) {
        face_unaccount(range->device, range->length);
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

/* Returns the range that begins at the address. If there is none, reports a
 * mistake of the function `call` and returns NULL. */
static emu_range_t *find_start(uintptr_t address, const char *call)
{
    emu_range_t *range = emu_range_find(address);

    if ((range == NULL) || (range->start != address)) {
        emu_mistake("%s of %#lx, where no allocation begins", call,
                    (unsigned long)address);
        return NULL;
    }
    return range;
}

/* ---------------------------------------------------------------- device -- */

CUresult cuMemAlloc_v2(CUdeviceptr *address, size_t length)
{
    emu_range_t model = {.kind = EMU_DEVICE, .length = length};
    emu_range_t *range;
    CUresult result;

    ENTER(cuMemAlloc_v2, CONTEXT);
    if (length == 0) {
        LEAVE(CUDA_ERROR_INVALID_VALUE);
    }
    model.context = face_current();
    model.device  = face_current()->device;
    result        = face_allocate(&model, &range);
    if (result == CUDA_SUCCESS) {
        *address = range->start;
    }
    LEAVE(result);
}

/* Waits for all operations of the device before it frees the memory, as the
 * driver does. */
CUresult cuMemFree_v2(CUdeviceptr address)
{
    emu_range_t *range;

    ENTER(cuMemFree_v2, CONTEXT);
    if (address == 0) {
        LEAVE(CUDA_SUCCESS);
    }
    range = find_start(address, "cuMemFree");
    if (range == NULL) {
        LEAVE(CUDA_ERROR_INVALID_VALUE);
    }
    if ((range->kind == EMU_HOST) ||
        (range->flags & (EMU_RANGE_VIRTUAL | EMU_RANGE_IMPORTED))) {
        emu_mistake("cuMemFree of %#llx, which another call allocated",
                    address);
        LEAVE(CUDA_ERROR_INVALID_VALUE);
    }
    emu_device_wait(range->device);
    face_release(range);
    LEAVE(CUDA_SUCCESS);
}

/* ----------------------------------------------- managed and pinned host -- */

static CUresult map_host(emu_kind_t kind, size_t length, uintptr_t *address)
{
    emu_context_t *context = face_current();
    emu_range_t model      = {
             .kind    = kind,
             .length  = length,
             .context = context,
             .device  = context->device,
    };
    void *start;

    if (length == 0) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    start = mmap(NULL, emu_round(length, emu_page_size()),
                 PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (start == MAP_FAILED) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    model.start = (uintptr_t)start;
    if (emu_range_add(&model) == NULL) {
        munmap(start, emu_round(length, emu_page_size()));
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *address = model.start;
    return CUDA_SUCCESS;
}

CUresult cuMemAllocManaged(CUdeviceptr *address, size_t length, unsigned flags)
{
    uintptr_t start;
    CUresult result;

    ENTER(cuMemAllocManaged, CONTEXT);
    if ((flags == 0) || (flags > 2)) {
        LEAVE(CUDA_ERROR_INVALID_VALUE);
    }
    result = map_host(EMU_MANAGED, length, &start);
    if (result == CUDA_SUCCESS) {
        *address = start;
    }
    LEAVE(result);
}

CUresult cuMemHostAlloc(void **address, size_t length, unsigned flags)
{
    uintptr_t start;
    CUresult result;

    (void)flags;
    ENTER(cuMemHostAlloc, CONTEXT);
    result = map_host(EMU_HOST, length, &start);
    if (result == CUDA_SUCCESS) {
        *address = (void *)start;
    }
    LEAVE(result);
}

CUresult cuMemFreeHost(void *address)
{
    emu_range_t *range;

    ENTER(cuMemFreeHost, CONTEXT);
    range = find_start((uintptr_t)address, "cuMemFreeHost");
    if ((range == NULL) || (range->kind != EMU_HOST) ||
        (range->flags & EMU_RANGE_REGISTERED)) {
        LEAVE(CUDA_ERROR_INVALID_VALUE);
    }
    emu_device_wait(range->device);
    face_release(range);
    LEAVE(CUDA_SUCCESS);
}

CUresult cuMemHostRegister_v2(void *address, size_t length, unsigned flags)
{
    emu_range_t model = {.kind = EMU_HOST, .flags = EMU_RANGE_REGISTERED};
    uintptr_t start   = (uintptr_t)address;
    CUresult result   = CUDA_SUCCESS;

    (void)flags;
    ENTER(cuMemHostRegister_v2, CONTEXT);
    if ((length == 0) || (start + length < start)) {
        LEAVE(CUDA_ERROR_INVALID_VALUE);
    }
    if (emu_ranges_overlap(start, length)) {
        LEAVE(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
    }
    /* msync() fails if a part is not mapped */
    if (msync((void *)(start / emu_page_size() * emu_page_size()),
              length + start % emu_page_size(), MS_ASYNC) != 0) {
        LEAVE(CUDA_ERROR_INVALID_VALUE);
    }
    model.start   = start;
    model.length  = length;
    model.context = face_current();
    model.device  = face_current()->device;
    if (emu_range_add(&model) == NULL) {
        result = CUDA_ERROR_OUT_OF_MEMORY;
    }
    LEAVE(result);
}

CUresult cuMemHostUnregister(void *address)
{
    emu_range_t *range;

    ENTER(cuMemHostUnregister, CONTEXT);
    range = find_start((uintptr_t)address, "cuMemHostUnregister");
    if ((range == NULL) || !(range->flags & EMU_RANGE_REGISTERED)) {
        LEAVE(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
    }
    emu_device_wait(range->device);
    face_release(range);
    LEAVE(CUDA_SUCCESS);
}

CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr *device, void *host,
                                      unsigned flags)
{
    emu_range_t *range;

    ENTER(cuMemHostGetDevicePointer_v2, CONTEXT);
    range = emu_range_find((uintptr_t)host);
    if ((flags != 0) || (range == NULL) || (range->kind != EMU_HOST)) {
        LEAVE(CUDA_ERROR_INVALID_VALUE);
    }
    *device = (uintptr_t)host;
    LEAVE(CUDA_SUCCESS);
}

CUresult cuMemGetAddressRange_v2(CUdeviceptr *base, size_t *length,
                                 CUdeviceptr address)
{
    emu_range_t *range;

    ENTER(cuMemGetAddressRange_v2, CONTEXT);
    range = emu_range_find(address);
    if (range == NULL) {
        LEAVE(CUDA_ERROR_NOT_FOUND);
    }
    if (base != NULL) {
        *base = range->start;
    }
    if (length != NULL) {
        *length = range->length;
    }
    LEAVE(CUDA_SUCCESS);
}
