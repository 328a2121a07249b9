/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of the types of memory (ucs_memory_type_t). */
#ifndef UCS_TYPE_MEMORY_TYPE_H
#define UCS_TYPE_MEMORY_TYPE_H

#include <stddef.h>
#include <ucs/memory/memory_type.h>

/* The names of all types, in the order of ucs_memory_type_t. */
#define UCS_MEMORY_TYPE_WORDS \
    "host", "cuda", "cuda-managed", "rocm", "rocm-managed", "rdma", "ze-host", \
        "ze-device", "ze-managed"

/** The names, indexed by type and terminated by NULL. Users write them in
 *  settings, plugins in their manifests. */
extern const char *const ucs_memory_type_words[];

/** The name of a type; "unknown" for any other number. Any thread. */
const char *ucs_memory_type_name(ucs_memory_type_t type);

/** Returns the type whose name has these `length` characters, or
 *  UCS_MEMORY_TYPE_UNKNOWN. */
ucs_memory_type_t ucs_memory_type_find(const char *name, size_t length);

#endif
