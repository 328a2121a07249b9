/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Chooses between ordinary and non-temporal stores (ring_stream.h) for the
 * messages that a sender writes to a ring, by the measured times of copies: in
 * probes (probe.h), and of messages.
 */
#ifndef SHM_STORES_H
#define SHM_STORES_H

#include <stddef.h>
#include <stdint.h>

/* How the sender writes to the ring */
typedef enum {
    SHM_WRITE_PLAIN,  /* By ordinary stores */
    SHM_WRITE_STREAM, /* By non-temporal stores */
    SHM_WRITE_LAST,
} shm_write_t;

/* Times of copies through the ring, in ps per KiB; 0: none. */
typedef struct shm_copies {
    uint32_t took;   /* The slower copy, the sender's or the receiver's, in the
                      * last probe */
    uint32_t before; /* The same in the probe before; UINT32_MAX: none */
    uint32_t read;   /* The receiver's copy in the last probe */
    uint32_t both;   /* Both copies, one after the other; the sender's in the
                      * last probe, or of messages since then */
} shm_copies_t;

typedef struct shm_stores {
    uint8_t write;    /* shm_write_t of messages */
    uint8_t is_fresh; /* The last probe by ordinary stores was in bytes of the
                       * ring that the receiver had not read before */
    uint8_t votes;    /* Number of results in a row for the other stores */
    uint8_t slower;   /* Number of results in a row in which messages by
                       * non-temporal stores took longer than by ordinary ones */
    uint8_t untried;  /* Timed messages since the last one by ordinary stores,
                       * while others use non-temporal ones */
    uint8_t timed[SHM_WRITE_LAST];  /* Messages since the last result of
                                    * shm_stores_wrote() */
    uint32_t least[SHM_WRITE_LAST]; /* The shortest of their times, ps per
                                     * KiB */
    uint32_t gain; /* By non-temporal stores, ps per KiB, in the last result
                       * that spoke for them */
    shm_copies_t copies[SHM_WRITE_LAST];
} shm_stores_t;

/* Records a probe. `written`, `read`: times of the sender's and the receiver's
 * copy, ps per KiB. `is_fresh`: the receiver had not read these bytes of the
 * ring before, so that ordinary stores were faster than usual. */
void shm_stores_probed(shm_stores_t *stores, shm_write_t write,
                       uint32_t written, uint32_t read, int is_near,
                       int is_fresh);

/* Records the time of a message's copy to the ring, ps per KiB. While data
 * streams in both directions, ordinary stores take much longer than in a probe,
 * which is sent when a message begins; and non-temporal stores can take longer
 * than in a probe, which is short. */
void shm_stores_wrote(shm_stores_t *stores, shm_write_t write, uint32_t took,
                      int is_near);

/* Returns how a message that is timed is written: while messages use
 * non-temporal stores, a few of those that are timed use ordinary ones. */
shm_write_t shm_stores_next(shm_stores_t *stores);

/* Returns whether another probe is needed for the choice. */
int shm_stores_is_undecided(const shm_stores_t *stores);

/* Returns the bytes from which messages are written by non-temporal stores;
 * UINT32_MAX: none are. */
uint32_t shm_stores_min(const shm_stores_t *stores);

#endif
