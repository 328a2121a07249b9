/* SPDX-License-Identifier: BSD-3-Clause */
#include "ucs/type/memory_type.h"

#include <string.h>

/* The types of the API, which are not those of the plugins that are here. */
static const char *const names[] = {
    "host", "cuda", "cuda-managed", "rocm", "rocm-managed", "rdma", "ze-host",
    "ze-device", "ze-managed", "unknown"
};

_Static_assert(sizeof(names) / sizeof(names[0]) == UCS_MEMORY_TYPE_LAST + 1,
               "a name for every type");

const char *ucs_memory_type_name(ucs_memory_type_t type)
{
    return names[((unsigned)type < UCS_MEMORY_TYPE_LAST) ?
                 type : UCS_MEMORY_TYPE_UNKNOWN];
}

ucs_memory_type_t ucs_memory_type_find(const char *name, size_t length)
{
    unsigned type;

    for (type = 0; type < UCS_MEMORY_TYPE_LAST; ++type) {
        if ((strlen(names[type]) == length) &&
            (memcmp(names[type], name, length) == 0)) {
            break;
        }
    }
    return (ucs_memory_type_t)type;
}
