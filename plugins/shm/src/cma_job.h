/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A copy that two processes share: decides which side copies which part, and
 * when the copy is complete. This file handles only the words in shared memory;
 * it copies no data.
 *
 * The initiator (of the put or get) opens a job of `count` chunks and claims
 * them from the front. The helper (whose memory is read or written) claims them
 * from the back, one at a time. They meet in the middle. Without a helper the
 * initiator copies everything.
 *
 * Chunk 0 is at the beginning of the data, or at its end: of two processes that
 * initiate operations in turn, one always copies from the beginning, and the
 * other from the end. So each part of memory that is used again stays in the
 * caches of one processor. (Not if the helper has not helped with the last
 * jobs: share_is_from_end() in cma_share.c.)
 *
 * Two words of 64 bits (cma_job_t), with the sizes of their fields in bits:
 *
 *   claim:   | generation 32 | back 16 | front 16 |
 *   helped:  | generation 32 | 0 15 | refused 1 | chunks 16 |
 *
 * Both sides change `claim`, by compare-and-swap. Only the helper writes
 * `helped`.
 *
 * Chunks [front, back) are free. Only the initiator changes `front`, upwards;
 * only the helper changes `back`, downwards. To close a job the initiator
 * claims all free chunks.
 *
 * No write after the job has ended: the helper accesses a chunk only between a
 * successful claim and the store to `helped` that counts it. The initiator ends
 * a job when no chunk is free and `helped` counts all chunks that the helper
 * has claimed according to `claim`. After that the helper's claims fail: no
 * chunk is free in this generation, and in the next one the upper half of the
 * word differs. (This assumes that a helper does not sleep between its load and
 * its exchange for 2^32 jobs.) If the helper refuses a chunk, it does not count
 * it and does not return to the job; the initiator copies that chunk, which is
 * the last one claimed. If the helper dies with a claimed chunk, the initiator
 * waits until the lock that shows that the process is alive is free (lock 0 of
 * its inbox's segment): then none of its threads is in a system call any more.
 * (If the operation failed or was cancelled, a live helper that holds a chunk
 * for seconds is abandoned: cma_share.c.)
 *
 * Visibility of the data: the kernel copies on the helper's own processor,
 * before the call returns. The helper's store of the count in `helped` is a
 * release, the initiator's load an acquire: after it has seen the count, it
 * sees the bytes, and so do other threads that the initiator synchronizes with.
 *
 * The right job: the description of the chunks arrives by message, as a copy,
 * together with the generation. A claim succeeds only in that generation, and a
 * claimed chunk keeps the job from ending.
 *
 * Either side may be broken: each checks every word before use.
 */
#ifndef SHM_CMA_JOB_H
#define SHM_CMA_JOB_H

#include "layout.h"

enum {
    CMA_JOB_MAX_CHUNKS = UINT16_MAX,
    CMA_JOB_REFUSED    = 1u << 16, /* Flag in `helped` */
};

/* A helper that makes the initiator wait for less than this number of seconds
 * does not count as late. */
#define CMA_JOB_NEVER_LATE 100e-6

typedef struct cma_job {
    SHM_ALIGNED_LINE _Atomic uint64_t claim;
    SHM_ALIGNED_LINE _Atomic uint64_t helped;
} cma_job_t;

_Static_assert(sizeof(cma_job_t) == 2 * SHM_CACHE_LINE, "two lines");

/* The initiator's state of an open job. */
typedef struct cma_share {
    cma_job_t *job;
    uint32_t generation;
    uint32_t count; /* Number of chunks */
    uint32_t front; /* Number of chunks claimed by the initiator */
    uint32_t back;  /* Value of `back` that was read last; the helper has
                     * claimed chunks [back, count) */
} cma_share_t;

typedef enum {
    CMA_CLAIMED,
    CMA_NOTHING_LEFT,
    CMA_BROKEN, /* The peer has written invalid values */
} cma_claim_t;

typedef enum {
    CMA_JOB_DONE,
    CMA_JOB_BUSY,     /* The helper is copying chunks that it has claimed */
    CMA_JOB_RETURNED, /* The helper could not copy chunk `back`, which it
                       * claimed last; the initiator must copy it */
    CMA_JOB_SPOILT,   /* The helper has written invalid values */
} cma_job_end_t;

/* A part of the data of a job, in bytes. */
typedef struct cma_part {
    size_t offset, length;
} cma_part_t;

/* Returns the bytes of the chunks [first, first + num) of a job of `length`
 * bytes. `from_end`: chunk 0 is at the end of the data. */
static SHM_INLINE cma_part_t cma_job_part(size_t length, size_t chunk,
                                          int from_end, uint32_t first,
                                          uint32_t num)
{
    size_t begin    = first * chunk;
    cma_part_t part = {begin, shm_min(num * chunk, length - begin)};

    if (from_end) {
        part.offset = length - begin - part.length;
    }
    return part;
}

static SHM_INLINE uint64_t cma_claim_word(uint32_t generation, uint32_t back,
                                          uint32_t front)
{
    return ((uint64_t)generation << 32) | (back << 16) | front;
}

/* Returns whether the helper made the initiator wait for much longer than a
 * chunk takes on this machine: `waited` seconds, after `worked` seconds in
 * which the initiator copied `chunks`. Between cores that share no cache a
 * chunk takes several times as long as between others, hence the factor of
 * 4. */
static SHM_INLINE int cma_share_is_late(double waited, double worked,
                                        uint32_t chunks)
{
    const double slowest = 4 * worked / ((chunks > 0) ? chunks : 1);

    return (waited > CMA_JOB_NEVER_LATE) && (waited > slowest);
}

/* Opens a job whose first `taken` chunks the initiator has claimed. */
static SHM_INLINE void cma_share_open(cma_share_t *share, cma_job_t *job,
                                      uint32_t generation, uint32_t count,
                                      uint32_t taken)
{
    *share = (cma_share_t){job, generation, count, taken, count};
    atomic_store_explicit(&job->claim, cma_claim_word(generation, count, taken),
                          memory_order_release);
}

/* Loads the claim word. Returns zero if it is not valid for this job: the
 * helper has overwritten it. */
static SHM_INLINE int cma_share_load(cma_share_t *share, uint64_t *word_p)
{
    uint64_t word  = atomic_load_explicit(&share->job->claim,
                                          memory_order_acquire);
    uint32_t back  = (word >> 16) & UINT16_MAX;
    uint32_t front = word & UINT16_MAX;

    if (((word >> 32) != share->generation) || (front != share->front) ||
        (back > share->back) || (back < front)) {
        return 0;
    }
    share->back = back;
    *word_p     = word;
    return 1;
}

/* Called by the initiator: claims up to `most` free chunks. Stores the index of
 * the first claimed chunk and the number of claimed chunks. */
static SHM_INLINE cma_claim_t cma_share_claim(cma_share_t *share, uint32_t most,
                                              uint32_t *first_p,
                                              uint32_t *num_p)
{
    uint64_t word, next;
    uint32_t num;

    do {
        if (!cma_share_load(share, &word)) {
            return CMA_BROKEN;
        }
        num = share->back - share->front;
        if (num == 0) {
            return CMA_NOTHING_LEFT;
        }
        num  = (num < most) ? num : most;
        next = cma_claim_word(share->generation, share->back,
                              share->front + num);
    } while (!atomic_compare_exchange_strong_explicit(&share->job->claim, &word,
                                                      next,
                                                      memory_order_acq_rel,
                                                      memory_order_relaxed));

    *first_p = share->front;
    *num_p   = num;
    share->front += num;
    return CMA_CLAIMED;
}

/* Returns non-zero if the helper has claimed a chunk. */
static SHM_INLINE int cma_share_is_helped(cma_share_t *share)
{
    uint64_t word;

    return cma_share_load(share, &word) && (share->back != share->count);
}

/* Returns the state of the helper's part. Called when no chunk is free. */
static SHM_INLINE cma_job_end_t cma_share_end(const cma_share_t *share)
{
    uint32_t taken = share->count - share->back;
    uint64_t word;
    uint32_t done;

    if (taken == 0) {
        return CMA_JOB_DONE;
    }
    word = atomic_load_explicit(&share->job->helped, memory_order_acquire);
    if ((word >> 32) != share->generation) {
        return CMA_JOB_BUSY; /* The word belongs to an earlier job */
    }
    done = word & UINT16_MAX;
    if (word & CMA_JOB_REFUSED) {
        return (done == taken - 1) ? CMA_JOB_RETURNED : CMA_JOB_SPOILT;
    }
    return (done == taken) ? CMA_JOB_DONE :
           (done < taken)  ? CMA_JOB_BUSY :
                             CMA_JOB_SPOILT;
}

/* Called by the helper: claims the last free chunk. *limit: the expected value
 * of `back`, initially the number of chunks; on success the index of the
 * claimed chunk. */
static SHM_INLINE cma_claim_t cma_help_claim(cma_job_t *job,
                                             uint32_t generation,
                                             uint32_t *limit)
{
    uint64_t word = atomic_load_explicit(&job->claim, memory_order_acquire);
    uint32_t back, front;

    do {
        back  = (word >> 16) & UINT16_MAX;
        front = word & UINT16_MAX;
        if (((word >> 32) != generation) || (front >= back)) {
            return CMA_NOTHING_LEFT;
        }
        if (back != *limit) {
            return CMA_BROKEN;
        }
    } while (!atomic_compare_exchange_weak_explicit(
        &job->claim, &word, cma_claim_word(generation, back - 1, front),
        memory_order_acq_rel, memory_order_acquire));

    *limit = back - 1;
    return CMA_CLAIMED;
}

/* Called by the helper: reports the number of chunks that it has copied. The
 * flag CMA_JOB_REFUSED in `done` means that it could not copy the chunk that it
 * claimed last. */
static SHM_INLINE void cma_help_report(cma_job_t *job, uint32_t generation,
                                       uint32_t done)
{
    atomic_store_explicit(&job->helped, ((uint64_t)generation << 32) | done,
                          memory_order_release);
}

#endif
