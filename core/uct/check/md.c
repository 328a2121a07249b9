/* SPDX-License-Identifier: BSD-3-Clause */
/* Checking slots (functions that replace those of the plugin, see internal.h)
 * of memory domains. Several threads may call these functions at the same
 * time. */
#include "uct/check/internal.h"

#include <fcntl.h>
#include <stdlib.h>

#include "ucs/sys/math.h"

struct uct_check_md {
    const char *name; /* of the component */
    uct_check_subject_t *subject;
    const ucx_md_ops_t *own; /* the original slots */
    uint64_t md_flags;       /* UCT_MD_FLAG_* that the manifest declares */
    uint64_t mem_types;      /* memory types that it declares, as bits */
    size_t key_size;         /* rkey_packed_size that the query has returned */
    size_t process_key_size; /* process_key_packed_size likewise */
    size_t exported_size;    /* exported_mkey_packed_size that the query has
                              * returned */
};

static uct_check_md_t *check_of(uct_md_h md)
{
    return ((const uct_check_host_t *)md->host)->md;
}

static const char *name_of(uct_md_h md)
{
    return check_of(md)->name;
}

/* Counts a call, and returns the original slots. */
static const ucx_md_ops_t *inner(uct_md_h md)
{
    uct_check_count_call(check_of(md)->subject);
    return check_of(md)->own;
}

ucs_status_t uct_check_md_create(const char *name, const ucx_md_ops_t *own,
                                 uint64_t md_flags, uint64_t mem_types,
                                 uct_check_md_t **check_p)
{
    *check_p = malloc(sizeof(**check_p));
    if (*check_p == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    **check_p = (uct_check_md_t){
        .name      = name,
        .subject   = uct_check_subject(name),
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
    check->key_size         = attr->rkey_packed_size;
    check->exported_size    = attr->exported_mkey_packed_size;
    check->process_key_size = attr->process_key_packed_size;

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
    }
    uct_check_status(name_of(md), "mem_reg", status);
    return status;
}

static ucs_status_t md_mem_free(uct_md_h md, uct_mem_h memh)
{
    ucs_status_t status = inner(md)->mem_free(md, memh);

    uct_check_status(name_of(md), "mem_free", status);
    return status;
}

static ucs_status_t md_mem_advise(uct_md_h md, uct_mem_h memh, void *address,
                                  size_t length, uct_mem_advice_t advice)
{
    ucs_status_t status = inner(md)->mem_advise(md, memh, address, length,
                                                advice);

    uct_check_status(name_of(md), "mem_advise", status);
    return status;
}

static ucs_status_t md_mem_attach(uct_md_h md, const void *buffer,
                                  size_t length, uct_mem_h *memh_p)
{
    ucs_status_t status;

    *memh_p = UCT_MEM_HANDLE_NULL;
    status  = inner(md)->mem_attach(md, buffer, length, memh_p);
    if ((status == UCS_OK) && (*memh_p == UCT_MEM_HANDLE_NULL)) {
        uct_check_report(name_of(md), 26, "mem_attach",
                         "it returns UCS_OK without a handle");
    }
    uct_check_status(name_of(md), "mem_attach", status);
    return status;
}

/* --- Invalidation --------------------------------------------------------- */

/* A deregistration with UCX_MEM_DEREG_INVALIDATE: the plugin calls a completion
 * when peers cannot use the keys any more. A number of these records is kept
 * after the completion, so that a second call of it is reported. */
typedef struct invalidation {
    uct_completion_t comp;  /* passed to the plugin */
    uct_completion_t *user; /* the user's, called when `comp` is called */
    const char *who;        /* name of the component, for reports */
    ucs_list_link_t list;   /* link in `retired` */
    int has_ended;          /* `comp` was called, or the call has failed */
} invalidation_t;

/* The records that have ended, in that order; protected by uct_check_lock(). */
static UCS_LIST_HEAD(retired);
static unsigned num_retired;

/* Marks a deregistration as ended. Returns 0 if it was marked before. Any
 * thread. */
static int retire(invalidation_t *end)
{
    invalidation_t *oldest = NULL;
    int is_first;

    uct_check_lock();
    is_first       = !end->has_ended;
    end->has_ended = 1;
    if (is_first) {
        ucs_list_add_tail(&retired, &end->list);
        if (++num_retired > UCT_CHECK_RETIRED_MAX) {
            oldest = ucs_list_head(&retired, invalidation_t, list);
            ucs_list_del(&oldest->list);
            --num_retired;
        }
    }
    uct_check_unlock();
    free(oldest);
    return is_first;
}

static void invalidated(uct_completion_t *comp)
{
    invalidation_t *end    = ucs_container_of(comp, invalidation_t, comp);
    uct_completion_t *user = end->user;

    if (!retire(end)) {
        uct_check_report(end->who, 26, "mem_dereg",
                         "the completion was called after the end of the "
                         "deregistration");
        return;
    }
    uct_completion_update_status(user, comp->status);
    if (--user->count == 0) {
        user->func(user);
    }
}

static ucs_status_t md_mem_dereg(uct_md_h md, uct_mem_h memh,
                                 const ucx_mem_dereg_params_t *params)
{
    ucx_mem_dereg_params_t ours = *params;
    invalidation_t *end         = NULL;
    ucs_status_t status;

    if ((params->flags & UCX_MEM_DEREG_INVALIDATE) && (params->comp != NULL)) {
        end = calloc(1, sizeof(*end));
    }
    if (end != NULL) {
        end->comp = (uct_completion_t){.func = invalidated, .count = 1};
        end->user = params->comp;
        end->who  = name_of(md);
        ours.comp = &end->comp;
    }
    status = inner(md)->mem_dereg(md, memh, &ours);
    uct_check_status(name_of(md), "mem_dereg", status);
    if ((end != NULL) && (status != UCS_OK) && !retire(end)) {
        uct_check_report(name_of(md), 26, "mem_dereg",
                         "it has failed, but the completion was called");
    }
    return status;
}

/* --- Detection ------------------------------------------------------------ */

static void check_dmabuf(uct_md_h md, const ucx_mem_attr_t *attr)
{
    if (UCX_TABLE_HAS(attr, wanted) && (attr->wanted & UCX_MEM_WANT_DMABUF) &&
        (attr->dmabuf_fd >= 0) && (fcntl(attr->dmabuf_fd, F_GETFD) < 0)) {
        uct_check_report(name_of(md), 28, "mem_query",
                         "the dmabuf %d is no open descriptor",
                         attr->dmabuf_fd);
    }
}

static ucs_status_t md_mem_query(uct_md_h md, const void *address,
                                 size_t length, ucx_mem_attr_t *attr)
{
    const uct_check_md_t *check = check_of(md);
    const ucs_status_t status = inner(md)->mem_query(md, address, length, attr);
    const uintptr_t at        = (uintptr_t)address;
    uintptr_t base;

    uct_check_status(check->name, "mem_query", status);
    if (status != UCS_OK) {
        return status;
    }
    base = (uintptr_t)attr->base_address;
    if (!(check->mem_types >> attr->mem_type & 1)) {
        uct_check_report(check->name, 10, "mem_query",
                         "it detects memory of type %d, which the manifest "
                         "does not declare",
                         (int)attr->mem_type);
    }
    if ((base != 0) && (attr->alloc_length != 0) &&
        ((at < base) || (at - base >= attr->alloc_length))) {
        uct_check_report(check->name, 25, "mem_query",
                         "the range %p, %zu bytes, does not contain the "
                         "address %p",
                         attr->base_address, attr->alloc_length, address);
    }
    check_dmabuf(md, attr);
    return status;
}

/* --- Keys ----------------------------------------------------------------- */

/* Arguments of the mkey_pack slot. */
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
                           (flags & UCX_MKEY_PACK_PROCESS) ?
                               check->process_key_size :
                               check->key_size,
                           call_mkey_pack, &args);
}

const ucx_md_ops_t uct_check_md_slots = {
    .size       = sizeof(uct_check_md_slots),
    .query      = md_query,
    .mem_alloc  = md_mem_alloc,
    .mem_free   = md_mem_free,
    .mem_advise = md_mem_advise,
    .mem_reg    = md_mem_reg,
    .mem_dereg  = md_mem_dereg,
    .mem_query  = md_mem_query,
    .mkey_pack  = md_mkey_pack,
    .mem_attach = md_mem_attach,
};
