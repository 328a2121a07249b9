/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Processes, the members of a team, that team_run() forks and that exchange data
 * over socket pairs (team.h). The parent waits for them. It kills the remaining
 * members when one fails or skips the test, or when the time limit is reached.
 */
#include "team.h"

#include "carrier.h"
#include "check.h"
#include "net.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const double DEFAULT_LIMIT = 60;
static const double CHANNEL_LIMIT = 40;

static void make_channels(int size, int ends[TEAM_MAX][TEAM_MAX])
{
    int pair[2], a, b;

    for (a = 0; a < size; ++a) {
        ends[a][a] = -1;
        for (b = a + 1; b < size; ++b) {
            EXPECT(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) ==
                   0);
            ends[a][b] = pair[0];
            ends[b][a] = pair[1];
        }
    }
}

/* A member keeps only its own ends; the parent keeps none. */
static void keep_channels(struct team *team, int ends[TEAM_MAX][TEAM_MAX],
                          int rank)
{
    int a, b;

    for (a = 0; a < team->size; ++a) {
        for (b = 0; b < team->size; ++b) {
            if (a == rank) {
                team->channels[b] = ends[a][b];
            } else if (ends[a][b] >= 0) {
                close(ends[a][b]);
            }
        }
    }
}

static void become_member(struct team *team, int rank, team_member_t member,
                          void *arg)
{
    int peer;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    team->rank       = rank;
    team->pids[rank] = getpid();
    for (peer = 0; peer < team->size; ++peer) {
        if (peer != rank) {
            team_put(team, peer, &team->pids[rank], sizeof(pid_t));
        }
    }
    for (peer = 0; peer < team->size; ++peer) {
        if (peer != rank) {
            team_get(team, peer, &team->pids[peer], sizeof(pid_t));
        }
    }
    if (team->place == TEAM_NAMESPACES) {
        net_enter(team);
    }
    member(team, arg);
    fflush(stdout);
    exit(0); /* not _exit: leak checkers report at exit */
}

static int rank_of(const struct team *team, pid_t pid)
{
    int rank;

    for (rank = 0; rank < team->size; ++rank) {
        if (team->pids[rank] == pid) {
            return rank;
        }
    }
    return -1;
}

/* Returns 0, TEST_SKIPPED or 1; prints the reason of a failure. */
static int judge(const struct team *team, int rank, int status)
{
    if (WIFEXITED(status) && (WEXITSTATUS(status) == TEST_SKIPPED)) {
        return TEST_SKIPPED;
    }
    if (WIFSIGNALED(status) && (WTERMSIG(status) == SIGKILL) &&
        team->may_die[rank]) {
        return 0;
    }
    if (WIFEXITED(status) && (WEXITSTATUS(status) == 0)) {
        return 0;
    }
    if (WIFSIGNALED(status)) {
        fprintf(stderr, "member %d ended by signal %d\n", rank,
                WTERMSIG(status));
    } else {
        fprintf(stderr, "member %d failed with %d\n", rank,
                WEXITSTATUS(status));
    }
    return 1;
}

static void kill_members(const struct team *team, const bool *alive)
{
    int rank;

    for (rank = 0; rank < team->size; ++rank) {
        if (alive[rank]) {
            kill(team->pids[rank], SIGKILL);
            /* leave no zombie: a later team's waitpid() would return it */
            waitpid(team->pids[rank], NULL, 0);
        }
    }
}

/* Waits until a member ends; returns its process id and wait status. Returns 0
 * after the deadline. */
static pid_t wait_member(double deadline, int *status)
{
    struct timespec slice = {.tv_nsec = 100 * 1000000};
    sigset_t child;
    pid_t pid;

    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    for (;;) {
        pid = waitpid(-1, status, WNOHANG);
        if ((pid != 0) || (test_now() > deadline)) {
            return pid;
        }
        sigtimedwait(&child, NULL, &slice);
    }
}

static int watch(struct team *team)
{
    double limit         = (team->limit > 0) ? team->limit : DEFAULT_LIMIT;
    double deadline      = test_now() + test_seconds(limit);
    bool alive[TEAM_MAX] = {false};
    int left, rank, status, one, result = 0;
    pid_t pid;

    for (rank = 0; rank < team->size; ++rank) {
        alive[rank] = true;
    }
    for (left = team->size; left > 0; --left) {
        pid = wait_member(deadline, &status);
        if (pid <= 0) {
            fprintf(stderr, "not over after %.0f s: ended\n",
                    test_seconds(limit));
            kill_members(team, alive);
            return 1;
        }
        rank        = rank_of(team, pid);
        alive[rank] = false;
        one         = judge(team, rank, status);
        if (one != 0) {
            /* The first failure is the cause; later ones are consequences. */
            kill_members(team, alive);
            return one;
        }
    }
    return result;
}

int team_run(struct team *team, int size, team_member_t member, void *arg)
{
    int ends[TEAM_MAX][TEAM_MAX];
    struct carrier carrier = {0};
    sigset_t child;
    int rank;

    EXPECT((size > 0) && (size <= TEAM_MAX));
    team->size = size;
    if (team->place == TEAM_NAMESPACES) {
        net_prepare();
    }
    if (!team->silent && (size > 1)) {
        carrier_prepare(&carrier);
    }
    make_channels(size, ends);
    signal(SIGPIPE, SIG_IGN);
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    sigprocmask(SIG_BLOCK, &child, NULL);
    fflush(stdout);
    for (rank = 0; rank < size; ++rank) {
        team->pids[rank] = fork();
        EXPECT(team->pids[rank] >= 0);
        if (team->pids[rank] == 0) {
            sigprocmask(SIG_UNBLOCK, &child, NULL);
            keep_channels(team, ends, rank);
            become_member(team, rank, member, arg);
        }
    }
    keep_channels(team, ends, -1);
    return carrier_finish(&carrier, watch(team));
}

void team_put(struct team *team, int rank, const void *data, size_t length)
{
    const char *next = data;
    ssize_t done;

    for (; length > 0; next += done, length -= done) {
        done = send(team->channels[rank], next, length, MSG_NOSIGNAL);
        if (done < 0) {
            FAIL("cannot tell member %d: %s", rank, strerror(errno));
        }
    }
}

bool team_ready(struct team *team, int rank)
{
    struct pollfd fd = {.fd = team->channels[rank], .events = POLLIN};

    return poll(&fd, 1, 0) > 0;
}

static void wait_readable(struct team *team, int rank, double deadline,
                          void (*progress)(void *), void *arg)
{
    struct pollfd fd = {.fd = team->channels[rank], .events = POLLIN};

    while (poll(&fd, 1, (progress != NULL) ? 0 : 100) <= 0) {
        if (progress != NULL) {
            progress(arg);
        }
        if (test_now() > deadline) {
            FAIL("member %d said nothing for %.0f s", rank,
                 test_seconds(CHANNEL_LIMIT));
        }
    }
}

void team_get_progressing(struct team *team, int rank, void *data,
                          size_t length, void (*progress)(void *), void *arg)
{
    double deadline = test_now() + test_seconds(CHANNEL_LIMIT);
    char *next      = data;
    ssize_t done;

    for (; length > 0; next += done, length -= done) {
        wait_readable(team, rank, deadline, progress, arg);
        done = recv(team->channels[rank], next, length, 0);
        if (done <= 0) {
            FAIL("member %d is gone", rank);
        }
    }
}

void team_get(struct team *team, int rank, void *data, size_t length)
{
    team_get_progressing(team, rank, data, length, NULL, NULL);
}

void team_barrier(struct team *team, void (*progress)(void *), void *arg)
{
    char token = 'b';
    int peer;

    for (peer = 0; peer < team->size; ++peer) {
        if (peer != team->rank) {
            team_put(team, peer, &token, 1);
        }
    }
    for (peer = 0; peer < team->size; ++peer) {
        if (peer != team->rank) {
            team_get_progressing(team, peer, &token, 1, progress, arg);
            EXPECT_INT(token, ==, 'b');
        }
    }
}

bool team_asked(int argc, char **argv, const char *word)
{
    int i;

    for (i = 1; i < argc; ++i) {
        if (strcmp(argv[i], word) == 0) {
            return true;
        }
    }
    return false;
}
