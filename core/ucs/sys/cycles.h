/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A fast clock for elapsed-time checks on the message path: a read takes a few
 * nanoseconds, but the rate of the clock is known only approximately. Not for
 * measurements.
 */
#ifndef UCS_CYCLES_H
#define UCS_CYCLES_H

#include <stdint.h>

#if !defined(__x86_64__) && !defined(__aarch64__)
#include <time.h>
#endif

/** Returns the value of a counter that increases at a constant rate. */
static inline uint64_t ucs_cycles(void)
{
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
    uint64_t ticks;

    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
#else
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
#endif
}

/** Converts microseconds to ticks of that counter, within a factor of two (on
 *  x86-64: if the counter has 1.5 to 6 GHz). */
static inline uint64_t ucs_cycles_of_usec(unsigned usec)
{
#if defined(__x86_64__)
    /* correct within a factor of two for time stamp counters of 1.5 to 6 GHz */
    return (uint64_t)usec * 3000;
#elif defined(__aarch64__)
    uint64_t rate;

    __asm__ volatile("mrs %0, cntfrq_el0" : "=r"(rate));
    return usec * rate / 1000000;
#else
    return (uint64_t)usec * 1000;
#endif
}

#endif
