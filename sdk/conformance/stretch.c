/* SPDX-License-Identifier: BSD-3-Clause */
/* Measures calls by the kernel's accounting of a thread: see stretch.h. */
#include "stretch.h"
#include "clock.h"

#include <sys/resource.h>


static double seconds_of(const struct timeval *time)
{
    return (double)time->tv_sec + (double)time->tv_usec * 1e-6;
}

void stretch_begin(stretch_t *stretch)
{
    struct rusage usage;

    getrusage(RUSAGE_THREAD, &usage);
    stretch->processor = seconds_of(&usage.ru_utime) +
                         seconds_of(&usage.ru_stime);
    stretch->waits = usage.ru_nvcsw;
    stretch->start = clock_now();
}

double stretch_end(const stretch_t *stretch)
{
    double wall = clock_now() - stretch->start;
    struct rusage usage;

    getrusage(RUSAGE_THREAD, &usage);
    if (usage.ru_nvcsw != stretch->waits) {
        return wall;
    }
    return seconds_of(&usage.ru_utime) + seconds_of(&usage.ru_stime) -
           stretch->processor;
}
