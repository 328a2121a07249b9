/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The loader's library, opened at run time: one table of its functions for the
 * process. It contains no state of a core.
 */
#ifndef ZE_CALLS_H
#define ZE_CALLS_H

#include <level_zero/ze_api.h>

typedef struct ze_calls {
#define ZE_CALL(_name) __typeof__(_name) *_name;
#include "loader_calls.h"
#undef ZE_CALL
} ze_calls_t;

extern ze_calls_t ze;

#endif
