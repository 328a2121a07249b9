/* SPDX-License-Identifier: BSD-3-Clause */
/* The monotonic clock for time limits of the checks. */
#ifndef CONFORMANCE_CLOCK_H
#define CONFORMANCE_CLOCK_H

#include <time.h>

/* Returns seconds since an arbitrary start. */
static inline double clock_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

#endif
