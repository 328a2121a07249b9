/* SPDX-License-Identifier: BSD-3-Clause */
/* What the machine gives without any library: a cache line's way from core to
 * core, and memcpy. Knows neither UCP nor UCT, so both benchmarks use it. */
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

/* Before the partner is told to answer. */
void lines_reset(struct lines *lines);

/* Round trips of a batch. */
enum {
    LINES_USUAL = 20000,
    LINES_FEW   = 3000 /* where many floors are taken one after the other */
};

/* The driver's side: us one way. */
double lines_measure(struct lines *lines, uint64_t round_trips);

/* The partner's side of one lines_measure(). */
void lines_answer(struct lines *lines, uint64_t round_trips);

/* GB/s of copying `size` bytes again and again for about `seconds`. */
double copy_measure(void *to, const void *from, size_t size, double seconds);

/* Seconds of a clock that only goes forward. */
double lines_now(void);

/* Zeroed memory that children made later share; NULL if there is none. */
void *lines_map(size_t length);

#endif
