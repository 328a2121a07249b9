/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cma with peers that die, stop, lack permissions, or are malicious: every
 * operation completes, nothing is written later, others continue, and no
 * needless message is logged.
 */
#include "child.h"
#include "cma_side.h"
#include "cma_wire.h"
#include "cma_job.h"
#include "outbox.h"

#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define WINDOW (16ul << 20)
#define NOBODY 65534
/* Seconds for a step of another process. */
#define HANG   30.0

/* --- Processes ----------------------------------------------------------- */

/* Offers memory and helps until it is told to stop, or killed. `arg`: more
 * configuration, or NULL. */
static void serves(void *arg, int fd)
{
    const char *more = (arg == NULL) ? "" : arg;
    char config[64];
    cma_side_t side;
    cma_link_t link;
    char byte;

    snprintf(config, sizeof(config), "CHUNK=16k%s", more);
    cma_side_open(&side, WINDOW, config);
    memset(side.memory, 0x11, WINDOW);
    cma_side_meet(&side, fd, &link);
    cma_side_serve(&side, fd, &byte, 1);
    cma_side_part(&link);
    cma_side_close(&side);
}

static int count_fds(void)
{
    DIR *dir  = opendir("/proc/self/fd");
    int count = 0;

    while (readdir(dir) != NULL) {
        ++count;
    }
    closedir(dir);
    return count;
}

static void pause_us(unsigned us)
{
    struct timespec ts = {0, (long)us * 1000};

    nanosleep(&ts, NULL);
}

/* Runs body in a process whose standard error must stay empty. */
static void run_quietly(void (*body)(void *arg, int fd))
{
    char text[4096];
    int fds[2], fd, saved;
    ssize_t n;
    pid_t pid;

    EXPECT_EQ(pipe(fds), 0);
    fflush(stderr);
    saved = dup(2);
    dup2(fds[1], 2);
    pid = child_start(body, NULL, &fd);
    dup2(saved, 2);
    close(fds[1]);
    n = read(fds[0], text, sizeof(text) - 1);
    text[(n > 0) ? n : 0] = '\0';
    ck_assert_msg(cma_side_join(pid), "it failed: %s", text);
    ck_assert_msg(n == 0, "it said: %s", text);
    close(fds[0]);
    close(fd);
    close(saved);
}

/* --- Death --------------------------------------------------------------- */

enum { NUM_OPS = 6 };

/* Starts gets and puts, and kills the target meanwhile; returns how many had to
 * fail. If it is killed before any progress, one of them must: without a helper
 * the call only begins the copy in two parts. */
static int lose_one(cma_side_t *side, unsigned round, int at_once)
{
    static cma_wait_t waits[NUM_OPS];
    ucs_status_t status[NUM_OPS];
    int failures = side->failures;
    int fd, num_failed = 0;
    cma_link_t link;
    pid_t pid;

    pid = child_start(serves, NULL, &fd);
    cma_side_meet(side, fd, &link);
    for (unsigned i = 0; i < NUM_OPS; ++i) {
        status[i] = cma_side_start(&link, i % 2, side->memory, i * 100,
                                   4000000, 1 + (i == 5), &waits[i]);
    }
    for (unsigned i = 0; !at_once && (i < (round * 7919) % 600); ++i) {
        uct_worker_progress(side->worker);
    }
    kill(pid, SIGKILL);
    if (at_once) {
        EXPECT_EQ(waitpid(pid, NULL, 0), pid);
    }
    for (unsigned i = 0; i < NUM_OPS; ++i) {
        status[i] = cma_side_finish(side, status[i], &waits[i]);
        EXPECT_TRUE((status[i] == UCS_OK) ||
                    (status[i] == UCS_ERR_CONNECTION_RESET));
        num_failed += (status[i] != UCS_OK);
    }
    if (!at_once) {
        EXPECT_EQ(waitpid(pid, NULL, 0), pid);
    }

    /* No process writes any more */
    memset(side->memory, 0x77, 4096);
    if (side->failures == failures) {
        EXPECT_EQ(uct_ep_check(link.ep, 0, NULL), UCS_OK);
        uct_worker_progress(side->worker);
    }
    EXPECT_EQ(side->failures, failures + 1);
    EXPECT_EQ(side->failed_status, UCS_ERR_CONNECTION_RESET);
    EXPECT_EQ(cma_side_copy(&link, 0, side->memory, 0, 10, 1),
              UCS_ERR_CONNECTION_RESET);
    EXPECT_EQ(side->memory[0], 0x77);
    cma_side_part(&link);
    close(fd);
    return num_failed;
}

START_TEST(targets_killed_at_any_time)
{
    int num_fds = 0, num_failed, at_once, fd;
    cma_link_t link;
    cma_side_t side;
    pid_t pid;

    cma_side_open(&side, WINDOW, "CHUNK=16k");
    pid = child_start(serves, NULL, &fd);
    cma_side_meet(&side, fd, &link);
    for (unsigned round = 0; round < 60; ++round) {
        at_once    = (round % 6 == 0);
        num_failed = lose_one(&side, round, at_once);
        EXPECT_TRUE(!at_once || (num_failed > 0));
        EXPECT_EQ(cma_side_copy(&link, 0, side.memory, 0, WINDOW, 1), UCS_OK);
        if (round == 0) {
            num_fds = count_fds();
        }
    }
    EXPECT_EQ(count_fds(), num_fds);
    cma_side_write(fd, "q", 1);
    cma_side_part(&link);
    cma_side_close(&side);
    EXPECT_TRUE(cma_side_join(pid));
    close(fd);
}
END_TEST

/* Gets and puts forever, until it is killed. */
static void copies_for_ever(void *arg, int fd)
{
    cma_card_t card;
    cma_side_t side;
    cma_link_t link;

    cma_side_open(&side, WINDOW, "CHUNK=16k");
    cma_side_read(fd, &card, sizeof(card));
    cma_side_connect(&side, &card, &link);
    cma_side_write(fd, "b", 1);
    for (unsigned i = 0;; ++i) {
        EXPECT_EQ(cma_side_copy(&link, i % 2, side.memory, 0, 4000000, 1),
                  UCS_OK);
    }
}

/* A helper of a process that dies helps the next one. */
START_TEST(initiators_killed_at_any_time)
{
    int num_fds = 0, fd;
    cma_side_t side;
    double end;
    pid_t pid;
    char byte;

    cma_side_open(&side, WINDOW, "KEEPALIVE=1ms");
    for (unsigned round = 0; round < 60; ++round) {
        pid = child_start(copies_for_ever, NULL, &fd);
        cma_side_write(fd, &side.card, sizeof(side.card));
        cma_side_read(fd, &byte, 1);
        end = cma_side_now() + 1e-4 * (round % 50);
        while (cma_side_now() < end) {
            uct_worker_progress(side.worker);
        }
        kill(pid, SIGKILL);
        EXPECT_EQ(waitpid(pid, NULL, 0), pid);
        close(fd);
        for (unsigned i = 0; i < 40000; ++i) {
            uct_worker_progress(side.worker);
        }
        if (round == 0) {
            num_fds = count_fds();
        }
    }
    EXPECT_EQ(count_fds(), num_fds);
    EXPECT_EQ(side.failures, 0);
    cma_side_close(&side);
}
END_TEST

/* A stopped target may hold a part; when it resumes, everything completes. */
START_TEST(targets_that_stand_still)
{
    cma_side_t side;
    cma_link_t link;
    cma_wait_t wait;
    ucs_status_t status;
    pid_t pid;
    int fd;

    cma_side_open(&side, WINDOW, "CHUNK=16k");
    pid = child_start(serves, NULL, &fd);
    cma_side_meet(&side, fd, &link);
    for (unsigned round = 0; round < 40; ++round) {
        memset(side.memory, 0, WINDOW);
        status = cma_side_start(&link, 0, side.memory, 0, WINDOW, 1, &wait);
        for (unsigned i = 0; i < round * 5; ++i) {
            uct_worker_progress(side.worker);
        }
        kill(pid, SIGSTOP);
        for (unsigned i = 0; i < 3000; ++i) {
            uct_worker_progress(side.worker);
        }
        kill(pid, SIGCONT);
        EXPECT_EQ(cma_side_finish(&side, status, &wait), UCS_OK);
        for (size_t i = 0; i < WINDOW; i += 64) {
            EXPECT_EQ(side.memory[i], 0x11);
        }
    }
    cma_side_write(fd, "q", 1);
    cma_side_part(&link);
    cma_side_close(&side);
    EXPECT_TRUE(cma_side_join(pid));
    close(fd);
}
END_TEST

/* --- Permission ---------------------------------------------------------- */

/* The two system calls fail with EPERM from now on, as in many containers. */
static void forbid_calls(void)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_writev, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
    };
    struct sock_fprog program = {
        .len    = sizeof(filter) / sizeof(filter[0]),
        .filter = filter
    };

    EXPECT_EQ(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
    EXPECT_EQ(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
}

static void finds_no_domain(void *arg, int fd)
{
    uct_component_attr_t attr;
    uct_component_h *list;
    unsigned num;

    forbid_calls();
    EXPECT_EQ(uct_query_components(&list, &num), UCS_OK);
    for (unsigned i = 0; i < num; ++i) {
        attr.field_mask = UCT_COMPONENT_ATTR_FIELD_NAME |
                          UCT_COMPONENT_ATTR_FIELD_MD_RESOURCE_COUNT;
        EXPECT_EQ(uct_component_query(list[i], &attr), UCS_OK);
        if (strcmp(attr.name, "cma") == 0) {
            EXPECT_EQ(attr.md_resource_count, 0);
        }
    }
    uct_release_component_list(list);
}

START_TEST(no_domain_where_the_calls_are_forbidden)
{
    run_quietly(finds_no_domain);
}
END_TEST

/* Permitted when the interface is opened, but not when it connects to its peer.
 * */
static void reaches_nobody(void *arg, int unused)
{
    cma_side_t side;
    cma_card_t card;
    pid_t pid;
    int fd;

    pid = child_start(serves, NULL, &fd);
    cma_side_read(fd, &card, sizeof(card));
    cma_side_open(&side, 4096, NULL);
    EXPECT_TRUE(cma_side_reaches(&side, &card));
    forbid_calls();
    EXPECT_TRUE(!cma_side_reaches(&side, &card));
    cma_side_close(&side);
    kill(pid, SIGKILL);
    EXPECT_EQ(waitpid(pid, NULL, 0), pid);
}

START_TEST(no_peer_where_the_calls_are_forbidden)
{
    run_quietly(reaches_nobody);
}
END_TEST

static void drops_its_rights(void *arg, int fd)
{
    const cma_card_t *card = arg;
    cma_side_t side;

    cma_side_open(&side, 4096, NULL);
    EXPECT_TRUE(cma_side_reaches(&side, card));
    EXPECT_EQ(setuid(NOBODY), 0);
    EXPECT_TRUE(!cma_side_reaches(&side, card));
    cma_side_close(&side);
}

/* An ordinary user cannot access a process with more privileges. */
static void becomes_nobody(void *arg, int unused)
{
    pid_t target, pid;
    cma_card_t card;
    int fd, fd2;

    target = child_start(serves, NULL, &fd);
    cma_side_read(fd, &card, sizeof(card));
    pid = child_start(drops_its_rights, &card, &fd2);
    EXPECT_TRUE(cma_side_join(pid));
    kill(target, SIGKILL);
    EXPECT_EQ(waitpid(target, NULL, 0), target);
}

START_TEST(no_peer_without_permission)
{
    if (geteuid() != 0) {
        fprintf(stderr, "left out, needs root: %s\n", __func__);
        return;
    }
    run_quietly(becomes_nobody);
}
END_TEST

/* A target that may not write to us. */
static void serves_as_nobody(void *arg, int fd)
{
    cma_side_t side;
    cma_link_t link;
    char byte;

    cma_side_open(&side, WINDOW, NULL);
    memset(side.memory, 0x11, WINDOW);
    cma_side_meet(&side, fd, &link);
    EXPECT_EQ(setuid(NOBODY), 0);
    cma_side_write(fd, "b", 1);
    cma_side_serve(&side, fd, &byte, 1);
    for (size_t i = 0; i < WINDOW; ++i) {
        EXPECT_EQ(side.memory[i], 0x22);
    }
    cma_side_part(&link);
    cma_side_close(&side);
}

static void meets_nobody(void *arg, int unused)
{
    cma_side_t side;
    cma_link_t link;
    pid_t pid;
    char byte;
    int fd;

    pid = child_start(serves_as_nobody, NULL, &fd);
    cma_side_open(&side, WINDOW, NULL);
    cma_side_meet(&side, fd, &link);
    cma_side_read(fd, &byte, 1);
    for (unsigned i = 0; i < 5; ++i) {
        memset(side.memory, 0, WINDOW);
        EXPECT_EQ(cma_side_copy(&link, 0, side.memory, 0, WINDOW, 1), UCS_OK);
        for (size_t j = 0; j < WINDOW; ++j) {
            EXPECT_EQ(side.memory[j], 0x11);
        }
    }
    memset(side.memory, 0x22, WINDOW);
    EXPECT_EQ(cma_side_copy(&link, 1, side.memory, 0, WINDOW, 1), UCS_OK);
    cma_side_write(fd, "q", 1);
    EXPECT_TRUE(cma_side_join(pid));
    cma_side_part(&link);
    cma_side_close(&side);
}

START_TEST(one_sided_permission_is_enough)
{
    if (geteuid() != 0) {
        fprintf(stderr, "left out, needs root: %s\n", __func__);
        return;
    }
    run_quietly(meets_nobody);
}
END_TEST

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
    .time         = cma_side_now
};

/* A request to help as from a correct process, to be modified. */
typedef struct hostile {
    shm_space_t     space;
    shm_outbox_t    outbox;
    shm_outbox_t    view;        /* Never joined: shows our slot until the
                                  * end */
    cma_msg_hello_t hello;
    cma_msg_job_t   job;
    uint64_t        words[2];    /* The target's token and secret */
    uint64_t        proof;
    uint8_t         *memory;     /* Local memory, four pages */
    cma_card_t      card;
} hostile_t;

static void hostile_attach(hostile_t *hostile, shm_outbox_t *outbox)
{
    EXPECT_EQ(shm_outbox_open(outbox, &hostile->space,
                              hostile->card.iface + sizeof(cma_wire_iface_t),
                              shm_seg_address_length(&hostile->space), NULL,
                              0), UCS_OK);
}

static void hostile_join(hostile_t *hostile)
{
    hostile_attach(hostile, &hostile->outbox);
    EXPECT_EQ(shm_outbox_join(&hostile->outbox), UCS_OK);
}

/* The target has read all that was sent, or reads nothing more. */
static void hostile_await_look(const hostile_t *hostile)
{
    const shm_outbox_t *outbox = &hostile->outbox;
    double end                 = cma_side_now() + HANG;

    while ((atomic_load(&outbox->slot->cells_done) != outbox->next) &&
           !(atomic_load(&outbox->slot->wake) & SHM_WAKE_CUT)) {
        EXPECT_TRUE(cma_side_now() < end);
        pause_us(100);
    }
}

/* Leaves, and waits until the target has dropped us. It handles a request in
 * the round in which it reads it, and departures in a later one: so it has
 * tried our request, and does not access our memory any more. */
static void hostile_leave(hostile_t *hostile)
{
    size_t offset    = (char*)hostile->outbox.slot -
                       (char*)hostile->outbox.head;
    shm_slot_t *slot = (shm_slot_t*)((char*)hostile->view.head + offset);
    double end       = cma_side_now() + HANG;

    hostile_await_look(hostile);
    shm_outbox_close(&hostile->outbox);
    while (atomic_load(&slot->state) != SHM_SLOT_FREE) {
        EXPECT_TRUE(cma_side_now() < end);
        pause_us(100);
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
    theirs = (struct iovec){(void*)(uintptr_t)le64toh(wire.words), 16};
    EXPECT_EQ(process_vm_readv((pid_t)le32toh(wire.pid), &ours, 1, &theirs, 1,
                               0), 16);
    hostile_attach(hostile, &hostile->view);
    hostile->memory = mmap(NULL, 16384, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    hostile->proof  = hostile->words[1];
    hostile->hello  = (cma_msg_hello_t){(uint32_t)getpid(), 0,
                                        (uintptr_t)&hostile->proof};
    hostile->job    = (cma_msg_job_t){
        .index = 0, .count = 4, .generation = 1, .remote = card->memory,
        .local = (uintptr_t)hostile->memory, .length = 16384, .chunk = 4096};
}

static void hostile_close(hostile_t *hostile)
{
    shm_outbox_close(&hostile->view);
    shm_space_close(&hostile->space);
    munmap(hostile->memory, 16384);
}

/* The words of job 0. */
static cma_job_t *hostile_words(hostile_t *hostile)
{
    return (cma_job_t*)hostile->outbox.box;
}

/* The target has copied all four parts for us. */
static void hostile_await_help(hostile_t *hostile)
{
    cma_job_t *words = hostile_words(hostile);
    double end       = cma_side_now() + HANG;

    while (atomic_load(&words->helped) != (((uint64_t)1 << 32) | 4)) {
        EXPECT_TRUE(cma_side_now() < end);
        pause_us(100);
    }
}

/* Sends the request; waits until the target has handled it. */
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
                              sizeof(hostile->job)), UCS_OK);
    if (is_helped) {
        hostile_await_help(hostile);
    }
    hostile_leave(hostile);
}

/* Has the target copied something to us? */
static int hostile_got(hostile_t *hostile)
{
    int got = 0;

    for (unsigned i = 0; i < 16384; ++i) {
        got |= (hostile->memory[i] != 0);
    }
    memset(hostile->memory, 0, 16384);
    return got;
}

/* The same with one modification. */
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

    /* Without reading the secret there is no help */
    TRY(&h, card, 1, good, 0, h.proof ^= 1);
    TRY(&h, card, 1, good, 0, h.hello.proof = 8);
    TRY(&h, card, 1, good, 0, h.hello.pid = (uint32_t)getppid());
    TRY(&h, card, 1, good, 0, h.hello.pid = 0);
    TRY(&h, card, 1, good, 0, h.hello.pid = UINT32_MAX);
    TRY(&h, card, 0, good, 0, (void)0);

    /* Invalid requests */
    TRY(&h, card, 1, good, 0, h.job.index = 4);
    TRY(&h, card, 1, good, 0, h.job.index = 255);
    TRY(&h, card, 1, good, 0, h.job.is_put = 2);
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

    /* Impossible words */
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
            if (shm_outbox_send(&h.outbox, (uint8_t)(rand_r(&seed) % 4),
                                bytes, length) != UCS_OK) {
                break;
            }
        }
        hostile_leave(&h);
    }
    hostile_close(&h);
}

/* The target polls all the time, and serves a correct initiator afterwards. */
START_TEST(hostile_initiators_get_nothing)
{
    pid_t hostile, target;
    cma_card_t card;
    cma_side_t side;
    cma_link_t link;
    int fd, fd2;

    /* One that is cut off cannot leave normally: its end is detected soon */
    target = child_start(serves, ",KEEPALIVE=1ms", &fd);
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

/* Attaches the target's inbox and writes to the words of the first slots. */
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
    words = (cma_job_t*)box;
    cma_side_write(fd, "b", 1);
    for (;;) {
        unsigned i = rand_r(&seed) % 4;

        /* Always values that the initiator must detect */
        atomic_fetch_xor(&words[i].claim, 1ull << (32 + rand_r(&seed) % 32));
        atomic_fetch_or(&words[i].helped, 0xffff);
        pause_us(rand_r(&seed) % 100);
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

    target = child_start(serves, NULL, &fd);
    cma_side_open(&side, WINDOW, "CHUNK=16k");
    cma_side_meet(&side, fd, &link);
    EXPECT_EQ(cma_side_copy(&link, 0, side.memory, 0, WINDOW, 1), UCS_OK);
    scribbler = child_start(scribbles, NULL, &fd2);
    cma_side_write(fd2, &link.card, sizeof(link.card));
    cma_side_read(fd2, &byte, 1);
    /* An offer to the damaged helper fails. Perhaps not the first copy: a
     * helper that was slow gets no offers for a while */
    end = cma_side_now() + 2 * HANG;
    do {
        status = cma_side_copy(&link, 0, side.memory, 0, WINDOW, 1);
        EXPECT_TRUE(cma_side_now() < end);
    } while (status == UCS_OK);
    EXPECT_EQ(status, UCS_ERR_IO_ERROR);
    /* ... and none afterwards */
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

/* ------------------------------------------------------------------------- */

int main(void)
{
    const TTest *const tests[] = {
        targets_killed_at_any_time, initiators_killed_at_any_time,
        targets_that_stand_still, no_domain_where_the_calls_are_forbidden,
        no_peer_where_the_calls_are_forbidden, no_peer_without_permission,
        one_sided_permission_is_enough, hostile_initiators_get_nothing,
        spoilt_words_fail_the_operation};
    Suite *suite    = suite_create("cma faults");
    TCase *tcase    = tcase_create("cma faults");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_set_timeout(tcase, 300);
    for (unsigned i = 0; i < sizeof(tests) / sizeof(tests[0]); ++i) {
        tcase_add_test(tcase, tests[i]);
    }
    suite_add_tcase(suite, tcase);
    srunner_set_fork_status(runner, CK_FORK);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return (failed == 0) ? EXIT_SUCCESS : EXIT_FAILURE;
}
