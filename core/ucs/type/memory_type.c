/* SPDX-License-Identifier: BSD-3-Clause */
#include "ucs/type/memory_type.h"

#include <string.h>

/* Contains all types of the API, also those for which no plugin is
 * installed. */
const char *const ucs_memory_type_words[] = {
    UCS_MEMORY_TYPE_WORDS,
    NULL,
};

_Static_assert(sizeof(ucs_memory_type_words) /
                       sizeof(ucs_memory_type_words[0]) ==
                   UCS_MEMORY_TYPE_LAST + 1,
               "a word for every type");

const char *ucs_memory_type_name(ucs_memory_type_t type)
{
    return ((unsigned)type < UCS_MEMORY_TYPE_LAST) ?
               ucs_memory_type_words[type] :
               "unknown";
}

ucs_memory_type_t ucs_memory_type_find(const char *name, size_t length)
{
    unsigned type;

    for (type = 0; type < UCS_MEMORY_TYPE_LAST; ++type) {
        if ((strlen(ucs_memory_type_words[type]) == length) &&
            (memcmp(ucs_memory_type_words[type], name, length) == 0)) {
            break;
        }
    }
    return (ucs_memory_type_t)type;
}
