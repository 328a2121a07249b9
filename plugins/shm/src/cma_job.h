/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A copy that two processes share: who takes which part, and when it is done.
 * Words in shared memory and nothing else; who copies what stands elsewhere.
 *
 * The initiator (whose put or get it is) opens a job of `count` chunks and
 * takes them from the front; the helper (whose memory is read or written) takes
 * them from the back, one at a time. They meet somewhere in the middle. A
 * helper that never comes leaves everything to the initiator.
 *
 *   claim:  | generation 32 | back 16 | front 16 |  changed by compare-and-swap
 *   helped: | generation 32 | 0 15 | refused 1 | chunks 16 |    helper only
 *
 * Chunks [front, back) are free. The initiator alone moves `front`, only up;
 * the helper alone `back`, only down. To close a job the initiator takes all
 * that is free.
 *
 * Why nothing is written after the end. The helper touches a chunk only between
 * a successful claim of it and the increment of `helped` that counts it. The
 * initiator ends a job when nothing is free and `helped` counts all chunks that
 * `claim` says the helper has taken; from then on the helper's claims fail:
 * nothing is free in this generation, and in the next one the word differs in
 * its upper half. (A helper that falls asleep between its load and its exchange
 * for 2^32 jobs is not believed in.) If the helper refuses a chunk it has not
 * counted it and does not come back to the job; the initiator does that chunk,
 * which is the last one that was claimed. If the helper dies with a chunk in
 * its hands, the initiator waits until the lock that the process held is free:
 * then no thread of it is inside the kernel any more. (One that lives and holds
 * a chunk for seconds, while the user wants to end, is left: cma_share.c.)
 *
 * Why the bytes are there. The kernel copies for the helper on the helper's own
 * processor, before the call returns. Its increment of `helped` is a release,
 * the initiator's load an acquire: who sees the count sees the bytes. What the
 * initiator tells others afterwards carries them along.
 *
 * Why the helper sees the right job. What the chunks are comes by message, as a
 * copy, together with the generation; the claim succeeds only while that
 * generation stands, and a claimed chunk keeps it from ending.
 *
 * Either side may be broken: each checks every word before it believes it.
 */
#ifndef SHM_CMA_JOB_H
#define SHM_CMA_JOB_H

#include "layout.h"

enum {
    CMA_JOB_MAX_CHUNKS = UINT16_MAX,
    CMA_JOB_REFUSED    = 1u << 16    /* In `helped` */
};

typedef struct cma_job {
    SHM_ALIGNED_LINE _Atomic uint64_t claim;
    SHM_ALIGNED_LINE _Atomic uint64_t helped;
} cma_job_t;

_Static_assert(sizeof(cma_job_t) == 2 * SHM_CACHE_LINE, "two lines");

/* What the initiator knows of a job that it has opened. */
typedef struct cma_share {
    cma_job_t *job;
    uint32_t  generation;
    uint32_t  count;      /* Chunks */
    uint32_t  front;      /* Taken by us */
    uint32_t  back;       /* As seen last; [back, count) are the helper's */
} cma_share_t;

typedef enum {
    CMA_CLAIMED,
    CMA_NOTHING_LEFT,
    CMA_BROKEN            /* The other one has written nonsense */
} cma_claim_t;

typedef enum {
    CMA_JOB_DONE,
    CMA_JOB_BUSY,         /* The helper has chunks in its hands */
    CMA_JOB_RETURNED,     /* ... but will not do chunk `back` */
    CMA_JOB_SPOILT
} cma_job_end_t;

static SHM_INLINE uint64_t
cma_claim_word(uint32_t generation, uint32_t back, uint32_t front)
{
    return ((uint64_t)generation << 32) | (back << 16) | front;
}

/* Opens a job of which the initiator has taken the first `taken` chunks. */
static SHM_INLINE void
cma_share_open(cma_share_t *share, cma_job_t *job, uint32_t generation,
               uint32_t count, uint32_t taken)
{
    *share = (cma_share_t){job, generation, count, taken, count};
    atomic_store_explicit(&job->claim,
                          cma_claim_word(generation, count, taken),
                          memory_order_release);
}

/* The word, if it is one that this job can have. */
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

/* The initiator takes up to `most` chunks, from *first_p on. */
static SHM_INLINE cma_claim_t
cma_share_claim(cma_share_t *share, uint32_t most, uint32_t *first_p,
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
    } while (!atomic_compare_exchange_strong_explicit(
            &share->job->claim, &word, next, memory_order_acq_rel,
            memory_order_relaxed));

    *first_p      = share->front;
    *num_p        = num;
    share->front += num;
    return CMA_CLAIMED;
}

/* Non-zero: the helper has taken something. */
static SHM_INLINE int cma_share_is_helped(cma_share_t *share)
{
    uint64_t word;

    return cma_share_load(share, &word) && (share->back != share->count);
}

/* How the helper's part stands, once nothing is left to claim. */
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
        return CMA_JOB_BUSY;     /* An earlier job's */
    }
    done = word & UINT16_MAX;
    if (word & CMA_JOB_REFUSED) {
        return (done == taken - 1) ? CMA_JOB_RETURNED : CMA_JOB_SPOILT;
    }
    return (done == taken) ? CMA_JOB_DONE :
           (done < taken)  ? CMA_JOB_BUSY : CMA_JOB_SPOILT;
}

/* The helper takes the last free chunk. `limit`: what it saw last, at first the
 * number of chunks. */
static SHM_INLINE cma_claim_t
cma_help_claim(cma_job_t *job, uint32_t generation, uint32_t *limit)
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

/* So many chunks are done; with CMA_JOB_REFUSED the last claimed one is not. */
static SHM_INLINE void
cma_help_report(cma_job_t *job, uint32_t generation, uint32_t done)
{
    atomic_store_explicit(&job->helped, ((uint64_t)generation << 32) | done,
                          memory_order_release);
}

#endif
