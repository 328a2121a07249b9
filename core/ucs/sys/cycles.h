/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A fast clock for checks of elapsed time on the message path: a read takes a
 * few nanoseconds. Not for measurements: its rate is known to about 1 %.
 */
#ifndef UCS_CYCLES_H
#define UCS_CYCLES_H

#include <stdint.h>

#if !defined(__x86_64__) && !defined(__aarch64__)
#include "ucs/time/time.h"
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
    return ucs_get_time();
#endif
}

/** Returns the ticks of that counter in a second. They are measured from the
 *  load of the library to the first call that is at least 1 ms later; an
 *  earlier call returns 3e9. May be called by any thread. */
double ucs_cycles_per_sec(void);

#endif
