/* SPDX-License-Identifier: BSD-3-Clause */
/* Selects the counter that serves as a clock, and measures its rate. */
#include "clock.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

struct perf_clock perf_clock = {.ticks_per_second = 1e9};

enum {
    CALIBRATE_NS = 4000000,
};

/* Returns whether the processor's counter can be used: according to the
 * processor, it does not stop or change its rate with the power state. */
static bool counter_is_steady(void)
{
#if defined(__x86_64__)
    unsigned a, b, c, d;

    return __get_cpuid(0x80000007, &a, &b, &c, &d) && ((d >> 8) & 1);
#elif defined(__aarch64__)
    return true;
#else
    return false;
#endif
}

void clock_calibrate(void)
{
    uint64_t ticks, start;

    perf_clock.counter = counter_is_steady();
    if (perf_clock.counter) {
        start = clock_nanoseconds();
        ticks = clock_ticks();
        while (clock_nanoseconds() - start < CALIBRATE_NS) {
        }
        ticks                       = clock_ticks() - ticks;
        perf_clock.ticks_per_second = ticks * 1e9 /
                                      (clock_nanoseconds() - start);
    }
}
