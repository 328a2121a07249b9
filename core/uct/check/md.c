/* SPDX-License-Identifier: BSD-3-Clause */
/* Checking slots of memory domains. Several threads may call them at once. */
#include "uct/check/internal.h"

#include <stdlib.h>

#include "ucs/sys/math.h"

struct uct_check_md {
    const char *name;
    const ucx_md_ops_t *own; /* the plugin's slots */
    uint64_t md_flags;       /* as the manifest declares */
    uint64_t mem_types;
    size_t key_size; /* as the query returned */
    size_t exported_size;
};

static uct_check_md_t *check_of(uct_md_h md)
{
    return ((const uct_check_host_t *)md->host)->md;
}

static const char *name_of(uct_md_h md)
{
    return check_of(md)->name;
}

static const ucx_md_ops_t *inner(uct_md_h md)
{
    return check_of(md)->own;
}

ucs_status_t uct_check_md_create(const char *name, const ucx_md_ops_t *own,
                                 uint64_t md_flags, uint64_t mem_types,
                                 uct_check_md_t **check_p)
{
    *check_p = NULL;
    if (own == NULL) {
        return UCS_OK;
    }
    *check_p = malloc(sizeof(**check_p));
    if (*check_p == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    **check_p = (uct_check_md_t){
        .name      = name,
        .own       = own,
        .md_flags  = md_flags,
        .mem_types = mem_types,
    };
    return UCS_OK;
}

static ucs_status_t md_query(uct_md_h md, ucx_md_attr_t *attr)
{
    uct_check_md_t *check = check_of(md);
    /* flags that a manifest can declare; the others are not checked */
    const uint64_t words  = UCT_MD_FLAG_ALLOC | UCT_MD_FLAG_REG |
                           UCT_MD_FLAG_NEED_MEMH | UCT_MD_FLAG_NEED_RKEY |
                           UCT_MD_FLAG_ADVISE | UCT_MD_FLAG_RKEY_PTR;
    ucs_status_t status = inner(md)->query(md, attr);
    uint64_t more;

    if (status != UCS_OK) {
        return status;
    }
    check->key_size      = attr->rkey_packed_size;
    check->exported_size = attr->exported_mkey_packed_size;

    more = attr->flags & words & ~check->md_flags;
    if (more != 0) {
        uct_check_report(name_of(md), 10, "query",
                         "the domain has "
                         "capabilities that the manifest does not declare "
                         "(UCT_MD_FLAG_* 0x%llx)",
                         (unsigned long long)more);
    }
    more = (attr->alloc_mem_types | attr->detect_mem_types |
            attr->reg_mem_types) &
           ~check->mem_types;
    if (more != 0) {
        uct_check_report(name_of(md), 10, "query",
                         "the domain has memory "
                         "types that the manifest does not declare (bits "
                         "0x%llx)",
                         (unsigned long long)more);
    }
    if ((attr->reg_alignment != 0) && !ucs_is_pow2(attr->reg_alignment)) {
        uct_check_report(name_of(md), 25, "query",
                         "reg_alignment %zu is no power of two",
                         attr->reg_alignment);
    }
    return UCS_OK;
}

static ucs_status_t md_mem_alloc(uct_md_h md, size_t *length, void **address_p,
                                 const ucx_mem_alloc_params_t *params,
                                 uct_mem_h *memh_p)
{
    const size_t wanted = *length;
    ucs_status_t status;

    *address_p = NULL;
    status     = inner(md)->mem_alloc(md, length, address_p, params, memh_p);
    if ((status == UCS_OK) && ((*address_p == NULL) || (*length < wanted))) {
        uct_check_report(name_of(md), 26, "mem_alloc",
                         "it returns UCS_OK with %zu of %zu bytes at %p",
                         *length, wanted, *address_p);
    }
    return status;
}

static ucs_status_t md_mem_reg(uct_md_h md, void *address, size_t length,
                               const ucx_mem_reg_params_t *params,
                               uct_mem_h *memh_p)
{
    ucs_status_t status;

    *memh_p = UCT_MEM_HANDLE_NULL;
    status  = inner(md)->mem_reg(md, address, length, params, memh_p);
    if ((status == UCS_OK) && (*memh_p == UCT_MEM_HANDLE_NULL)) {
        uct_check_report(name_of(md), 26, "mem_reg",
                         "it returns UCS_OK without a handle");
    } else if (status > UCS_OK) {
        uct_check_report(name_of(md), 26, "mem_reg",
                         "it returns %d, which is no error", (int)status);
    }
    return status;
}

typedef struct pack_args {
    uct_md_h md;
    uct_mem_h memh;
    void *address;
    size_t length;
    unsigned flags;
} pack_args_t;

static ucs_status_t call_mkey_pack(void *arg, void *buffer)
{
    const pack_args_t *args = arg;

    return inner(args->md)->mkey_pack(args->md, args->memh, args->address,
                                      args->length, args->flags, buffer);
}

static ucs_status_t md_mkey_pack(uct_md_h md, uct_mem_h memh, void *address,
                                 size_t length, unsigned flags, void *buffer)
{
    const uct_check_md_t *check = check_of(md);
    pack_args_t args            = {md, memh, address, length, flags};

    return uct_check_bytes(name_of(md), "mkey_pack", buffer,
                           (flags & UCX_MKEY_PACK_EXPORT) ?
                               check->exported_size :
                               check->key_size,
                           call_mkey_pack, &args);
}

const ucx_md_ops_t uct_check_md_slots = {
    .size      = sizeof(uct_check_md_slots),
    .query     = md_query,
    .mem_alloc = md_mem_alloc,
    .mem_reg   = md_mem_reg,
    .mkey_pack = md_mkey_pack,
};
