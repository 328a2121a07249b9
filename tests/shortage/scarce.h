/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Makes one call for memory or for a descriptor fail: the n-th that this process
 * makes, whoever in it makes it.
 *
 * The functions of the C library that give memory or descriptors have their
 * double in the program, in front of the library's (it is linked with
 * export_dynamic). So the C library's own calls, for strdup() or fopen(), fail
 * as well.
 */
#ifndef SHORTAGE_SCARCE_H
#define SHORTAGE_SCARCE_H

#include <stdbool.h>
#include <stdint.h>

enum scarce {
    SCARCE_MEMORY,      /* malloc() and its kin, mmap(), space in files: ENOMEM */
    SCARCE_DESCRIPTORS  /* sockets, files, events: EMFILE */
};

/* From now on calls are counted; number `nth` fails, counted from 1, and so do
 * the `burst` - 1 after it. 0: none fails. */
void scarce_begin(enum scarce what, uint64_t nth, uint64_t burst);

/* No call fails any more. Returns how many were counted. */
uint64_t scarce_end(void);

/* True once a call has failed. */
bool scarce_has_failed(void);

/* Shows on stderr which call failed: its callers, with their libraries. */
void scarce_show(void);

/* Memory from malloc() and its kin that was given and not freed since the
 * program began: blocks. 0 with a sanitizer, which has its own account. */
int64_t scarce_blocks(void);

#endif
