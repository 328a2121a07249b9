/* SPDX-License-Identifier: BSD-3-Clause */
/* The memory domain: devices, detection of memory types, export as dmabuf. */
#include "md.h"
#include "export.h"
#include "plugin.h"
#include "process.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static atomic_uint num_domains; /* Number of open domains */

static void domain_opened(void)
{
    atomic_fetch_add(&num_domains, 1);
}

static void domain_closed(void)
{
    if ((atomic_fetch_sub(&num_domains, 1) == 1) &&
        (accel_driver.finish != NULL)) {
        accel_driver.finish();
    }
}

ucs_status_t accel_md_resources(const ucx_component_t *component,
                                uct_md_resource_desc_t **mds_p, unsigned *num_p)
{
    const ucx_host_t *host = accel_host(component);
    uct_md_resource_desc_t *md;
    const char *reason;

    /* Lists a domain even if there may be no device: only the started driver
     * knows its devices, and starting takes too long for a program without
     * device memory. */
    *mds_p = NULL;
    *num_p = 0;
    if (accel_driver.load(&reason) != UCS_OK) {
        ucx_diag("%s: not used: %s", ACCEL_NAME, reason);
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

ucs_status_t accel_inspect(const ucx_component_t *component, char *reason,
                           size_t reason_size)
{
    const ucx_host_t *host = accel_host(component);
    ucs_status_t status    = UCS_ERR_NO_DEVICE;
    const char *text;
    int i;

    domain_opened();
    if (accel_driver.start(&text) != UCS_OK) {
        snprintf(reason, reason_size, "%s", text);
    }
    /* One usable device is enough. */
    for (i = 0; (i < accel_driver.num_devices()) && (status != UCS_OK); ++i) {
        status = accel_driver.check_device(i, reason, reason_size);
    }
    if (status != UCS_OK) {
        ucx_diag("%s: not used: %s", ACCEL_NAME, reason);
    }
    domain_closed();
    return status;
}

/* ------------------------------------------------------------- devices -- */

static ucs_sys_device_t find_sys_device(const ucx_host_t *host, int ordinal)
{
    ucs_sys_device_t sys_dev = UCS_SYS_DEVICE_ID_UNKNOWN;
    ucx_pci_address_t pci    = {0};
    accel_pci_t address;

    if (accel_pci_of(ordinal, &address) != UCS_OK) {
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

ucs_sys_device_t accel_md_sys_device(accel_md_t *md, int device)
{
    int i;

    if ((device < 0) || (device >= accel_driver.num_devices())) {
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

int accel_md_context(accel_md_t *md, int device, void **context_p)
{
    int result = UCS_OK;

    if ((device < 0) || (device >= accel_driver.num_devices())) {
        return UCS_ERR_NO_DEVICE;
    }
    pthread_mutex_lock(&md->lock);
    if (md->contexts[device] == NULL) {
        result = accel_driver.retain(device, &md->contexts[device]);
        if (result != UCS_OK) {
            md->contexts[device] = NULL;
        }
    }
    *context_p = md->contexts[device];
    pthread_mutex_unlock(&md->lock);
    return result;
}

int accel_md_enter(accel_md_t *md, int device, accel_scope_t *scope)
{
    void *context;
    int result = accel_md_context(md, device, &context);

    return (result == UCS_OK) ? accel_driver.enter(context, scope) : result;
}

ucs_status_t accel_md_open(const ucx_component_t *component,
                           const ucx_md_open_args_t *args, uct_md_h *md_p)
{
    const ucx_host_t *host = accel_host(component);
    const char *reason;
    ucs_status_t status;
    accel_md_t *md;

    status = accel_driver.load(&reason);
    if (status != UCS_OK) {
        ucx_error("%s: cannot be used: %s", ACCEL_NAME, reason);
        return status;
    }
    md = calloc(1, sizeof(*md));
    if (md == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    ucx_md_init(&md->super, args);
    md->host = host;
    domain_opened();
    pthread_mutex_init(&md->lock, NULL);
    pthread_mutex_init(&md->exports_lock, NULL);
    accel_fd_server_init(&md->fd_server, host);
    *md_p = &md->super;
    return UCS_OK;
}

void accel_md_close(uct_md_h super)
{
    accel_md_t *md = (accel_md_t *)super;
    int i;

    accel_fd_server_cleanup(&md->fd_server);
    accel_exports_close(md);
    for (i = 0; i < accel_driver.num_devices(); ++i) {
        if (md->contexts[i] != NULL) {
            accel_driver.release(i, md->contexts[i]);
        }
    }
    domain_closed();
    pthread_mutex_destroy(&md->exports_lock);
    pthread_mutex_destroy(&md->lock);
    free(md);
}

uint64_t accel_driver_types(void)
{
    uint64_t types = 0;
    int kind;

    for (kind = 0; kind < ACCEL_NUM_KINDS; ++kind) {
        types |= UCS_BIT(accel_type_of((accel_kind_t)kind));
    }
    return types & ~UCS_BIT(UCS_MEMORY_TYPE_HOST);
}

static ucs_status_t md_query(uct_md_h md, ucx_md_attr_t *attr)
{
    const uint64_t host  = UCS_BIT(UCS_MEMORY_TYPE_HOST);
    const uint64_t types = accel_driver_types();

    attr->flags            = UCT_MD_FLAG_ALLOC | UCT_MD_FLAG_REG;
    attr->max_alloc        = SIZE_MAX / 2;
    attr->max_reg          = SIZE_MAX;
    attr->reg_mem_types    = host;
    attr->detect_mem_types = types;
    attr->alloc_mem_types  = types;
    attr->access_mem_types = host | types;
    if (accel_driver.export_dmabuf != NULL) {
        attr->dmabuf_mem_types = UCS_BIT(accel_type_of(ACCEL_DEVICE));
    }
    attr->reg_alignment = 1;
    attr->reg_cost.c    = accel_driver.costs.pin_overhead;
    attr->reg_cost.m    = accel_driver.costs.pin_per_byte;
    return UCS_OK;
}

/* ----------------------------------------------------------- detection -- */

static int is_within(const accel_memory_t *memory, const void *address,
                     size_t length)
{
    size_t offset = (uintptr_t)address - (uintptr_t)memory->base;

    return (memory->kind == ACCEL_DEVICE) && (offset < memory->length) &&
           (length <= memory->length - offset);
}

/* Exports the pages of the range as a dmabuf. Stores the dmabuf's descriptor,
 * which the caller owns, and the offset of `address` in the dmabuf. Does not
 * change *attr (attr->dmabuf_fd is -1) if the range is not within one
 * allocation, or if the driver cannot export it. */
static void export_dmabuf(accel_md_t *md, const void *address, size_t length,
                          const accel_memory_t *memory, ucx_mem_attr_t *attr)
{
    const ucx_host_t *host = md->host;
    const uintptr_t mask   = (uintptr_t)sysconf(_SC_PAGESIZE) - 1;
    uintptr_t start        = (uintptr_t)address & ~mask;
    uintptr_t end          = ((uintptr_t)address + length + mask) & ~mask;
    uint64_t offset        = 0;
    int fd                 = -1;
    accel_scope_t scope;
    int result;

    if ((accel_driver.export_dmabuf == NULL) ||
        !is_within(memory, address, length)) {
        return;
    }
    result = accel_md_enter(md, memory->device, &scope);
    if (result == UCS_OK) {
        result = accel_driver.export_dmabuf(memory->device, start, end - start,
                                            &fd, &offset);
        accel_driver.leave(&scope);
    }
    if (result != UCS_OK) {
        ucx_debug("%s: %zu bytes at %p have no dmabuf: %s", ACCEL_NAME, length,
                  address, accel_error(result));
        return;
    }
    attr->dmabuf_fd     = fd;
    attr->dmabuf_offset = offset + ((uintptr_t)address - start);
}

static ucs_status_t mem_query(uct_md_h super, const void *address,
                              size_t length, ucx_mem_attr_t *attr)
{
    accel_memory_t memory;

    if (accel_driver.find(address, &memory) != UCS_OK) {
        return UCS_ERR_INVALID_ADDR;
    }
    attr->mem_type = accel_type_of(memory.kind);
    if (attr->mem_type == UCS_MEMORY_TYPE_HOST) {
        return UCS_ERR_INVALID_ADDR;
    }
    attr->sys_dev = accel_md_sys_device((accel_md_t *)super, memory.device);
    attr->base_address = memory.base;
    attr->alloc_length = memory.length;
    if (UCX_TABLE_HAS(attr, place)) {
        attr->place = accel_place(&memory);
    }
    if (UCX_TABLE_HAS(attr, wanted) && (attr->wanted & UCX_MEM_WANT_DMABUF)) {
        export_dmabuf((accel_md_t *)super, address, length, &memory, attr);
    }
    return UCS_OK;
}

const ucx_md_ops_t accel_md_ops = {
    .size      = sizeof(accel_md_ops),
    .close     = accel_md_close,
    .query     = md_query,
    .mem_alloc = accel_mem_alloc,
    .mem_free  = accel_mem_free,
    .mem_reg   = accel_mem_reg,
    .mem_dereg = accel_mem_dereg,
    .mem_query = mem_query,
};
