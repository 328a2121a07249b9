/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory domains: registration, with a cache unless UCX_IB_RCACHE=n or memory
 * events are not available; keys; on-demand paging; dmabufs; opening and
 * closing; the list of ports.
 */
#include "md.h"
#include "device.h"
#include "iwarp.h"
#include "memlock.h"
#include "port.h"
#include "watch.h"

#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    ACCESS_ALL = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
                 IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC,
    PAGE_SIZE = 4096,
};

/* --- Registration --------------------------------------------------------- */

static int access_flags(const ib_md_t *md)
{
    return ACCESS_ALL | ((md->config.relaxed_ordering == UCS_YES) ?
                             IBV_ACCESS_RELAXED_ORDERING :
                             0);
}

ucs_status_t ib_reg_failed(ib_md_t *md, int level, const void *address,
                           size_t length)
{
    const ucx_host_t *host = md->host;
    int error              = errno;
    char advice[IB_ADVICE_LENGTH];

    if (ib_memlock_advice(error, advice)) {
        /* Each transfer may fail for the same reason: report it as an error
         * only once. */
        level = __atomic_exchange_n(&md->is_limit_told, 1, __ATOMIC_RELAXED) ?
                    UCS_LOG_LEVEL_DEBUG :
                    UCS_LOG_LEVEL_ERROR;
    }
    ucx_log(level, "%s: cannot register %zu bytes at %p: %s%s",
            md->super.component->name, length, address, strerror(error),
            advice);
    return (advice[0] != '\0')                      ? UCS_ERR_NO_MEMORY :
           ((error == EFAULT) || (error == EINVAL)) ? UCS_ERR_INVALID_ADDR :
                                                      ib_status_of_errno(error);
}

static ucs_status_t region_register(ib_md_t *md, ib_region_t *region,
                                    void *address, size_t length, int dmabuf_fd,
                                    size_t dmabuf_offset)
{
    if (dmabuf_fd != -1) {
        region->mr = ibv_reg_dmabuf_mr(md->pd, dmabuf_offset, length,
                                       (uintptr_t)address, dmabuf_fd,
                                       access_flags(md));
    } else {
        region->mr = ibv_reg_mr(md->pd, address, length,
                                access_flags(md) | md->odp_access);
    }
    return (region->mr != NULL) ?
               UCS_OK :
               ib_reg_failed(md, UCS_LOG_LEVEL_DEBUG, address, length);
}

static ucs_status_t cached_register(void *arg, ucx_rcache_region_t *super,
                                    unsigned flags)
{
    ib_region_t *region = ib_container_of(super, ib_region_t, super);

    region->is_cached = 1;
    return region_register(arg, region, super->address, super->length, -1, 0);
}

static void cached_deregister(void *arg, ucx_rcache_region_t *super)
{
    (void)arg;
    ibv_dereg_mr(ib_container_of(super, ib_region_t, super)->mr);
}

static ucs_status_t register_alone(ib_md_t *md, void *address, size_t length,
                                   int dmabuf_fd, size_t dmabuf_offset,
                                   uct_mem_h *memh_p)
{
    ib_region_t *region = calloc(1, sizeof(*region));
    ucs_status_t status;

    if (region == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    region->super.address = address;
    region->super.length  = length;
    status = region_register(md, region, address, length, dmabuf_fd,
                             dmabuf_offset);
    if (status != UCS_OK) {
        free(region);
        return status;
    }
    *memh_p = region;
    return UCS_OK;
}

static ucs_status_t ib_md_mem_reg(uct_md_h uct_md, void *address, size_t length,
                                  const ucx_mem_reg_params_t *params,
                                  uct_mem_h *memh_p)
{
    ib_md_t *md = (ib_md_t *)uct_md;
    int has_fd  = UCX_TABLE_HAS(params, dmabuf_offset) &&
                 (params->dmabuf_fd != -1);
    ucx_rcache_region_t *region;
    ucs_status_t status;

    if ((length == 0) || ((uintptr_t)address > UINTPTR_MAX - length)) {
        return UCS_ERR_INVALID_ADDR;
    }
    if (has_fd) {
        return register_alone(md, address, length, params->dmabuf_fd,
                              params->dmabuf_offset, memh_p);
    }
    /* A cached registration and its key stay valid until the memory is
     * unmapped. Memory that the user maps for peers (its flags include atomics)
     * is not cached, so that deregistration invalidates the key. Transfer
     * buffers do not request atomics. */
    if ((md->rcache != NULL) &&
        !(params->flags & UCT_MD_MEM_ACCESS_REMOTE_ATOMIC)) {
        status = md->host->rcache_get(md->rcache, address, length, 0, &region);
        if (status == UCS_OK) {
            *memh_p = ib_container_of(region, ib_region_t, super);
            return UCS_OK;
        }
        if (status != UCS_ERR_UNSUPPORTED) {
            return status;
        }
    }
    return register_alone(md, address, length, -1, 0, memh_p);
}

static ucs_status_t ib_md_mem_dereg(uct_md_h uct_md, uct_mem_h memh,
                                    const ucx_mem_dereg_params_t *params)
{
    ib_md_t *md         = (ib_md_t *)uct_md;
    ib_region_t *region = memh;

    if ((params != NULL) && (params->flags & UCX_MEM_DEREG_INVALIDATE)) {
        return UCS_ERR_UNSUPPORTED; /* The domain's attributes do not declare
                                     * invalidation */
    }
    if (region->is_cached) {
        md->host->rcache_put(md->rcache, &region->super);
        return UCS_OK;
    }
    if (ibv_dereg_mr(region->mr) != 0) {
        return UCS_ERR_IO_ERROR;
    }
    free(region);
    return UCS_OK;
}

/* --- Keys: four bytes, little-endian -------------------------------------- */

static ucs_status_t ib_md_mkey_pack(uct_md_h md, uct_mem_h memh, void *address,
                                    size_t length, unsigned flags, void *buffer)
{
    uint32_t rkey = htole32(((ib_region_t *)memh)->mr->rkey);

    if (flags & (UCX_MKEY_PACK_EXPORT | UCX_MKEY_PACK_INVALIDATE)) {
        return UCS_ERR_UNSUPPORTED;
    }
    memcpy(buffer, &rkey, sizeof(rkey));
    return UCS_OK;
}

/* Unpacks a remote key. Any 32 bits may be a valid key: the remote device
 * checks the key at each access. */
ucs_status_t ib_rkey_unpack(const ucx_component_t *component,
                            const void *buffer, size_t length,
                            ucs_sys_device_t sys_dev, uct_rkey_t *rkey_p,
                            void **handle_p)
{
    uint32_t rkey;

    if (length < sizeof(rkey)) {
        return UCS_ERR_INVALID_PARAM;
    }
    memcpy(&rkey, buffer, sizeof(rkey));
    *rkey_p   = le32toh(rkey);
    *handle_p = NULL;
    return UCS_OK;
}

ucs_status_t ib_rkey_release(const ucx_component_t *component, uct_rkey_t rkey,
                             void *handle)
{
    return UCS_OK;
}

ucs_status_t ib_rkey_compare(const ucx_component_t *component, uct_rkey_t a,
                             uct_rkey_t b, int *result)
{
    *result = (a > b) - (a < b);
    return UCS_OK;
}

/* --- On-demand paging ----------------------------------------------------- */

/* Returns whether the device supports on-demand paging for all operations that
 * connections use. */
static int has_odp(const ib_md_t *md)
{
    const uint32_t needed = IBV_ODP_SUPPORT_SEND | IBV_ODP_SUPPORT_WRITE |
                            IBV_ODP_SUPPORT_READ | IBV_ODP_SUPPORT_ATOMIC;
    struct ibv_device_attr_ex attr = {0};

    return (ibv_query_device_ex(md->context, NULL, &attr) == 0) &&
           (attr.odp_caps.general_caps & IBV_ODP_SUPPORT) &&
           ((attr.odp_caps.per_transport_caps.rc_odp_caps & needed) == needed);
}

void ib_md_set_odp(ib_md_t *md)
{
    const ucx_host_t *host = md->host;

    md->odp_access = 0;
    if ((md->config.odp == UCS_NO) ||
        ((md->config.odp != UCS_YES) && (md->rcache != NULL))) {
        return; /* Repeated registrations cost as little with the cache as with
                 * on-demand paging, which makes transfers slower */
    }
    if (has_odp(md)) {
        md->odp_access = IBV_ACCESS_ON_DEMAND;
    } else if (md->config.odp == UCS_YES) {
        ucx_warn(
            "UCX_IB_ODP=y, but %s has no on-demand paging for connections: "
            "memory is locked while it is registered",
            ibv_get_device_name(md->context->device));
    }
}

/* --- Memory of other devices ---------------------------------------------- */

/* Determines whether the device registers dmabufs. There is no query for this,
 * so this function tries a registration with an invalid file descriptor. The
 * error shows which layer rejects the registration. EBADF comes from a driver
 * that supports dmabufs and has looked up the file. Kernels and drivers without
 * dmabufs reject the request itself (EOPNOTSUPP, EPROTONOSUPPORT, EINVAL). */
void ib_md_set_dmabuf(ib_md_t *md)
{
    const ucx_host_t *host = md->host;
    struct ibv_mr *mr      = ibv_reg_dmabuf_mr(md->pd, 0, PAGE_SIZE, 0, -1,
                                               access_flags(md));

    md->has_dmabuf = (mr != NULL) || (errno == EBADF);
    if (mr != NULL) {
        ibv_dereg_mr(mr);
    } else if (!md->has_dmabuf) {
        ucx_debug("%s does not register dmabufs: %s",
                  ibv_get_device_name(md->context->device), strerror(errno));
    }
}

/* --- The domain ----------------------------------------------------------- */

static void md_make_rcache(ib_md_t *md)
{
    const ucx_host_t *host           = md->host;
    const ucx_rcache_params_t params = {
        .size        = sizeof(params),
        .name        = IB_NAME,
        .region_size = sizeof(ib_region_t),
        .alignment   = PAGE_SIZE,
        .max_regions = SIZE_MAX,
        .max_bytes   = SIZE_MAX,
        .mem_reg     = cached_register,
        .mem_dereg   = cached_deregister,
        .arg         = md,
    };
    ucs_status_t status;

    if (md->config.rcache == UCS_NO) {
        return;
    }
    status = host->rcache_create(&params, &md->rcache);
    if (status != UCS_OK) {
        md->rcache = NULL;
        if (md->config.rcache == UCS_YES) {
            ucx_warn("UCX_IB_RCACHE=y, but memory events cannot be seen here "
                     "(UCX_MEM_EVENTS): every registration is made anew");
        }
    }
}

/* Prepares libibverbs for fork(). Must run before the first registration of the
 * process. On kernels that copy registered pages at a fork, ibv_fork_init()
 * does nothing. */
static ucs_status_t prepare_fork(const ucx_host_t *host, int wanted)
{
    int error = (wanted == UCS_NO) ? 0 : ibv_fork_init();

    if (error == 0) {
        return UCS_OK;
    }
    if (wanted != UCS_YES) {
        ucx_debug("libibverbs is not prepared for fork(): %s", strerror(error));
        return UCS_OK;
    }
    ucx_error("UCX_IB_FORK_INIT=y, but libibverbs cannot be prepared for "
              "fork(): %s",
              strerror(error));
    return UCS_ERR_UNSUPPORTED;
}

ucs_status_t ib_md_open(const ucx_component_t *component,
                        const ucx_md_open_args_t *args, uct_md_h *md_p)
{
    const ucx_host_t *host = ib_host(component);
    ucs_status_t status;
    char path[128];
    ib_md_t *md;

    if (args->config == NULL) {
        return UCS_ERR_INVALID_PARAM;
    }
    md = calloc(1, sizeof(*md));
    if (md == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    ucx_md_init(&md->super, args);
    md->host   = host;
    md->config = *(const ib_md_config_t *)args->config;
    status     = prepare_fork(host, md->config.fork_init);
    if (status == UCS_OK) {
        status = ib_device_open(host, args->name, &md->context);
    }
    if (status != UCS_OK) {
        goto err_free;
    }
    md->pd = ibv_alloc_pd(md->context);
    if ((md->pd == NULL) || (ibv_query_device(md->context, &md->attr) != 0) ||
        (ib_watches_init(md) != UCS_OK)) {
        ucx_diag("%s: cannot be used: %s", args->name, strerror(errno));
        status = UCS_ERR_NO_DEVICE;
        goto err_close;
    }
    /* On iWARP the peer's device writes the data of a read to the buffer: the
     * buffer needs the access right of remote writes. */
    md->sink_access = ib_is_iwarp(md->context) ? IBV_ACCESS_REMOTE_WRITE : 0;
    md->sys_dev     = UCS_SYS_DEVICE_ID_UNKNOWN;
    snprintf(path, sizeof(path), "/sys/class/infiniband/%s/device", args->name);
    (void)host->sys_device_by_sysfs(path, &md->sys_dev);
    md_make_rcache(md);
    ib_md_set_odp(md);
    ib_md_set_dmabuf(md);
    *md_p = &md->super;
    return UCS_OK;

err_close:
    if (md->pd != NULL) {
        ibv_dealloc_pd(md->pd);
    }
    ibv_close_device(md->context);
err_free:
    free(md);
    return status;
}

static void ib_md_close(uct_md_h uct_md)
{
    ib_md_t *md = (ib_md_t *)uct_md;

    if (md->rcache != NULL) {
        md->host->rcache_destroy(md->rcache);
    }
    ib_watches_cleanup(md);
    ibv_dealloc_pd(md->pd);
    ibv_close_device(md->context);
    free(md);
}

static ucs_status_t ib_md_query(uct_md_h uct_md, ucx_md_attr_t *attr)
{
    const ib_md_t *md   = (ib_md_t *)uct_md;
    const uint64_t host = UCS_BIT(UCS_MEMORY_TYPE_HOST);

    attr->flags = UCT_MD_FLAG_REG | UCT_MD_FLAG_NEED_MEMH |
                  UCT_MD_FLAG_NEED_RKEY |
                  (md->has_dmabuf ? UCT_MD_FLAG_REG_DMABUF : 0);
    attr->max_reg          = md->attr.max_mr_size;
    attr->reg_mem_types    = host;
    attr->cache_mem_types  = (md->rcache != NULL) ? host : 0;
    attr->access_mem_types = host;
    /* Seconds, and seconds per byte. With the cache, a registration is mostly a
     * look-up; without, it is a system call that pins each page. */
    attr->reg_cost         = (md->rcache != NULL) ?
                                 ucs_linear_func_make(1e-7, 0) :
                                 ucs_linear_func_make(16e-6, 0.06e-9);
    attr->rkey_packed_size = sizeof(uint32_t);
    attr->reg_alignment    = PAGE_SIZE;
    memcpy(&attr->global_id, &md->attr.sys_image_guid, sizeof(attr->global_id));
    return UCS_OK;
}

ucs_status_t ib_md_query_ud_devices(uct_md_h uct_md,
                                    ucx_device_desc_t **devices_p,
                                    unsigned *num_p)
{
    if (ib_is_iwarp(((ib_md_t *)uct_md)->context)) {
        *devices_p = NULL;
        *num_p     = 0;
        return UCS_OK; /* iWARP has no datagrams */
    }
    return ib_md_query_devices(uct_md, devices_p, num_p);
}

ucs_status_t ib_md_query_devices(uct_md_h uct_md, ucx_device_desc_t **devices_p,
                                 unsigned *num_p)
{
    ib_md_t *md  = (ib_md_t *)uct_md;
    unsigned num = 0;
    ucx_device_desc_t *devices;
    ib_port_t port;

    devices = calloc((size_t)md->attr.phys_port_cnt + 1, sizeof(*devices));
    if (devices == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    for (uint8_t i = 1; i <= md->attr.phys_port_cnt; ++i) {
        if (ib_port_open(md->host, md->context, i, &md->config, &port) !=
            UCS_OK) {
            continue;
        }
        snprintf(devices[num].name, sizeof(devices[num].name), "%.*s:%u",
                 (int)(sizeof(devices[num].name) - 5),
                 ibv_get_device_name(md->context->device), i);
        devices[num].type    = UCT_DEVICE_TYPE_NET;
        devices[num].sys_dev = md->sys_dev;
        ++num;
    }
    *devices_p = devices;
    *num_p     = num;
    return UCS_OK;
}

const ucx_md_ops_t ib_md_ops = {
    .size      = sizeof(ib_md_ops),
    .close     = ib_md_close,
    .query     = ib_md_query,
    .mem_reg   = ib_md_mem_reg,
    .mem_dereg = ib_md_mem_dereg,
    .mkey_pack = ib_md_mkey_pack,
};
