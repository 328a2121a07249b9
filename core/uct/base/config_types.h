/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Types whose representation in a plugin's options differs from the registry's,
 * and ranges for types that have none in the registry.
 */
#ifndef UCT_BASE_CONFIG_TYPES_H
#define UCT_BASE_CONFIG_TYPES_H

#include "ucs/config/config.h"

/* unsigned, bits by index; argument: the names, at most 32, terminated by
 * NULL */
extern const ucs_config_type_t uct_config_type_bitmap;

/* double; argument: a ucs_config_range_t, or NULL */
extern const ucs_config_type_t uct_config_type_time;

/* double, "auto" is 0; argument: a ucs_config_range_t, or NULL */
extern const ucs_config_type_t uct_config_type_bandwidth;

/* unsigned, "inf" is UINT_MAX; argument: a ucs_config_range_t, or NULL */
extern const ucs_config_type_t uct_config_type_uint;

#endif
