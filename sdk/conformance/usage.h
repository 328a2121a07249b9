/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a process holds: descriptors, threads, memory. For comparing before and
 * after.
 */
#ifndef CONFORMANCE_USAGE_H
#define CONFORMANCE_USAGE_H

#include <stddef.h>

/* s that things may take to go which are no longer wanted: threads give back
 * what they have when they get a processor. */
#define USAGE_PATIENCE 10.0

typedef struct usage {
    unsigned fds;
    unsigned tasks;
    size_t heap;     /* bytes handed out by malloc() */
    size_t resident; /* bytes of memory */
} usage_t;

void usage_take(usage_t *usage);

/* Marks the descriptors that are open, by number, in an array of bytes; what
 * is beyond it is not seen. */
void usage_mark_fds(unsigned char *marks, size_t size);

/* What the descriptors lead to that were not marked: words for a finding. */
void usage_new_fds(const unsigned char *marks, size_t size, char *text,
                   size_t text_size);

#endif
