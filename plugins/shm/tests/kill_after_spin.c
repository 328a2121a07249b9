/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A process that called progress often, and then only rarely, detects the exit
 * of its peer. The number of calls that this takes must not depend on how often
 * it called progress before.
 *
 * This process, which does not use the library, forks both sides.
 */
#include "child.h"
#include "kill_side.h"

#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    BUSY_ROUNDS = 300000,
    /* Maximum number of calls of progress until the detection. Each takes at
     * least 1 ms, and peers are checked every 10 ms */
    SLOW_ROUNDS = 2000,
};

static void give(int fd, const void *data, size_t length)
{
    EXPECT_EQ(send(fd, data, length, MSG_NOSIGNAL), length);
}

static void take(int fd, void *data, size_t length)
{
    EXPECT_EQ(recv(fd, data, length, MSG_WAITALL), length);
}

static void victim_main(void *tl, int fd)
{
    kill_side_t side;

    kill_side_open(&side, tl);
    give(fd, &side.card, sizeof(side.card));
    for (;;) {
        pause();
    }
}

/* Calls progress BUSY_ROUNDS times without a pause, reports that, waits until
 * the parent has killed the peer, and then calls progress with pauses of 1 ms
 * until it detects the exit. */
static void survivor_main(void *tl, int fd)
{
    unsigned rounds = 0;
    kill_side_t side;
    kill_link_t link;
    kill_card_t card;
    char byte;

    kill_side_open(&side, tl);
    take(fd, &card, sizeof(card));
    EXPECT_TRUE(kill_link_open(&link, &side, &card));
    for (unsigned i = 0; i < BUSY_ROUNDS; ++i) {
        uct_worker_progress(side.worker);
    }
    give(fd, "s", 1);
    take(fd, &byte, 1);
    while (side.failures == 0) {
        EXPECT_TRUE(++rounds <= SLOW_ROUNDS);
        poll(NULL, 0, 1);
        uct_worker_progress(side.worker);
    }
    printf("%s: noticed in round %u\n", (const char *)tl, rounds);
    kill_link_close(&link);
    kill_side_close(&side);
}

static void run(char *tl)
{
    int victim_fd, survivor_fd, status;
    pid_t victim, survivor;
    kill_card_t card;
    char byte;

    victim   = child_start(victim_main, tl, &victim_fd);
    survivor = child_start(survivor_main, tl, &survivor_fd);
    take(victim_fd, &card, sizeof(card));
    give(survivor_fd, &card, sizeof(card));
    take(survivor_fd, &byte, 1);
    EXPECT_EQ(kill(victim, SIGKILL), 0);
    EXPECT_EQ(waitpid(victim, &status, 0), victim);
    give(survivor_fd, "k", 1);
    EXPECT_EQ(waitpid(survivor, &status, 0), survivor);
    EXPECT_TRUE(WIFEXITED(status) && (WEXITSTATUS(status) == 0));
    close(victim_fd);
    close(survivor_fd);
}

int main(void)
{
    setenv("UCX_POSIX_KEEPALIVE", "10ms", 1);
    setenv("UCX_SYSV_KEEPALIVE", "10ms", 1);
    run("posix");
    run("sysv");
    return 0;
}
