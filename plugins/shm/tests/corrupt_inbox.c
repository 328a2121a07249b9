/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A broken sender: it maps an inbox and writes arbitrary data, to its own slot
 * and to words that all senders share. The receiver logs that this sender is
 * broken, continues to receive from a correct ("honest") sender, checks all
 * messages of the correct one, and frees the slot of the broken sender after
 * its exit. Other senders overwrite the whole segment, which must not crash the
 * receiver. With the address sanitizer, the tests also detect accesses outside
 * the memory.
 */
#include "inbox.h"
#include "outbox.h"
#include "seg_side.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    ROUNDS     = 150,
    NUM_SLOTS  = 8,
    NUM_CELLS  = 16,
    RING_MAX   = 64 << 10,
    MAX_LENGTH = 8256,
    PRIVATE    = 128,
};

typedef struct test {
    shm_space_t space;
    shm_inbox_t inbox;
    ucx_host_t host;
    int honest_slot;            /* Slot of the correct sender; -1 before its
                                 * first message; NUM_SLOTS: there is none */
    uint64_t honest_got;        /* Number of messages received from it */
    uint64_t random;            /* State of next_random() */
    volatile sig_atomic_t sink; /* Keeps the compiler from leaving out reads */
} test_t;

static unsigned cuts; /* Number of log lines that report a sender as cut off */

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static void __attribute__((format(printf, 4, 5)))
count_cuts(int level, const char *file, int line, const char *format, ...)
{
    cuts += (strstr(format, "cut off") != NULL);
}

/* --------------------------------------------------- the correct sender -- */

enum { HONEST_ID = 42, HELLO_ID = 43 };

static uint32_t length_of(uint64_t number)
{
    return (number % 5 == 0) ? 1 + (number * 7919) % MAX_LENGTH :
                               8 + number % (SHM_CELL_ROOM - 8);
}

static void fill(uint8_t *bytes, uint64_t number, uint32_t length)
{
    for (uint32_t i = 0; i < length; ++i) {
        bytes[i] = (uint8_t)(number * 31 + i);
    }
}

static void honest_main(void *arg, int fd)
{
    uint8_t *address = arg;
    uint64_t number  = 0;
    shm_space_t space;
    shm_outbox_t outbox;
    shm_cell_t *cell;
    ucs_status_t status;
    void *bytes = NULL;

    seg_space_open(&space, address[SHM_ADDRESS_LENGTH], NULL);
    EXPECT_EQ(shm_outbox_open(&outbox, &space, address, SHM_ADDRESS_LENGTH,
                              NULL, 0),
              UCS_OK);
    EXPECT_EQ(shm_outbox_join(&outbox), UCS_OK);
    EXPECT_EQ(shm_outbox_send(&outbox, HELLO_ID, "", 0), UCS_OK);
    for (;;) {
        status = shm_outbox_reserve(&outbox, length_of(number),
                                    length_of(number), &cell, &bytes);
        if (status == UCS_ERR_NO_RESOURCE) {
            sched_yield();
            continue;
        }
        EXPECT_EQ(status, UCS_OK);
        fill(bytes, number, length_of(number));
        shm_outbox_commit(&outbox, cell, HONEST_ID, length_of(number));
        ++number;
        outbox.probing.sent_at = 0; /* Makes the last probe old, so that another
                                     * one is sent after each message */
        shm_outbox_bandwidth(&outbox);
    }
}

static ucs_status_t deliver(void *arg, unsigned slot, uint8_t id, void *data,
                            uint32_t length)
{
    test_t *test         = arg;
    const uint8_t *bytes = data;
    unsigned sum         = 0;
    uint64_t number      = test->honest_got;

    EXPECT_GE(MAX_LENGTH, length);
    if ((test->honest_slot < 0) && (id == HELLO_ID)) {
        test->honest_slot = (int)slot;
        return UCS_OK;
    }
    if ((int)slot != test->honest_slot) {
        for (uint32_t i = 0; i < length; ++i) {
            sum += bytes[i]; /* All bytes must be readable */
        }
        test->sink = (sig_atomic_t)sum;
        return (next_random(&test->random) % 4 == 0) ? UCS_ERR_INVALID_PARAM :
                                                       UCS_OK;
    }

    EXPECT_EQ(id, HONEST_ID);
    EXPECT_EQ(length, length_of(number));
    for (uint32_t i = 0; i < length; ++i) {
        EXPECT_EQ(bytes[i], (uint8_t)(number * 31 + i));
    }
    ++test->honest_got;
    return UCS_OK;
}

/* ---------------------------------------------------- the broken sender -- */

typedef struct hostile {
    uint8_t address[SHM_ADDRESS_LENGTH + 1]; /* Of the inbox; the last byte is
                                              * the way (SEG_*) */
    uint64_t random;                         /* State of next_random() */
    int everywhere;                          /* Non-zero: overwrite the whole
                                              * segment */
} hostile_t;

/* Returns a control word for the sender's next cell: random bits in one of
 * eight cases, otherwise a word that is invalid in at most one property. */
static uint64_t strange_ctl(const shm_outbox_t *outbox, uint64_t *random)
{
    uint64_t r     = next_random(random);
    unsigned phase = shm_phase(outbox->next, outbox->cells_mask);

    switch (r % 8) {
    case 0:
        return (next_random(random) & ~1ull) | phase;
    case 1: /* More bytes than a cell contains */
        return shm_ctl(phase, SHM_CELL_INLINE, 0, 1, SHM_CELL_ROOM + 1);
    case 2: /* A ring larger than the maximum */
        return shm_ctl(phase, SHM_CELL_RING, 17 + (r >> 8) % 15, 1, 100);
    case 3: /* A message longer than MAX_LENGTH, often longer than the ring */
        return shm_ctl(phase, SHM_CELL_RING, 12 + (r >> 8) % 5, 1,
                       (uint32_t)(r >> 32) | 8257);
    case 4: /* A ring of any size: it may be too small, or smaller than
             * before */
        return shm_ctl(phase, SHM_CELL_RING, (r >> 8) % 17, 1, MAX_LENGTH);
    case 5: /* An undefined kind */
        return shm_ctl(phase, 3, 12, 1, 8);
    case 6: /* A probe, or an invalid probe */
        return shm_ctl(phase, SHM_CELL_PROBE, (r >> 8) % 18, 1,
                       SHM_PROBE_SIZE + (r >> 16) % 2);
    default: /* A message whose bytes were not written; usually the word is
              * valid */
        return shm_ctl(phase, SHM_CELL_RING, 13 + (r >> 8) % 4, 1,
                       (r >> 16) % MAX_LENGTH);
    }
}

static void spoil_shared_words(shm_outbox_t *outbox, uint64_t *random)
{
    shm_inbox_head_t *head = outbox->head;
    uint64_t r             = next_random(random);

    switch (r % 6) {
    case 0:
        atomic_store(&head->bell, (uint32_t)(r >> 32));
        break;
    case 1:
        atomic_fetch_or(&head->rung[(r >> 8) % (SHM_MAX_SLOTS / 64)],
                        next_random(random));
        atomic_fetch_add(&head->bell, 1);
        break;
    case 2:
        atomic_store(&head->armed, (uint32_t)(r >> 32));
        break;
    case 3:
        atomic_store(&head->num_used, (uint32_t)(r >> 32));
        break;
    case 4:
        head->num_slots = head->num_cells = (uint32_t)(r >> 32);
        head->boxes = head->box_stride = next_random(random);
        break;
    default:
        head->ring_max = head->private_size = (uint32_t)(r >> 32);
        head->version                       = (uint32_t)(r >> 16);
        break;
    }
}

static void spoil_own_place(shm_outbox_t *outbox, uint64_t *random)
{
    uint64_t r = next_random(random);
    shm_cell_t *cell;
    size_t i;

    switch (r % 5) {
    case 0:
        atomic_store(&outbox->slot->state, (uint32_t)(r >> 8) % 6);
        break;
    case 1:
        atomic_store(&outbox->slot->cells_done, (uint32_t)(r >> 32));
        atomic_store(&outbox->slot->bytes_done, next_random(random));
        atomic_store(&outbox->slot->probed, next_random(random));
        atomic_store(&outbox->slot->wake, (uint32_t)(r >> 16));
        break;
    case 2: /* The private area and the cells of the sender's box */
        for (i = 0; i < PRIVATE + NUM_CELLS * sizeof(shm_cell_t); ++i) {
            outbox->box[i] = (char)next_random(random);
        }
        break;
    default:
        cell = &outbox->cells[outbox->next & outbox->cells_mask];
        atomic_store_explicit(&cell->ctl, strange_ctl(outbox, random),
                              memory_order_release);
        ++outbox->next;
        break;
    }
}

/* Makes sure that the receiver detects this sender at least once: writes an
 * invalid control word to the next cell that the receiver reads. The receiver
 * sends the number of that cell over fd, after it has read everything that was
 * written before. Marks the slot as used, because the receiver does not poll
 * slots in other states. */
static void say_last_words(shm_outbox_t *outbox, int fd)
{
    uint32_t slot = outbox->slot_index, next;

    seg_write(fd, &slot, sizeof(slot));
    seg_read(fd, &next, sizeof(next));
    atomic_store_explicit(&outbox->cells[next & outbox->cells_mask].ctl,
                          shm_ctl(shm_phase(next, outbox->cells_mask), 3, 12, 1,
                                  8),
                          memory_order_release);
    atomic_store_explicit(&outbox->slot->state, SHM_SLOT_USED,
                          memory_order_release);
}

/* Overwrites random bytes of the whole segment, also uncommitted ones. */
static void spoil_everything(shm_outbox_t *outbox, uint64_t *random)
{
    size_t length = outbox->seg.head_length + outbox->seg.length;
    uint8_t *all  = outbox->seg.head;
    unsigned i;

    if (outbox->seg.fd >= 0) {
        all = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED,
                   outbox->seg.fd, 0);
        EXPECT_TRUE(all != MAP_FAILED);
    }
    for (i = 0; i < 20000; ++i) {
        /* In three of four cases among the structures at the start */
        size_t end = (i % 4 == 0) ? length : outbox->boxes + 8192;

        all[next_random(random) % end] = (uint8_t)next_random(random);
        if (i % 100 == 0) {
            atomic_fetch_add(&outbox->head->bell, 1);
            sched_yield();
        }
    }
}

static void hostile_main(void *arg, int fd)
{
    hostile_t *hostile = arg;
    shm_space_t space;
    shm_outbox_t outbox;

    seg_space_open(&space, hostile->address[SHM_ADDRESS_LENGTH], NULL);
    EXPECT_EQ(shm_outbox_open(&outbox, &space, hostile->address,
                              SHM_ADDRESS_LENGTH, NULL, 0),
              UCS_OK);
    EXPECT_EQ(shm_outbox_join(&outbox), UCS_OK);
    if (hostile->everywhere) {
        spoil_everything(&outbox, &hostile->random);
        _exit(0);
    }
    EXPECT_EQ(shm_outbox_send(&outbox, 1, "hello", 5), UCS_OK);
    for (int i = 0; i < 300; ++i) {
        if (next_random(&hostile->random) % 2 == 0) {
            spoil_own_place(&outbox, &hostile->random);
        } else {
            spoil_shared_words(&outbox, &hostile->random);
        }
        if (next_random(&hostile->random) % 16 == 0) {
            sched_yield();
        }
    }
    atomic_store(&outbox.head->bell, (uint32_t)hostile->random);
    say_last_words(&outbox, fd);
    _exit(0); /* Exits without leaving the inbox */
}

/* --------------------------------------------------------- the receiver -- */

static void open_test(test_t *test, int way, uint8_t *address)
{
    static const int level    = UCS_LOG_LEVEL_DIAG;
    shm_inbox_params_t params = {
        .num_slots    = NUM_SLOTS,
        .num_cells    = NUM_CELLS,
        .ring_max     = RING_MAX,
        .max_length   = MAX_LENGTH,
        .private_size = PRIVATE,
        .seg_flags    = SHM_SEG_EVENT,
        .deliver      = deliver,
        .arg          = test,
    };

    memset(test, 0, sizeof(*test));
    seg_space_open(&test->space, way, NULL);
    test->host           = *seg_host();
    test->host.log       = count_cuts;
    test->host.log_level = &level;
    test->space.host     = &test->host;
    test->honest_slot    = -1;
    test->random         = 88172645463325252ull;
    EXPECT_EQ(shm_inbox_open(&test->inbox, &test->space, &params), UCS_OK);
    shm_seg_address(&test->inbox.seg, address);
    address[SHM_ADDRESS_LENGTH] = (uint8_t)way;
}

static void close_test(test_t *test)
{
    shm_inbox_close(&test->inbox);
    shm_space_close(&test->space);
}

static unsigned count_senders(const test_t *test)
{
    unsigned count = 0, i;

    for (i = 0; i < NUM_SLOTS; ++i) {
        count += (test->inbox.senders[i] != NULL);
    }
    return count;
}

/* Answers say_last_words() if it has sent its slot: receives everything that
 * the sender in that slot has written, and sends it the number of the cell that
 * is read next. That is cell 0 if the receiver has no sender in that slot. */
static void answer_last_words(test_t *test, int fd)
{
    shm_inbox_t *inbox = &test->inbox;
    const shm_sender_t *sender;
    uint32_t slot, next;
    uint64_t ctl;

    if (recv(fd, &slot, sizeof(slot), MSG_DONTWAIT) != sizeof(slot)) {
        return;
    }
    EXPECT_GE(NUM_SLOTS - 1, slot);
    do {
        shm_inbox_progress(inbox, deliver);
        sender = inbox->senders[slot];
    } while ((sender != NULL) && !sender->cut &&
             shm_sender_peek(inbox, sender, &ctl));
    next = (sender != NULL) ? sender->next : 0;
    seg_write(fd, &next, sizeof(next));
}

/* Receives until process `pid`, a broken sender, has exited, and 200 more
 * messages of the correct sender have arrived. `pid` -1: there is no broken
 * sender. */
static void receive_until_gone(test_t *test, pid_t pid, int fd)
{
    uint64_t enough = test->honest_got + 200;
    double end      = seg_now() + 60;
    int status = 0, gone = (pid < 0);

    while (!gone || (test->honest_got < enough)) {
        if (shm_inbox_progress(&test->inbox, deliver) == 0) {
            sched_yield();
        }
        if (!gone) {
            answer_last_words(test, fd);
        }
        if (!gone && (waitpid(pid, &status, WNOHANG) == pid)) {
            gone = 1;
            EXPECT_TRUE(WIFEXITED(status) && (WEXITSTATUS(status) == 0));
        }
        if (seg_now() > end) {
            fprintf(stderr, "the honest sender got no further than %llu\n",
                    (unsigned long long)test->honest_got);
            EXPECT_TRUE(!"in time");
        }
    }
}

static void with_an_honest_sender(int way)
{
    hostile_t hostile = {.random = 0x9e3779b97f4a7c15ull};
    uint8_t address[SHM_ADDRESS_LENGTH + 1];
    unsigned total = 0, round, before;
    char constants[offsetof(shm_inbox_head_t, armed)];
    int honest_fd, fd, status;
    pid_t honest, pid;
    test_t test;

    open_test(&test, way, address);
    honest = seg_fork(honest_main, address, 0, &honest_fd);
    receive_until_gone(&test, -1, -1);

    memcpy(hostile.address, address, sizeof(address));
    memcpy(constants, test.inbox.head, sizeof(constants));
    for (round = 0; round < ROUNDS; ++round) {
        before = cuts;
        hostile.random ^= next_random(&test.random);
        pid = seg_fork(hostile_main, &hostile, 0, &fd);
        receive_until_gone(&test, pid, fd);
        close(fd);
        shm_inbox_sweep(&test.inbox);
        EXPECT_EQ(count_senders(&test), 1); /* Only the correct sender
                                             * remains */
        EXPECT_GE(cuts - before, 1);
        total += cuts - before;
        /* The broken sender has damaged constants of the segment. Restore them,
         * because otherwise the next sender could not attach */
        memcpy(test.inbox.head, constants, sizeof(constants));
    }
    printf("%s: %u broken senders, %u lines in the log, %llu honest messages\n",
           seg_ways[way].name, ROUNDS, total,
           (unsigned long long)test.honest_got);

    kill(honest, SIGKILL);
    EXPECT_EQ(waitpid(honest, &status, 0), honest);
    close(honest_fd);
    shm_inbox_sweep(&test.inbox);
    EXPECT_EQ(count_senders(&test), 0);
    close_test(&test);
}

/* A sender that is cut off is reported once, whatever it writes later. */
static void is_told_once(void)
{
    uint8_t address[SHM_ADDRESS_LENGTH + 1];
    shm_outbox_t outbox;
    unsigned before;
    test_t test;
    int i;

    open_test(&test, SEG_MEMFD, address);
    before = cuts;
    EXPECT_EQ(shm_outbox_open(&outbox, &test.space, address, SHM_ADDRESS_LENGTH,
                              NULL, 0),
              UCS_OK);
    EXPECT_EQ(shm_outbox_join(&outbox), UCS_OK);
    shm_inbox_progress(&test.inbox, deliver);
    for (i = 0; i < 2 * NUM_CELLS; ++i) {
        atomic_store(&outbox.cells[i % NUM_CELLS].ctl, ~(uint64_t)(i & 1));
        shm_outbox_ring_bell(&outbox);
        shm_inbox_progress(&test.inbox, deliver);
    }
    EXPECT_EQ(cuts, before + 1);

    /* The sender learns that it is cut off when it waits for a free cell */
    outbox.next = outbox.limit;
    EXPECT_EQ(shm_outbox_send(&outbox, 1, "x", 1), UCS_ERR_CONNECTION_RESET);
    shm_outbox_close(&outbox);
    shm_inbox_sweep(&test.inbox);
    EXPECT_EQ(count_senders(&test), 0);

    /* The receiver accepts messages of the next sender in the same slot */
    EXPECT_EQ(shm_outbox_open(&outbox, &test.space, address, SHM_ADDRESS_LENGTH,
                              NULL, 0),
              UCS_OK);
    EXPECT_EQ(shm_outbox_send(&outbox, HELLO_ID, "", 0), UCS_OK);
    shm_inbox_progress(&test.inbox, deliver);
    EXPECT_GE(test.honest_slot, 0);
    shm_outbox_close(&outbox);
    close_test(&test);
}

static void all_over_the_segment(int way)
{
    hostile_t hostile = {.random = 0xda942042e4dd58b5ull, .everywhere = 1};
    test_t test;
    int status, fd;
    pid_t pid;

    for (int round = 0; round < 20; ++round) {
        open_test(&test, way, hostile.address);
        test.honest_slot = NUM_SLOTS; /* No correct sender */
        hostile.random += (uint64_t)round;
        pid = seg_fork(hostile_main, &hostile, 0, &fd);
        do {
            shm_inbox_progress(&test.inbox, deliver);
            if (shm_inbox_has_dead(&test.inbox)) {
                shm_inbox_sweep(&test.inbox);
            }
            if (shm_inbox_arm(&test.inbox) == UCS_OK) {
                shm_inbox_disarm(&test.inbox);
            }
        } while (waitpid(pid, &status, WNOHANG) == 0);
        EXPECT_TRUE(WIFEXITED(status) && (WEXITSTATUS(status) == 0));
        close(fd);
        for (int i = 0; i < 100; ++i) {
            shm_inbox_progress(&test.inbox, deliver);
        }
        shm_inbox_sweep(&test.inbox);
        close_test(&test);
    }
}

int main(void)
{
    is_told_once();
    with_an_honest_sender(SEG_MEMFD);
    with_an_honest_sender(SEG_SYSV);
    all_over_the_segment(SEG_MEMFD);
    all_over_the_segment(SEG_SYSV);
    return 0;
}
