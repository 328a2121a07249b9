/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Public tables of names. This file contains constants only, because it is also
 * part of the drop-in library libucs.so.0 (core/compat/README.md).
 */
#include <ucs/config/parser_func.h>
#include <ucs/config/types.h>
#include <ucs/memory/memory_type.h>
#include <ucs/memory/numa.h>
#include <ucs/profile/profile_defs.h>
#include <ucs/type/thread_mode.h>

#include "ucs/type/memory_type.h"
#include "ucs/type/public_table.h"

const char *ucs_memory_type_names[] = {UCS_MEMORY_TYPE_WORDS, "unknown", NULL};
UCS_PUBLIC_TABLE(ucs_memory_type_names);

const char *ucs_memory_type_descs[] = {
    "host memory",
    "CUDA device memory",
    "CUDA managed memory",
    "ROCm device memory",
    "ROCm managed memory",
    "memory of an RDMA device",
    "Level Zero host memory",
    "Level Zero device memory",
    "Level Zero managed memory",
    "unknown",
    NULL,
};
UCS_PUBLIC_TABLE(ucs_memory_type_descs);

const char *ucs_thread_mode_names[] = {"single", "serialized", "multi", NULL};
UCS_PUBLIC_TABLE(ucs_thread_mode_names);

const char *ucs_async_mode_names[] = {"signal", "thread_spinlock",
                                      "thread_mutex", "poll", NULL};
UCS_PUBLIC_TABLE(ucs_async_mode_names);

const char *ucs_numa_policy_names[] = {"default", "preferred", "bind", NULL};
UCS_PUBLIC_TABLE(ucs_numa_policy_names);

const char *ucs_log_level_names[] = {
    "fatal", "error", "warn",  "diag", "info", "debug", "trace",
    "req",   "data",  "async", "func", "poll", NULL,
};
UCS_PUBLIC_TABLE(ucs_log_level_names);

const char *ucs_profile_mode_names[] = {"accum", "log", NULL};
UCS_PUBLIC_TABLE(ucs_profile_mode_names);

/* Checks that a table has _last names and a NULL. */
#define HAS_ALL(_table, _last) \
    UCS_STATIC_ASSERT(ucs_static_array_size(_table) == (_last) + 1)

HAS_ALL(ucs_log_level_names, UCS_LOG_LEVEL_LAST);
HAS_ALL(ucs_memory_type_names, UCS_MEMORY_TYPE_LAST + 1);
HAS_ALL(ucs_memory_type_descs, UCS_MEMORY_TYPE_LAST + 1);
HAS_ALL(ucs_thread_mode_names, UCS_THREAD_MODE_LAST);
HAS_ALL(ucs_async_mode_names, UCS_ASYNC_MODE_LAST);
HAS_ALL(ucs_numa_policy_names, UCS_NUMA_POLICY_LAST);
HAS_ALL(ucs_profile_mode_names, UCS_PROFILE_MODE_LAST);
