/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The rate of the clock ucs_cycles(): measured against the clock of the
 * operating system, because not every processor states it.
 */
#include "ucs/sys/cycles.h"

#include <ucs/sys/compiler_def.h>

#include "ucs/time/time.h"

/* Both clocks at one moment */
typedef struct {
    uint64_t cycles;
    ucs_time_t time;
} moment_t;

static moment_t loaded; /* When the library was loaded */

/* Reads both clocks. Returns the time in which that was done, which is long if
 * the thread was interrupted. */
static ucs_time_t read_clocks(moment_t *moment)
{
    ucs_time_t begin = ucs_get_time();

    moment->cycles = ucs_cycles();
    moment->time   = ucs_get_time();
    return moment->time - begin;
}

static void __attribute__((constructor)) start(void)
{
    int tries = 0;

    while ((read_clocks(&loaded) > ucs_time_from_usec(5)) && (++tries < 10)) {
    }
}

/* Returns 0 if less than 1 ms has passed since the load, or if the thread was
 * interrupted while it read the clocks. */
static UCS_F_NOINLINE uint64_t measure(void)
{
    moment_t now;
    ucs_time_t read_time = read_clocks(&now);
    ucs_time_t time      = now.time - loaded.time;

    return ((time < ucs_time_from_msec(1)) || (read_time > time / 200)) ?
               0 :
               (uint64_t)((double)(now.cycles - loaded.cycles) /
                          ucs_time_to_sec(time));
}

double ucs_cycles_per_sec(void)
{
    static uint64_t rate; /* 0: not measured yet */
    uint64_t known = __atomic_load_n(&rate, __ATOMIC_RELAXED);

    if (ucs_unlikely(known == 0)) {
        known = measure();
        if (known == 0) {
            return 3e9;
        }
        __atomic_store_n(&rate, known, __ATOMIC_RELAXED);
    }
    return (double)known;
}
