/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Probes measure how fast data gets from the core of one process to the core of
 * another. Two cores may share a cache or be on different chips, and processes
 * migrate, so that a fixed setting could become wrong.
 *
 *   sender:   writes a few lines into the first SHM_PROBE_LINES bytes of a
 *             probe, and copies SHM_PROBE_COPY bytes behind them, if the ring
 *             has space at once; measures the time of the copy. Between cores
 *             that are not near, every other probe is copied by non-temporal
 *             stores
 *   receiver: measures the time to read these lines, and to copy the bytes
 *             behind them, and writes both times to the sender's slot
 *
 * A probe does not ring the bell: a receiver that does not poll handles it with
 * the next message.
 */
#ifndef SHM_PROBE_H
#define SHM_PROBE_H

#include "stores.h"

struct shm_outbox;

/* Times in seconds */
#define SHM_PROBE_AGE 10e-3 /* Age of a probe after which the next is sent */
#define SHM_PROBE_PATIENCE \
    2e-3 /* A peer that has not answered for this long is busy, and its latency
          * counts as unknown */

/* The sender's state. */
typedef struct shm_probing {
    double sent_at;   /* Host time of the last probe; INFINITY: none is sent any
                       * more, after an error */
    uint32_t sent;    /* Number of probes sent; may wrap around */
    uint32_t latency; /* Latency of a cache line in ps; 0: unknown */
    uint32_t written; /* Time of the sender's copy in the last probe, ps per
                       * KiB */
    uint32_t doubt;   /* A latency in ps that is on the other side of the limit
                       * of is_near() (probe.c) than `latency` and must be
                       * confirmed by the next probe; 0: none */
    uint8_t awaited;  /* The last probe is unanswered */
    uint8_t is_due;   /* A probe found no space: shm_outbox_probe_due() */
    uint8_t is_near;  /* The cores count as near, or take turns on one */
    uint8_t tried;    /* shm_write_t of the last probe */
    uint8_t is_fresh; /* It was in bytes of the ring that the receiver had not
                       * read before */
    shm_stores_t stores;
} shm_probing_t;

/* Returns the bandwidth in bytes per second of large messages through the ring,
 * which the sender copies in and the receiver copies out; 0 if it is unknown.
 * Sets outbox->stream_min by the result unless it is fixed.
 * Sends a probe if the last one was answered and is older than SHM_PROBE_AGE,
 * or its result must be confirmed; a later call uses the result. Never blocks.
 * Wakes the receiver only if the outbox has no slot yet and takes one. */
double shm_outbox_bandwidth(struct shm_outbox *outbox);

/* Records the time of a message's copy to the ring. Sets outbox->stream_min by
 * it unless it is fixed. */
void shm_outbox_wrote(struct shm_outbox *outbox, shm_write_t write,
                      size_t length, double seconds);

/* Called if probing.is_due is set and the receiver has returned credits: sends
 * the probe that found no space. Senders with much data in flight would never
 * probe otherwise. */
void shm_outbox_probe_due(struct shm_outbox *outbox);

/* Returns non-zero if the last probes have shown that the cores share a cache:
 * zero if they do not, take turns on one core, or if that is unknown. */
int shm_outbox_is_near(const struct shm_outbox *outbox);

#endif
