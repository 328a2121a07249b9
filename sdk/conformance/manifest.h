/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a manifest declares, in the words of the public API: what the plugin may
 * offer at most.
 */
#ifndef CONFORMANCE_MANIFEST_H
#define CONFORMANCE_MANIFEST_H

#include <uct/api/uct.h>

/* Peers that a transport can reach, as bits. */
enum {
    MANIFEST_REACH_SELF    = 1u << 0,
    MANIFEST_REACH_NODE    = 1u << 1,
    MANIFEST_REACH_NETWORK = 1u << 2
};

/* Atomic operations, as bits. */
enum {
    MANIFEST_ATOMIC32_POST  = 1u << 0,
    MANIFEST_ATOMIC32_FETCH = 1u << 1,
    MANIFEST_ATOMIC64_POST  = 1u << 2,
    MANIFEST_ATOMIC64_FETCH = 1u << 3
};

/* Flags that a manifest can declare: it has no words for the others. */
typedef struct manifest_flags {
    uint64_t iface; /* UCT_IFACE_FLAG_* */
    uint64_t event; /* UCT_IFACE_FLAG_EVENT_* */
    uint64_t md;    /* UCT_MD_FLAG_* */
} manifest_flags_t;

typedef struct manifest_transport {
    const char *name;
    int has_operations;
    uint64_t iface_flags;
    uint64_t event_flags;
    unsigned atomics;
    unsigned reach;
    const char *device_class;
    uct_device_type_t device_type;
    const char *const *device_globs;
    unsigned num_device_globs; /* 0: any device */
} manifest_transport_t;

typedef struct manifest_component {
    const char *name;
    uint64_t memory_types; /* bits by ucs_memory_type_t */
    uint64_t md_flags;
    int has_cm;
    manifest_transport_t *transports;
    unsigned num_transports;
} manifest_component_t;

typedef struct manifest {
    const char *name;
    const char *version;
    const char *library;
    manifest_flags_t known;
    manifest_component_t *components;
    unsigned num_components;
    void *manifest; /* private to manifest.c: it has the strings */
} manifest_t;

/* Reads a manifest; owner and permissions are not checked. NULL: it is not valid,
 * and `why` tells the reason. */
manifest_t *manifest_read(const char *path, char *why, size_t why_size);
void manifest_free(manifest_t *manifest); /* NULL is nothing */

/* NULL: not declared. */
const manifest_component_t *
manifest_component(const manifest_t *manifest, const char *name);
const manifest_transport_t *
manifest_transport(const manifest_component_t *component, const char *name);

#endif
