/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a manifest declares, in the words of the public API: what the plugin may
 * offer at most.
 */
#ifndef CONFORMANCE_PROMISE_H
#define CONFORMANCE_PROMISE_H

#include <uct/api/uct.h>

/* Peers that a transport can reach, as bits. */
enum {
    PROMISE_SELF    = 1u << 0,
    PROMISE_NODE    = 1u << 1,
    PROMISE_NETWORK = 1u << 2
};

/* Atomic operations, as bits. */
enum {
    PROMISE_ATOMIC32_POST  = 1u << 0,
    PROMISE_ATOMIC32_FETCH = 1u << 1,
    PROMISE_ATOMIC64_POST  = 1u << 2,
    PROMISE_ATOMIC64_FETCH = 1u << 3
};

/* Flags that a manifest can declare: it has no words for the others. */
typedef struct promise_flags {
    uint64_t iface; /* UCT_IFACE_FLAG_* */
    uint64_t event; /* UCT_IFACE_FLAG_EVENT_* */
    uint64_t md;    /* UCT_MD_FLAG_* */
} promise_flags_t;

typedef struct promise_transport {
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
} promise_transport_t;

typedef struct promise_component {
    const char *name;
    uint64_t memory_types; /* bits by ucs_memory_type_t */
    uint64_t md_flags;
    int has_cm;
    promise_transport_t *transports;
    unsigned num_transports;
} promise_component_t;

typedef struct promise {
    const char *name;
    const char *version;
    const char *library;
    promise_flags_t known;
    promise_component_t *components;
    unsigned num_components;
    void *manifest; /* private to promise.c: it has the strings */
} promise_t;

/* Reads a manifest; owner and permissions are not checked. NULL: it is not valid,
 * and `why` tells the reason. */
promise_t *promise_read(const char *path, char *why, size_t why_size);
void promise_free(promise_t *promise); /* NULL is nothing */

/* NULL: not declared. */
const promise_component_t *
promise_component(const promise_t *promise, const char *name);
const promise_transport_t *
promise_transport(const promise_component_t *component, const char *name);

#endif
