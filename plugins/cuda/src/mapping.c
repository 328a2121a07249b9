/* SPDX-License-Identifier: BSD-3-Clause */
/* See mapping.h. */
#include "mapping.h"
#include "descriptor.h"
#include "memory.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ----------------------------------------------------- opening, closing -- */

static CUresult open_legacy(cuda_mapping_t *mapping)
{
    CUdeviceptr address = 0;
    CUipcMemHandle handle;
    CUresult result;

    memcpy(&handle, mapping->key.handle, sizeof(handle));
    result = cuda.cuIpcOpenMemHandle_v2(&address, handle,
                                        CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS);
    mapping->address = address;
    return result;
}

/* Maps the memory of a handle at an address of its own. */
static CUresult map_handle(cuda_mapping_t *mapping,
                           CUmemGenericAllocationHandle handle)
{
    const size_t length          = mapping->key.length;
    const CUmemAccessDesc access = {
        {CU_MEM_LOCATION_TYPE_DEVICE, mapping->device},
        CU_MEM_ACCESS_FLAGS_PROT_READWRITE
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
    mapping->address = address;
    return result;
}

static CUresult open_virtual(cuda_mapping_t *mapping, int fd)
{
    CUmemGenericAllocationHandle handle;
    CUresult result;

    result = cuda.cuMemImportFromShareableHandle(
            &handle, (void *)(intptr_t)fd,
            CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    result = map_handle(mapping, handle);
    (void)cuda.cuMemRelease(handle); /* the mapping keeps the memory */
    return result;
}

static CUresult open_pooled(cuda_mapping_t *mapping, int fd)
{
    CUdeviceptr address = 0;
    CUmemPoolPtrExportData data;
    CUresult result;

    memcpy(&data, mapping->key.handle, sizeof(data));
    result = cuda.cuMemPoolImportFromShareableHandle(
            &mapping->pool, (void *)(intptr_t)fd,
            CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    result = cuda.cuMemPoolImportPointer(&address, mapping->pool, &data);
    if (result != CUDA_SUCCESS) {
        (void)cuda.cuMemPoolDestroy(mapping->pool);
    }
    mapping->address = address;
    return result;
}

/* The driver keeps the memory when the descriptor is closed. */
static CUresult open_by_fd(cuda_mapping_t *mapping)
{
    int fd = cuda_descriptor_get(&mapping->key);
    CUresult result;

    if (fd < 0) {
        return CUDA_ERROR_NOT_PERMITTED;
    }
    result = (mapping->key.kind == CUDA_IPC_POOL) ? open_pooled(mapping, fd) :
                                                    open_virtual(mapping, fd);
    close(fd);
    return result;
}

/* Closes the mapping in the driver. The context is current. */
static void close_in_context(const cuda_mapping_t *mapping)
{
    switch (mapping->key.kind) {
    case CUDA_IPC_LEGACY:
        (void)cuda.cuIpcCloseMemHandle(mapping->address);
        break;
    case CUDA_IPC_POOL:
        (void)cuda.cuMemFreeAsync(mapping->address, CU_STREAM_PER_THREAD);
        (void)cuda.cuStreamSynchronize(CU_STREAM_PER_THREAD);
        (void)cuda.cuMemPoolDestroy(mapping->pool);
        break;
    default:
        (void)cuda.cuMemUnmap(mapping->address, mapping->key.length);
        (void)cuda.cuMemAddressFree(mapping->address, mapping->key.length);
        break;
    }
}

/* The length comes from the peer. A copy beyond the end of the memory would make
 * the context unusable. */
static int is_as_long(const cuda_mapping_t *mapping)
{
    cuda_memory_t memory;

    return (cuda_memory_find((void *)(uintptr_t)mapping->address, &memory) ==
            CUDA_SUCCESS) && (memory.kind == CUDA_DEVICE) &&
           ((uintptr_t)memory.base <= mapping->address) &&
           (mapping->address - (uintptr_t)memory.base <= memory.length) &&
           (memory.length - (mapping->address - (uintptr_t)memory.base) >=
            mapping->key.length);
}

static CUresult open_mapping(cuda_mapping_t *mapping)
{
    cuda_scope_t scope;
    CUresult result;

    mapping->device = cuda_device_by_pci(&mapping->key.pci);
    if (mapping->device < 0) {
        return CUDA_ERROR_INVALID_DEVICE;
    }
    result = cuda_md_enter(mapping->list->md, mapping->device, &scope);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    result = (mapping->key.kind == CUDA_IPC_LEGACY) ? open_legacy(mapping) :
                                                      open_by_fd(mapping);
    if ((result == CUDA_SUCCESS) && !is_as_long(mapping)) {
        close_in_context(mapping);
        result = CUDA_ERROR_INVALID_VALUE;
    }
    cuda_leave(&scope);
    return result;
}

static void close_mapping(cuda_mapping_t *mapping)
{
    cuda_scope_t scope;

    /* a failed context has closed it */
    if (!mapping->is_lost &&
        cuda_md_enter(mapping->list->md, mapping->device, &scope) ==
        CUDA_SUCCESS) {
        close_in_context(mapping);
        cuda_leave(&scope);
    }
    free(mapping);
}

/* ------------------------------------------------------------- the list -- */

/* Removes *link from the list; closes it when no operation uses it. */
static void drop(cuda_mappings_t *mappings, cuda_mapping_t **link)
{
    cuda_mapping_t *mapping = *link;

    *link              = mapping->next;
    mapping->is_listed = 0;
    --mappings->num;
    if (mapping->users == 0) {
        close_mapping(mapping);
    }
}

void cuda_mapping_put(cuda_mapping_t *mapping)
{
    cuda_mapping_t **link = &mapping->list->first;

    if (--mapping->users > 0) {
        return;
    }
    if (!mapping->is_listed) {
        close_mapping(mapping);
    } else if ((mapping->list->max == 0) ||
               (mapping->key.kind == CUDA_IPC_POOL)) {
        while (*link != mapping) {
            link = &(*link)->next;
        }
        drop(mapping->list, link);
    }
}

static int is_of(const cuda_mapping_t *mapping, const cuda_ipc_key_t *key)
{
    return (mapping->key.kind == key->kind) && (mapping->key.id == key->id) &&
           (mapping->key.start == key->start) &&
           (mapping->key.length == key->length) &&
           (memcmp(mapping->key.handle, key->handle, sizeof(key->handle)) == 0);
}

static int overlaps(const cuda_mapping_t *mapping, const cuda_ipc_key_t *key)
{
    return (mapping->key.start < key->start + key->length) &&
           (key->start < mapping->key.start + mapping->key.length);
}

/* Finds the mapping and moves it to the front. Other memory at these addresses
 * was freed: its mappings are dropped. */
static cuda_mapping_t *find(cuda_mappings_t *mappings,
                            const cuda_ipc_key_t *key)
{
    cuda_mapping_t **link = &mappings->first;
    cuda_mapping_t *mapping;

    while ((mapping = *link) != NULL) {
        if (!cuda_process_is_same(&mapping->key.owner, &key->owner) ||
            !overlaps(mapping, key)) {
            link = &mapping->next;
        } else if (is_of(mapping, key)) {
            *link           = mapping->next;
            mapping->next   = mappings->first;
            mappings->first = mapping;
            return mapping;
        } else {
            drop(mappings, link);
        }
    }
    return NULL;
}

/* Drops the mappings that were not used for longest. */
static void limit(cuda_mappings_t *mappings)
{
    unsigned keep         = (mappings->max > 0) ? mappings->max : 1;
    cuda_mapping_t **link = &mappings->first;
    unsigned i;

    for (i = 0; (i < keep) && (*link != NULL); ++i) {
        link = &(*link)->next;
    }
    while (*link != NULL) {
        drop(mappings, link);
    }
}

ucs_status_t cuda_mapping_get(cuda_mappings_t *mappings,
                              const cuda_ipc_key_t *key,
                              cuda_mapping_t **mapping_p)
{
    const ucx_host_t *host  = mappings->md->host;
    cuda_mapping_t *mapping = find(mappings, key);
    CUresult result;

    if (mapping == NULL) {
        mapping = calloc(1, sizeof(*mapping));
        if (mapping == NULL) {
            return UCS_ERR_NO_MEMORY;
        }
        mapping->list = mappings;
        mapping->key  = *key;
        result        = open_mapping(mapping);
        if (result != CUDA_SUCCESS) {
            ucx_diag("cuda_ipc: %lu bytes at 0x%lx of process %d cannot be"
                     " opened: %s", (unsigned long)key->length,
                     (unsigned long)key->start, (int)key->owner.pid,
                     cuda_error(result));
            free(mapping);
            return cuda_status(result);
        }
        mapping->is_listed = 1;
        mapping->next      = mappings->first;
        mappings->first    = mapping;
        ++mappings->num;
        limit(mappings);
    }
    *mapping_p = mapping;
    return UCS_OK;
}

void cuda_mappings_lost(cuda_mappings_t *mappings, int device)
{
    cuda_mapping_t **link = &mappings->first;

    while (*link != NULL) {
        if (((*link)->device == device) &&
            ((*link)->key.kind == CUDA_IPC_LEGACY)) {
            (*link)->is_lost = 1;
            drop(mappings, link);
        } else {
            link = &(*link)->next;
        }
    }
}

void cuda_mappings_close(cuda_mappings_t *mappings, const cuda_process_t *owner)
{
    cuda_mapping_t **link = &mappings->first;

    while (*link != NULL) {
        if ((owner == NULL) ||
            cuda_process_is_same(&(*link)->key.owner, owner)) {
            drop(mappings, link);
        } else {
            link = &(*link)->next;
        }
    }
}
