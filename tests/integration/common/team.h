/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The processes of one test. Each is forked before any of them has used UCX,
 * and has a socket to every other one, over which they exchange addresses and
 * synchronize.
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
    pid_t pids[TEAM_MAX];   /* By rank; shared by all */
    int channels[TEAM_MAX]; /* By rank of the peer; -1 for the own rank */
    bool may_die[TEAM_MAX]; /* Set before team_run(): may end by SIGKILL */
    enum team_place place;
    bool silent;  /* Sends no messages: see carrier.h */
    double limit; /* Seconds before test_seconds(); 0: 60 */
};

typedef void (*team_member_t)(struct team *team, void *arg);

/* Runs `member` in `size` processes. Returns the test's exit status. */
int team_run(struct team *team, int size, team_member_t member, void *arg);

/* Sends or receives bytes between members; waiting is limited. */
void team_put(struct team *team, int rank, const void *data, size_t length);
void team_get(struct team *team, int rank, void *data, size_t length);

/* Returns whether data is available, or the member has ended. */
bool team_ready(struct team *team, int rank);

/* Like team_get(), and calls progress(arg) while it waits. */
void team_get_progressing(struct team *team, int rank, void *data,
                          size_t length, void (*progress)(void *), void *arg);

/* Waits until every member has called this. */
void team_barrier(struct team *team, void (*progress)(void *), void *arg);

/* Returns whether argv contains the word. */
bool team_asked(int argc, char **argv, const char *word);

#endif
