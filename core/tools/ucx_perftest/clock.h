/* SPDX-License-Identifier: BSD-3-Clause */
/* Ticks of the cheapest steady clock: the processor's counter if it is steady,
 * otherwise the system's clock. Not for the time of day. */
#ifndef PERFTEST_CLOCK_H
#define PERFTEST_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

/* The clock. clock_calibrate() sets it; it is constant afterwards. */
struct perf_clock {
    bool counter; /* use the counter of the processor */
    double ticks_per_second;
};

extern struct perf_clock perf_clock;

/* Selects and measures the clock, which takes a few milliseconds. Call it
 * before threads are created. */
void clock_calibrate(void);

static inline uint64_t clock_nanoseconds(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return ((uint64_t)time.tv_sec * 1000000000) + time.tv_nsec;
}

static inline uint64_t clock_ticks(void)
{
#if defined(__x86_64__)
    if (__builtin_expect(perf_clock.counter, 1)) {
        return __rdtsc();
    }
#elif defined(__aarch64__)
    if (__builtin_expect(perf_clock.counter, 1)) {
        uint64_t ticks;

        __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
        return ticks;
    }
#endif
    return clock_nanoseconds();
}

static inline double clock_seconds(double ticks)
{
    return ticks / perf_clock.ticks_per_second;
}

#endif
