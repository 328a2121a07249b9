/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests the words by which an initiator and a helper divide a copy (job,
 * cma_job.h). Both are threads, which run NUM_JOBS jobs. Only one side
 * claims each chunk, nothing is written after the end, and the helper's data is
 * visible when the initiator sees the helper's count. The data are plain bytes,
 * so that the thread sanitizer detects missing ordering.
 *
 * If the two threads rarely run at the same time, the helper may not have
 * copied or not have refused a chunk in all these jobs. Then the initiator runs
 * more jobs, with a pause in each, for at most LIMIT seconds.
 */
#include "cma_job.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { NUM_JOBS = 200000, MAX_CHUNKS = 12, MAILS = 64 };

/* Maximum seconds for which jobs continue after NUM_JOBS. */
#define LIMIT 60

/* Message from the initiator to the helper about a job: its number, its number
 * of chunks, and whether the helper ends after it. */
typedef struct mail {
    uint32_t generation, count, is_last;
} mail_t;

static cma_job_t job;
static unsigned char data[MAX_CHUNKS]; /* Which side copied each chunk: 0 none
                                        * yet, 1 initiator, 2 helper */
static mail_t mails[MAILS];            /* Message n is in entry n % MAILS */
static _Atomic uint32_t mails_sent, mails_read; /* Numbers of messages */
static uint64_t num_helped, num_refused; /* Numbers of chunks that the helper
                                          * copied, and that it refused */

static void fail(const char *what, uint32_t generation)
{
    fprintf(stderr, "job %u: %s\n", generation, what);
    exit(EXIT_FAILURE);
}

static void copy(unsigned chunk, unsigned char who, uint32_t generation)
{
    if (data[chunk] != 0) {
        fail("a chunk is copied twice", generation);
    }
    data[chunk] = who;
}

/* The helper copies chunks until none is left to claim. In every 13th job,
 * it refuses the first chunk whose index is a multiple of 3, and leaves the
 * job. */
static void help_with(const mail_t *mail)
{
    uint32_t limit = mail->count, done = 0;

    while (cma_help_claim(&job, mail->generation, &limit) == CMA_CLAIMED) {
        if ((mail->generation % 13 == 0) && (limit % 3 == 0)) {
            cma_help_report(&job, mail->generation, done | CMA_JOB_REFUSED);
            return;
        }
        copy(limit, 2, mail->generation);
        cma_help_report(&job, mail->generation, ++done);
    }
}

static void *helper(void *arg)
{
    uint32_t num = 0;
    mail_t mail;

    do {
        while (atomic_load_explicit(&mails_sent, memory_order_acquire) == num) {
            sched_yield();
        }
        mail = mails[num % MAILS];
        atomic_store_explicit(&mails_read, ++num, memory_order_release);
        help_with(&mail);
    } while (!mail.is_last);
    return NULL;
}

/* Sends a message to the helper. If there is no space, drops the message, so
 * that the initiator copies everything in this job; but waits for space for the
 * last one. */
static void post(uint32_t generation, uint32_t count, int is_last)
{
    uint32_t sent = atomic_load_explicit(&mails_sent, memory_order_relaxed);

    while ((sent - atomic_load_explicit(&mails_read, memory_order_acquire) ==
            MAILS)) {
        if (!is_last) {
            return;
        }
        sched_yield();
    }
    mails[sent % MAILS] = (mail_t){generation, count, (uint32_t)is_last};
    atomic_store_explicit(&mails_sent, sent + 1, memory_order_release);
}

static void copy_some(cma_share_t *share, uint32_t most)
{
    uint32_t first, num;

    switch (cma_share_claim(share, most, &first, &num)) {
    case CMA_CLAIMED:
        for (uint32_t i = 0; i < num; ++i) {
            copy(first + i, 1, share->generation);
        }
        break;
    case CMA_BROKEN:
        fail("its words are spoilt", share->generation);
        break;
    default:
        break;
    }
}

static void finish(cma_share_t *share)
{
    cma_job_end_t end;

    while ((end = cma_share_end(share)) == CMA_JOB_BUSY) {
        sched_yield();
    }
    if (end == CMA_JOB_SPOILT) {
        fail("it ends in nonsense", share->generation);
    }
    if (end == CMA_JOB_RETURNED) {
        copy(share->back, 1, share->generation);
        ++num_refused;
    }
    for (uint32_t i = 0; i < share->count; ++i) {
        if (data[i] == 0) {
            fail("a chunk is not copied", share->generation);
        }
        num_helped += (data[i] == 2);
    }
    memset(data, 0, share->count);
}

static int is_seen(void)
{
    return (num_helped > 0) && (num_refused > 0);
}

/* Checks cma_share_is_late() with the seconds that the initiator took for two
 * chunks: between cores that share a cache (near), and between others (far). */
static void check_lateness(void)
{
    const double near = 36e-6, far = 280e-6;

    if (cma_share_is_late(90e-6, near, 2) ||
        cma_share_is_late(400e-6, far, 2)) {
        fail("a helper is late that copies as fast as we do", 0);
    }
    if (!cma_share_is_late(150e-6, near, 2) ||
        !cma_share_is_late(2e-3, far, 2) || !cma_share_is_late(2e-3, 0, 0)) {
        fail("a helper that was descheduled is not late", 0);
    }
}

/* The chunks of a job are its data, each byte in one of them, whether they
 * begin at the beginning or at the end; only the last chunk may be shorter. */
static void check_parts(size_t length, size_t chunk, int from_end)
{
    const uint32_t count = (uint32_t)((length - 1) / chunk + 1);
    size_t done          = 0;
    cma_part_t part, two;

    for (uint32_t i = 0; i < count; ++i) {
        part = cma_job_part(length, chunk, from_end, i, 1);
        if ((part.offset != (from_end ? length - done - part.length : done)) ||
            (part.length != ((i + 1 < count) ? chunk : length - done))) {
            fail("chunk at a wrong position", i);
        }
        done += part.length;
        if (i + 1 < count) {
            two = cma_job_part(length, chunk, from_end, i, 2);
            if ((two.length !=
                 part.length +
                     cma_job_part(length, chunk, from_end, i + 1, 1).length) ||
                (!from_end && (two.offset != part.offset)) ||
                (from_end &&
                 (two.offset + two.length != part.offset + part.length))) {
                fail("two chunks are not those two", i);
            }
        }
    }
    if (done != length) {
        fail("the chunks are not all of the data", done);
    }
}

int main(void)
{
    const struct timespec pause = {.tv_nsec = 100000};
    uint32_t count, taken, delay;
    time_t end  = 0;
    int is_last = 0;
    cma_share_t share;
    pthread_t thread;
    unsigned seed = 1;

    check_lateness();
    for (int from_end = 0; from_end < 2; ++from_end) {
        check_parts(40960, 4096, from_end);
        check_parts(40961, 4096, from_end);
        check_parts(4095, 4096, from_end);
    }
    if (pthread_create(&thread, NULL, helper, NULL) != 0) {
        return EXIT_FAILURE;
    }
    for (uint32_t generation = 1; !is_last; ++generation) {
        count = 2 + (uint32_t)rand_r(&seed) % (MAX_CHUNKS - 1);
        delay = (uint32_t)rand_r(&seed) % 200;
        taken = (uint32_t)rand_r(&seed) % (count / 2 + 1);
        if (generation == NUM_JOBS) {
            end = time(NULL) + LIMIT;
        }
        is_last = (generation >= NUM_JOBS) && (is_seen() || (time(NULL) > end));
        cma_share_open(&share, &job, generation, count, taken);
        post(generation, count, is_last);
        for (uint32_t i = 0; i < taken; ++i) {
            copy(i, 1, generation);
        }
        /* Wait for a random time, so that sometimes the helper is faster */
        for (volatile uint32_t i = 0; i < delay; ++i) {
        }
        if (generation % 64 == 0) {
            sched_yield();
        }
        if (generation > NUM_JOBS) {
            nanosleep(&pause, NULL);
        }
        while (share.front != share.back) {
            copy_some(&share, (generation % 5 == 0) ? UINT32_MAX : 1);
        }
        finish(&share);
    }
    pthread_join(thread, NULL);

    if (!is_seen()) {
        fail("nobody helped, or nobody refused: nothing was tested", NUM_JOBS);
    }
    return EXIT_SUCCESS;
}
