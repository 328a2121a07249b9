/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ucp_mem_query, ucp_mem_advise, and the check that a handle covers the buffer
 * of an operation.
 */
#include "ucp/mem/mem.h"

#include "ucs/debug/log.h"
#include "ucs/sys/sys.h"
#include "uct/base/md.h"

#include <sys/mman.h>

ucs_status_t ucp_mem_check_context(const ucp_mem_t *memh, ucp_context_h context)
{
    if (memh->context != context) {
        ucs_diag("rejected an operation: its memory handle is of another"
                 " context");
        return UCS_ERR_INVALID_PARAM;
    }
    return UCS_OK;
}

ucs_status_t ucp_mem_find_buffer(ucp_mem_h memh, ucp_context_h context,
                                 void **buffer_p, size_t length)
{
    uint64_t owner   = memh->window.owner_address;
    uint64_t address = (uintptr_t)*buffer_p;

    if (ucp_mem_check_context(memh, context) != UCS_OK) {
        return UCS_ERR_INVALID_PARAM;
    }
    if ((memh->flags & UCP_MEM_FLAG_IMPORTED) &&
        ucp_mem_contains(owner, memh->length, address, length)) {
        if (memh->flags & UCP_MEM_FLAG_ELSEWHERE) {
            ucs_diag("rejected an operation: the imported memory at %p is not"
                     " mapped in this process",
                     *buffer_p);
            return UCS_ERR_UNSUPPORTED;
        }
        *buffer_p = (char *)memh->address + (address - owner);
    } else if ((length > 0) &&
               !ucp_mem_contains((uintptr_t)memh->address, memh->length,
                                 address, length)) {
        ucs_diag("rejected an operation on %zu bytes at %p: its memory handle"
                 " is for %zu bytes at %p",
                 length, *buffer_p, memh->length, memh->address);
        return UCS_ERR_INVALID_PARAM;
    }
    return UCS_OK;
}

ucs_status_t ucp_mem_query(const ucp_mem_h memh, ucp_mem_attr_t *attr)
{
    if (attr->field_mask & UCP_MEM_ATTR_FIELD_ADDRESS) {
        attr->address = memh->address;
    }
    if (attr->field_mask & UCP_MEM_ATTR_FIELD_LENGTH) {
        attr->length = memh->length;
    }
    if (attr->field_mask & UCP_MEM_ATTR_FIELD_MEM_TYPE) {
        attr->mem_type = memh->mem_type;
    }
    return UCS_OK;
}

/* Advises the kernel to make the pages of host memory present
 * (UCP_MADV_WILLNEED). The caller has advised the domains that have registered
 * the memory. */
static void advise_kernel(void *address, size_t length)
{
    uintptr_t page  = ucs_get_page_size();
    uintptr_t start = (uintptr_t)address & ~(page - 1);

    (void)madvise((void *)start, (uintptr_t)address + length - start,
                  MADV_WILLNEED);
}

ucs_status_t ucp_mem_advise(ucp_context_h context, ucp_mem_h memh,
                            ucp_mem_advise_params_t *params)
{
    const uint64_t all = UCP_MEM_ADVISE_PARAM_FIELD_ADDRESS |
                         UCP_MEM_ADVISE_PARAM_FIELD_LENGTH |
                         UCP_MEM_ADVISE_PARAM_FIELD_ADVICE;
    uct_mem_advice_t advice;
    ucs_status_t status;
    unsigned i;

    if (((params->field_mask & all) != all) ||
        ((params->advice != UCP_MADV_NORMAL) &&
         (params->advice != UCP_MADV_WILLNEED)) ||
        !ucp_mem_contains((uintptr_t)memh->address, memh->length,
                          (uintptr_t)params->address, params->length)) {
        return UCS_ERR_INVALID_PARAM;
    }
    if (params->length == 0) {
        return UCS_OK;
    }

    advice = (params->advice == UCP_MADV_WILLNEED) ? UCT_MADV_WILLNEED :
                                                     UCT_MADV_NORMAL;
    for (i = 0; i < context->num_mds; ++i) {
        if (!(memh->known & UCS_BIT(i)) ||
            !(uct_md_attr(context->mds[i].md)->flags & UCT_MD_FLAG_ADVISE)) {
            continue;
        }
        status = uct_md_mem_advise(context->mds[i].md, memh->memhs[i],
                                   params->address, params->length, advice);
        if (status != UCS_OK) {
            return status;
        }
    }
    if ((advice == UCT_MADV_WILLNEED) &&
        (memh->mem_type == UCS_MEMORY_TYPE_HOST)) {
        advise_kernel(params->address, params->length);
    }
    return UCS_OK;
}
