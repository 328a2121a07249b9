/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Makes one or more consecutive allocations of memory or of descriptors fail,
 * for example only the n-th one of this process. All code of the process is
 * affected.
 *
 * The program contains functions with the names of the C library's functions
 * that allocate memory or descriptors. It is linked with export_dynamic, so
 * that all libraries call these functions in place of the C library's ones.
 * That includes calls from inside the C library, such as those of strdup().
 */
#ifndef SHORTAGE_SCARCE_H
#define SHORTAGE_SCARCE_H

#include <stdbool.h>
#include <stdint.h>

enum scarce {
    /* malloc() and similar functions, mmap(), shared memory, threads, and space
     * in files; the error is ENOMEM, EAGAIN for threads, and ENOSPC for
     * shmget() and files */
    SCARCE_MEMORY,
    /* File descriptors of sockets, files, events and so on; the error is
     * EMFILE */
    SCARCE_DESCRIPTORS,
};

/* Starts to count the calls that allocate `what`, from 1. The calls with the
 * numbers `nth` to `nth` + `burst` - 1 fail. If `nth` is 0, none fails. */
void scarce_begin(enum scarce what, uint64_t nth, uint64_t burst);

/* Stops counting: no call fails afterwards. Returns the number of counted
 * calls. */
uint64_t scarce_end(void);

/* Returns whether a call has failed since scarce_begin(). */
bool scarce_has_failed(void);

/* Prints the call stack of the first failed call to stderr, with the names of
 * libraries. Prints nothing if no call has failed. */
void scarce_show(void);

/* Returns the number of blocks from malloc() and similar functions that are not
 * yet freed. Returns 0 in a build with a sanitizer, which detects leaks
 * itself. */
int64_t scarce_blocks(void);

#endif
