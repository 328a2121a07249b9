/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Makes one allocation of memory or of a descriptor fail: the n-th of this
 * process, from any code.
 *
 * The program contains replacements of the C library's functions that allocate
 * memory or descriptors, in front of the library's (it is linked with
 * export_dynamic). Therefore the C library's own calls, for strdup() or
 * fopen(), fail as well.
 */
#ifndef SHORTAGE_SCARCE_H
#define SHORTAGE_SCARCE_H

#include <stdbool.h>
#include <stdint.h>

enum scarce {
    /* malloc() and similar, mmap(), space in files: ENOMEM */
    SCARCE_MEMORY,
    SCARCE_DESCRIPTORS, /* sockets, files, events: EMFILE */
};

/* Starts to count calls. Calls number `nth` to `nth` + `burst` - 1 fail,
 * counted from 1. 0: none fails. */
void scarce_begin(enum scarce what, uint64_t nth, uint64_t burst);

/* Stops the failures. Returns the number of counted calls. */
uint64_t scarce_end(void);

/* Returns whether a call has failed. */
bool scarce_has_failed(void);

/* Prints the call stack of the failed call to stderr, with libraries. */
void scarce_show(void);

/* The number of blocks from malloc() and similar that are not freed. 0 with a
 * sanitizer, which has its own count. */
int64_t scarce_blocks(void);

#endif
