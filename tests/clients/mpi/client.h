/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shared by the MPI programs: start and end of a program, checks that print
 * their location, and data whose bytes depend on a seed and the offset.
 */
#ifndef CLIENT_H
#define CLIENT_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

extern int client_rank, client_size; /* In MPI_COMM_WORLD */
extern int client_long;              /* Set by --long: more rounds */

/* Starts MPI. Ends the job if MPI grants a lower level of threads than
 * `threads` (MPI_THREAD_*), or if CLIENT_LIBRARY is set and another libucp is
 * loaded than it says: "core" is this project's, "reference" another one. */
void client_start(int *argc, char ***argv, int threads);

/* Ends MPI. Rank 0 prints that `what` has passed. Returns the exit status for
 * main(). */
int client_end(const char *what);

/* Prints the location and a message, and ends the whole job. */
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

/* Returns a number of rounds: `many` with --long, else `few`. The number is
 * reduced if there are more ranks than processors, because the scheduler then
 * switches between polling ranks only every few milliseconds. */
int client_rounds(int few, int many);

/* Allocates memory; ends the job if there is none. */
void *client_alloc(size_t size);

/* client_fill() fills a buffer with bytes that depend on `seed`.
 * client_check() compares the buffer with these bytes and ends the job at
 * the first wrong one. */
void client_fill(void *buffer, size_t size, unsigned seed);
void client_check(const void *buffer, size_t size, unsigned seed);

/* Checks that all bytes after a message still are `value`: the receive must not
 * write them. */
void client_check_untouched(const void *buffer, size_t size, uint8_t value);

/* Returns a pseudo-random number. Equal states give equal numbers on every
 * rank. */
uint32_t client_random(uint32_t *state);

#endif
