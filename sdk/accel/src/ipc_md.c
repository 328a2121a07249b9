/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The memory domain of the IPC transport. Registering memory exports it, and
 * the remote key describes how other processes open it. Registering fails for
 * memory that cannot be exported. The core then transfers the data through host
 * memory.
 */
#include "descriptor.h"
#include "ipc.h"
#include "process.h"

#include <stdlib.h>
#include <unistd.h>

static ucs_status_t md_query(uct_md_h md, ucx_md_attr_t *attr)
{
    const uint64_t device = UCS_BIT(accel_type_of(ACCEL_DEVICE));

    attr->flags            = UCT_MD_FLAG_REG | UCT_MD_FLAG_NEED_RKEY;
    attr->max_reg          = SIZE_MAX;
    attr->reg_mem_types    = device;
    attr->access_mem_types = accel_driver_types() |
                             UCS_BIT(UCS_MEMORY_TYPE_HOST);
    attr->reg_alignment    = 1;
    attr->reg_cost.c       = accel_driver.costs.export_overhead;
    attr->rkey_packed_size = ACCEL_KEY_SIZE;
    return UCS_OK;
}

/* ---------------------------------------------------------- registration -- */

static ucs_status_t mem_reg(uct_md_h super, void *address, size_t length,
                            const ucx_mem_reg_params_t *params,
                            uct_mem_h *memh_p)
{
    accel_md_t *md         = (accel_md_t *)super;
    const ucx_host_t *host = md->host;
    accel_ipc_region_t *region;
    ucs_status_t status;

    if ((params->dmabuf_fd >= 0) || !accel_driver.is_started()) {
        return UCS_ERR_UNSUPPORTED;
    }
    region = calloc(1, sizeof(*region));
    if (region == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    region->super.address = address;
    region->super.length  = length;
    status = accel_export_get(md, address, length, &region->export);
    if (status != UCS_OK) {
        ucx_debug("%s: memory at %p cannot be exported to other"
                  " processes: it goes through host memory",
                  accel_driver.names.ipc_transport, address);
        free(region);
        return status;
    }
    *memh_p = region;
    return UCS_OK;
}

static ucs_status_t mem_dereg(uct_md_h super, uct_mem_h memh,
                              const ucx_mem_dereg_params_t *params)
{
    accel_ipc_region_t *region = memh;

    if (params->flags & UCX_MEM_DEREG_INVALIDATE) {
        return UCS_ERR_UNSUPPORTED;
    }
    accel_export_put((accel_md_t *)super, region->export);
    free(region);
    return UCS_OK;
}

/* Packs the key of the whole allocation, even if the registered range is only a
 * part of the allocation. */
static ucs_status_t mkey_pack(uct_md_h md, uct_mem_h memh, void *address,
                              size_t length, unsigned flags, void *buffer)
{
    const accel_ipc_region_t *region = memh;
    accel_key_t key                  = region->export->key;
    uint64_t offset = (uintptr_t)address - (uintptr_t)region->super.address;

    if (flags & (UCX_MKEY_PACK_EXPORT | UCX_MKEY_PACK_INVALIDATE)) {
        return UCS_ERR_UNSUPPORTED;
    }
    if ((address != NULL) && ((offset > region->super.length) ||
                              (length > region->super.length - offset))) {
        return UCS_ERR_INVALID_PARAM;
    }
    if (key.fd >= 0) {
        key.socket = accel_fd_server_name(&((accel_md_t *)md)->fd_server);
    }
    accel_key_pack(&key, buffer);
    return UCS_OK;
}

static const ucx_md_ops_t md_ops = {
    .size      = sizeof(md_ops),
    .close     = accel_md_close,
    .query     = md_query,
    .mem_reg   = mem_reg,
    .mem_dereg = mem_dereg,
    .mkey_pack = mkey_pack,
};

/* ---------------------------------------------------------- remote keys -- */

/* Returns whether this process can get the descriptor of the key, if the key
 * has one. */
static int can_open(const accel_key_t *key)
{
    return (key->fd < 0) || (key->owner.pid == getpid()) ||
           accel_descriptor_is_available(key);
}

/* Unpacks a key. Does not start the driver, because this would take 0.4 s: if
 * the driver is not started, unpacking fails, and the core transfers the data
 * through host memory. */
static ucs_status_t rkey_unpack(const ucx_component_t *component,
                                const void *buffer, size_t length,
                                ucs_sys_device_t sys_dev, uct_rkey_t *rkey_p,
                                void **handle_p)
{
    accel_key_t *key = malloc(sizeof(*key));
    const char *reason;
    ucs_status_t status;

    if (key == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    status = accel_key_unpack(buffer, length, key);
    if ((status == UCS_OK) &&
        ((accel_driver.load(&reason) != UCS_OK) || !accel_driver.is_started() ||
         (accel_device_by_pci(&key->pci) < 0) || !can_open(key))) {
        status = UCS_ERR_UNREACHABLE;
    }
    if (status != UCS_OK) {
        free(key);
        return status;
    }
    *rkey_p   = (uct_rkey_t)key;
    *handle_p = NULL;
    return UCS_OK;
}

static ucs_status_t rkey_release(const ucx_component_t *component,
                                 uct_rkey_t rkey, void *handle)
{
    free((void *)rkey);
    return UCS_OK;
}

static int compare(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static ucs_status_t rkey_compare(const ucx_component_t *component, uct_rkey_t a,
                                 uct_rkey_t b, int *result)
{
    const accel_key_t *x = (const accel_key_t *)a;
    const accel_key_t *y = (const accel_key_t *)b;

    *result = compare(x->owner.token, y->owner.token);
    if (*result == 0) {
        *result = compare(x->start, y->start);
    }
    if (*result == 0) {
        *result = compare(x->id, y->id);
    }
    return UCS_OK;
}

void accel_ipc_component_init(ucx_component_t *component)
{
    component->md_ops       = &md_ops;
    component->rkey_unpack  = rkey_unpack;
    component->rkey_release = rkey_release;
    component->rkey_compare = rkey_compare;
}
