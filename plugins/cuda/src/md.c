/* SPDX-License-Identifier: BSD-3-Clause */
/* The memory domain: detection, allocation, pinning of host memory. */
#include "md.h"
#include "dmabuf.h"
#include "export.h"
#include "memory.h"
#include "process.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Measured cost of pinning: seconds per call and per byte. */
#define PIN_OVERHEAD 180e-6
#define PIN_PER_BYTE (1 / 22e9)

ucs_status_t cuda_md_resources(const ucx_component_t *component,
                               uct_md_resource_desc_t **mds_p, unsigned *num_p)
{
    const ucx_host_t *host = cuda_host(component);
    uct_md_resource_desc_t *md;
    const char *reason;

    /* Whether there is a device is known only when the driver is started,
     * which a program without device memory does not pay for. */
    *mds_p = NULL;
    *num_p = 0;
    if (cuda_load(&reason) != UCS_OK) {
        ucx_diag("cuda: not used: %s", reason);
        return UCS_OK;
    }
    md = calloc(1, sizeof(*md));
    if (md == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    snprintf(md->md_name, sizeof(md->md_name), "%s", component->name);
    *mds_p = md;
    *num_p = 1;
    return UCS_OK;
}

/* Can this process create a context on the device? */
static ucs_status_t check_device(int ordinal, char *reason, size_t reason_size)
{
    int mode        = 0;
    CUdevice device = 0;
    CUcontext context;
    CUresult result;

    result = cuda.cuDeviceGet(&device, ordinal);
    if (result == CUDA_SUCCESS) {
        result = cuda.cuDeviceGetAttribute(
                &mode, CU_DEVICE_ATTRIBUTE_COMPUTE_MODE, device);
    }
    if (result == CUDA_SUCCESS) {
        result = cuda.cuDevicePrimaryCtxRetain(&context, device);
    }
    if (result == CUDA_SUCCESS) {
        (void)cuda.cuDevicePrimaryCtxRelease_v2(device);
        return UCS_OK;
    }
    snprintf(reason, reason_size, "CUDA device %d cannot be used: %s%s",
             ordinal, cuda_error(result),
             (mode == CU_COMPUTEMODE_PROHIBITED) ?
             "; its compute mode is PROHIBITED (nvidia-smi -c DEFAULT)" :
             (mode == CU_COMPUTEMODE_EXCLUSIVE_PROCESS) ?
             "; its compute mode is EXCLUSIVE_PROCESS, and another process"
             " uses it (nvidia-smi -c DEFAULT)" : "");
    return UCS_ERR_NO_DEVICE;
}

ucs_status_t cuda_inspect(const ucx_component_t *component, char *reason,
                          size_t reason_size)
{
    const ucx_host_t *host = cuda_host(component);
    const char *text;
    int i;

    if (cuda_start(&text) != UCS_OK) {
        snprintf(reason, reason_size, "%s", text);
    }
    for (i = 0; i < cuda_num_devices(); ++i) {
        if (check_device(i, reason, reason_size) == UCS_OK) {
            return UCS_OK; /* one device is enough */
        }
    }
    ucx_diag("cuda: not used: %s", reason);
    return UCS_ERR_NO_DEVICE;
}

/* ------------------------------------------------------------- devices -- */

static ucs_sys_device_t find_sys_device(const ucx_host_t *host, int ordinal)
{
    ucs_sys_device_t sys_dev = UCS_SYS_DEVICE_ID_UNKNOWN;
    ucx_pci_address_t pci    = {0};
    cuda_pci_t address;

    if (cuda_pci_of(ordinal, &address) != CUDA_SUCCESS) {
        return sys_dev;
    }
    pci.domain = address.domain;
    pci.bus    = address.bus;
    pci.slot   = address.slot;
    if (host->sys_device_by_pci(&pci, &sys_dev) != UCS_OK) {
        return UCS_SYS_DEVICE_ID_UNKNOWN;
    }
    return sys_dev;
}

/* Of a device of the driver; unknown for an ordinal that is no device. */
static ucs_sys_device_t sys_device_of(cuda_md_t *md, int device)
{
    int i;

    if ((device < 0) || (device >= cuda_num_devices())) {
        return UCS_SYS_DEVICE_ID_UNKNOWN;
    }
    pthread_mutex_lock(&md->lock);
    for (i = md->num_sys_devs; i <= device; ++i) {
        md->sys_devs[i]  = find_sys_device(md->host, i);
        md->num_sys_devs = i + 1;
    }
    pthread_mutex_unlock(&md->lock);
    return md->sys_devs[device];
}

CUresult cuda_md_context(cuda_md_t *md, int device, CUcontext *context_p)
{
    CUresult result = CUDA_SUCCESS;
    CUdevice handle;

    if ((device < 0) || (device >= cuda_num_devices())) {
        return CUDA_ERROR_INVALID_DEVICE;
    }
    pthread_mutex_lock(&md->lock);
    if (md->contexts[device] == NULL) {
        result = cuda.cuDeviceGet(&handle, device);
        if (result == CUDA_SUCCESS) {
            result = cuda.cuDevicePrimaryCtxRetain(&md->contexts[device],
                                                   handle);
        }
        if (result != CUDA_SUCCESS) {
            md->contexts[device] = NULL;
        }
    }
    *context_p = md->contexts[device];
    pthread_mutex_unlock(&md->lock);
    return result;
}

/* The domain keeps its reference: a reset does not release references. */
CUresult cuda_md_revive(int device)
{
    CUdevice handle;
    CUcontext context;
    CUresult result = cuda.cuDeviceGet(&handle, device);

    if (result == CUDA_SUCCESS) {
        result = cuda.cuDevicePrimaryCtxRetain(&context, handle);
    }
    if (result == CUDA_SUCCESS) {
        (void)cuda.cuDevicePrimaryCtxRelease_v2(handle);
    }
    return result;
}

CUresult cuda_md_enter(cuda_md_t *md, int device, cuda_scope_t *scope)
{
    CUcontext context;
    CUresult result = cuda_md_context(md, device, &context);

    return (result == CUDA_SUCCESS) ? cuda_enter(scope, context) : result;
}

ucs_status_t cuda_md_open(const ucx_component_t *component,
                          const ucx_md_open_args_t *args, uct_md_h *md_p)
{
    const ucx_host_t *host = cuda_host(component);
    const char *reason;
    ucs_status_t status;
    cuda_md_t *md;

    status = cuda_load(&reason);
    if (status != UCS_OK) {
        ucx_error("cuda: cannot be used: %s", reason);
        return status;
    }
    md = calloc(1, sizeof(*md));
    if (md == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    ucx_md_init(&md->super, args);
    md->host = host;
    pthread_mutex_init(&md->lock, NULL);
    pthread_mutex_init(&md->exports_lock, NULL);
    cuda_fd_server_init(&md->fd_server, host);
    *md_p = &md->super;
    return UCS_OK;
}

void cuda_md_close(uct_md_h super)
{
    cuda_md_t *md = (cuda_md_t *)super;
    CUdevice device;
    int i;

    cuda_fd_server_cleanup(&md->fd_server);
    cuda_exports_close(md);
    for (i = 0; i < cuda_num_devices(); ++i) {
        if ((md->contexts[i] != NULL) &&
            (cuda.cuDeviceGet(&device, i) == CUDA_SUCCESS)) {
            (void)cuda.cuDevicePrimaryCtxRelease_v2(device);
        }
    }
    pthread_mutex_destroy(&md->exports_lock);
    pthread_mutex_destroy(&md->lock);
    free(md);
}

static ucs_status_t md_query(uct_md_h md, ucx_md_attr_t *attr)
{
    const uint64_t host   = UCS_BIT(UCS_MEMORY_TYPE_HOST);
    const uint64_t device = UCS_BIT(UCS_MEMORY_TYPE_CUDA) |
                            UCS_BIT(UCS_MEMORY_TYPE_CUDA_MANAGED);

    attr->flags            = UCT_MD_FLAG_ALLOC | UCT_MD_FLAG_REG;
    attr->max_alloc        = SIZE_MAX / 2;
    attr->max_reg          = SIZE_MAX;
    attr->reg_mem_types    = host;
    attr->detect_mem_types = device;
    attr->alloc_mem_types  = device;
    attr->access_mem_types = host | device;
    attr->dmabuf_mem_types = UCS_BIT(UCS_MEMORY_TYPE_CUDA);
    attr->reg_alignment    = 1;
    attr->reg_cost.c       = PIN_OVERHEAD;
    attr->reg_cost.m       = PIN_PER_BYTE;
    return UCS_OK;
}

/* Of the current context. 0: not known, the driver is older than CUDA 12. */
static unsigned long long current_context_id(void)
{
    unsigned long long id = 0;

    return ((cuda.cuCtxGetId != NULL) &&
            (cuda.cuCtxGetId(NULL, &id) == CUDA_SUCCESS)) ? id : 0;
}

/* ---------------------------------------------------------- allocation -- */

/* Selects the requested device, otherwise the calling thread's, otherwise the
 * first. */
static int choose_device(cuda_md_t *md, ucs_sys_device_t sys_dev)
{
    CUdevice current;
    int i;

    for (i = 0; (sys_dev != UCS_SYS_DEVICE_ID_UNKNOWN) &&
                (i < cuda_num_devices()); ++i) {
        if (sys_device_of(md, i) == sys_dev) {
            return i;
        }
    }
    return (cuda.cuCtxGetDevice(&current) == CUDA_SUCCESS) ? current : 0;
}

static CUresult allocate(ucs_memory_type_t type, size_t length,
                         CUdeviceptr *address)
{
    return (type == UCS_MEMORY_TYPE_CUDA) ?
           cuda.cuMemAlloc_v2(address, length) :
           cuda.cuMemAllocManaged(address, length, CU_MEM_ATTACH_GLOBAL);
}

static ucs_status_t mem_alloc(uct_md_h super, size_t *length, void **address,
                              const ucx_mem_alloc_params_t *params,
                              uct_mem_h *memh_p)
{
    cuda_md_t *md          = (cuda_md_t *)super;
    const ucx_host_t *host = md->host;
    CUdeviceptr start      = 0;
    cuda_region_t *region;
    cuda_scope_t scope;
    const char *reason;
    CUresult result;

    if (((params->mem_type != UCS_MEMORY_TYPE_CUDA) &&
         (params->mem_type != UCS_MEMORY_TYPE_CUDA_MANAGED)) ||
        (params->flags & UCT_MD_MEM_FLAG_FIXED)) {
        return UCS_ERR_UNSUPPORTED;
    }
    if (cuda_start(&reason) != UCS_OK) {
        if (!(params->flags & UCT_MD_MEM_FLAG_HIDE_ERRORS)) {
            ucx_error("cuda: %zu bytes cannot be allocated: %s", *length,
                      reason);
        }
        return UCS_ERR_NO_DEVICE;
    }
    region = calloc(1, sizeof(*region));
    if (region == NULL) {
        return UCS_ERR_NO_MEMORY;
    }

    region->device = choose_device(md, params->sys_dev);
    result         = cuda_md_enter(md, region->device, &scope);
    if (result == CUDA_SUCCESS) {
        result = allocate(params->mem_type, *length, &start);
        region->context_id = current_context_id();
        cuda_leave(&scope);
    }
    if (result != CUDA_SUCCESS) {
        if (!(params->flags & UCT_MD_MEM_FLAG_HIDE_ERRORS)) {
            ucx_error("cuda: %zu bytes of device %d cannot be allocated: %s",
                      *length, region->device, cuda_error(result));
        }
        free(region);
        return cuda_status(result);
    }

    region->address      = (void *)(uintptr_t)start;
    region->length       = *length;
    region->is_allocated = 1;
    host->mem_type_allocated(region->address, region->length, params->mem_type,
                             sys_device_of(md, region->device));
    *address = region->address;
    *memh_p  = region;
    return UCS_OK;
}

/* Releases the address in the context of the region's device: frees or unpins
 * it. After a reset of the device the address may be that of other memory. */
static CUresult release_in_context(cuda_md_t *md, const cuda_region_t *region)
{
    cuda_scope_t scope;
    CUresult result;

    result = cuda_md_enter(md, region->device, &scope);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    if (current_context_id() == region->context_id) {
        result = region->is_allocated ?
                 cuda.cuMemFree_v2((uintptr_t)region->address) :
                 cuda.cuMemHostUnregister(region->address);
    }
    cuda_leave(&scope);
    return result;
}

static ucs_status_t mem_free(uct_md_h super, uct_mem_h memh)
{
    cuda_md_t *md          = (cuda_md_t *)super;
    const ucx_host_t *host = md->host;
    cuda_region_t *region  = memh;
    CUresult result;

    host->mem_type_released(region->address, region->length);
    result = release_in_context(md, region);
    if (result != CUDA_SUCCESS) {
        /* a failed context has released its memory */
        ucx_diag("cuda: memory at %p is not released: %s", region->address,
                 cuda_error(result));
    }
    free(region);
    return UCS_OK;
}

/* ------------------------------------------------------------- pinning -- */

/* Memory that is pinned already must not be unpinned when this registration
 * ends: it is left as it is. Copies query its kind. While the driver is not
 * started there is nothing to copy to or from: the memory is left pageable. */
static ucs_status_t pin(cuda_md_t *md, cuda_region_t *region, int is_quiet)
{
    const ucx_host_t *host = md->host;
    cuda_memory_t memory;
    cuda_scope_t scope;
    CUresult result;

    if (!cuda_is_started()) {
        return UCS_OK;
    }
    result = cuda_memory_find(region->address, &memory);
    if ((result == CUDA_SUCCESS) && (memory.kind != CUDA_PAGEABLE)) {
        return UCS_OK;
    }
    if (result == CUDA_SUCCESS) {
        result = cuda_md_enter(md, region->device, &scope);
    }
    if (result == CUDA_SUCCESS) {
        result = cuda.cuMemHostRegister_v2(region->address, region->length,
                                           CU_MEMHOSTREGISTER_PORTABLE);
        region->context_id = current_context_id();
        cuda_leave(&scope);
    }
    region->is_pinned = (result == CUDA_SUCCESS);
    if ((result == CUDA_SUCCESS) ||
        (result == CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED)) {
        return UCS_OK;
    }
    if (!is_quiet) {
        ucx_error("cuda: %zu bytes at %p cannot be pinned: %s", region->length,
                  region->address, cuda_error(result));
    }
    return cuda_status(result);
}

static ucs_status_t mem_reg(uct_md_h super, void *address, size_t length,
                            const ucx_mem_reg_params_t *params,
                            uct_mem_h *memh_p)
{
    cuda_md_t *md = (cuda_md_t *)super;
    cuda_region_t *region;
    ucs_status_t status;

    if (params->dmabuf_fd >= 0) {
        return UCS_ERR_UNSUPPORTED;
    }
    region = calloc(1, sizeof(*region));
    if (region == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    region->address = address;
    region->length  = length;
    region->device  = choose_device(md, UCS_SYS_DEVICE_ID_UNKNOWN);
    status = (length == 0) ? UCS_OK :
             pin(md, region, params->flags & UCT_MD_MEM_FLAG_HIDE_ERRORS);
    if (status != UCS_OK) {
        free(region);
        return status;
    }
    *memh_p = region;
    return UCS_OK;
}

static ucs_status_t mem_dereg(uct_md_h super, uct_mem_h memh,
                              const ucx_mem_dereg_params_t *params)
{
    cuda_md_t *md         = (cuda_md_t *)super;
    cuda_region_t *region = memh;

    if (params->flags & UCX_MEM_DEREG_INVALIDATE) {
        return UCS_ERR_UNSUPPORTED;
    }
    if (region->is_pinned) {
        /* a failed context has released its registrations */
        (void)release_in_context(md, region);
    }
    free(region);
    return UCS_OK;
}

/* ----------------------------------------------------------- detection -- */

static ucs_status_t mem_query(uct_md_h super, const void *address,
                              size_t length, ucx_mem_attr_t *attr)
{
    cuda_memory_t memory;

    if ((cuda_memory_find(address, &memory) != CUDA_SUCCESS) ||
        cuda_is_host(memory.kind)) {
        return UCS_ERR_INVALID_ADDR;
    }
    attr->mem_type = (memory.kind == CUDA_MANAGED) ?
                     UCS_MEMORY_TYPE_CUDA_MANAGED : UCS_MEMORY_TYPE_CUDA;
    attr->sys_dev      = sys_device_of((cuda_md_t *)super, memory.device);
    attr->base_address = memory.base;
    attr->alloc_length = memory.length;
    if (UCX_TABLE_HAS(attr, wanted) && (attr->wanted & UCX_MEM_WANT_DMABUF)) {
        cuda_dmabuf_export((cuda_md_t *)super, address, length, &memory, attr);
    }
    return UCS_OK;
}

const ucx_md_ops_t cuda_md_ops = {
    .size      = sizeof(cuda_md_ops),
    .close     = cuda_md_close,
    .query     = md_query,
    .mem_alloc = mem_alloc,
    .mem_free  = mem_free,
    .mem_reg   = mem_reg,
    .mem_dereg = mem_dereg,
    .mem_query = mem_query
};
