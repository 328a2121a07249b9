/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How long copies of real data took of late. Single times are disturbed (a
 * process loses its processor, a buffer lies in a remote cache): the median of
 * the last ones counts.
 */
#ifndef SHM_TIMES_H
#define SHM_TIMES_H

#include <stdint.h>

enum {
    SHM_TIMED_MIN     = 8192,  /* Bytes of a copy that is worth timing */
    SHM_TIMED_SAMPLES = 5,     /* The last so many count ... */
    SHM_TIMED_ENOUGH  = 3,     /* ... if there are so many */
    SHM_TIMED_EVERY   = 32     /* Then one of so many copies is timed */
};

/* Seconds after which times of a way that is not used count no more. */
#define SHM_TIMES_GOOD_FOR 1.0

/* The last times, ps per KiB. */
typedef struct shm_times {
    uint32_t value[SHM_TIMED_SAMPLES];
    uint32_t count;               /* Ever growing */
} shm_times_t;

/* ps per KiB of `length` bytes in so many seconds; at least 1. */
uint32_t shm_times_of(double seconds, double length);
/* Bytes a second, of ps per KiB. */
double shm_times_bandwidth(uint32_t value);

void shm_times_add(shm_times_t *times, uint32_t value);
uint32_t shm_times_median(const shm_times_t *times);

static inline int shm_times_are_known(const shm_times_t *times)
{
    return times->count >= SHM_TIMED_ENOUGH;
}

#endif
