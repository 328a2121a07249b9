/* SPDX-License-Identifier: BSD-3-Clause */
/* See dmabuf.h. */
#include "dmabuf.h"

#include <unistd.h>

static int is_within(const cuda_memory_t *memory, const void *address,
                     size_t length)
{
    size_t offset = (uintptr_t)address - (uintptr_t)memory->base;

    return (memory->kind == CUDA_DEVICE) && (offset < memory->length) &&
           (length <= memory->length - offset);
}

static CUresult is_supported(int ordinal, int *supported)
{
    CUdevice device;
    CUresult result = cuda.cuDeviceGet(&device, ordinal);

    *supported = 0;
    return (result != CUDA_SUCCESS) ? result :
           cuda.cuDeviceGetAttribute(
                   supported, CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED, device);
}

void cuda_dmabuf_export(cuda_md_t *md, const void *address, size_t length,
                        const cuda_memory_t *memory, ucx_mem_attr_t *attr)
{
    const ucx_host_t *host = md->host;
    const uintptr_t mask   = (uintptr_t)sysconf(_SC_PAGESIZE) - 1;
    uintptr_t start        = (uintptr_t)address & ~mask;
    uintptr_t end          = ((uintptr_t)address + length + mask) & ~mask;
    int supported          = 0;
    int fd                 = -1;
    cuda_scope_t scope;
    CUresult result;

    if (!is_within(memory, address, length)) {
        return;
    }
    result = is_supported(memory->device, &supported);
    if ((result == CUDA_SUCCESS) && !supported) {
        result = CUDA_ERROR_NOT_SUPPORTED;
    }
    if (result == CUDA_SUCCESS) {
        result = cuda_md_enter(md, memory->device, &scope);
    }
    if (result == CUDA_SUCCESS) {
        result = cuda.cuMemGetHandleForAddressRange(
                &fd, start, end - start, CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD,
                0);
        cuda_leave(&scope);
    }
    if (result != CUDA_SUCCESS) {
        ucx_debug("cuda: %zu bytes at %p have no dmabuf: %s", length, address,
                  cuda_error(result));
        return;
    }
    attr->dmabuf_fd     = fd;
    attr->dmabuf_offset = (uintptr_t)address - start;
}
