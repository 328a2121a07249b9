/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Many senders to one inbox: each message arrives complete, senders that always
 * send are served about equally, and senders that were idle for a while are not
 * polled. If all slots are in use, a further sender gets an error; after one of
 * the others has left, the further sender gets its slot. The cost of a poll is
 * measured as the number of senders that are polled, not in time.
 */
#include "inbox.h"
#include "outbox.h"
#include "seg_side.h"

#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    NUM_IDLE      = 500,
    NUM_EAGER     = 64,
    NUM_PROCESSES = 48,
    PER_PROCESS   = 2000,
    NUM_SLOTS     = 512,
    NUM_CELLS     = 32,
    RING_MAX      = 64 << 10,
    MAX_LENGTH    = 8256,
    FEW           = 4,  /* A receiver that polls at most this number of senders
                         * does not stop polling idle ones */
    SILENCE       = 30, /* Seconds without any message after which the test
                         * fails */
};

typedef struct test {
    shm_space_t space;
    shm_inbox_t inbox;
    uint8_t address[SHM_ADDRESS_LENGTH];
    shm_outbox_t *outboxes;
    unsigned num_outboxes;
    unsigned got[NUM_SLOTS];    /* Number of messages received from each slot */
    uint32_t number[NUM_SLOTS]; /* Number of each sender's next message */
    int numbered;               /* Messages are those of fill(), in order */
    unsigned total;             /* Number of messages received */
} test_t;

/* Returns the length of message `number`, from 4 to 3003 bytes. */
static uint32_t length_of(uint32_t number)
{
    return 4 + ((number % 7 == 0) ? (number * 131) % 3000 : number % 50);
}

/* A message is its number, and bytes that depend on the number. */
static void fill(uint8_t *bytes, uint32_t number)
{
    memcpy(bytes, &number, sizeof(number));
    for (uint32_t i = sizeof(number); i < length_of(number); ++i) {
        bytes[i] = (uint8_t)(number * 13 + i);
    }
}

static ucs_status_t deliver(void *arg, unsigned slot, uint8_t id, void *data,
                            uint32_t length)
{
    test_t *test = arg;
    uint8_t expected[MAX_LENGTH];

    EXPECT_GE(NUM_SLOTS - 1, slot);
    ++test->got[slot];
    ++test->total;
    if (test->numbered) {
        EXPECT_EQ(length, length_of(test->number[slot]));
        fill(expected, test->number[slot]++);
        EXPECT_EQ(memcmp(data, expected, length), 0);
    }
    return UCS_OK;
}

static void open_test(test_t *test, unsigned num_slots, unsigned num_outboxes)
{
    shm_inbox_params_t params = {
        .num_slots  = num_slots,
        .num_cells  = NUM_CELLS,
        .ring_max   = RING_MAX,
        .max_length = MAX_LENGTH,
        .seg_flags  = SHM_SEG_EVENT,
        .deliver    = deliver,
        .arg        = test,
    };
    unsigned i;

    memset(test, 0, sizeof(*test));
    seg_space_open(&test->space, SEG_MEMFD, NULL);
    EXPECT_EQ(shm_inbox_open(&test->inbox, &test->space, &params), UCS_OK);
    shm_seg_address(&test->inbox.seg, test->address);
    test->outboxes     = calloc(num_outboxes + 1, sizeof(*test->outboxes));
    test->num_outboxes = num_outboxes;
    EXPECT_TRUE(test->outboxes != NULL);
    for (i = 0; i < num_outboxes; ++i) {
        EXPECT_EQ(shm_outbox_open(&test->outboxes[i], &test->space,
                                  test->address, sizeof(test->address), NULL,
                                  0),
                  UCS_OK);
    }
}

static void close_test(test_t *test)
{
    unsigned i;

    for (i = 0; i < test->num_outboxes; ++i) {
        shm_outbox_close(&test->outboxes[i]);
    }
    free(test->outboxes);
    shm_inbox_close(&test->inbox);
    shm_space_close(&test->space);
}

static void progress_until(test_t *test, unsigned total)
{
    double end = seg_now() + SILENCE;

    while (test->total < total) {
        if (shm_inbox_progress(&test->inbox, deliver) > 0) {
            end = seg_now() + SILENCE;
        }
        EXPECT_TRUE(seg_now() < end);
    }
}

/* Runs three rounds of progress and review. A review stops polling senders that
 * have sent nothing since the last one, and here no sender sends. */
static void be_idle(test_t *test)
{
    for (unsigned i = 0; i < 3; ++i) {
        shm_inbox_progress(&test->inbox, deliver);
        shm_inbox_review(&test->inbox);
    }
}

static void idle_senders_are_not_looked_at(void)
{
    static test_t test;
    unsigned i, round;

    open_test(&test, NUM_SLOTS, NUM_IDLE);
    for (round = 0; round < 3; ++round) {
        for (i = 0; i < NUM_IDLE; ++i) {
            EXPECT_EQ(shm_outbox_send(&test.outboxes[i], 1, "hello", 5),
                      UCS_OK);
        }
        progress_until(&test, (round + 1) * NUM_IDLE);
        be_idle(&test);
        EXPECT_GE(FEW, test.inbox.num_active); /* Senders polled per round */
        EXPECT_EQ(test.total, (round + 1) * NUM_IDLE);
    }

    /* One sender sends, and is the only additional one that is polled */
    EXPECT_EQ(shm_outbox_send(&test.outboxes[77], 1, "again", 5), UCS_OK);
    progress_until(&test, 3 * NUM_IDLE + 1);
    EXPECT_GE(FEW + 1, test.inbox.num_active);
    for (i = 0; i < 100000; ++i) {
        EXPECT_EQ(shm_outbox_send(&test.outboxes[77], 1, "on", 2), UCS_OK);
        progress_until(&test, 3 * NUM_IDLE + 2 + i);
    }
    EXPECT_GE(FEW + 1, test.inbox.num_active);

    /* While the receiver is armed for sleep, a message of any sender, also one
     * that is not polled, ends the sleep */
    EXPECT_EQ(shm_inbox_arm(&test.inbox), UCS_OK);
    EXPECT_EQ(shm_outbox_send(&test.outboxes[400], 1, "up", 2), UCS_OK);
    EXPECT_EQ(shm_inbox_arm(&test.inbox), UCS_ERR_BUSY);
    shm_inbox_disarm(&test.inbox);
    progress_until(&test, 3 * NUM_IDLE + 100002);
    close_test(&test);
}

/* All senders send as much as they can. Each gets at least half as many
 * messages through as any other. */
static void eager_senders_take_turns(void)
{
    static test_t test;
    unsigned round, i, least = ~0u, most = 0;

    open_test(&test, NUM_SLOTS, NUM_EAGER);
    for (round = 0; round < 2000; ++round) {
        for (i = 0; i < NUM_EAGER; ++i) {
            while (shm_outbox_send(&test.outboxes[i], 1, "more", 4) == UCS_OK) {
            }
        }
        shm_inbox_progress(&test.inbox, deliver);
    }
    for (i = 0; i < NUM_EAGER; ++i) {
        least = (test.got[i] < least) ? test.got[i] : least;
        most  = (test.got[i] > most) ? test.got[i] : most;
    }
    printf("%u eager senders: %u to %u messages each\n", NUM_EAGER, least,
           most);
    EXPECT_GE(least, 2000);
    EXPECT_GE(2 * least, most);
    close_test(&test);
}

static void process_main(void *arg, int fd)
{
    test_t *parent = arg;
    shm_space_t space;
    shm_outbox_t outbox;
    shm_cell_t *cell;
    uint32_t number;
    void *bytes = NULL;
    char byte;

    seg_space_open(&space, SEG_MEMFD, NULL);
    EXPECT_EQ(shm_outbox_open(&outbox, &space, parent->address,
                              sizeof(parent->address), NULL, 0),
              UCS_OK);
    for (number = 0; number < PER_PROCESS;) {
        if (shm_outbox_reserve(&outbox, length_of(number), length_of(number),
                               &cell, &bytes) != UCS_OK) {
            sched_yield();
            continue;
        }
        fill(bytes, number);
        shm_outbox_commit(&outbox, cell, 1, length_of(number));
        ++number;
    }
    /* Leave only after all messages have arrived, because the receiver counts
     * them by slot, and a slot that was left may be taken by another process.
     * No timeout is needed here: the receiver has one, and this process exits
     * with it. */
    EXPECT_EQ(recv(fd, &byte, 1, MSG_WAITALL), 1);
    shm_outbox_close(&outbox);
    shm_space_close(&space);
}

static void processes_lose_nothing(void)
{
    static test_t test;
    pid_t pids[NUM_PROCESSES];
    int fds[NUM_PROCESSES];
    unsigned i;

    open_test(&test, NUM_SLOTS, 0);
    test.numbered = 1;
    for (i = 0; i < NUM_PROCESSES; ++i) {
        pids[i] = seg_fork(process_main, &test, 0, &fds[i]);
    }
    progress_until(&test, NUM_PROCESSES * PER_PROCESS);
    for (i = 0; i < NUM_PROCESSES; ++i) {
        EXPECT_EQ(test.number[i], PER_PROCESS);
        seg_signal(fds[i]);
        EXPECT_TRUE(seg_join(pids[i], NULL));
        close(fds[i]);
    }
    shm_inbox_progress(&test.inbox, deliver);
    EXPECT_EQ(test.inbox.num_active, 0); /* All senders have left */
    close_test(&test);
}

static void a_full_house_is_told(void)
{
    static test_t test;
    unsigned i, before = seg_host_errors();

    open_test(&test, 4, 5);
    for (i = 0; i < 4; ++i) {
        EXPECT_EQ(shm_outbox_send(&test.outboxes[i], 1, "in", 2), UCS_OK);
    }
    EXPECT_EQ(shm_outbox_send(&test.outboxes[4], 1, "out", 3),
              UCS_ERR_EXCEEDS_LIMIT);
    EXPECT_EQ(seg_host_errors(), before + 1);
    EXPECT_TRUE(strstr(seg_host_last_error(), "MAX_PEERS") != NULL);

    progress_until(&test, 4);
    shm_outbox_close(&test.outboxes[2]);
    shm_inbox_progress(&test.inbox, deliver);
    EXPECT_EQ(shm_outbox_send(&test.outboxes[4], 1, "in", 2), UCS_OK);
    progress_until(&test, 5);
    EXPECT_EQ(test.got[2], 2);
    EXPECT_EQ(shm_outbox_open(&test.outboxes[2], &test.space, test.address,
                              sizeof(test.address), NULL, 0),
              UCS_OK);
    close_test(&test);
}

int main(void)
{
    idle_senders_are_not_looked_at();
    eager_senders_take_turns();
    processes_lose_nothing();
    a_full_house_is_told();
    return 0;
}
