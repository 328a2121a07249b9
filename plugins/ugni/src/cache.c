/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The registration cache: registrations of buffers of transfers are kept until
 * their memory is unmapped. Without the cache, each transfer would make a
 * system call for a random key, and the provider and the plugin would allocate
 * memory for the registration.
 */
#include "mem.h"

#include <rdma/fi_domain.h>

typedef struct cached {
    ucx_rcache_region_t super;
    ugni_mem_t *mem;
} cached_t;

static ucs_status_t cached_register(void *arg, ucx_rcache_region_t *super,
                                    unsigned flags)
{
    cached_t *region    = ugni_container_of(super, cached_t, super);
    ucs_status_t status = ugni_mem_new(arg, super->address, super->length,
                                       UCS_MEMORY_TYPE_HOST, &region->mem);

    if (status == UCS_OK) {
        region->mem->cached = super;
    }
    return status;
}

static void cached_deregister(void *arg, ucx_rcache_region_t *super)
{
    ugni_mem_delete(arg, ugni_container_of(super, cached_t, super)->mem);
}

/* With FI_MR_ENDPOINT there is no cache: when a port (ugni_port_t, with an
 * endpoint of libfabric) is opened, all registered memory is registered with
 * it, too, and the memory of a cached registration may be unmapped by then. */
void ugni_cache_create(ugni_md_t *md)
{
    const ucx_host_t *host           = md->host;
    const ucx_rcache_params_t params = {
        .size        = sizeof(params),
        .name        = UGNI_NAME,
        .region_size = sizeof(cached_t),
        .alignment   = 4096,
        .max_regions = SIZE_MAX,
        .max_bytes   = SIZE_MAX,
        .mem_reg     = cached_register,
        .mem_dereg   = cached_deregister,
        .arg         = md,
    };
    ucs_status_t status;

    if ((md->wants_rcache == UCS_NO) || (md->num_devices == 0) ||
        (md->mr_mode & FI_MR_ENDPOINT)) {
        return;
    }
    status = host->rcache_create(&params, &md->rcache);
    if (status != UCS_OK) {
        md->rcache = NULL;
        if (md->wants_rcache == UCS_YES) {
            ucx_warn("UCX_UGNI_RCACHE=y, but memory events cannot be seen here "
                     "(UCX_MEM_EVENTS): every registration is made anew");
        }
    }
}

void ugni_cache_destroy(ugni_md_t *md)
{
    if (md->rcache != NULL) {
        md->host->rcache_destroy(md->rcache);
    }
}

/* Memory that the user maps for peers (its flags include atomics) is not
 * cached, so that deregistration invalidates the key. Buffers of transfers do
 * not request atomics. */
ucs_status_t ugni_cache_get(ugni_md_t *md, void *address, size_t length,
                            const ucx_mem_reg_params_t *params,
                            ugni_mem_t **mem_p)
{
    ucx_rcache_region_t *region;
    ucs_status_t status;

    if ((md->rcache == NULL) || (length == 0) || (params == NULL) ||
        (params->flags & UCT_MD_MEM_ACCESS_REMOTE_ATOMIC)) {
        return UCS_ERR_UNSUPPORTED;
    }
    status = md->host->rcache_get(md->rcache, address, length, 0, &region);
    if (status == UCS_OK) {
        *mem_p = ugni_container_of(region, cached_t, super)->mem;
    }
    return status;
}
