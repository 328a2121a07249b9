/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The processes ("members") of one test. Each is forked before any of them has
 * used UCX. It has a socket ("channel") to every other member, over which they
 * exchange addresses and synchronize. The parent process only supervises.
 */
#ifndef INTEGRATION_TEAM_H
#define INTEGRATION_TEAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { TEAM_MAX = 8 };

enum team_place {
    TEAM_LOOPBACK,
    /* Two members, each in its own network namespace, connected by veth */
    TEAM_NAMESPACES,
};

struct team {
    int rank;
    int size;
    pid_t pids[TEAM_MAX]; /* By rank; every member knows all of them */
    /* Descriptors by the peer's rank; -1: the own rank */
    int channels[TEAM_MAX];
    /* By rank, set before team_run(): the member may end by SIGKILL */
    bool may_die[TEAM_MAX];
    enum team_place place;
    /* No messages are sent, so that there is nothing to verify (carrier.h) */
    bool silent;
    /* Time limit of the whole test in seconds, which test_seconds() converts;
     * 0: 60 */
    double limit;
};

typedef void (*team_member_t)(struct team *team, void *arg);

/* Runs `member` in `size` new processes and waits for them. Returns the test's
 * exit status: 0, 1 or TEST_SKIPPED. */
int team_run(struct team *team, int size, team_member_t member, void *arg);

/* Sends or receives bytes between members. A receive fails the test after 40
 * seconds (test_seconds()). */
void team_put(struct team *team, int rank, const void *data, size_t length);
void team_get(struct team *team, int rank, void *data, size_t length);

/* Returns at once whether a byte from the member can be received, or the member
 * has ended. */
bool team_ready(struct team *team, int rank);

/* Like team_get(), and calls progress(arg) again and again while it waits. */
void team_get_progressing(struct team *team, int rank, void *data,
                          size_t length, void (*progress)(void *), void *arg);

/* Waits until every member has called this; calls progress(arg) while it waits
 * if `progress` is not NULL. */
void team_barrier(struct team *team, void (*progress)(void *), void *arg);

/* Returns whether argv contains the word. */
bool team_asked(int argc, char **argv, const char *word);

#endif
