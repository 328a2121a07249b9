/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Types of variables whose value in a plugin's options structure differs from
 * that of the similar type of ucs/config (for example seconds as double), and
 * types with a range of valid values that have no range in ucs/config.
 */
#ifndef UCT_BASE_CONFIG_TYPES_H
#define UCT_BASE_CONFIG_TYPES_H

#include "ucs/config/config.h"

/* Value: unsigned, one bit for each name. Argument: at most 32 names,
 * terminated by NULL. */
extern const ucs_config_type_t uct_config_type_bitmap;

/* Value: double, seconds. Argument: a ucs_config_range_t, or NULL. */
extern const ucs_config_type_t uct_config_type_time;

/* Value: double, bytes per second, 0 for "auto". Argument: a
 * ucs_config_range_t, or NULL. */
extern const ucs_config_type_t uct_config_type_bandwidth;

/* Value: unsigned, UINT_MAX for "inf". Argument: a ucs_config_range_t, or
 * NULL. */
extern const ucs_config_type_t uct_config_type_uint;

#endif
