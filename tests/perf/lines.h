/* SPDX-License-Identifier: BSD-3-Clause */
/* Floors: limits of the hardware, measured without a communication library.
 * They are the latency of a cache line between two cores, and the speed of
 * memcpy(). A message cannot be faster than the cache line. ucp_bench,
 * uct_bench and ucp_startup use this file; it uses neither UCP nor UCT. */
#ifndef BENCH_LINES_H
#define BENCH_LINES_H

#include <stdalign.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

/* Two cache lines in memory that the processes share. The driver writes the
 * first one, and the partner the second one. They are 128 bytes apart, because
 * processors fetch lines in pairs. */
struct lines {
    alignas(128) _Atomic uint64_t to_partner;
    alignas(128) _Atomic uint64_t to_driver;
};

/* Sets both lines to 0. The driver calls it before it requests the partner to
 * call lines_answer(). */
void lines_reset(struct lines *lines);

/* Values for `round_trips` below, the number of round trips in a batch. */
enum {
    LINES_USUAL = 20000,
    LINES_FEW   = 3000, /* For programs that measure the floor many times */
};

/* Called by the driver. Measures several batches of round trips; returns the
 * latency of one way in us. */
double lines_measure(struct lines *lines, uint64_t round_trips);

/* Called by the partner while the driver calls lines_measure() with the same
 * number. */
void lines_answer(struct lines *lines, uint64_t round_trips);

/* Copies `size` bytes repeatedly for about `seconds`; returns GB/s. */
double copy_measure(void *to, const void *from, size_t size, double seconds);

/* Seconds of a monotonic clock. */
double lines_now(void);

/* Returns memory of zeros that this process shares with children of later calls
 * of fork(), or NULL on failure. */
void *lines_map(size_t length);

#endif
