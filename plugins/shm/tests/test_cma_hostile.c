/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cma with malicious peers. An initiator that sends invalid requests for help
 * gets none. If a process damages the words in shared memory through which an
 * initiator and its helper share a job (cma_job.h), the operation fails, and
 * nothing else.
 */
#include "cma_fault.h"

#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "child.h"
#include "cma_job.h"
#include "cma_side.h"
#include "suite.h"
#include "cma_wire.h"
#include "outbox.h"

/* Time limit in seconds for a reaction of another process. */
#define HANG 30.0

/* --- Hostile initiators -------------------------------------------------- */

static int quiet_level = 0;

static void be_quiet(int level, const char *file, int line, const char *format,
                     ...)
{
}

static uint64_t some_machine(void)
{
    return 1;
}

static const ucx_host_t quiet_host = {
    .size         = sizeof(quiet_host),
    .abi          = UCX_PLUGIN_ABI_VERSION,
    .log_level    = &quiet_level,
    .log          = be_quiet,
    .machine_guid = some_machine,
    .time         = cma_side_now,
};

/* A hostile initiator. Its messages are those of a correct process at first,
 * and are then modified. */
typedef struct hostile {
    shm_space_t space;
    shm_outbox_t outbox;   /* Sender in the target's inbox */
    shm_outbox_t view;     /* Attached to the same inbox without a slot: shows
                            * the slot of `outbox` after that was closed */
    cma_msg_hello_t hello; /* First message: proves that this process may access
                            * the target's memory */
    cma_msg_job_t job;     /* Request to help with a get of four pages */
    uint64_t words[2];     /* The target's token and secret, read from its
                            * memory */
    uint64_t proof;        /* The secret; the target reads it from here */
    uint8_t *memory;       /* Local memory of four pages: the get's buffer */
    cma_card_t card;       /* Of the target */
} hostile_t;

static void hostile_attach(hostile_t *hostile, shm_outbox_t *outbox)
{
    EXPECT_EQ(shm_outbox_open(outbox, &hostile->space,
                              hostile->card.iface + sizeof(cma_wire_iface_t),
                              shm_seg_address_length(&hostile->space), NULL, 0),
              UCS_OK);
}

static void hostile_join(hostile_t *hostile)
{
    hostile_attach(hostile, &hostile->outbox);
    EXPECT_EQ(shm_outbox_join(&hostile->outbox), UCS_OK);
}

/* Waits until the target has read all messages of this sender, or has cut it
 * off. */
static void hostile_await_look(const hostile_t *hostile)
{
    const shm_outbox_t *outbox = &hostile->outbox;
    double end                 = cma_side_now() + HANG;

    while ((atomic_load(&outbox->slot->cells_done) != outbox->next) &&
           !(atomic_load(&outbox->slot->wake) & SHM_WAKE_CUT)) {
        EXPECT_TRUE(cma_side_now() < end);
        cma_fault_pause(100);
    }
}

/* Closes the outbox, and waits until the target has freed its slot. The target
 * handles a request in the call of progress that receives it, and frees slots
 * in a later call. So it has handled the request, and does not access the
 * memory of this process any more. */
static void hostile_leave(hostile_t *hostile)
{
    size_t offset = (char *)hostile->outbox.slot - (char *)hostile->outbox.head;
    shm_slot_t *slot = (shm_slot_t *)((char *)hostile->view.head + offset);
    double end       = cma_side_now() + HANG;

    hostile_await_look(hostile);
    shm_outbox_close(&hostile->outbox);
    while (atomic_load(&slot->state) != SHM_SLOT_FREE) {
        EXPECT_TRUE(cma_side_now() < end);
        cma_fault_pause(100);
    }
}

static void hostile_open(hostile_t *hostile, const cma_card_t *card)
{
    cma_wire_iface_t wire;
    struct iovec ours, theirs;

    memset(hostile, 0, sizeof(*hostile));
    hostile->card = *card;
    EXPECT_EQ(shm_space_open(&hostile->space, &quiet_host, &shm_kind_posix),
              UCS_OK);
    memcpy(&wire, card->iface, sizeof(wire));
    ours   = (struct iovec){hostile->words, sizeof(hostile->words)};
    theirs = (struct iovec){(void *)(uintptr_t)le64toh(wire.words), 16};
    EXPECT_EQ(process_vm_readv((pid_t)le32toh(wire.pid), &ours, 1, &theirs, 1,
                               0),
              16);
    hostile_attach(hostile, &hostile->view);
    hostile->memory = mmap(NULL, 16384, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    hostile->proof  = hostile->words[1];
    hostile->hello  = (cma_msg_hello_t){(uint32_t)getpid(), 0,
                                        (uintptr_t)&hostile->proof};
    hostile->job    = (cma_msg_job_t){
           .index      = 0,
           .count      = 4,
           .generation = 1,
           .remote     = card->memory,
           .local      = (uintptr_t)hostile->memory,
           .length     = 16384,
           .chunk      = 4096,
    };
}

static void hostile_close(hostile_t *hostile)
{
    shm_outbox_close(&hostile->view);
    shm_space_close(&hostile->space);
    munmap(hostile->memory, 16384);
}

/* Returns the words of job 0, which this process and the target change. */
static cma_job_t *hostile_words(hostile_t *hostile)
{
    return (cma_job_t *)hostile->outbox.box;
}

/* Waits until the target has counted four copied parts of generation 1. */
static void hostile_await_help(hostile_t *hostile)
{
    cma_job_t *words = hostile_words(hostile);
    double end       = cma_side_now() + HANG;

    while (atomic_load(&words->helped) != (((uint64_t)1 << 32) | 4)) {
        EXPECT_TRUE(cma_side_now() < end);
        cma_fault_pause(100);
    }
}

/* Sends the request and waits until the target has handled it. `claim`: value
 * of the job's claim word. `is_helped`: the target must copy everything. */
static void hostile_run(hostile_t *hostile, int with_hello, uint64_t claim,
                        int is_helped)
{
    hostile_join(hostile);
    atomic_store(&hostile_words(hostile)->claim, claim);
    if (with_hello) {
        EXPECT_EQ(shm_outbox_send(&hostile->outbox, CMA_MSG_HELLO,
                                  &hostile->hello, sizeof(hostile->hello)),
                  UCS_OK);
    }
    EXPECT_EQ(shm_outbox_send(&hostile->outbox, CMA_MSG_JOB, &hostile->job,
                              sizeof(hostile->job)),
              UCS_OK);
    if (is_helped) {
        hostile_await_help(hostile);
    }
    hostile_leave(hostile);
}

/* Returns whether the target has copied something to this process. */
static int hostile_got(hostile_t *hostile)
{
    int got = 0;

    for (unsigned i = 0; i < 16384; ++i) {
        got |= (hostile->memory[i] != 0);
    }
    memset(hostile->memory, 0, 16384);
    return got;
}

/* Runs one case. The code in the last arguments modifies the request in
 * *_hostile before it is sent. `_expected`: 1: the target must help; 0: it must
 * copy nothing. */
#define TRY(_hostile, _card, _with_hello, _claim, _expected, ...) \
    do { \
        hostile_open(_hostile, _card); \
        __VA_ARGS__; \
        hostile_run(_hostile, _with_hello, _claim, _expected); \
        EXPECT_EQ(hostile_got(_hostile), _expected); \
        hostile_close(_hostile); \
    } while (0)

static void attacks(const cma_card_t *card)
{
    uint64_t good = cma_claim_word(1, 4, 0);
    static hostile_t h;

    /* The valid request */
    TRY(&h, card, 1, good, 1, (void)0);

    /* The hello message does not prove that this process knows the target's
     * secret, or is missing */
    TRY(&h, card, 1, good, 0, h.proof ^= 1);
    TRY(&h, card, 1, good, 0, h.hello.proof = 8);
    TRY(&h, card, 1, good, 0, h.hello.pid = (uint32_t)getppid());
    TRY(&h, card, 1, good, 0, h.hello.pid = 0);
    TRY(&h, card, 1, good, 0, h.hello.pid = UINT32_MAX);
    TRY(&h, card, 0, good, 0, (void)0);

    /* Invalid requests */
    TRY(&h, card, 1, good, 0, h.job.index = 4);
    TRY(&h, card, 1, good, 0, h.job.index = 255);
    TRY(&h, card, 1, good, 0, h.job.flags = CMA_JOB_FLAGS + 1);
    TRY(&h, card, 1, good, 0, h.job.count = 5);
    TRY(&h, card, 1, good, 0, h.job.count = 0);
    TRY(&h, card, 1, good, 0, h.job.chunk = 0);
    TRY(&h, card, 1, good, 0, h.job.chunk = 1);
    TRY(&h, card, 1, good, 0, h.job.length = 0);
    TRY(&h, card, 1, good, 0, h.job.length = UINT64_MAX);
    TRY(&h, card, 1, good, 0, h.job.local = UINT64_MAX - 4096);
    TRY(&h, card, 1, good, 0, h.job.remote = UINT64_MAX - 4096);

    /* Unmapped memory, in either process */
    TRY(&h, card, 1, good, 0, h.job.local = 4096);
    TRY(&h, card, 1, good, 0, h.job.remote = 4096);

    /* Claim words of another generation, or with impossible chunks */
    TRY(&h, card, 1, cma_claim_word(2, 4, 0), 0, (void)0);
    TRY(&h, card, 1, cma_claim_word(1, 5, 0), 0, (void)0);
    TRY(&h, card, 1, cma_claim_word(1, 65535, 0), 0, (void)0);
    TRY(&h, card, 1, cma_claim_word(1, 0, 4), 0, (void)0);
    TRY(&h, card, 1, UINT64_MAX, 0, (void)0);
}

static void is_hostile(void *arg, int fd)
{
    unsigned seed = 1;
    uint32_t length;
    cma_card_t card;
    static hostile_t h;

    cma_side_read(fd, &card, sizeof(card));
    attacks(&card);

    /* Random words and messages */
    hostile_open(&h, &card);
    for (unsigned i = 0; i < 50; ++i) {
        hostile_join(&h);
        shm_outbox_send(&h.outbox, CMA_MSG_HELLO, &h.hello, sizeof(h.hello));
        for (unsigned j = 0; j < 40; ++j) {
            uint8_t bytes[SHM_CELL_ROOM];
            cma_job_t *words = hostile_words(&h);

            memcpy(bytes, &h.job, sizeof(h.job));
            bytes[rand_r(&seed) % sizeof(h.job)] ^= (uint8_t)rand_r(&seed);
            for (unsigned k = 0; k < 4; ++k) {
                atomic_store(&words[k].claim,
                             cma_claim_word(rand_r(&seed) % 3,
                                            rand_r(&seed) % 70000,
                                            rand_r(&seed) % 5));
            }
            length = (j < 20) ? (uint32_t)sizeof(h.job) :
                                (uint32_t)rand_r(&seed) % SHM_CELL_ROOM;
            if (shm_outbox_send(&h.outbox, (uint8_t)(rand_r(&seed) % 4), bytes,
                                length) != UCS_OK) {
                break;
            }
        }
        hostile_leave(&h);
    }
    hostile_close(&h);
}

/* After all attacks, the target still serves this process, a correct
 * initiator. */
START_TEST(hostile_initiators_read_no_memory)
{
    pid_t hostile, target;
    cma_card_t card;
    cma_side_t side;
    cma_link_t link;
    int fd, fd2;

    /* The target cuts off some of the attackers. They cannot leave normally:
     * keepalive must detect that they have left, and does so soon with this
     * interval */
    target = child_start(cma_fault_serve, ",KEEPALIVE=1ms", &fd);
    cma_side_open(&side, WINDOW, "CHUNK=16k");
    cma_side_meet(&side, fd, &link);
    card    = link.card;
    hostile = child_start(is_hostile, NULL, &fd2);
    cma_side_write(fd2, &card, sizeof(card));
    EXPECT_TRUE(cma_side_join(hostile));

    EXPECT_EQ(cma_side_copy(&link, 0, side.memory, 0, WINDOW, 1), UCS_OK);
    for (size_t i = 0; i < WINDOW; ++i) {
        EXPECT_EQ(side.memory[i], 0x11);
    }
    cma_side_write(fd, "q", 1);
    cma_side_part(&link);
    cma_side_close(&side);
    EXPECT_TRUE(cma_side_join(target));
    close(fd);
    close(fd2);
}
END_TEST

/* --- Hostile targets ----------------------------------------------------- */

/* Attaches the target's inbox, and damages the words of all jobs in its first
 * box, which is that of the correct initiator. */
static void scribbles(void *arg, int fd)
{
    unsigned seed = 3;
    static hostile_t h;
    cma_card_t card;
    cma_job_t *words;
    char *box;

    cma_side_read(fd, &card, sizeof(card));
    hostile_open(&h, &card);
    hostile_join(&h);
    box = shm_seg_map(&h.outbox.seg, h.outbox.boxes, h.outbox.box_length);
    EXPECT_TRUE(box != NULL);
    words = (cma_job_t *)box;
    cma_side_write(fd, "b", 1);
    for (;;) {
        unsigned i = rand_r(&seed) % 4;

        /* Another generation in the claim word, and an impossible count: the
         * initiator must detect both */
        atomic_fetch_xor(&words[i].claim, 1ull << (32 + rand_r(&seed) % 32));
        atomic_fetch_or(&words[i].helped, 0xffff);
        cma_fault_pause(rand_r(&seed) % 100);
    }
}

START_TEST(spoilt_words_fail_the_operation)
{
    pid_t target, scribbler;
    cma_side_t side;
    cma_link_t link;
    ucs_status_t status;
    double end;
    char byte;
    int fd, fd2;

    target = child_start(cma_fault_serve, NULL, &fd);
    cma_side_open(&side, WINDOW, "CHUNK=16k");
    cma_side_meet(&side, fd, &link);
    EXPECT_EQ(cma_side_copy(&link, 0, side.memory, 0, WINDOW, 1), UCS_OK);
    scribbler = child_start(scribbles, NULL, &fd2);
    cma_side_write(fd2, &link.card, sizeof(link.card));
    cma_side_read(fd2, &byte, 1);
    /* The next get that is shared with the helper fails. That may not be the
     * first one, because nothing is shared for a while with a helper that was
     * slow */
    end = cma_side_now() + 2 * HANG;
    do {
        status = cma_side_copy(&link, 0, side.memory, 0, WINDOW, 1);
        EXPECT_TRUE(cma_side_now() < end);
    } while (status == UCS_OK);
    EXPECT_EQ(status, UCS_ERR_IO_ERROR);
    /* After that, nothing is shared with this helper any more, so no get
     * fails */
    for (unsigned i = 0; i < 50; ++i) {
        EXPECT_EQ(cma_side_copy(&link, 0, side.memory, 0, WINDOW, 1), UCS_OK);
    }
    kill(scribbler, SIGKILL);
    EXPECT_EQ(waitpid(scribbler, NULL, 0), scribbler);
    EXPECT_EQ(cma_side_copy(&link, 0, side.memory, 0, WINDOW, 1), UCS_OK);
    cma_side_write(fd, "q", 1);
    cma_side_part(&link);
    cma_side_close(&side);
    EXPECT_TRUE(cma_side_join(target));
    close(fd);
    close(fd2);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        hostile_initiators_read_no_memory,
        spoilt_words_fail_the_operation,
    };

    return suite_run("cma hostile", tests, sizeof(tests) / sizeof(tests[0]),
                     CK_FORK);
}
