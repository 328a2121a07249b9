/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory between processes: exports allocations, and opens and closes those of
 * other processes, for each kind of key (parts.h). */
#include "parts.h"

#include <string.h>

_Static_assert(sizeof(CUipcMemHandle) == ACCEL_HANDLE_SIZE, "it fits");
_Static_assert(sizeof(CUmemPoolPtrExportData) == ACCEL_HANDLE_SIZE, "it fits");

/* ------------------------------------------------------------- exporting -- */

static int export_legacy(const accel_allocation_t *allocation, accel_key_t *key)
{
    CUipcMemHandle handle;
    CUresult result = cuda.cuIpcGetMemHandle(&handle, allocation->start);

    if (result == CUDA_SUCCESS) {
        key->kind = CUDA_KEY_LEGACY;
        memcpy(key->handle, &handle, sizeof(handle));
    }
    return result;
}

static int export_virtual(const accel_allocation_t *allocation,
                          accel_key_t *key)
{
    CUmemGenericAllocationHandle handle;
    CUresult result;

    result = cuda.cuMemRetainAllocationHandle(&handle, (void *)(uintptr_t)
                                                           allocation->start);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    result = cuda.cuMemExportToShareableHandle(
        &key->fd, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0);
    (void)cuda.cuMemRelease(handle);
    key->kind = CUDA_KEY_VIRTUAL;
    return result;
}

static int export_pooled(const accel_allocation_t *allocation, accel_key_t *key)
{
    CUmemPoolPtrExportData data = {{0}};
    CUmemoryPool pool           = (CUmemoryPool)(uintptr_t)
                            allocation->details[CUDA_DETAIL_POOL];
    CUresult result;

    result = cuda.cuMemPoolExportPointer(&data, allocation->start);
    if (result == CUDA_SUCCESS) {
        result = cuda.cuMemPoolExportToShareableHandle(
            &key->fd, pool, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0);
    }
    key->kind = CUDA_KEY_POOL;
    memcpy(key->handle, &data, sizeof(data));
    return result;
}

int cuda_export_memory(const accel_allocation_t *allocation, accel_key_t *key)
{
    const uint64_t ways = allocation->details[CUDA_DETAIL_EXPORT];

    if (ways & CUDA_LEGACY_EXPORT) {
        return export_legacy(allocation, key);
    }
    if (!(ways & CUDA_FD_EXPORT)) {
        return UCS_ERR_UNSUPPORTED;
    }
    return (allocation->details[CUDA_DETAIL_POOL] != 0) ?
               export_pooled(allocation, key) :
               export_virtual(allocation, key);
}

/* --------------------------------------------------------------- opening -- */

static CUresult open_legacy(const accel_key_t *key, accel_opened_t *opened)
{
    CUdeviceptr address = 0;
    CUipcMemHandle handle;
    CUresult result;

    memcpy(&handle, key->handle, sizeof(handle));
    result          = cuda.cuIpcOpenMemHandle_v2(&address, handle,
                                                 CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS);
    opened->address = address;
    return result;
}

/* Maps the memory of a handle at an address that the driver selects. */
static CUresult map_handle(CUmemGenericAllocationHandle handle, size_t length,
                           accel_opened_t *opened)
{
    const CUmemAccessDesc access = {
        {CU_MEM_LOCATION_TYPE_DEVICE, opened->device},
        CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
    };
    CUdeviceptr address = 0;
    CUresult result;

    result = cuda.cuMemAddressReserve(&address, length, 0, 0, 0);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    result = cuda.cuMemMap(address, length, 0, handle, 0);
    if (result == CUDA_SUCCESS) {
        result = cuda.cuMemSetAccess(address, length, &access, 1);
        if (result != CUDA_SUCCESS) {
            (void)cuda.cuMemUnmap(address, length);
        }
    }
    if (result != CUDA_SUCCESS) {
        (void)cuda.cuMemAddressFree(address, length);
    }
    opened->address = address;
    return result;
}

static CUresult open_virtual(const accel_key_t *key, int fd,
                             accel_opened_t *opened)
{
    CUmemGenericAllocationHandle handle;
    CUresult result;

    result = cuda.cuMemImportFromShareableHandle(
        &handle, (void *)(intptr_t)fd,
        CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    result = map_handle(handle, key->length, opened);
    (void)cuda.cuMemRelease(handle); /* The mapping keeps the memory allocated,
                                      * so the handle is not needed */
    return result;
}

static CUresult open_pooled(const accel_key_t *key, int fd,
                            accel_opened_t *opened)
{
    CUdeviceptr address = 0;
    CUmemPoolPtrExportData data;
    CUmemoryPool pool;
    CUresult result;

    memcpy(&data, key->handle, sizeof(data));
    result = cuda.cuMemPoolImportFromShareableHandle(
        &pool, (void *)(intptr_t)fd, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
        0);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    result = cuda.cuMemPoolImportPointer(&address, pool, &data);
    if (result != CUDA_SUCCESS) {
        (void)cuda.cuMemPoolDestroy(pool);
    }
    opened->details = pool;
    opened->address = address;
    return result;
}

int cuda_open_memory(const accel_key_t *key, int fd, accel_opened_t *opened)
{
    if (key->kind == CUDA_KEY_LEGACY) {
        return open_legacy(key, opened);
    }
    if (fd < 0) {
        return UCS_ERR_INVALID_ADDR; /* The key has no descriptor */
    }
    return (key->kind == CUDA_KEY_POOL) ? open_pooled(key, fd, opened) :
                                          open_virtual(key, fd, opened);
}

/* Frees memory of another process's pool in a new stream, and waits until the
 * memory is freed. The new stream does not wait for the program's work in the
 * legacy default stream. CU_STREAM_PER_THREAD, which does, is used only if no
 * stream can be created. */
static void close_pooled(const accel_opened_t *opened)
{
    CUstream stream;

    if (cuda.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING) != CUDA_SUCCESS) {
        stream = CU_STREAM_PER_THREAD;
    }
    (void)cuda.cuMemFreeAsync(opened->address, stream);
    (void)cuda.cuStreamSynchronize(stream);
    if (stream != CU_STREAM_PER_THREAD) {
        (void)cuda.cuStreamDestroy_v2(stream);
    }
    (void)cuda.cuMemPoolDestroy(opened->details);
}

void cuda_close_memory(const accel_key_t *key, const accel_opened_t *opened)
{
    switch (key->kind) {
    case CUDA_KEY_LEGACY:
        (void)cuda.cuIpcCloseMemHandle(opened->address);
        break;
    case CUDA_KEY_POOL:
        close_pooled(opened);
        break;
    default:
        (void)cuda.cuMemUnmap(opened->address, key->length);
        (void)cuda.cuMemAddressFree(opened->address, key->length);
        break;
    }
}
