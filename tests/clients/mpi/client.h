/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shared by the MPI programs: start and end, checks that print the location,
 * and data whose bytes depend on the writer and the offset.
 */
#ifndef CLIENT_H
#define CLIENT_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

extern int client_rank, client_size; /* in MPI_COMM_WORLD */
extern int client_long;              /* --long: more rounds */

/** Starts MPI; ends the job if it grants less than `threads`, or if it uses
 *  another library than CLIENT_LIBRARY states ("core": this project's,
 *  "reference"; unset: any). */
void client_start(int *argc, char ***argv, int threads);

/** Ends MPI; rank 0 prints the success. Returns the result of main(). */
int client_end(const char *what);

/** Ends the whole job with a message. */
void client_fail(const char *file, int line, const char *format, ...)
    __attribute__((noreturn, format(printf, 3, 4)));

#define FAIL(...) client_fail(__FILE__, __LINE__, __VA_ARGS__)

#define CHECK(_condition) \
    do { \
        if (!(_condition)) { \
            FAIL("not so: %s", #_condition); \
        } \
    } while (0)

#define CHECK_EQ(_a, _b) \
    do { \
        long long _va = (long long)(_a), _vb = (long long)(_b); \
        if (_va != _vb) { \
            FAIL("%s is %lld, expected %lld (%s)", #_a, _va, _vb, #_b); \
        } \
    } while (0)

/** Number of rounds: `many` in the long form, else `few`; fewer if there are
 *  more ranks than processors, because spinning ranks take turns of
 *  milliseconds. */
int client_rounds(int few, int many);

/** Allocates memory, or ends the job. */
void *client_alloc(size_t size);

/** Fill a buffer; compare it with this content, and end the job at the first
 *  wrong byte. */
void client_fill(void *buffer, size_t size, unsigned seed);
void client_check(const void *buffer, size_t size, unsigned seed);

/** Checks that all bytes are `value`: a receive must not write them. */
void client_check_untouched(const void *buffer, size_t size, uint8_t value);

/** Pseudo-random numbers, reproducible on every rank. */
uint32_t client_random(uint32_t *state);

#endif
