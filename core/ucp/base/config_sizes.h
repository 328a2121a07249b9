/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A setting with a size for each memory type: "512k" for all types, or
 * "host:512k,cuda:4m".
 */
#ifndef UCP_CONFIG_SIZES_H
#define UCP_CONFIG_SIZES_H

#include <ucs/memory/memory_type.h>

#include "ucs/config/config.h"

typedef struct ucp_config_sizes {
    /** In bytes, indexed by ucs_memory_type_t; UCS_MEMUNITS_AUTO if not set */
    size_t of[UCS_MEMORY_TYPE_LAST];
} ucp_config_sizes_t;

extern const ucs_config_type_t ucp_config_type_sizes;

#define UCP_CONFIG_TYPE_SIZES &ucp_config_type_sizes, NULL

/** Returns the smallest size that is set for the memory types in `types` (bits
 *  by ucs_memory_type_t). Returns 0 if no size is set for them, or only
 *  "inf". */
size_t ucp_config_sizes_get(const ucp_config_sizes_t *sizes, uint64_t types);

#endif
