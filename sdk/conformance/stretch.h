/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How long a call takes of its own accord. A clock on the wall also counts the
 * time in which the machine runs somebody else, and a busy one would make good
 * plugins look slow.
 */
#ifndef CONFORMANCE_STRETCH_H
#define CONFORMANCE_STRETCH_H

#include <ucs/time/time_def.h>

/* Sanitizers make code slower than any limit in seconds could know. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define STRETCH_SLOWNESS 10
#else
#define STRETCH_SLOWNESS 1
#endif

typedef struct stretch {
    ucs_time_t start;
    double processor; /* s that the thread has had */
    long waits;       /* how often it has gone to sleep by itself */
} stretch_t;

/* Both ends belong to one thread. */
void stretch_begin(stretch_t *stretch);

/*
 * Seconds: those on the processor if the thread has never slept, since all
 * others were taken from it; otherwise all of them. The latter may still be the
 * machine's doing (it slept for a moment, and was then kept waiting for a
 * processor), so one long stretch proves nothing: let it happen again.
 */
double stretch_end(const stretch_t *stretch);

#endif
