/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Parses and prints settings such as "512k" or "host:512k,cuda:4m", the type
 * ucp_config_sizes_t (config_sizes.h), and looks up sizes in them.
 */
#include "ucp/base/config_sizes.h"

#include <stdio.h>
#include <string.h>

#include "ucs/datastruct/string_buffer.h"
#include "ucs/type/memory_type.h"

enum { MAX_PART = 64 };

/* Parses one entry of the list, "TYPE:SIZE". */
static ucs_status_t parse_part(const char *part, ucp_config_sizes_t *sizes,
                               char *why)
{
    size_t length = strcspn(part, ":");
    unsigned type = ucs_memory_type_find(part, length);

    if ((part[length] != ':') || (type == UCS_MEMORY_TYPE_LAST)) {
        snprintf(why, UCS_CONFIG_WHY_MAX, "'%.*s' is not a memory type",
                 (int)length, part);
        return UCS_ERR_INVALID_PARAM;
    }
    if (ucs_str_to_memunits(part + length + 1, &sizes->of[type]) != UCS_OK) {
        snprintf(why, UCS_CONFIG_WHY_MAX, "'%s' is not a size",
                 part + length + 1);
        return UCS_ERR_INVALID_PARAM;
    }
    return UCS_OK;
}

static ucs_status_t parse(const char *text, void *dest, const void *arg,
                          char *why)
{
    ucp_config_sizes_t *sizes = dest;
    ucs_status_t status       = UCS_OK;
    size_t size               = UCS_MEMUNITS_AUTO;
    int is_list               = strchr(text, ':') != NULL;
    char part[MAX_PART];
    size_t length;
    unsigned type;

    if (!is_list && (ucs_str_to_memunits(text, &size) != UCS_OK)) {
        return UCS_ERR_INVALID_PARAM;
    }
    for (type = 0; type < UCS_MEMORY_TYPE_LAST; ++type) {
        sizes->of[type] = size;
    }

    while (is_list && (status == UCS_OK)) {
        text += strspn(text, " \t");
        length = strcspn(text, ",");
        snprintf(part, sizeof(part), "%.*s", (int)length, text);
        part[strcspn(part, " \t")] = '\0';
        status                     = parse_part(part, sizes, why);
        is_list                    = (text[length] == ',');
        text += length + is_list;
    }
    return status;
}

static void print(char *buf, size_t max, const void *src, const void *arg)
{
    const ucp_config_sizes_t *sizes = src;
    ucs_string_buffer_t strb;
    unsigned type, num_equal = 0;
    char size[MAX_PART];

    for (type = 0; type < UCS_MEMORY_TYPE_LAST; ++type) {
        num_equal += (sizes->of[type] == sizes->of[0]);
    }
    if (num_equal == UCS_MEMORY_TYPE_LAST) {
        ucs_memunits_to_str(sizes->of[0], buf, max);
        return;
    }

    ucs_string_buffer_init_fixed(&strb, buf, max);
    for (type = 0; type < UCS_MEMORY_TYPE_LAST; ++type) {
        if (sizes->of[type] != UCS_MEMUNITS_AUTO) {
            ucs_memunits_to_str(sizes->of[type], size, sizeof(size));
            ucs_string_buffer_appendf(
                &strb, "%s%s:%s",
                (ucs_string_buffer_length(&strb) == 0) ? "" : ",",
                ucs_memory_type_name((ucs_memory_type_t)type), size);
        }
    }
}

static void describe(char *buf, size_t max, const void *arg)
{
    snprintf(buf, max,
             "a size such as 4096, 4k, 1m or 2g, \"inf\" or"
             " \"auto\", or a list such as host:512k,cuda:4m");
}

const ucs_config_type_t ucp_config_type_sizes = {
    .size     = sizeof(ucp_config_sizes_t),
    .parse    = parse,
    .print    = print,
    .describe = describe,
};

size_t ucp_config_sizes_get(const ucp_config_sizes_t *sizes, uint64_t types)
{
    size_t size = UCS_MEMUNITS_AUTO;
    unsigned type;

    for (type = 0; type < UCS_MEMORY_TYPE_LAST; ++type) {
        if ((types & UCS_BIT(type)) && (sizes->of[type] < size)) {
            size = sizes->of[type];
        }
    }
    return (size >= UCS_MEMUNITS_AUTO) ? 0 : size;
}
