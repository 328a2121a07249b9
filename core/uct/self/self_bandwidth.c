/* SPDX-License-Identifier: BSD-3-Clause */
/* Measures how fast this process copies its own memory. */
#include "self.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Number of bytes of a copy, of which there are ROUNDS; the fastest one
 * counts. */
enum { LENGTH = 32768, ROUNDS = 6 };

/* At least SELF_BANDWIDTH: a processor copies data in its own caches faster than
 * that. Measured values are below it if other work disturbs the measurement, or
 * if a tool watches each access to memory. Also the result if memory for the
 * measurement is short, or if the clock is too coarse. */
static double bandwidth = SELF_BANDWIDTH;

static double seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Takes about 20 microseconds, most of which are the first accesses to the
 * memory. */
static void measure(void)
{
    char *from  = calloc(2, LENGTH);
    double best = LENGTH / SELF_BANDWIDTH;
    double start, time;
    char *to;
    int i;

    if (from == NULL) {
        return;
    }
    to = from + LENGTH;
    for (i = 0; i < ROUNDS; ++i) {
        memset(from, i, LENGTH);
        start = seconds();
        memcpy(to, from, LENGTH);
        __asm__ volatile("" : : "r"(to) : "memory"); /* do not omit the copy */
        time = seconds() - start;
        best = ((time > 0) && (time < best)) ? time : best;
    }
    bandwidth = LENGTH / best;
    free(from);
}

double self_bandwidth(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, measure);
    return bandwidth;
}
