/* SPDX-License-Identifier: BSD-3-Clause */
/* Gets memory by registration, or by allocation if the domain does not
 * register. */
#include "memory.h"

#include <stdlib.h>
#include <string.h>

static int can_register(uct_md_h md)
{
    uct_md_attr_t attr;

    return (uct_md_query(md, &attr) == UCS_OK) &&
           (attr.cap.flags & UCT_MD_FLAG_REG) &&
           (attr.cap.reg_mem_types & UCS_BIT(UCS_MEMORY_TYPE_HOST));
}

static int can_allocate(uct_md_h md)
{
    uct_md_attr_t attr;

    return (uct_md_query(md, &attr) == UCS_OK) &&
           (attr.cap.flags & UCT_MD_FLAG_ALLOC) &&
           (attr.cap.alloc_mem_types & UCS_BIT(UCS_MEMORY_TYPE_HOST));
}

int memory_is_possible(uct_md_h md)
{
    return can_register(md) || can_allocate(md);
}

static ucs_status_t memory_allocate(memory_t *memory, size_t length)
{
    const uct_alloc_method_t method     = UCT_ALLOC_METHOD_MD;
    const uct_mem_alloc_params_t params = {
        .field_mask = UCT_MEM_ALLOC_PARAM_FIELD_FLAGS |
                      UCT_MEM_ALLOC_PARAM_FIELD_MDS |
                      UCT_MEM_ALLOC_PARAM_FIELD_NAME,
        .flags = UCT_MD_MEM_ACCESS_ALL,
        .mds   = {.mds = &memory->md, .count = 1},
        .name  = "conformance",
    };
    ucs_status_t status;

    status = uct_mem_alloc(length, &method, 1, &params, &memory->allocated);
    if (status == UCS_OK) {
        memory->is_allocated = 1;
        memory->address      = memory->allocated.address;
        memory->memh         = memory->allocated.memh;
    }
    return status;
}

ucs_status_t memory_get(uct_md_h md, size_t length, memory_t *memory)
{
    ucs_status_t status;

    memset(memory, 0, sizeof(*memory));
    memory->md     = md;
    memory->length = length;
    if (!can_register(md) && can_allocate(md)) {
        return memory_allocate(memory, length);
    }

    memory->address = calloc(1, length);
    if (memory->address == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    if (!can_register(md)) {
        return UCS_OK;
    }

    status = uct_md_mem_reg(md, memory->address, length, UCT_MD_MEM_ACCESS_ALL,
                            &memory->memh);
    if (status != UCS_OK) {
        free(memory->address);
    }
    return status;
}

ucs_status_t memory_put(memory_t *memory)
{
    ucs_status_t status = UCS_OK;

    if (memory->is_allocated) {
        return uct_mem_free(&memory->allocated);
    }
    if (memory->memh != UCT_MEM_HANDLE_NULL) {
        status = uct_md_mem_dereg(memory->md, memory->memh);
    }
    free(memory->address);
    return status;
}
