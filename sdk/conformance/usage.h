/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counts of the resources of this process: descriptors, threads, memory. A
 * check compares the counts before and after some operations, to find leaks.
 */
#ifndef CONFORMANCE_USAGE_H
#define CONFORMANCE_USAGE_H

#include <stddef.h>

/* Seconds that a check waits for resources to be released: an exiting thread
 * releases its resources only when it gets a processor. */
#define USAGE_PATIENCE 10.0

typedef struct usage {
    unsigned fds;    /* Open descriptors */
    unsigned tasks;  /* Threads */
    size_t heap;     /* Bytes allocated by malloc() */
    size_t resident; /* Bytes of resident memory */
} usage_t;

void usage_take(usage_t *usage);

/* Sets marks[fd] to 1 if descriptor `fd` is open, otherwise to 0. Descriptors
 * from `size` on are ignored. */
void usage_mark_fds(unsigned char *marks, size_t size);

/* Writes to `text`, for a finding, the targets of the open descriptors whose
 * `marks` are 0; "" if there are none. */
void usage_new_fds(const unsigned char *marks, size_t size, char *text,
                   size_t text_size);

#endif
