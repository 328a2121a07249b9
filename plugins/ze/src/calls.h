/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The functions of the Level Zero loader's library, which is opened at run
 * time. One table serves all copies of the UCX core in the process, because it
 * contains no state of a core.
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
