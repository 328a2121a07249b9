/* SPDX-License-Identifier: BSD-3-Clause */
/* The time that limits of the checks are measured in. */
#ifndef CONFORMANCE_CLOCK_H
#define CONFORMANCE_CLOCK_H

#include <time.h>

/* Seconds; only differences have a meaning. */
static inline double clock_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

#endif
