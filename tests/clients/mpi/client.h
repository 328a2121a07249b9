/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the MPI programs share: starting and ending, checks that say where and
 * what, and data whose every byte depends on who wrote it and where it stands.
 */
#ifndef CLIENT_H
#define CLIENT_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

extern int client_rank, client_size; /* in MPI_COMM_WORLD */
extern int client_long;              /* --long: as much as patience allows */

/** Starts MPI; the job ends if it grants less than `threads`, or if the
 *  library that it uses is not the one that CLIENT_LIBRARY says ("core": this
 *  project's, "reference"; unset: any). */
void client_start(int *argc, char ***argv, int threads);

/** Ends MPI; what main() returns. Rank 0 says that all went well. */
int client_end(const char *what);

/** Ends the whole job with a message. */
void client_fail(const char *file, int line, const char *format, ...)
        __attribute__((noreturn, format(printf, 3, 4)));

#define FAIL(...) client_fail(__FILE__, __LINE__, __VA_ARGS__)

#define CHECK(_condition)                    \
    do {                                     \
        if (!(_condition)) {                 \
            FAIL("not so: %s", #_condition); \
        }                                    \
    } while (0)

#define CHECK_EQ(_a, _b)                                                   \
    do {                                                                   \
        long long _va = (long long)(_a), _vb = (long long)(_b);            \
        if (_va != _vb) {                                                  \
            FAIL("%s is %lld, expected %lld (%s)", #_a, _va, _vb, #_b);    \
        }                                                                  \
    } while (0)

/** How often to do something: `many` times in the long form, else `few`; less with
 *  more ranks than processors: those that spin take turns of milliseconds. */
int client_rounds(int few, int many);

/** Memory, or the end of the job. */
void *client_alloc(size_t size);

/** Fills, and ends the job at the first wrong byte. */
void client_fill(void *buffer, size_t size, unsigned seed);
void client_check(const void *buffer, size_t size, unsigned seed);

/** Are these bytes all `value`? Where a receive must not have written. */
void client_check_untouched(const void *buffer, size_t size, uint8_t value);

/** Pseudo-random numbers that every rank can repeat. */
uint32_t client_random(uint32_t *state);

#endif
