/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Types of plugins' variables that ucs/config does not have: their values have
 * another C type or other special values than the similar types of ucs/config,
 * or a range. A ucs_config_range_t has the limits of the valid values.
 */
#ifndef UCT_BASE_CONFIG_TYPES_H
#define UCT_BASE_CONFIG_TYPES_H

#include "ucs/config/config.h"

/* Value: unsigned, one bit for each name. Argument: array of at most 32 names,
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
