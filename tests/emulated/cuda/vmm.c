/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Virtual memory: reserved addresses, handles of physical memory, and mappings
 * of such memory to such addresses.
 */
#include "face.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { GRANULARITY = 2 * 1024 * 1024 };

/* A reserved address range. */
typedef struct space {
    struct space *next;
    uintptr_t start;
    size_t length;
} space_t;

/* A handle of physical memory. Mappings of the memory hold references to
 * `pages`, so that the memory exists until the handle is released and all
 * mappings are removed. */
typedef struct handle {
    struct handle *next;
    emu_pages_t *pages;
    size_t length;
    unsigned refs;   /* References of the user */
    int exports_fd;  /* Can be exported as a descriptor */
    int is_imported; /* Memory of another process */
} handle_t;

static space_t *spaces;
static handle_t *handles;

static handle_t *find_handle(CUmemGenericAllocationHandle value)
{
    handle_t *handle;

    for (handle = handles; handle != NULL; handle = handle->next) {
        if ((uintptr_t)handle == value) {
            return handle;
        }
    }
    return NULL;
}

static space_t *find_space(uintptr_t start, size_t length)
{
    space_t *space;

    for (space = spaces; space != NULL; space = space->next) {
        if ((start >= space->start) &&
            (start + length <= space->start + space->length)) {
            return space;
        }
    }
    return NULL;
}

/* ------------------------------------------------------------- addresses -- */

CUresult cuMemAddressReserve(CUdeviceptr *address, size_t length,
                             size_t alignment, CUdeviceptr wish,
                             unsigned long long flags)
{
    space_t *space;

    (void)wish;
    ENTER(cuMemAddressReserve, ANY);
    if ((length == 0) || (length % GRANULARITY != 0) || (flags != 0)) {
        LEAVE(CUDA_ERROR_INVALID_VALUE);
    }
    space = malloc(sizeof(*space));
    if (space == NULL) {
        LEAVE(CUDA_ERROR_OUT_OF_MEMORY);
    }
    space->start  = (uintptr_t)emu_reserve(length, (alignment > GRANULARITY) ?
                                                       alignment :
                                                       GRANULARITY);
    space->length = length;
    if (space->start == 0) {
        free(space);
        LEAVE(CUDA_ERROR_OUT_OF_MEMORY);
    }
    space->next = spaces;
    spaces      = space;
    *address    = space->start;
    LEAVE(CUDA_SUCCESS);
}

CUresult cuMemAddressFree(CUdeviceptr address, size_t length)
{
    space_t **link, *space;

    ENTER(cuMemAddressFree, ANY);
    for (link = &spaces; *link != NULL; link = &(*link)->next) {
        if (((*link)->start == address) && ((*link)->length == length)) {
            break;
        }
    }
    space = *link;
    if ((space == NULL) || emu_ranges_overlap(address, length)) {
        emu_mistake("cuMemAddressFree of %#llx, which is not reserved, or still"
                    " mapped",
                    address);
        LEAVE(CUDA_ERROR_INVALID_VALUE);
    }
    *link = space->next;
    munmap((void *)space->start, space->length);
    free(space);
    LEAVE(CUDA_SUCCESS);
}

/* --------------------------------------------------------------- handles -- */

static CUresult add_handle(emu_pages_t *pages, size_t length, int exports_fd,
                           int is_imported, CUmemGenericAllocationHandle *value)
{
    handle_t *handle = malloc(sizeof(*handle));

    if (handle == NULL) {
        emu_pages_drop(pages);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *handle = (handle_t){
        .next        = handles,
        .pages       = pages,
        .length      = length,
        .refs        = 1,
        .exports_fd  = exports_fd,
        .is_imported = is_imported,
    };
    handles = handle;
    *value  = (uintptr_t)handle;
    return CUDA_SUCCESS;
}

CUresult cuMemCreate(CUmemGenericAllocationHandle *value, size_t length,
                     const CUmemAllocationProp *prop, unsigned long long flags)
{
    emu_pages_t *pages;
    CUresult result;

    ENTER(cuMemCreate, ANY);
    if ((length == 0) || (length % GRANULARITY != 0) || (flags != 0) ||
        (prop->type != CU_MEM_ALLOCATION_TYPE_PINNED) ||
        (prop->location.type != CU_MEM_LOCATION_TYPE_DEVICE) ||
        (prop->location.id < 0) || (prop->location.id >= face_num_devices())) {
        LEAVE(CUDA_ERROR_INVALID_VALUE);
    }
    result = face_account(prop->location.id, length);
    if (result != CUDA_SUCCESS) {
        LEAVE(result);
    }
    pages = emu_pages_new(prop->location.id, length);
    if (pages == NULL) {
        face_unaccount(prop->location.id, length);
        LEAVE(CUDA_ERROR_OUT_OF_MEMORY);
    }
    LEAVE(add_handle(pages, length,
                     prop->requestedHandleTypes &
                         CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
                     0, value));
}

CUresult cuMemRelease(CUmemGenericAllocationHandle value)
{
    handle_t *handle, **link;

    ENTER(cuMemRelease, ANY);
    handle = find_handle(value);
    if (handle == NULL) {
        LEAVE(CUDA_ERROR_INVALID_VALUE);
    }
    if (--handle->refs == 0) {
        for (link = &handles; *link != handle; link = &(*link)->next) {
        }
        *link = handle->next;
        if (!handle->is_imported) {
            face_unaccount(handle->pages->device, handle->length);
        }
        emu_pages_drop(handle->pages);
        free(handle);
    }
    LEAVE(CUDA_SUCCESS);
}

CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle *value,
                                     void *address)
{
    emu_range_t *range;
    handle_t *handle;

    ENTER(cuMemRetainAllocationHandle, ANY);
    range = emu_range_find((uintptr_t)address);
    if ((range == NULL) || !(range->flags & EMU_RANGE_VIRTUAL)) {
        LEAVE(CUDA_ERROR_INVALID_VALUE);
    }
    for (handle = handles; handle != NULL; handle = handle->next) {
        if (handle->pages == range->pages) {
            ++handle->refs;
            *value = (uintptr_t)handle;
            LEAVE(CUDA_SUCCESS);
        }
    }
    /* The handle was released, and the memory exists only because it is mapped:
     * create a new handle */
    emu_pages_hold(range->pages);
    if (range->pages->device >= 0) {
        (void)face_account(range->pages->device, range->pages->length);
    }
    LEAVE(add_handle(range->pages, range->pages->length,
                     range->flags & EMU_RANGE_EXPORTS_FD,
                     range->pages->device < 0, value));
}

CUresult cuMemGetAllocationGranularity(size_t *granularity,
                                       const CUmemAllocationProp *prop,
                                       CUmemAllocationGranularity_flags option)
{
    (void)prop;
    (void)option;
    ENTER(cuMemGetAllocationGranularity, ANY);
    *granularity = GRANULARITY;
    LEAVE(CUDA_SUCCESS);
}

/* -------------------------------------------------------------- mappings -- */

CUresult cuMemMap(CUdeviceptr address, size_t length, size_t offset,
                  CUmemGenericAllocationHandle value, unsigned long long flags)
{
    emu_range_t model = {
        .kind   = EMU_DEVICE,
        .start  = address,
        .length = length,
        .flags  = EMU_RANGE_VIRTUAL | EMU_RANGE_NO_ACCESS,
        .offset = offset,
    };
    handle_t *handle;

    ENTER(cuMemMap, ANY);
    handle = find_handle(value);
    if ((handle == NULL) || (flags != 0) || (length == 0) ||
        (length > handle->length) || (offset > handle->length - length) ||
        (find_space(address, length) == NULL)) {
        LEAVE(CUDA_ERROR_INVALID_VALUE);
    }
    if (emu_ranges_overlap(address, length)) {
        LEAVE(CUDA_ERROR_ALREADY_MAPPED);
    }
    model.pages  = handle->pages;
    model.device = (handle->pages->device >= 0) ? handle->pages->device : 0;
    if (handle->exports_fd) {
        model.flags |= EMU_RANGE_EXPORTS_FD;
    }
    if (handle->is_imported) {
        model.flags |= EMU_RANGE_IMPORTED;
    }
    LEAVE((emu_range_add(&model) == NULL) ? CUDA_ERROR_OUT_OF_MEMORY :
                                            CUDA_SUCCESS);
}

CUresult cuMemUnmap(CUdeviceptr address, size_t length)
{
    emu_range_t *range;

    ENTER(cuMemUnmap, ANY);
    range = emu_range_find(address);
    if ((range == NULL) || !(range->flags & EMU_RANGE_VIRTUAL) ||
        (range->start != address) || (range->length != length)) {
        emu_mistake("cuMemUnmap of %#llx, where no such mapping is", address);
        LEAVE(CUDA_ERROR_INVALID_VALUE);
    }
    emu_device_wait(range->device);
    emu_range_remove(range, 0);
    LEAVE(CUDA_SUCCESS);
}

CUresult cuMemSetAccess(CUdeviceptr address, size_t length,
                        const CUmemAccessDesc *desc, size_t count)
{
    emu_range_t *range;

    ENTER(cuMemSetAccess, ANY);
    range = emu_range_find(address);
    if ((range == NULL) || !(range->flags & EMU_RANGE_VIRTUAL) ||
        (count == 0) || (length > range->length)) {
        LEAVE(CUDA_ERROR_INVALID_VALUE);
    }
    if (desc[0].flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE) {
        range->flags &= ~(unsigned)EMU_RANGE_NO_ACCESS;
    } else {
        range->flags |= EMU_RANGE_NO_ACCESS;
    }
    LEAVE(CUDA_SUCCESS);
}

/* ----------------------------------------------------- between processes -- */

CUresult cuMemExportToShareableHandle(void *fd,
                                      CUmemGenericAllocationHandle value,
                                      CUmemAllocationHandleType type,
                                      unsigned long long flags)
{
    handle_t *handle;
    int copy;

    ENTER(cuMemExportToShareableHandle, ANY);
    handle = find_handle(value);
    if ((handle == NULL) || (flags != 0) || !handle->exports_fd ||
        (type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)) {
        LEAVE(CUDA_ERROR_INVALID_VALUE);
    }
    copy = fcntl(handle->pages->fd, F_DUPFD_CLOEXEC, 0);
    if (copy < 0) {
        LEAVE(CUDA_ERROR_OPERATING_SYSTEM);
    }
    *(int *)fd = copy;
    LEAVE(CUDA_SUCCESS);
}

/* Uses a duplicate of the descriptor `fd`, which the caller still has to
 * close. */
CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle *value,
                                        void *fd,
                                        CUmemAllocationHandleType type)
{
    emu_pages_t *pages = NULL;
    int copy;

    ENTER(cuMemImportFromShareableHandle, ANY);
    if (type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) {
        LEAVE(CUDA_ERROR_INVALID_VALUE);
    }
    copy = fcntl((int)(intptr_t)fd, F_DUPFD_CLOEXEC, 0);
    if (copy >= 0) {
        pages = emu_pages_adopt(copy, 0);
    }
    if (pages == NULL) {
        LEAVE(CUDA_ERROR_INVALID_VALUE);
    }
    LEAVE(add_handle(pages, pages->length, 1, 1, value));
}

void face_vmm_report(void)
{
    space_t *space;
    handle_t *handle;

    for (space = spaces; space != NULL; space = space->next) {
        emu_mistake("%zu bytes of addresses at %#lx are reserved still",
                    space->length, (unsigned long)space->start);
    }
    for (handle = handles; handle != NULL; handle = handle->next) {
        emu_mistake("a handle of %zu bytes is not released", handle->length);
    }
}
