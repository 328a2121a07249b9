/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What data brings that goes through a ring: the sender times how long it copies
 * in, the receiver how long a message takes there, both of real messages, and the
 * slower side limits the stream. Nothing else of a queue is known here, so that
 * it is tested alone.
 *
 * Where nothing has been timed, for this distance of the two cores, an upper
 * limit by the latency of a line is the answer, so that the ring is tried.
 */
#ifndef SHM_RING_SPEED_H
#define SHM_RING_SPEED_H

#include "times.h"

typedef struct shm_ring_speed {
    shm_times_t in, out;
    uint32_t    messages;         /* That are worth timing */
    uint32_t    latency;          /* Of a line when these were timed, ps */
    double      good_for;         /* Seconds without a message */
    double      at;               /* When the last one was taken */
} shm_ring_speed_t;

/* Non-zero: time the next message that is worth it. */
static inline int shm_ring_speed_wants(shm_ring_speed_t *speed)
{
    return (speed->in.count < SHM_TIMED_SAMPLES) ||
           (++speed->messages % SHM_TIMED_EVERY == 0);
}

/* Bytes a second that the ring brings, or could at most if that is not known.
 * `latency`: of a line between the cores just now, ps. Forgets what was timed
 * at another distance, or long ago. `received`: what messages that others sent
 * to this process took of late, ps per KiB, where it has sent none itself; or
 * 0. */
double shm_ring_speed_bandwidth(shm_ring_speed_t *speed, uint32_t latency,
                                uint32_t received, double now);

#endif
