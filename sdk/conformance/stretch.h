/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Measures the time that a call takes without that of other processes.
 * Wall-clock time includes it, so that plugins would appear slow on a busy
 * machine.
 */
#ifndef CONFORMANCE_STRETCH_H
#define CONFORMANCE_STRETCH_H


/* Factor for builds with sanitizers, which are much slower. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define STRETCH_SLOWNESS 10
#else
#define STRETCH_SLOWNESS 1
#endif

typedef struct stretch {
    double start;
    double processor; /* Seconds of processor time of the thread */
    long waits;       /* Number of voluntary context switches */
} stretch_t;

/* Both calls must be made by the same thread. */
void stretch_begin(stretch_t *stretch);

/*
 * Returns seconds: processor time if the thread has not slept, otherwise
 * wall-clock time. The latter may include waiting for a processor after a short
 * sleep, so more than one long result is required for a finding.
 */
double stretch_end(const stretch_t *stretch);

#endif
