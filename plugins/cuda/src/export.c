/* SPDX-License-Identifier: BSD-3-Clause */
/* See export.h. */
#include "export.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

/* Exports that are kept although nothing is registered. */
enum { MAX_IDLE = 64 };

/* What the driver tells about an address. */
typedef struct {
    unsigned           type, is_managed, is_legacy;
    int                device;
    uint64_t           start, id;
    size_t             length;
    unsigned long long handle_types;
    CUmemoryPool       pool;
} facts_t;

static CUresult describe(uint64_t address, facts_t *facts)
{
    static const CUpointer_attribute attributes[] = {
        CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_IS_MANAGED,
        CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE,
        CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
        CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, CU_POINTER_ATTRIBUTE_RANGE_SIZE,
        CU_POINTER_ATTRIBUTE_BUFFER_ID,
        CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES,
        CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE
    };
    void *data[] = {&facts->type, &facts->is_managed, &facts->is_legacy,
                    &facts->device, &facts->start, &facts->length, &facts->id,
                    &facts->handle_types, &facts->pool};

    memset(facts, 0, sizeof(*facts));
    return cuda.cuPointerGetAttributes(
            sizeof(attributes) / sizeof(attributes[0]),
            (CUpointer_attribute *)attributes, data, address);
}

/* Non-zero: one allocation on the device contains all of the range. */
static int is_within(const facts_t *facts, uint64_t address, size_t length)
{
    uint64_t offset = address - facts->start;

    return (facts->type == CU_MEMORYTYPE_DEVICE) && !facts->is_managed &&
           (address >= facts->start) && (offset < facts->length) &&
           (length <= facts->length - offset);
}

/* ------------------------------------------------------------- exporting -- */

static CUresult export_legacy(const facts_t *facts, cuda_ipc_key_t *key)
{
    CUipcMemHandle handle;
    CUresult result = cuda.cuIpcGetMemHandle(&handle, facts->start);

    if (result == CUDA_SUCCESS) {
        key->kind = CUDA_IPC_LEGACY;
        memcpy(key->handle, &handle, sizeof(handle));
    }
    return result;
}

static CUresult export_virtual(const facts_t *facts, cuda_ipc_key_t *key)
{
    const size_t secret = 16;
    CUmemGenericAllocationHandle handle;
    CUresult result;

    if (getrandom(key->handle, secret, 0) != (ssize_t)secret) {
        return CUDA_ERROR_OPERATING_SYSTEM;
    }
    result = cuda.cuMemRetainAllocationHandle(
            &handle, (void *)(uintptr_t)facts->start);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    result = cuda.cuMemExportToShareableHandle(
            &key->fd, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0);
    (void)cuda.cuMemRelease(handle);
    key->kind = CUDA_IPC_VIRTUAL;
    return result;
}

static CUresult export_pooled(const facts_t *facts, cuda_ipc_key_t *key)
{
    CUmemPoolPtrExportData data = {{0}};
    CUresult result;

    result = cuda.cuMemPoolExportPointer(&data, facts->start);
    if (result == CUDA_SUCCESS) {
        result = cuda.cuMemPoolExportToShareableHandle(
                &key->fd, facts->pool,
                CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0);
    }
    key->kind = CUDA_IPC_POOL;
    memcpy(key->handle, &data, sizeof(data));
    return result;
}

/* With the context of the device. */
static CUresult fill_key(const facts_t *facts, cuda_ipc_key_t *key)
{
    key->start  = facts->start;
    key->length = facts->length;
    key->id     = facts->id;
    key->fd     = -1;
    if (facts->is_legacy) {
        return export_legacy(facts, key);
    }
    if (!(facts->handle_types & CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)) {
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    return (facts->pool != NULL) ? export_pooled(facts, key) :
                                   export_virtual(facts, key);
}

static cuda_export_t *export_new(cuda_md_t *md, const facts_t *facts,
                                 ucs_status_t *status_p)
{
    cuda_export_t *export = calloc(1, sizeof(*export));
    cuda_scope_t scope;
    CUresult result;

    *status_p = (export == NULL) ? UCS_ERR_NO_MEMORY :
                                   cuda_process_self(&export->key.owner);
    if (*status_p == UCS_OK) {
        result = cuda_pci_of(facts->device, &export->key.pci);
        if (result == CUDA_SUCCESS) {
            result = cuda_md_enter(md, facts->device, &scope);
        }
        if (result == CUDA_SUCCESS) {
            result = fill_key(facts, &export->key);
            cuda_leave(&scope);
        }
        *status_p = (result == CUDA_SUCCESS) ? UCS_OK : UCS_ERR_UNSUPPORTED;
    }
    if (*status_p != UCS_OK) {
        free(export);
        return NULL;
    }
    return export;
}

/* -------------------------------------------------------------- the list -- */

static void drop(cuda_export_t **link)
{
    cuda_export_t *export = *link;

    *link = export->next;
    if (export->key.fd >= 0) {
        close(export->key.fd);
    }
    free(export);
}

static int is_current(const cuda_export_t *export)
{
    facts_t facts;

    return (describe(export->key.start, &facts) == CUDA_SUCCESS) &&
           (facts.start == export->key.start) && (facts.id == export->key.id);
}

/* Drops exports that nothing has registered: those of freed memory and, beyond
 * a number, those used first. */
static void tidy(cuda_md_t *md)
{
    cuda_export_t **link = &md->exports;
    unsigned idle        = 0;

    while (*link != NULL) {
        if (((*link)->users == 0) &&
            ((++idle > MAX_IDLE) || !is_current(*link))) {
            drop(link);
        } else {
            link = &(*link)->next;
        }
    }
}

/* Removes a usable export from the list. */
static cuda_export_t *take(cuda_md_t *md, const facts_t *facts)
{
    cuda_export_t **link = &md->exports;
    cuda_export_t *export;

    while (((export = *link) != NULL) &&
           ((export->key.start != facts->start) ||
            (export->key.id != facts->id) ||
            (export->key.length != facts->length))) {
        link = &export->next;
    }
    if (export != NULL) {
        *link = export->next;
    }
    return export;
}

ucs_status_t cuda_export_get(cuda_md_t *md, const void *address, size_t length,
                             cuda_export_t **export_p)
{
    ucs_status_t status = UCS_OK;
    cuda_export_t *export;
    facts_t facts;

    if ((describe((uintptr_t)address, &facts) != CUDA_SUCCESS) ||
        !is_within(&facts, (uintptr_t)address, length)) {
        return UCS_ERR_UNSUPPORTED;
    }
    pthread_mutex_lock(&md->exports_lock);
    export = take(md, &facts);
    if (export == NULL) {
        tidy(md);
        export = export_new(md, &facts, &status);
    }
    if (export != NULL) {
        export->next = md->exports;
        md->exports  = export;
        ++export->users;
    }
    pthread_mutex_unlock(&md->exports_lock);
    *export_p = export;
    return status;
}

void cuda_export_put(cuda_md_t *md, cuda_export_t *export)
{
    pthread_mutex_lock(&md->exports_lock);
    --export->users;
    pthread_mutex_unlock(&md->exports_lock);
}

/* The socket's name may have been another one when the key was packed. */
static int has_key(const cuda_export_t *export, const void *packed_key,
                   unsigned socket)
{
    cuda_ipc_key_t key = export->key;
    char packed[CUDA_IPC_KEY_SIZE];

    key.socket = socket;
    cuda_ipc_key_pack(&key, packed);
    return memcmp(packed, packed_key, sizeof(packed)) == 0;
}

int cuda_export_dup(cuda_md_t *md, const void *packed_key)
{
    const cuda_export_t *export;
    cuda_ipc_key_t key;
    int fd = -1;

    if (cuda_ipc_key_unpack(packed_key, CUDA_IPC_KEY_SIZE, &key) != UCS_OK) {
        return -1;
    }
    pthread_mutex_lock(&md->exports_lock);
    for (export = md->exports; export != NULL; export = export->next) {
        if ((export->key.fd >= 0) && has_key(export, packed_key, key.socket)) {
            fd = fcntl(export->key.fd, F_DUPFD_CLOEXEC, 0);
            break;
        }
    }
    pthread_mutex_unlock(&md->exports_lock);
    return fd;
}

void cuda_exports_close(cuda_md_t *md)
{
    while (md->exports != NULL) {
        drop(&md->exports);
    }
}
