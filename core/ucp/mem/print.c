/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ucp_mem_print_info: maps memory as a test, and prints how the memory was
 * allocated and which memory domains have registered it.
 */
#include "ucp/mem/mem.h"

#include "ucs/config/config.h"
#include "ucs/sys/sys.h"
#include "ucs/type/memory_type.h"

#include <string.h>

/* Parses "<size>[,<memory type>]". */
static ucs_status_t parse_spec(const char *spec, size_t *length_p,
                               ucs_memory_type_t *type_p)
{
    const char *comma = strchr(spec, ',');
    char size[64];

    if (comma == NULL) {
        comma = spec + strlen(spec);
    }
    if ((size_t)(comma - spec) >= sizeof(size)) {
        return UCS_ERR_INVALID_PARAM;
    }
    memcpy(size, spec, (size_t)(comma - spec));
    size[comma - spec] = '\0';
    if ((ucs_str_to_memunits(size, length_p) != UCS_OK) ||
        (*length_p >= UCS_MEMUNITS_AUTO)) {
        return UCS_ERR_INVALID_PARAM;
    }

    *type_p = UCS_MEMORY_TYPE_HOST;
    if (*comma == '\0') {
        return UCS_OK;
    }
    *type_p = ucs_memory_type_find(comma + 1, strlen(comma + 1));
    return (*type_p != UCS_MEMORY_TYPE_UNKNOWN) ? UCS_OK :
                                                  UCS_ERR_INVALID_PARAM;
}

static const char *method_name(ucp_mem_h memh)
{
    unsigned i;

    switch (memh->alloc.method) {
    case UCT_ALLOC_METHOD_MD:
        for (i = 0; i < memh->context->num_mds; ++i) {
            if (memh->context->mds[i].md == memh->alloc.md) {
                return memh->context->mds[i].name;
            }
        }
        return "md";
    case UCT_ALLOC_METHOD_THP:
        return "thp";
    case UCT_ALLOC_METHOD_HEAP:
        return "heap";
    case UCT_ALLOC_METHOD_MMAP:
        return "mmap";
    default:
        return "huge";
    }
}

static void print(ucp_mem_h memh, FILE *stream)
{
    ucp_context_h context = memh->context;
    char length[32], page[32];
    unsigned i;

    ucs_memunits_to_str(memh->length, length, sizeof(length));
    ucs_memunits_to_str(ucs_get_page_size(), page, sizeof(page));
    fprintf(stream, "#  allocated %s at address %p with %s, pagesize: %s\n",
            length, memh->address, method_name(memh), page);
    fprintf(stream, "#  registered on: ");
    for (i = 0; i < context->num_mds; ++i) {
        if (ucp_mem_of_domain(memh, i) != UCT_MEM_HANDLE_NULL) {
            fprintf(stream, "%s ", context->mds[i].name);
        }
    }
    fprintf(stream, "\n");
}

UCS_F_COLD void ucp_mem_print_info(const char *mem_spec, ucp_context_h context,
                                   FILE *stream)
{
    ucp_mem_map_params_t params = {
        .field_mask = UCP_MEM_MAP_PARAM_FIELD_LENGTH |
                      UCP_MEM_MAP_PARAM_FIELD_FLAGS |
                      UCP_MEM_MAP_PARAM_FIELD_MEMORY_TYPE,
        .flags = UCP_MEM_MAP_ALLOCATE,
    };
    ucs_status_t status;
    ucp_mem_h memh;

    if (parse_spec(mem_spec, &params.length, &params.memory_type) != UCS_OK) {
        fprintf(stream,
                "<'%s' is not a size with a memory type, such as 32768 "
                "or 1m,cuda>\n",
                mem_spec);
        return;
    }

    status = ucp_mem_map(context, &params, &memh);
    if (status != UCS_OK) {
        fprintf(stream, "<Failed to map memory of size %s: %s>\n", mem_spec,
                ucs_status_string(status));
        return;
    }

    fprintf(stream, "#\n# UCP memory allocation\n#\n");
    print(memh, stream);
    fprintf(stream, "#\n");
    ucp_mem_unmap(context, memh);
}
