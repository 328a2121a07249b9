/* SPDX-License-Identifier: BSD-3-Clause */
/* Hardware limits without any library: latency of a cache line between cores,
 * and memcpy. Independent of UCP and UCT; both benchmarks use it. */
#ifndef BENCH_LINES_H
#define BENCH_LINES_H

#include <stdalign.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

/* Two lines in memory that both processes share, each written by one of them.
 * 128 bytes apart, because processors fetch lines in pairs. */
struct lines {
    alignas(128) _Atomic uint64_t to_partner;
    alignas(128) _Atomic uint64_t to_driver;
};

/* Call it before the partner is requested to answer. */
void lines_reset(struct lines *lines);

/* Round trips of a batch. */
enum {
    LINES_USUAL = 20000,
    LINES_FEW   = 3000, /* for many consecutive floors */
};

/* The driver's side: us one way. */
double lines_measure(struct lines *lines, uint64_t round_trips);

/* The partner's side of one lines_measure(). */
void lines_answer(struct lines *lines, uint64_t round_trips);

/* GB/s of copying `size` bytes repeatedly for about `seconds`. */
double copy_measure(void *to, const void *from, size_t size, double seconds);

/* Seconds of a monotonic clock. */
double lines_now(void);

/* Zeroed memory shared with later children; NULL on failure. */
void *lines_map(size_t length);

#endif
