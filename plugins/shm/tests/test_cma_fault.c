/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cma with peers that die or stop: every operation completes, nothing is
 * written after that, and operations with other peers continue.
 */
#include "cma_fault.h"

#include <dirent.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "child.h"
#include "cma_side.h"
#include "suite.h"

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

enum { NUM_OPS = 6 };

/* Starts gets and puts with a new target, and kills it, usually before they are
 * complete. Returns how many of them have failed. `at_once`: kills the target
 * before this side progresses; otherwise after some rounds of progress, which
 * depend on `round`. With `at_once`, at least one must fail: the call that
 * starts an operation copies only a part of it, so its remainder needs the
 * target. */
static int lose_one(cma_side_t *side, unsigned round, int at_once)
{
    static cma_wait_t waits[NUM_OPS];
    ucs_status_t status[NUM_OPS];
    int failures = side->failures;
    int fd, num_failed = 0;
    cma_link_t link;
    pid_t pid;

    pid = child_start(cma_fault_serve, NULL, &fd);
    cma_side_meet(side, fd, &link);
    for (unsigned i = 0; i < NUM_OPS; ++i) {
        status[i] = cma_side_start(&link, i % 2, side->memory, i * 100, 4000000,
                                   1 + (i == 5), &waits[i]);
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

    /* From here on, nothing may change side->memory */
    memset(side->memory, 0x77, WINDOW);
    if (side->failures == failures) {
        EXPECT_EQ(uct_ep_check(link.ep, 0, NULL), UCS_OK);
        uct_worker_progress(side->worker);
    }
    EXPECT_EQ(side->failures, failures + 1);
    EXPECT_EQ(side->failed_status, UCS_ERR_CONNECTION_RESET);
    EXPECT_EQ(cma_side_copy(&link, 0, side->memory, 0, 10, 1),
              UCS_ERR_CONNECTION_RESET);
    EXPECT_EQ(side->memory[0], 0x77);
    EXPECT_EQ(memcmp(side->memory, side->memory + 1, WINDOW - 1), 0);
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
    pid = child_start(cma_fault_serve, NULL, &fd);
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

/* Body of an initiator: gets and puts until it is killed. */
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

/* This process helps initiators, which are killed during copies. This causes no
 * failure here, and leaves no descriptor here. */
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

/* A target is stopped (SIGSTOP), perhaps after it has claimed a part of a get.
 * The get completes after the target continues. */
START_TEST(targets_that_stand_still)
{
    cma_side_t side;
    cma_link_t link;
    cma_wait_t wait;
    ucs_status_t status;
    pid_t pid;
    int fd;

    cma_side_open(&side, WINDOW, "CHUNK=16k");
    pid = child_start(cma_fault_serve, NULL, &fd);
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

int main(void)
{
    const TTest *const tests[] = {
        targets_killed_at_any_time,
        initiators_killed_at_any_time,
        targets_that_stand_still,
    };

    return suite_run("cma faults", tests, sizeof(tests) / sizeof(tests[0]),
                     CK_FORK);
}
