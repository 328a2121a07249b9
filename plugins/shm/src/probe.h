/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Probes: how far two processes are apart, measured where they run just now. Two
 * cores may share a cache or be on different chips, and processes migrate; nothing
 * that could be set would be right for long.
 *
 *   sender:   writes lines into SHM_PROBE_SIZE bytes of the ring, if there is
 *             room at once
 *   receiver: takes the time until they come, and says so in the sender's slot
 *
 * A probe rings no bell: who does not look takes it with the next message. It
 * goes out when somebody asks, and the last one is older than SHM_PROBE_AGE.
 */
#ifndef SHM_PROBE_H
#define SHM_PROBE_H

#include <stdint.h>

struct shm_outbox;

/* Seconds. */
#define SHM_PROBE_AGE      10e-3 /* Then a measure is taken again */
#define SHM_PROBE_PATIENCE 2e-3  /* A peer that has not answered for so long is
                                    busy elsewhere: nothing counts as known */

/* What a sender knows. */
typedef struct shm_probing {
    double   sent_at;
    uint32_t sent;      /* Probes; may wrap around */
    uint32_t latency;   /* Of a line, ps, that counts; 0: not known yet */
    uint32_t doubt;     /* Another answer, which one more has to confirm; or 0 */
    uint8_t  awaited;   /* The last one has not been answered */
} shm_probing_t;

/* Bytes a second that copying through the ring brings to the peer, both ends
 * together, or 0 if that is not known. Has it measured now and then. Never
 * blocks, and wakes nobody. */
double shm_outbox_bandwidth(struct shm_outbox *outbox);

#endif
