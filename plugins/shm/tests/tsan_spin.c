/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A sender and a receiver in two threads: up to millions of messages of mixed
 * sizes, each checked byte by byte. The receiver polls and sleeps, and the
 * sender pauses at intervals. Also built with the thread sanitizer, which
 * compares accesses to equal addresses only: therefore the sender uses the
 * receiver's mapping of the memory.
 */
#include "inbox.h"
#include "outbox.h"
#include "seg_side.h"

#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

enum {
    NUM_MESSAGES = SANITIZED ? 150000 : 2000000,
    NUM_CELLS    = 16,
    RING_MAX     = 64 << 10,
    MAX_LENGTH   = 8256,
    PAUSE_EVERY  = 10000, /* Messages between two pauses of the sender */
    SLEEP_EVERY  = 64,    /* Polls without a message between two sleeps */
};

typedef struct test {
    shm_space_t space;
    shm_inbox_t inbox;
    shm_outbox_t outbox;
    int fenced;              /* 1: the sender executes full fences; 0: the
                              * receiver calls membarrier() for both */
    unsigned got;            /* Number of messages received */
    _Atomic unsigned sleeps; /* Number of sleeps of the receiver */
} test_t;

/* Returns the length of a message. Most are short; all lengths up to MAX_LENGTH
 * are possible. */
static uint32_t length_of(unsigned number)
{
    uint32_t hash = number * 2654435761u;

    if ((hash >> 28) != 0) {
        return (hash >> 8) % (SHM_CELL_ROOM + 1);
    }
    return (hash >> 8) % (MAX_LENGTH + 1);
}

/* Returns the byte of message `number` at offset `at`. It depends on both, so
 * that bytes of another message or at another offset are detected. */
static uint8_t byte_of(unsigned number, uint32_t at)
{
    return (uint8_t)((number * 167u) ^ (number >> 8) ^ (at * 29u));
}

static ucs_status_t deliver(void *arg, unsigned slot, uint8_t id, void *data,
                            uint32_t length)
{
    test_t *test         = arg;
    unsigned number      = test->got++;
    const uint8_t *bytes = data;

    EXPECT_EQ(length, length_of(number));
    EXPECT_EQ(id, (uint8_t)number);
    for (uint32_t i = 0; i < length; ++i) {
        if (bytes[i] != byte_of(number, i)) {
            fprintf(stderr, "message %u, byte %u of %u\n", number, i, length);
            EXPECT_EQ(bytes[i], byte_of(number, i));
        }
    }
    return UCS_OK;
}

static void fill(uint8_t *bytes, unsigned number, uint32_t length)
{
    for (uint32_t i = 0; i < length; ++i) {
        bytes[i] = byte_of(number, i);
    }
}

static ucs_status_t send_one(shm_outbox_t *outbox, unsigned number)
{
    uint32_t length = length_of(number);
    uint8_t small[SHM_CELL_ROOM];
    ucs_status_t status;
    shm_cell_t *cell;
    void *bytes = NULL;

    if (length <= SHM_CELL_ROOM) {
        fill(small, number, length);
        return shm_outbox_send(outbox, (uint8_t)number, small, length);
    }
    status = shm_outbox_reserve(outbox, length, length, &cell, &bytes);
    if (status == UCS_OK) {
        fill(bytes, number, length);
        shm_outbox_commit(outbox, cell, (uint8_t)number, length);
    }
    return status;
}

/* The sender waits until the receiver has slept at least once, which otherwise
 * depends on the scheduler. Accesses to `sleeps` are relaxed, so that only the
 * queue orders the two threads. */
static void wait_for_sleep(test_t *test)
{
    double end = seg_now() + 60;

    while (atomic_load_explicit(&test->sleeps, memory_order_relaxed) == 0) {
        sched_yield();
        EXPECT_TRUE(seg_now() < end);
    }
}

static void *sender_main(void *arg)
{
    test_t *test = arg;
    ucs_status_t status;

    for (unsigned number = 0; number < NUM_MESSAGES; ++number) {
        if ((number % PAUSE_EVERY) == 0) {
            for (int i = 0; i < 200; ++i) {
                sched_yield(); /* Gives the receiver time to sleep */
            }
        }
        if (number == NUM_MESSAGES / 2) {
            wait_for_sleep(test);
        }
        while ((status = send_one(&test->outbox, number)) ==
               UCS_ERR_NO_RESOURCE) {
            sched_yield();
        }
        EXPECT_EQ(status, UCS_OK);
    }
    return NULL;
}

static void receive_all(test_t *test)
{
    unsigned idle = 0;
    struct pollfd pfd;

    while (test->got < NUM_MESSAGES) {
        if (shm_inbox_progress(&test->inbox, deliver) > 0) {
            idle = 0;
            continue;
        }
        if ((++idle % SLEEP_EVERY) != 0) {
            sched_yield();
            continue;
        }
        if (shm_inbox_arm(&test->inbox) == UCS_OK) {
            atomic_fetch_add_explicit(&test->sleeps, 1, memory_order_relaxed);
            pfd = (struct pollfd){test->inbox.seg.event_rd, POLLIN, 0};
            EXPECT_EQ(poll(&pfd, 1, 30000), 1); /* If this times out, a wake-up
                                                 * was lost */
        }
    }
}

/* Makes the sender use the receiver's mapping. Returns the outbox as it was
 * before, to be restored before it is closed. */
static shm_outbox_t share_mapping(test_t *test)
{
    shm_outbox_t own     = test->outbox;
    shm_sender_t *sender = test->inbox.senders[own.slot_index];

    EXPECT_TRUE(sender != NULL);
    test->outbox.head  = test->inbox.head;
    test->outbox.slot  = sender->slot;
    test->outbox.box   = sender->box;
    test->outbox.cells = sender->cells;
    test->outbox.ring  = sender->ring;
    if (test->fenced) {
        test->outbox.fenced = 1;
    }
    return own;
}

static void run(int way, int fenced)
{
    shm_inbox_params_t params = {
        .num_slots  = 8,
        .num_cells  = NUM_CELLS,
        .ring_max   = RING_MAX,
        .max_length = MAX_LENGTH,
        .seg_flags  = SHM_SEG_EVENT,
        .deliver    = deliver,
    };
    uint8_t address[SHM_ADDRESS_LENGTH];
    test_t *test = calloc(1, sizeof(*test));
    shm_outbox_t own;
    pthread_t thread;
    double began = seg_now();

    EXPECT_TRUE(test != NULL);
    test->fenced = fenced;
    params.arg   = test;
    seg_space_open(&test->space, way, NULL);
    EXPECT_EQ(shm_inbox_open(&test->inbox, &test->space, &params), UCS_OK);
    shm_seg_address(&test->inbox.seg, address);
    EXPECT_EQ(shm_outbox_open(&test->outbox, &test->space, address,
                              sizeof(address), NULL, 0),
              UCS_OK);
    EXPECT_EQ(shm_outbox_join(&test->outbox), UCS_OK);
    shm_inbox_progress(&test->inbox, deliver);

    own = share_mapping(test);
    EXPECT_EQ(pthread_create(&thread, NULL, sender_main, test), 0);
    receive_all(test);
    pthread_join(thread, NULL);
    EXPECT_EQ(shm_inbox_progress(&test->inbox, deliver), 0);
    printf("%s, %s: %u messages, %u sleeps, %.1f s\n", seg_ways[way].name,
           fenced ? "the sender fences" : "the receiver fences for both",
           test->got, test->sleeps, seg_now() - began);
    EXPECT_GE(test->sleeps, 1);

    test->outbox = own;
    shm_outbox_close(&test->outbox);
    shm_inbox_progress(&test->inbox, deliver);
    EXPECT_TRUE(test->inbox.senders[own.slot_index] == NULL);
    shm_inbox_close(&test->inbox);
    shm_space_close(&test->space);
    free(test);
}

int main(void)
{
    run(SEG_MEMFD, 0);
    run(SEG_MEMFD, 1);
    run(SEG_SYSV, 0);
    return 0;
}
