/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Measures the duration of a call without the time in which other processes use
 * the processor. Wall-clock time includes that time, so that plugins would
 * appear slow on a busy machine.
 */
#ifndef CONFORMANCE_STRETCH_H
#define CONFORMANCE_STRETCH_H


/* Factor by which callers raise their limits in builds with sanitizers, which
 * are much slower. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define STRETCH_SLOWNESS 10
#else
#define STRETCH_SLOWNESS 1
#endif

typedef struct stretch {
    /* Values at the start: */
    double start;     /* Result of clock_now() (clock.h) */
    double processor; /* Seconds of processor time of the thread so far */
    long waits;       /* Number of voluntary context switches so far */
} stretch_t;

/* Both calls must be made by the same thread. */
void stretch_begin(stretch_t *stretch);

/*
 * Returns the duration in seconds: processor time if the thread has not slept,
 * otherwise wall-clock time. Wall-clock time may include waiting for a
 * processor after a short sleep, so callers report only repeated long results.
 */
double stretch_end(const stretch_t *stretch);

#endif
