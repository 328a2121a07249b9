/* SPDX-License-Identifier: BSD-3-Clause */
/* The memory domain: allocation, and pinning of host memory, by the
 * accelerator's driver (accel_driver). */
#include "md.h"

#include <stdlib.h>

/* ---------------------------------------------------------- allocation -- */

/* Returns the first device whose system device is `sys_dev`. If `sys_dev` is
 * unknown, or no device has it, returns the calling thread's current device.
 * Returns device 0 if the thread has no current device, or if the driver has no
 * current_device(). */
static int choose_device(accel_md_t *md, ucs_sys_device_t sys_dev)
{
    int current;
    int i;

    for (i = 0; (sys_dev != UCS_SYS_DEVICE_ID_UNKNOWN) &&
                (i < accel_driver.num_devices());
         ++i) {
        if (accel_md_sys_device(md, i) == sys_dev) {
            return i;
        }
    }
    current = (accel_driver.current_device != NULL) ?
                  accel_driver.current_device() :
                  0;
    return (current >= 0) ? current : 0;
}

/* Returns the driver's id of the memory at an address, or 0 if the driver does
 * not know the memory. */
static uint64_t id_of(const void *address)
{
    accel_allocation_t allocation;

    return (accel_driver.describe((uintptr_t)address, &allocation) == UCS_OK) ?
               allocation.id :
               0;
}

ucs_status_t accel_mem_alloc(uct_md_h super, size_t *length, void **address,
                             const ucx_mem_alloc_params_t *params,
                             uct_mem_h *memh_p)
{
    accel_md_t *md         = (accel_md_t *)super;
    const ucx_host_t *host = md->host;
    uint64_t start         = 0;
    accel_region_t *region;
    accel_scope_t scope;
    const char *reason;
    int result;

    if (!(UCS_BIT(params->mem_type) & accel_driver_types()) ||
        (params->flags & UCT_MD_MEM_FLAG_FIXED)) {
        return UCS_ERR_UNSUPPORTED;
    }
    if (accel_driver.start(&reason) != UCS_OK) {
        if (!(params->flags & UCT_MD_MEM_FLAG_HIDE_ERRORS)) {
            ucx_error("%s: %zu bytes cannot be allocated: %s", ACCEL_NAME,
                      *length, reason);
        }
        return UCS_ERR_NO_DEVICE;
    }
    region = calloc(1, sizeof(*region));
    if (region == NULL) {
        return UCS_ERR_NO_MEMORY;
    }

    region->device = choose_device(md, params->sys_dev);
    result         = accel_md_enter(md, region->device, &scope);
    if (result == UCS_OK) {
        result = accel_driver.allocate(params->mem_type, region->device,
                                       *length, &start);
        accel_driver.leave(&scope);
    }
    if (result != UCS_OK) {
        if (!(params->flags & UCT_MD_MEM_FLAG_HIDE_ERRORS)) {
            ucx_error("%s: %zu bytes of device %d cannot be allocated: %s",
                      ACCEL_NAME, *length, region->device, accel_error(result));
        }
        free(region);
        return accel_status(result);
    }

    region->address      = (void *)(uintptr_t)start;
    region->id           = id_of(region->address);
    region->length       = *length;
    region->is_allocated = 1;
    host->mem_type_allocated(region->address, region->length, params->mem_type,
                             accel_md_sys_device(md, region->device));
    *address = region->address;
    *memh_p  = region;
    return UCS_OK;
}

/* Frees or unpins the memory of a region, in the context of its device. Does
 * nothing if the id shows that other memory is at the address, which is
 * possible after a reset of the device. */
static int release_in_context(accel_md_t *md, const accel_region_t *region)
{
    accel_scope_t scope;
    int result;

    result = accel_md_enter(md, region->device, &scope);
    if (result != UCS_OK) {
        return result;
    }
    if (id_of(region->address) == region->id) {
        result = region->is_allocated ?
                     accel_driver.deallocate((uintptr_t)region->address) :
                     accel_driver.unpin(region->address);
    }
    accel_driver.leave(&scope);
    return result;
}

ucs_status_t accel_mem_free(uct_md_h super, uct_mem_h memh)
{
    accel_md_t *md         = (accel_md_t *)super;
    const ucx_host_t *host = md->host;
    accel_region_t *region = memh;
    int result;

    host->mem_type_released(region->address, region->length);
    result = release_in_context(md, region);
    if (result != UCS_OK) {
        /* If the context has failed, it has released the memory already, so
         * this is not an error. */
        ucx_diag("%s: memory at %p is not released: %s", ACCEL_NAME,
                 region->address, accel_error(result));
    }
    free(region);
    return UCS_OK;
}

/* ------------------------------------------------------------- pinning -- */

/* Pins the memory of a registration. Does not set is_pinned for memory that is
 * pinned already, so that the end of this registration does not unpin it. While
 * the driver is not started, there is no device memory to copy to or from, so
 * the memory stays pageable. */
static ucs_status_t pin(accel_md_t *md, accel_region_t *region, int is_quiet)
{
    const ucx_host_t *host = md->host;
    accel_memory_t memory;
    accel_scope_t scope;
    int result;

    if ((accel_driver.pin == NULL) || !accel_driver.is_started()) {
        return UCS_OK;
    }
    result = accel_driver.find(region->address, &memory);
    if ((result == UCS_OK) && (memory.kind != ACCEL_PAGEABLE)) {
        return UCS_OK;
    }
    if (result == UCS_OK) {
        result = accel_md_enter(md, region->device, &scope);
    }
    if (result == UCS_OK) {
        result = accel_driver.pin(region->address, region->length);
        accel_driver.leave(&scope);
    }
    if (result == UCS_OK) {
        region->is_pinned = 1;
        region->id        = id_of(region->address);
        return UCS_OK;
    }
    if (result == UCS_ERR_ALREADY_EXISTS) {
        return UCS_OK;
    }
    if (!is_quiet) {
        ucx_error("%s: %zu bytes at %p cannot be pinned: %s", ACCEL_NAME,
                  region->length, region->address, accel_error(result));
    }
    return accel_status(result);
}

ucs_status_t accel_mem_reg(uct_md_h super, void *address, size_t length,
                           const ucx_mem_reg_params_t *params,
                           uct_mem_h *memh_p)
{
    accel_md_t *md = (accel_md_t *)super;
    accel_region_t *region;
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
    status          = (length == 0) ?
                          UCS_OK :
                          pin(md, region, params->flags & UCT_MD_MEM_FLAG_HIDE_ERRORS);
    if (status != UCS_OK) {
        free(region);
        return status;
    }
    *memh_p = region;
    return UCS_OK;
}

ucs_status_t accel_mem_dereg(uct_md_h super, uct_mem_h memh,
                             const ucx_mem_dereg_params_t *params)
{
    accel_md_t *md         = (accel_md_t *)super;
    accel_region_t *region = memh;

    if (params->flags & UCX_MEM_DEREG_INVALIDATE) {
        return UCS_ERR_UNSUPPORTED;
    }
    if (region->is_pinned) {
        /* If the context has failed, it has released the registration already,
         * so an error is ignored. */
        (void)release_in_context(md, region);
    }
    free(region);
    return UCS_OK;
}
