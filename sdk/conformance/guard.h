/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bytes whose end is the end of the mapped world: a read of one more ends in
 * SIGSEGV, which the report shows as a crash.
 */
#ifndef CONFORMANCE_GUARD_H
#define CONFORMANCE_GUARD_H

#include <stddef.h>

typedef struct guard {
    char *map;
    size_t map_size;
    char *end; /* first byte that must not be touched */
} guard_t;

/* Room for up to `max` bytes; 0: out of memory. */
int guard_open(guard_t *guard, size_t max);
void guard_close(guard_t *guard);

/* Places `size` bytes right before the end; valid until the next place. */
void *guard_place(guard_t *guard, const void *bytes, size_t size);

#endif
