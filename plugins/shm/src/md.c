/* SPDX-License-Identifier: BSD-3-Clause */
/* The memory domain of posix and of sysv: allocation, registration, packing of
 * keys, queries; and the tables of both components. */
#include "md.h"
#include "config.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static shm_md_t *shm_md(uct_md_h md)
{
    return (shm_md_t *)md;
}

/* --- The allocations, in the order of their addresses --------------------- */

/* Returns the number of allocations that begin at or before the address. Called
 * with the lock held. */
static unsigned memories_before(const shm_md_t *md, const char *address)
{
    unsigned low = 0, high = md->num_memories;

    while (low < high) {
        unsigned middle = low + (high - low) / 2;

        if (md->memories[middle]->address <= address) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* Returns the allocation that contains the whole range, or NULL. Called with
 * the lock held. */
static shm_memory_t *memories_find(const shm_md_t *md, const void *address,
                                   size_t length)
{
    unsigned index = memories_before(md, address);
    shm_memory_t *memory;
    size_t offset;

    if (index == 0) {
        return NULL;
    }
    memory = md->memories[index - 1];
    offset = (size_t)((const char *)address - memory->address);
    return ((offset < memory->seg.length) &&
            (length <= memory->seg.length - offset)) ?
               memory :
               NULL;
}

static ucs_status_t memories_add(shm_md_t *md, shm_memory_t *memory)
{
    shm_memory_t **grown;
    unsigned index, max;

    if (md->num_memories == md->max_memories) {
        max   = (md->max_memories == 0) ? 16 : 2 * md->max_memories;
        grown = realloc(md->memories, max * sizeof(*grown));
        if (grown == NULL) {
            return UCS_ERR_NO_MEMORY;
        }
        md->memories     = grown;
        md->max_memories = max;
    }

    index = memories_before(md, memory->address);
    memmove(&md->memories[index + 1], &md->memories[index],
            (md->num_memories - index) * sizeof(*md->memories));
    md->memories[index] = memory;
    ++md->num_memories;
    return UCS_OK;
}

static void memories_remove(shm_md_t *md, const shm_memory_t *memory)
{
    unsigned index = memories_before(md, memory->address) - 1;

    --md->num_memories;
    memmove(&md->memories[index], &md->memories[index + 1],
            (md->num_memories - index) * sizeof(*md->memories));
}

static void memory_put(shm_md_t *md, shm_memory_t *memory)
{
    unsigned left;

    pthread_mutex_lock(&md->lock);
    left = --memory->refcount;
    if (left == 0) {
        memories_remove(md, memory);
    }
    pthread_mutex_unlock(&md->lock);

    if (left == 0) {
        shm_seg_unmap(&memory->seg, memory->address, memory->seg.length);
        shm_seg_close(&memory->seg);
        free(memory);
    }
}

/* --- Regions -------------------------------------------------------------- */

static ucs_status_t region_create(shm_memory_t *memory, char *address,
                                  size_t length, uct_mem_h *memh_p)
{
    shm_region_t *region = calloc(1, sizeof(*region));

    if (region == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    region->memory = memory;
    region->seg    = &memory->seg;
    region->base   = (uintptr_t)address;
    region->length = length;
    region->offset = (uint64_t)(address - memory->address);
    region->local  = address;
    *memh_p        = region;
    return UCS_OK;
}

/* --- Allocation ----------------------------------------------------------- */

static ucs_status_t memory_create(shm_md_t *md, size_t length, void *address,
                                  unsigned flags, uint64_t secret,
                                  shm_memory_t **memory_p)
{
    const ucx_host_t *host = md->host;
    shm_memory_t *memory   = calloc(1, sizeof(*memory));
    unsigned seg_flags     = 0;
    ucs_status_t status;
    void *mapped;

    if (memory == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    if (flags & UCT_MD_MEM_FLAG_HIDE_ERRORS) {
        seg_flags |= SHM_SEG_QUIET;
    }
    if (flags & UCT_MD_MEM_FLAG_FIXED) {
        seg_flags |= SHM_SEG_FIXED;
    }

    status = shm_seg_make_mapped(&md->space, length, address, seg_flags, secret,
                                 &memory->seg, &mapped);
    if (status != UCS_OK) {
        goto err_free;
    }
    memory->address  = mapped;
    memory->refcount = 1;

    /* Commit now: otherwise a lack of memory would raise a signal at the first
     * access. */
    if (!(flags & UCT_MD_MEM_FLAG_NONBLOCK)) {
        status = shm_seg_commit(&memory->seg, mapped, 0, memory->seg.length);
        if (status != UCS_OK) {
            goto err_close;
        }
    }
    if ((flags & UCT_MD_MEM_FLAG_LOCK) &&
        (mlock(mapped, memory->seg.length) != 0)) {
        ucx_debug("cannot lock %zu bytes of shared memory: raise the limit of "
                  "locked memory (ulimit -l)",
                  memory->seg.length);
        status = UCS_ERR_NO_MEMORY;
        goto err_close;
    }
    *memory_p = memory;
    return UCS_OK;

err_close:
    shm_seg_unmap(&memory->seg, mapped, memory->seg.length);
    shm_seg_close(&memory->seg);
err_free:
    free(memory);
    return status;
}

static ucs_status_t shm_md_mem_alloc(uct_md_h uct_md, size_t *length,
                                     void **address,
                                     const ucx_mem_alloc_params_t *params,
                                     uct_mem_h *memh_p)
{
    shm_md_t *md         = shm_md(uct_md);
    shm_memory_t *memory = NULL;
    ucs_status_t status;
    uct_mem_h memh;

    if ((params->mem_type != UCS_MEMORY_TYPE_HOST) || (*length == 0)) {
        return (*length == 0) ? UCS_ERR_INVALID_PARAM : UCS_ERR_UNSUPPORTED;
    }

    status = memory_create(md, *length, *address, params->flags,
                           UCX_TABLE_HAS(params, secret) ? params->secret : 0,
                           &memory);
    if (status != UCS_OK) {
        return status;
    }
    status = region_create(memory, memory->address, memory->seg.length, &memh);
    if (status != UCS_OK) {
        goto err_close;
    }
    pthread_mutex_lock(&md->lock);
    status = memories_add(md, memory);
    pthread_mutex_unlock(&md->lock);
    if (status != UCS_OK) {
        goto err_region;
    }

    *address = memory->address;
    *length  = memory->seg.length;
    *memh_p  = memh;
    return UCS_OK;

err_region:
    free(memh);
err_close:
    shm_seg_unmap(&memory->seg, memory->address, memory->seg.length);
    shm_seg_close(&memory->seg);
    free(memory);
    return status;
}

static void region_destroy(shm_md_t *md, shm_region_t *region)
{
    if (region->memory != NULL) {
        memory_put(md, region->memory);
    } else {
        shm_key_close(md->keys, &region->attached);
    }
    free(region);
}

static ucs_status_t shm_md_mem_free(uct_md_h md, uct_mem_h memh)
{
    region_destroy(shm_md(md), memh);
    return UCS_OK;
}

/* --- Registration --------------------------------------------------------- */

/* Finds the allocation of the range. Only memory allocated by this domain is
 * shared memory. */
static ucs_status_t shm_md_mem_reg(uct_md_h uct_md, void *address,
                                   size_t length,
                                   const ucx_mem_reg_params_t *params,
                                   uct_mem_h *memh_p)
{
    shm_md_t *md        = shm_md(uct_md);
    ucs_status_t status = UCS_ERR_INVALID_ADDR;
    shm_memory_t *memory;

    if (UCX_TABLE_HAS(params, dmabuf_fd) &&
        (params->dmabuf_fd != UCT_DMABUF_FD_INVALID)) {
        return UCS_ERR_UNSUPPORTED;
    }

    pthread_mutex_lock(&md->lock);
    memory = memories_find(md, address, length);
    if (memory != NULL) {
        status = region_create(memory, address, length, memh_p);
        if (status == UCS_OK) {
            ++memory->refcount;
        }
    }
    pthread_mutex_unlock(&md->lock);
    return status;
}

static ucs_status_t shm_md_mem_dereg(uct_md_h md, uct_mem_h memh,
                                     const ucx_mem_dereg_params_t *params)
{
    /* The mapping of a peer cannot be revoked */
    if ((params != NULL) && (params->flags & UCX_MEM_DEREG_INVALIDATE)) {
        return UCS_ERR_UNSUPPORTED;
    }
    region_destroy(shm_md(md), memh);
    return UCS_OK;
}

static ucs_status_t shm_md_mem_attach(uct_md_h uct_md, const void *buffer,
                                      size_t length, uct_mem_h *memh_p)
{
    shm_md_t *md         = shm_md(uct_md);
    shm_region_t *region = calloc(1, sizeof(*region));
    ucs_status_t status;

    if (region == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    status = shm_key_open(md->keys, buffer, length, &region->attached);
    if (status != UCS_OK) {
        free(region);
        return status;
    }
    region->seg    = &region->attached.attached->seg;
    region->base   = region->attached.base;
    region->length = region->attached.length;
    region->local  = region->attached.local;
    region->offset = (uint64_t)(region->local -
                                region->attached.attached->mapped);
    *memh_p        = region;
    return UCS_OK;
}

static ucs_status_t shm_md_mkey_pack(uct_md_h md, uct_mem_h memh, void *address,
                                     size_t length, unsigned flags,
                                     void *buffer)
{
    const shm_region_t *region = memh;
    uint64_t offset            = 0;
    uint64_t size              = region->length;

    if (flags & UCX_MKEY_PACK_INVALIDATE) {
        return UCS_ERR_UNSUPPORTED;
    }
    if (address != NULL) {
        offset = (uintptr_t)address - region->base;
        size   = length;
        if ((size == 0) || (offset > region->length) ||
            (size > region->length - offset)) {
            return UCS_ERR_INVALID_PARAM;
        }
    }
    shm_key_pack(region->seg, region->base + offset, size,
                 region->offset + offset, buffer);
    return UCS_OK;
}

/* --- Queries and advice --------------------------------------------------- */

static ucs_status_t shm_md_mem_query(uct_md_h uct_md, const void *address,
                                     size_t length, ucx_mem_attr_t *attr)
{
    shm_md_t *md        = shm_md(uct_md);
    ucs_status_t status = UCS_ERR_INVALID_ADDR;
    shm_memory_t *memory;

    pthread_mutex_lock(&md->lock);
    memory = memories_find(md, address, length);
    if (memory != NULL) {
        attr->mem_type     = UCS_MEMORY_TYPE_HOST;
        attr->base_address = memory->address;
        attr->alloc_length = memory->seg.length;
        status             = UCS_OK;
    }
    pthread_mutex_unlock(&md->lock);
    return status;
}

static ucs_status_t shm_md_mem_advise(uct_md_h md, uct_mem_h memh,
                                      void *address, size_t length,
                                      uct_mem_advice_t advice)
{
    shm_region_t *region = memh;
    uint64_t offset      = (uintptr_t)address - region->base;

    if ((offset > region->length) || (length > region->length - offset)) {
        return UCS_ERR_INVALID_ADDR;
    }
    if (advice != UCT_MADV_WILLNEED) {
        return UCS_OK; /* No other advice has an effect */
    }
    return shm_seg_commit((shm_seg_t *)region->seg, region->local + offset,
                          region->offset + offset, length);
}

static ucs_status_t shm_md_query(uct_md_h uct_md, ucx_md_attr_t *attr)
{
    const uint64_t host_memory = UCS_BIT(UCS_MEMORY_TYPE_HOST);
    shm_md_t *md               = shm_md(uct_md);

    attr->flags = UCT_MD_FLAG_ALLOC | UCT_MD_FLAG_NEED_RKEY |
                  UCT_MD_FLAG_ADVISE | UCT_MD_FLAG_FIXED |
                  UCT_MD_FLAG_RKEY_PTR | UCT_MD_FLAG_EXPORTED_MKEY;
    attr->max_alloc                 = SIZE_MAX >> 2;
    attr->alloc_mem_types           = host_memory;
    attr->access_mem_types          = host_memory;
    attr->rkey_packed_size          = SHM_KEY_LENGTH;
    attr->exported_mkey_packed_size = SHM_KEY_LENGTH;
    attr->reg_alignment             = 1;
    attr->global_id                 = md->host->machine_guid();
    return UCS_OK;
}

/* --- Opening and closing -------------------------------------------------- */

static ucs_status_t md_configure(shm_md_t *md, const void *options)
{
    const shm_posix_md_config_t *posix = options;
    const shm_sysv_md_config_t *sysv   = options;

    if (md->space.kind == &shm_kind_sysv) {
        md->space.hugetlb = sysv->hugetlb_mode;
        return UCS_OK;
    }

    if ((posix->dir == NULL) || (posix->dir[0] != '/')) {
        const ucx_host_t *host = md->host;

        ucx_error("UCX_POSIX_DIR is \"%s\"; set it to the full path of a "
                  "folder",
                  (posix->dir == NULL) ? "" : posix->dir);
        return UCS_ERR_INVALID_PARAM;
    }
    md->dir = strdup(posix->dir);
    if (md->dir == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    md->space.dir        = md->dir;
    md->space.use_names  = posix->use_names;
    md->space.use_proc   = posix->use_proc_link;
    md->space.use_socket = posix->use_socket;
    md->space.hugetlb    = posix->hugetlb_mode;
    return UCS_OK;
}

static ucs_status_t shm_md_open(const ucx_component_t *component,
                                const ucx_md_open_args_t *args, uct_md_h *md_p)
{
    const ucx_host_t *host = shm_host(component);
    ucs_status_t status;
    shm_md_t *md;

    if (args->config == NULL) {
        return UCS_ERR_INVALID_PARAM;
    }
    md = calloc(1, sizeof(*md));
    if (md == NULL) {
        return UCS_ERR_NO_MEMORY;
    }

    ucx_md_init(&md->super, args);
    md->host = host;
    md->keys = shm_container_of(component, shm_component_t, super)->keys;
    status   = shm_space_open(&md->space, host, md->keys->kind);
    if (status != UCS_OK) {
        goto err_free;
    }
    status = md_configure(md, args->config);
    if (status != UCS_OK) {
        goto err_space;
    }
    shm_key_cache_configure(md->keys, &md->space);
    pthread_mutex_init(&md->lock, NULL);
    *md_p = &md->super;
    return UCS_OK;

err_space:
    shm_space_close(&md->space);
err_free:
    free(md);
    return status;
}

static void shm_md_close(uct_md_h uct_md)
{
    shm_md_t *md = shm_md(uct_md);

    shm_space_close(&md->space);
    pthread_mutex_destroy(&md->lock);
    free(md->memories);
    free(md->dir);
    free(md);
}

static const ucx_md_ops_t md_ops = {
    .size       = sizeof(md_ops),
    .close      = shm_md_close,
    .query      = shm_md_query,
    .mem_alloc  = shm_md_mem_alloc,
    .mem_free   = shm_md_mem_free,
    .mem_advise = shm_md_mem_advise,
    .mem_reg    = shm_md_mem_reg,
    .mem_dereg  = shm_md_mem_dereg,
    .mem_query  = shm_md_mem_query,
    .mkey_pack  = shm_md_mkey_pack,
    .mem_attach = shm_md_mem_attach,
};

/* --- The components ------------------------------------------------------- */

static ucs_status_t shm_md_resources(const ucx_component_t *component,
                                     uct_md_resource_desc_t **mds_p,
                                     unsigned *num_p)
{
    uct_md_resource_desc_t *md = calloc(1, sizeof(*md));

    if (md == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    strcpy(md->md_name, component->name);
    *mds_p = md;
    *num_p = 1;
    return UCS_OK;
}

static const ucx_transport_t *const posix_transports[] = {&shm_posix_transport};
static const ucx_transport_t *const sysv_transports[]  = {&shm_sysv_transport};

ucs_status_t shm_md_component_init(shm_component_t *component, int which)
{
    ucx_component_t *super = &component->super;
    const shm_kind_t *kind;
    int is_posix = (which == SHM_POSIX);

    kind                      = is_posix ? &shm_kind_posix : &shm_kind_sysv;
    super->size               = sizeof(*super);
    super->name               = is_posix ? "posix" : "sysv";
    super->flags              = UCT_COMPONENT_FLAG_RKEY_PTR;
    super->md_config          = is_posix ? &shm_posix_md_config_table :
                                           &shm_sysv_md_config_table;
    super->query_md_resources = shm_md_resources;
    super->md_open            = shm_md_open;
    super->md_ops             = &md_ops;
    super->rkey_unpack        = shm_rkey_unpack;
    super->rkey_ptr           = shm_rkey_ptr;
    super->rkey_release       = shm_rkey_release;
    super->rkey_compare       = shm_rkey_compare;
    super->transports         = is_posix ? posix_transports : sysv_transports;
    super->num_transports     = 1;
    return shm_key_cache_create(component->instance->super.host, kind,
                                &component->keys);
}

void shm_md_component_cleanup(shm_component_t *component)
{
    shm_key_cache_destroy(component->keys);
    component->keys = NULL;
}
