/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Probes measure the distance between two processes where they run now. Two
 * cores may share a cache or be on different chips, and processes migrate, so
 * that a fixed setting could become wrong.
 *
 *   sender:   writes lines into SHM_PROBE_SIZE bytes of the ring, if there is
 *             space at once
 *   receiver: measures the time until they arrive, and writes it to the sender's
 *             slot
 *
 * A probe does not ring the bell: a receiver that does not poll handles it with
 * the next message. shm_outbox_bandwidth() sends one if the last one is older
 * than SHM_PROBE_AGE.
 */
#ifndef SHM_PROBE_H
#define SHM_PROBE_H

#include <stdint.h>

struct shm_outbox;

/* Times in seconds */
#define SHM_PROBE_AGE 10e-3 /* Maximum age of a measurement */
#define SHM_PROBE_PATIENCE \
    2e-3 /* A peer that has not answered for this long is busy, and its distance
          * counts as unknown */

/* The sender's state. */
typedef struct shm_probing {
    double sent_at;
    uint32_t sent;    /* Number of probes; may wrap around */
    uint32_t latency; /* Latency of a cache line in ps; 0: unknown */
    uint32_t doubt;   /* A result that differs from `latency` and must be
                       * confirmed by the next probe; 0: none */
    uint8_t awaited;  /* The last probe is unanswered */
} shm_probing_t;

/* Returns the bandwidth in bytes per second of a copy through the ring to the
 * peer, sender and receiver together; 0 if it is unknown. Sends a probe if the
 * last one is older than SHM_PROBE_AGE; a later call returns its result. Never
 * blocks, and wakes no process. */
double shm_outbox_bandwidth(struct shm_outbox *outbox);

#endif
