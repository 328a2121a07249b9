/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What copies between processes bring on this processor: the overhead of a
 * system call, the bandwidth of one process, and how much the other process
 * helps. Nothing else of cma is known here, so that it is tested alone.
 *
 * At first the primitive is measured with memory of this process: its pages are
 * pinned and copied by the same code of the kernel, and it needs no peer. A try
 * that is disturbed takes longer, never less: the best of several counts, and a
 * result that is worse than the last one has to come twice. That is the most that
 * can be expected of a peer's memory, whose bytes may lie in a remote cache: so
 * copies of real data are timed too, and count as long as there are any.
 */
#ifndef SHM_CMA_SPEED_H
#define SHM_CMA_SPEED_H

#include "times.h"

#include <stddef.h>

enum {
    CMA_SPEED_SMALL = 4096,    /* Bytes of the two copies that are timed */
    CMA_SPEED_LARGE = 65536,
    CMA_SPEED_TRIES = 5
};

typedef struct cma_speed {
    double overhead;     /* Seconds of a call beside its bytes */
    double bandwidth;    /* Bytes a second of one process; 0: not known */
    double at;           /* When it was measured, seconds of any clock */
    double good_for;     /* Seconds until it is measured again */
    int    is_doubted;   /* The last result was worse, and does not count yet */
    double offered;      /* Bytes of shared copies of late ... */
    double helped;       /* ... and those that the helper copied */
    shm_times_t real;    /* Copies of real data by this process */
    uint32_t    copies;  /* That were worth timing */
    double      real_at; /* When the last one was timed */
} cma_speed_t;

/* Times a copy of `length` bytes; seconds, or < 0: it failed. */
typedef double (*cma_speed_copy_t)(void *arg, size_t length);

/* Non-zero: it is time to measure. */
int cma_speed_is_due(const cma_speed_t *speed, double now);

/* Measures: some tens of microseconds. */
void cma_speed_measure(cma_speed_t *speed, cma_speed_copy_t copy, void *arg,
                       double now);

/* Of a shared copy the helper has made so many bytes. */
void cma_speed_note_help(cma_speed_t *speed, size_t offered, size_t helped);

/* Non-zero: time the next copy of this length. */
int cma_speed_wants(cma_speed_t *speed, size_t length);
void cma_speed_note_copy(cma_speed_t *speed, size_t length, double seconds,
                         double now);
/* Of late this process has copied so fast, ps per KiB; 0: not known. */
uint32_t cma_speed_real(const cma_speed_t *speed, double now);

/* Bytes a second of one process, as the primitive brings; 0: not known. */
double cma_speed_alone(const cma_speed_t *speed);
/* How many times as fast both processes are: 1 to 2. */
double cma_speed_gain(const cma_speed_t *speed);

#endif
