/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ucp_mem_map and ucp_mem_unmap: allocate memory or record memory of the user.
 * Also the registration with a memory domain, which is done when this domain is
 * first needed. pack.c and packed.c create the packed keys for peers.
 */
#include "ucp/mem/mem.h"

#include "ucp/mem/table.h"
#include "ucs/debug/log.h"
#include "ucs/host/guid.h"
#include "ucs/sys/sys.h"
#include "ucs/sys/uid.h"
#include "ucs/type/memory_type.h"
#include "uct/base/md.h"
#include "uct/base/memtype.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
    KNOWN_FLAGS = UCP_MEM_MAP_NONBLOCK | UCP_MEM_MAP_ALLOCATE |
                  UCP_MEM_MAP_FIXED | UCP_MEM_MAP_SYMMETRIC_RKEY |
                  UCP_MEM_MAP_LOCK,
};

/* The parameters with their defaults filled in. */
typedef struct {
    void *address;
    size_t length;
    unsigned flags;
    unsigned prot;
    ucs_memory_type_t mem_type; /* UNKNOWN: to be detected */
} map_args_t;

/* ------------------------------------------------------------- handles -- */

ucp_mem_h ucp_mem_new(ucp_context_h context)
{
    ucp_mem_h memh = calloc(1, sizeof(*memh) +
                                   context->num_mds * sizeof(memh->memhs[0]));

    if (memh != NULL) {
        memh->context  = context;
        memh->id       = ucs_generate_uuid();
        memh->refs     = 1;
        memh->mem_type = UCS_MEMORY_TYPE_HOST;
        memh->sys_dev  = UCS_SYS_DEVICE_ID_UNKNOWN;
        memh->prot     = UCP_MEM_PROT_ALL;
        pthread_mutex_init(&memh->lock, NULL);
    }
    return memh;
}

/* True if this domain has allocated the memory. The domain's handle then
 * belongs to the allocation: uct_mem_free() releases it, not
 * uct_md_mem_dereg(). */
static int is_of_allocation(ucp_mem_h memh, unsigned md_index)
{
    return (memh->flags & UCP_MEM_FLAG_ALLOCATED) &&
           (memh->alloc.method == UCT_ALLOC_METHOD_MD) &&
           (memh->alloc.md == memh->context->mds[md_index].md);
}

ucs_status_t ucp_mem_free(ucp_mem_h memh)
{
    ucp_context_h context = memh->context;
    ucs_status_t result   = UCS_OK;
    ucs_status_t status;
    unsigned i;

    if (memh->window.component != NULL) {
        uct_rkey_release(memh->window.component, &memh->window.key);
    }
    for (i = 0; i < context->num_mds; ++i) {
        if (!(memh->known & UCS_BIT(i)) || is_of_allocation(memh, i)) {
            continue;
        }
        status = uct_md_mem_dereg(context->mds[i].md, memh->memhs[i]);
        if (status != UCS_OK) {
            ucs_error("%s: memory at %p could not be deregistered: %s",
                      context->mds[i].name, memh->address,
                      ucs_status_string(status));
            result = status;
        }
    }
    if (memh->flags & UCP_MEM_FLAG_LOCKED) {
        munlock(memh->address, memh->length);
    }
    if (memh->flags & UCP_MEM_FLAG_ALLOCATED) {
        status = uct_mem_free(&memh->alloc);
        result = (status == UCS_OK) ? result : status;
    }
    pthread_mutex_destroy(&memh->lock);
    free(memh);
    return result;
}

/* -------------------------------------------------------- registration -- */

static const struct {
    unsigned ours, theirs;
} prot_words[] = {
    {UCP_MEM_MAP_PROT_LOCAL_READ, UCT_MD_MEM_ACCESS_LOCAL_READ},
    {UCP_MEM_MAP_PROT_LOCAL_WRITE, UCT_MD_MEM_ACCESS_LOCAL_WRITE},
    {UCP_MEM_MAP_PROT_REMOTE_READ, UCT_MD_MEM_ACCESS_REMOTE_GET},
    {UCP_MEM_MAP_PROT_REMOTE_WRITE, UCT_MD_MEM_ACCESS_REMOTE_PUT},
    /* An atomic operation reads and writes */
    {UCP_MEM_MAP_PROT_REMOTE_READ | UCP_MEM_MAP_PROT_REMOTE_WRITE,
     UCT_MD_MEM_ACCESS_REMOTE_ATOMIC},
};

static unsigned domain_access(unsigned prot)
{
    unsigned result = 0;
    size_t i;

    for (i = 0; i < sizeof(prot_words) / sizeof(prot_words[0]); ++i) {
        result |= ((prot & prot_words[i].ours) == prot_words[i].ours) ?
                      prot_words[i].theirs :
                      0;
    }
    return result;
}

int ucp_mem_allows(const ucp_mem_t *memh, unsigned access)
{
    return !(access & ~domain_access(memh->prot));
}

/* Converts the user's flags and rights to the flags of a domain
 * (UCT_MD_MEM_*). */
static unsigned domain_flags(unsigned flags, unsigned prot)
{
    static const struct {
        unsigned ours, theirs;
    } flag_words[] = {
        {UCP_MEM_MAP_NONBLOCK, UCT_MD_MEM_FLAG_NONBLOCK},
        {UCP_MEM_MAP_FIXED, UCT_MD_MEM_FLAG_FIXED},
        {UCP_MEM_MAP_SYMMETRIC_RKEY, UCT_MD_MEM_SYMMETRIC_RKEY},
        {UCP_MEM_MAP_LOCK, UCT_MD_MEM_FLAG_LOCK},
    };
    unsigned result = UCT_MD_MEM_FLAG_HIDE_ERRORS | domain_access(prot);
    size_t i;

    for (i = 0; i < sizeof(flag_words) / sizeof(flag_words[0]); ++i) {
        result |= (flags & flag_words[i].ours) ? flag_words[i].theirs : 0;
    }
    return result;
}

static int can_register(ucp_mem_h memh, unsigned md_index)
{
    const ucx_md_attr_t *attr = uct_md_attr(memh->context->mds[md_index].md);

    return (attr->flags & UCT_MD_FLAG_REG) &&
           (ucp_md_reg_types(memh->context, md_index) &
            UCS_BIT(memh->mem_type)) &&
           (memh->length > 0) && (memh->length <= attr->max_reg) &&
           !(memh->flags & UCP_MEM_FLAG_ELSEWHERE);
}

/* Registers the memory with one domain, if the domain supports this memory.
 * Called with memh->lock held. A failure is logged as a diagnostic and not as
 * an error, because other domains may be sufficient. */
static void try_domain(ucp_mem_h memh, unsigned md_index)
{
    const ucp_md_t *md = &memh->context->mds[md_index];
    unsigned flags = domain_flags(memh->flags & ~UCP_MEM_MAP_FIXED, memh->prot);
    ucs_status_t status;

    memh->tried |= UCS_BIT(md_index);
    if (!can_register(memh, md_index)) {
        return;
    }

    status = ucp_md_register(memh->context, md_index, memh->address,
                             memh->length, memh->mem_type, flags, memh->id,
                             &memh->memhs[md_index]);
    if (status == UCS_OK) {
        memh->known |= UCS_BIT(md_index);
    } else {
        ucs_diag("%s: cannot register %zu bytes at %p: %s", md->name,
                 memh->length, memh->address, ucs_status_string(status));
    }
}

uct_mem_h ucp_mem_of_domain(ucp_mem_h memh, unsigned md_index)
{
    uct_mem_h result = UCT_MEM_HANDLE_NULL;

    pthread_mutex_lock(&memh->lock);
    if (!(memh->tried & UCS_BIT(md_index))) {
        try_domain(memh, md_index);
    }
    if (memh->known & UCS_BIT(md_index)) {
        result = memh->memhs[md_index];
    }
    pthread_mutex_unlock(&memh->lock);
    return result;
}

/* ------------------------------------------------------------- mapping -- */

static ucs_status_t invalid(const char *reason)
{
    ucs_error("ucp_mem_map: %s", reason);
    return UCS_ERR_INVALID_PARAM;
}

static ucs_status_t take_params(const ucp_mem_map_params_t *params,
                                map_args_t *args)
{
    uint64_t mask = params->field_mask;

    *args = (map_args_t){
        .address  = (mask & UCP_MEM_MAP_PARAM_FIELD_ADDRESS) ? params->address :
                                                               NULL,
        .length   = params->length,
        .flags    = (mask & UCP_MEM_MAP_PARAM_FIELD_FLAGS) ? params->flags : 0,
        .prot     = (mask & UCP_MEM_MAP_PARAM_FIELD_PROT) ? params->prot :
                                                            UCP_MEM_PROT_ALL,
        .mem_type = (mask & UCP_MEM_MAP_PARAM_FIELD_MEMORY_TYPE) ?
                        params->memory_type :
                        UCS_MEMORY_TYPE_UNKNOWN,
    };

    if (!(mask & UCP_MEM_MAP_PARAM_FIELD_LENGTH)) {
        return invalid("the length is missing");
    }
    if (args->flags & ~(unsigned)KNOWN_FLAGS) {
        return invalid("unknown flags");
    }
    if (args->prot & ~(unsigned)UCP_MEM_PROT_ALL) {
        return invalid("unknown protection");
    }
    if ((unsigned)args->mem_type > UCS_MEMORY_TYPE_UNKNOWN) {
        return invalid("unknown memory type");
    }
    if ((args->flags & UCP_MEM_MAP_FIXED) &&
        (!(args->flags & UCP_MEM_MAP_ALLOCATE) || (args->address == NULL) ||
         ((uintptr_t)args->address % ucs_get_page_size() != 0))) {
        return invalid("FIXED goes with ALLOCATE and the address of a page");
    }
    if ((args->flags & UCP_MEM_MAP_NONBLOCK) &&
        (args->flags & UCP_MEM_MAP_LOCK)) {
        return invalid("NONBLOCK and LOCK exclude each other");
    }
    if ((args->address == NULL) && (args->length > 0) &&
        !(args->flags & UCP_MEM_MAP_ALLOCATE)) {
        return invalid("neither an address nor ALLOCATE");
    }
    if ((uintptr_t)args->address + args->length < (uintptr_t)args->address) {
        return invalid("the segment goes beyond the end of all addresses");
    }
    return UCS_OK;
}

/* Returns whether all pages of the memory are mapped. The check is made when
 * the user maps the memory, because progress of this process accesses it later
 * for peers: a missing page would then be a fault during progress. */
static int is_mapped(const void *address, size_t length)
{
    uintptr_t page  = ucs_get_page_size();
    uintptr_t start = (uintptr_t)address & ~(page - 1);

    /* MS_ASYNC only checks the mappings and writes nothing. */
    return (msync((void *)start, (uintptr_t)address + length - start,
                  MS_ASYNC) == 0) ||
           (errno != ENOMEM);
}

/* Locks the pages of the user's memory (UCP_MEM_MAP_LOCK) if it is host memory.
 * Memory that ucp_mem_map allocates is locked by its allocation. */
static ucs_status_t lock_pages(ucp_mem_h memh)
{
    if (memh->mem_type != UCS_MEMORY_TYPE_HOST) {
        return UCS_OK;
    }
    if (mlock(memh->address, memh->length) != 0) {
        ucs_error("ucp_mem_map: cannot lock %zu bytes: %s; see `ulimit -l`",
                  memh->length, strerror(errno));
        return UCS_ERR_NO_MEMORY;
    }
    memh->flags |= UCP_MEM_FLAG_LOCKED;
    return UCS_OK;
}

static ucs_status_t take_memory(ucp_mem_h memh, const map_args_t *args)
{
    ucx_mem_info_t info = {.size = sizeof(info)};
    ucs_status_t status;

    memh->address = args->address;
    memh->length  = args->length;
    if (args->mem_type != UCS_MEMORY_TYPE_UNKNOWN) {
        memh->mem_type = args->mem_type;
    } else {
        status = uct_mem_detect(args->address, args->length, &info);
        if (status != UCS_OK) {
            return status;
        }
        memh->mem_type = info.type;
        memh->sys_dev  = info.sys_dev;
    }

    if ((memh->mem_type == UCS_MEMORY_TYPE_HOST) &&
        !is_mapped(memh->address, memh->length)) {
        ucs_error("ucp_mem_map: there is no memory at %p..%p of this process",
                  memh->address, (char *)memh->address + memh->length);
        return UCS_ERR_INVALID_ADDR;
    }
    return (args->flags & UCP_MEM_MAP_LOCK) ? lock_pages(memh) : UCS_OK;
}

/* Makes the handle the owner of the allocation memh->alloc. If a domain has
 * allocated the memory, the memory is registered with that domain. */
static void own_allocation(ucp_mem_h memh)
{
    unsigned i;

    memh->flags |= UCP_MEM_FLAG_ALLOCATED;
    memh->address  = memh->alloc.address;
    memh->length   = memh->alloc.length;
    memh->mem_type = memh->alloc.mem_type;
    memh->sys_dev  = memh->alloc.sys_device;
    for (i = 0; i < memh->context->num_mds; ++i) {
        if (is_of_allocation(memh, i)) {
            memh->memhs[i] = memh->alloc.memh;
            memh->known |= UCS_BIT(i);
            memh->tried |= UCS_BIT(i);
        }
    }
}

/* Allocates memory, preferably by a memory domain: peers can then access the
 * memory directly. */
static ucs_status_t allocate(ucp_mem_h memh, const map_args_t *args)
{
    static const uct_alloc_method_t methods[] = {
        UCT_ALLOC_METHOD_MD,
        UCT_ALLOC_METHOD_THP,
        UCT_ALLOC_METHOD_HEAP,
        UCT_ALLOC_METHOD_MMAP,
    };
    ucp_context_h context         = memh->context;
    uct_mem_alloc_params_t params = {
        .field_mask = UCT_MEM_ALLOC_PARAM_FIELD_FLAGS |
                      UCT_MEM_ALLOC_PARAM_FIELD_ADDRESS |
                      UCT_MEM_ALLOC_PARAM_FIELD_MEM_TYPE |
                      UCT_MEM_ALLOC_PARAM_FIELD_MDS |
                      UCT_MEM_ALLOC_PARAM_FIELD_NAME,
        .flags    = domain_flags(args->flags, args->prot),
        .address  = args->address,
        .mem_type = (args->mem_type == UCS_MEMORY_TYPE_UNKNOWN) ?
                        UCS_MEMORY_TYPE_HOST :
                        args->mem_type,
        .name     = "ucp_mem_map",
    };
    uct_md_h mds[UCP_MAX_MDS];
    uint64_t mem_types = UCS_BIT(UCS_MEMORY_TYPE_HOST);
    ucs_status_t status;
    unsigned i;

    for (i = 0; i < context->num_mds; ++i) {
        mds[i] = context->mds[i].md;
        mem_types |= uct_md_attr(mds[i])->alloc_mem_types;
    }
    if (!(mem_types & UCS_BIT(params.mem_type))) {
        ucs_error("ucp_mem_map: nothing in use here allocates %s memory: see"
                  " UCX_TLS and `ucx-plugins list`",
                  ucs_memory_type_name(params.mem_type));
        return UCS_ERR_UNSUPPORTED;
    }
    params.mds.mds   = mds;
    params.mds.count = context->num_mds;

    status = uct_mem_alloc_secret(args->length, methods,
                                  sizeof(methods) / sizeof(methods[0]), &params,
                                  memh->id, &memh->alloc);
    if (status != UCS_OK) {
        ucs_error("ucp_mem_map: cannot allocate %zu bytes of %s memory: %s",
                  args->length, ucs_memory_type_name(params.mem_type),
                  ucs_status_string(status));
        return status;
    }

    own_allocation(memh);
    return UCS_OK;
}

/* All bits of ucp_mem_map_params_field in this version of ucp.h. */
enum { ALL_FIELDS = (UCP_MEM_MAP_PARAM_FIELD_EXPORTED_MEMH_BUFFER << 1) - 1 };

ucs_status_t ucp_mem_map(ucp_context_h context,
                         const ucp_mem_map_params_t *params, ucp_mem_h *memh_p)
{
    ucs_status_t status;
    ucp_mem_h memh;
    map_args_t args;

    status = ucp_context_check_fields(context->is_newer, "ucp_mem_map",
                                      params->field_mask, ALL_FIELDS);
    if (status != UCS_OK) {
        return status;
    }
    if (params->field_mask & UCP_MEM_MAP_PARAM_FIELD_EXPORTED_MEMH_BUFFER) {
        return ucp_mem_import(context, params->exported_memh_buffer, memh_p);
    }

    status = take_params(params, &args);
    if (status != UCS_OK) {
        return status;
    }

    memh = ucp_mem_new(context);
    if (memh == NULL) {
        return UCS_ERR_NO_MEMORY;
    }

    memh->flags = args.flags;
    memh->prot  = args.prot;
    if (args.length == 0) {
        /* A handle of length 0 has no address. Programs free the memory at the
         * address that they get (MPICH does for windows of size 0), and must
         * not free the memory that they have passed here. */
        status = UCS_OK;
    } else if (args.flags & UCP_MEM_MAP_ALLOCATE) {
        status = allocate(memh, &args);
    } else {
        status = take_memory(memh, &args);
    }
    if (status == UCS_OK) {
        status = ucp_mem_table_add(&context->mems, memh);
    }
    if (status != UCS_OK) {
        ucp_mem_free(memh);
        return status;
    }

    *memh_p = memh;
    return UCS_OK;
}

ucs_status_t ucp_mem_unmap(ucp_context_h context, ucp_mem_h memh)
{
    if ((memh == NULL) || (memh->context != context)) {
        return UCS_ERR_INVALID_PARAM;
    }

    ucp_mem_table_remove(&context->mems, memh);
    return ucp_mem_put(memh);
}
