/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ucp_md_register(): registers memory with a memory domain. A network device,
 * for example, often cannot register memory of a GPU by its address. If the
 * domain can register a dmabuf, and a domain of the context exports the memory
 * as one, the dmabuf is registered instead.
 */
#include "ucp/mem/mem.h"

#include "ucs/debug/log.h"
#include "uct/base/md.h"

#include <unistd.h>

uint64_t ucp_md_reg_types(ucp_context_h context, unsigned md_index)
{
    const ucx_md_attr_t *attr = uct_md_attr(context->mds[md_index].md);

    return attr->reg_mem_types |
           ((attr->flags & UCT_MD_FLAG_REG_DMABUF) ? context->dmabuf_types : 0);
}

/* Exports the memory as a dmabuf. Returns its file descriptor, which the caller
 * closes, and the memory's offset in it; or UCT_DMABUF_FD_INVALID if no domain
 * exports it. */
static int export_range(ucp_context_h context, void *address, size_t length,
                        ucs_memory_type_t mem_type, size_t *offset_p)
{
    uct_md_mem_attr_t attr = {
        .field_mask = UCT_MD_MEM_ATTR_FIELD_DMABUF_FD |
                      UCT_MD_MEM_ATTR_FIELD_DMABUF_OFFSET,
        .dmabuf_fd = UCT_DMABUF_FD_INVALID,
    };
    unsigned i;

    for (i = 0; i < context->num_mds; ++i) {
        if ((uct_md_attr(context->mds[i].md)->dmabuf_mem_types &
             UCS_BIT(mem_type)) &&
            (uct_md_mem_query(context->mds[i].md, address, length, &attr) ==
             UCS_OK) &&
            (attr.dmabuf_fd != UCT_DMABUF_FD_INVALID)) {
            *offset_p = attr.dmabuf_offset;
            return attr.dmabuf_fd;
        }
    }
    return UCT_DMABUF_FD_INVALID;
}

ucs_status_t ucp_md_register(ucp_context_h context, unsigned md_index,
                             void *address, size_t length,
                             ucs_memory_type_t mem_type, unsigned flags,
                             uint64_t secret, uct_mem_h *memh_p)
{
    const ucp_md_t *md          = &context->mds[md_index];
    ucx_mem_reg_params_t params = {
        .size      = sizeof(params),
        .flags     = flags,
        .dmabuf_fd = UCT_DMABUF_FD_INVALID,
        .secret    = secret,
    };
    ucs_status_t status;
    int fd;

    if (uct_md_attr(md->md)->reg_mem_types & UCS_BIT(mem_type)) {
        return uct_md_mem_reg_v2(md->md, address, length, &params, memh_p);
    }
    fd = export_range(context, address, length, mem_type,
                      &params.dmabuf_offset);
    if (fd == UCT_DMABUF_FD_INVALID) {
        ucs_debug("%s: %zu bytes at %p have no dmabuf", md->name, length,
                  address);
        return UCS_ERR_UNSUPPORTED;
    }
    params.dmabuf_fd = fd;
    status = uct_md_mem_reg_v2(md->md, address, length, &params, memh_p);
    close(fd); /* The registration has its own reference to the dmabuf */
    return status;
}
