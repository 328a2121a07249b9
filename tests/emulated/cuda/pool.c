/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory pools (cuMemPool*, cuMemAllocAsync): a pool frees memory when a stream
 * has reached the free operation. The default pool of a device cannot be
 * exported to other processes.
 */
#include "face.h"
#include "ipc.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct pool {
    struct pool *next;
    int device;
    int exports_fd;  /* Can be exported as a descriptor */
    int is_imported; /* A pool of another process */
    int is_default;
} pool_t;

static pool_t defaults[MAX_DEVICES];
static pool_t *pools;

static pool_t *find_pool(CUmemoryPool handle)
{
    pool_t *pool;
    int device;

    for (device = 0; device < face_num_devices(); ++device) {
        if ((void *)handle == &defaults[device]) {
            return &defaults[device];
        }
    }
    for (pool = pools; pool != NULL; pool = pool->next) {
        if ((void *)handle == pool) {
            return pool;
        }
    }
    return NULL;
}

unsigned long long face_pool_handle(const emu_range_t *range)
{
    return (range->flags & EMU_RANGE_POOL) ? (uintptr_t)range->owner : 0;
}

static pool_t *default_pool(int device)
{
    defaults[device].device     = device;
    defaults[device].is_default = 1;
    return &defaults[device];
}

CUresult cuDeviceGetDefaultMemPool(CUmemoryPool *handle, CUdevice device)
{
    ENTER(cuDeviceGetDefaultMemPool, ANY);
    if ((device < 0) || (device >= face_num_devices())) {
        LEAVE(CUDA_ERROR_INVALID_DEVICE);
    }
    *handle = (CUmemoryPool)(void *)default_pool(device);
    LEAVE(CUDA_SUCCESS);
}

static CUresult add_pool(int device, int exports_fd, int is_imported,
                         CUmemoryPool *handle)
{
    pool_t *pool = malloc(sizeof(*pool));

    if (pool == NULL) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *pool = (pool_t){
        .next        = pools,
        .device      = device,
        .exports_fd  = exports_fd,
        .is_imported = is_imported,
    };
    pools   = pool;
    *handle = (CUmemoryPool)(void *)pool;
    return CUDA_SUCCESS;
}

CUresult cuMemPoolCreate(CUmemoryPool *handle, const CUmemPoolProps *props)
{
    ENTER(cuMemPoolCreate, ANY);
    if ((props->allocType != CU_MEM_ALLOCATION_TYPE_PINNED) ||
        (props->location.type != CU_MEM_LOCATION_TYPE_DEVICE) ||
        (props->location.id < 0) ||
        (props->location.id >= face_num_devices())) {
        LEAVE(CUDA_ERROR_INVALID_VALUE);
    }
    LEAVE(
        add_pool(props->location.id,
                 props->handleTypes & CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
                 0, handle));
}

CUresult cuMemPoolDestroy(CUmemoryPool handle)
{
    pool_t *pool, **link;

    ENTER(cuMemPoolDestroy, ANY);
    pool = find_pool(handle);
    if ((pool == NULL) || pool->is_default) {
        LEAVE(CUDA_ERROR_INVALID_VALUE);
    }
    for (link = &pools; *link != pool; link = &(*link)->next) {
    }
    *link = pool->next;
    free(pool);
    LEAVE(CUDA_SUCCESS);
}

/* ---------------------------------------------------------------- memory -- */

static CUresult allocate(CUdeviceptr *address, size_t length, pool_t *pool)
{
    emu_range_t model = {.kind = EMU_DEVICE, .flags = EMU_RANGE_POOL};
    emu_range_t *range;
    CUresult result;

    if ((length == 0) || (pool == NULL) || pool->is_imported) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    model.length = length;
    model.device = pool->device;
    model.owner  = pool;
    if (pool->exports_fd) {
        model.flags |= EMU_RANGE_EXPORTS_FD;
    }
    result = face_allocate(&model, &range);
    if (result == CUDA_SUCCESS) {
        *address = range->start;
    }
    return result;
}

CUresult cuMemAllocAsync(CUdeviceptr *address, size_t length, CUstream handle)
{
    emu_stream_t *stream;
    CUresult result;

    ENTER(cuMemAllocAsync, CONTEXT);
    result = face_stream(handle, &stream);
    if (result == CUDA_SUCCESS) {
        result = allocate(address, length,
                          default_pool(stream->context->device));
    }
    LEAVE(result);
}

CUresult cuMemAllocFromPoolAsync(CUdeviceptr *address, size_t length,
                                 CUmemoryPool pool, CUstream handle)
{
    emu_stream_t *stream;
    CUresult result;

    ENTER(cuMemAllocFromPoolAsync, CONTEXT);
    result = face_stream(handle, &stream);
    if (result == CUDA_SUCCESS) {
        result = allocate(address, length, find_pool(pool));
    }
    LEAVE(result);
}

CUresult cuMemFreeAsync(CUdeviceptr address, CUstream handle)
{
    emu_stream_t *stream;
    emu_range_t *range;
    CUresult result;
    emu_op_t *op;

    ENTER(cuMemFreeAsync, CONTEXT);
    result = face_stream(handle, &stream);
    if (result != CUDA_SUCCESS) {
        LEAVE(result);
    }
    range = emu_range_find(address);
    if ((range == NULL) || (range->start != address) ||
        !(range->flags & EMU_RANGE_POOL) || (range->flags & EMU_RANGE_FREED)) {
        emu_mistake("cuMemFreeAsync of %#llx, which is of no pool", address);
        LEAVE(CUDA_ERROR_INVALID_VALUE);
    }
    op = emu_op_new(EMU_OP_FREE, 0);
    if (op == NULL) {
        LEAVE(CUDA_ERROR_OUT_OF_MEMORY);
    }
    if (!(range->flags & EMU_RANGE_IMPORTED)) {
        face_unaccount(range->device, range->length);
    }
    range->flags |= EMU_RANGE_FREED;
    op->range = range;
    emu_op_start(stream, op);
    LEAVE(CUDA_SUCCESS);
}

/* ----------------------------------------------------- between processes -- */

/* Returns a descriptor that represents the pool: a memfd whose size in bytes is
 * the number of the device plus one. */
CUresult cuMemPoolExportToShareableHandle(void *fd, CUmemoryPool handle,
                                          CUmemAllocationHandleType type,
                                          unsigned long long flags)
{
    pool_t *pool;
    int file;

    ENTER(cuMemPoolExportToShareableHandle, ANY);
    pool = find_pool(handle);
    if ((pool == NULL) || !pool->exports_fd || (flags != 0) ||
        (type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)) {
        LEAVE(CUDA_ERROR_INVALID_VALUE);
    }
    file = memfd_create("emulated-pool", MFD_CLOEXEC);
    if ((file < 0) || (ftruncate(file, 1 + pool->device) != 0)) {
        if (file >= 0) {
            close(file);
        }
        LEAVE(CUDA_ERROR_OPERATING_SYSTEM);
    }
    *(int *)fd = file;
    LEAVE(CUDA_SUCCESS);
}

CUresult cuMemPoolImportFromShareableHandle(CUmemoryPool *handle, void *fd,
                                            CUmemAllocationHandleType type,
                                            unsigned long long flags)
{
    struct stat file;

    ENTER(cuMemPoolImportFromShareableHandle, ANY);
    if ((type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) || (flags != 0) ||
        (fstat((int)(intptr_t)fd, &file) != 0) || (file.st_size < 1) ||
        (file.st_size > face_num_devices())) {
        LEAVE(CUDA_ERROR_INVALID_VALUE);
    }
    LEAVE(add_pool((int)file.st_size - 1, 0, 1, handle));
}

CUresult cuMemPoolExportPointer(CUmemPoolPtrExportData *data,
                                CUdeviceptr address)
{
    emu_range_t *range;
    face_wire_t wire;

    ENTER(cuMemPoolExportPointer, ANY);
    range = emu_range_find(address);
    if ((range == NULL) || !(range->flags & EMU_RANGE_POOL) ||
        !(range->flags & EMU_RANGE_EXPORTS_FD)) {
        LEAVE(CUDA_ERROR_INVALID_VALUE);
    }
    face_wire_fill(&wire, range);
    memset(data, 0, sizeof(*data));
    memcpy(data, &wire, sizeof(wire));
    LEAVE(CUDA_SUCCESS);
}

CUresult cuMemPoolImportPointer(CUdeviceptr *address, CUmemoryPool handle,
                                CUmemPoolPtrExportData *data)
{
    emu_range_t *range;
    face_wire_t wire;
    pool_t *pool;
    CUresult result;

    ENTER(cuMemPoolImportPointer, ANY);
    pool = find_pool(handle);
    if ((pool == NULL) || !pool->is_imported) {
        LEAVE(CUDA_ERROR_INVALID_VALUE);
    }
    memcpy(&wire, data, sizeof(wire));
    result = face_wire_open(&wire, EMU_RANGE_IMPORTED | EMU_RANGE_POOL, &range);
    if (result == CUDA_SUCCESS) {
        range->owner = pool;
        *address     = range->start;
    }
    LEAVE(result);
}

void face_pool_report(void)
{
    pool_t *pool;

    for (pool = pools; pool != NULL; pool = pool->next) {
        emu_mistake("a pool of device %d is not destroyed", pool->device);
    }
}
