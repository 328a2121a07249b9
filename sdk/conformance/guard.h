/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bytes that end at an inaccessible page: reading one byte more raises SIGSEGV,
 * which the report shows as a crash.
 */
#ifndef CONFORMANCE_GUARD_H
#define CONFORMANCE_GUARD_H

#include <stddef.h>

typedef struct guard {
    char *map;
    size_t map_size;
    char *end; /* First inaccessible byte */
} guard_t;

/* Allocates memory for up to `max` bytes. Returns 0 if out of memory. */
int guard_open(guard_t *guard, size_t max);
void guard_close(guard_t *guard);

/* Copies `size` bytes to the last accessible bytes. The copy is valid until the
 * next call. */
void *guard_place(guard_t *guard, const void *bytes, size_t size);

#endif
