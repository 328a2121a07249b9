/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Resources of a process: descriptors, threads, memory; to compare before and
 * after.
 */
#ifndef CONFORMANCE_USAGE_H
#define CONFORMANCE_USAGE_H

#include <stddef.h>

/* Seconds to wait until unused resources are released: threads release theirs
 * when they get a processor. */
#define USAGE_PATIENCE 10.0

typedef struct usage {
    unsigned fds;
    unsigned tasks;
    size_t heap;     /* bytes allocated by malloc() */
    size_t resident; /* bytes of memory */
} usage_t;

void usage_take(usage_t *usage);

/* Marks open descriptors by number in an array of bytes; higher numbers are
 * ignored. */
void usage_mark_fds(unsigned char *marks, size_t size);

/* Describes the open descriptors that are not marked, for a finding. */
void usage_new_fds(const unsigned char *marks, size_t size, char *text,
                   size_t text_size);

#endif
