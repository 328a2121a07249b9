/* SPDX-License-Identifier: BSD-3-Clause */
/* A few processes that make up one test. Each is forked before any of them has
 * touched UCX, and has a socket to every other, by which they swap addresses
 * and agree on what is next. */
#ifndef INTEGRATION_TEAM_H
#define INTEGRATION_TEAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { TEAM_MAX = 8 };

enum team_place {
    TEAM_LOOPBACK,
    TEAM_NAMESPACES /* two members, each in a network of its own, by veth */
};

struct team {
    int rank;
    int size;
    pid_t pids[TEAM_MAX];    /* shared by all, by rank */
    int channels[TEAM_MAX];  /* by rank of the other; -1 for oneself */
    bool may_die[TEAM_MAX];  /* set before team_run: ends by SIGKILL */
    enum team_place place;
    double limit;            /* seconds, before test_seconds(); 0: 60 */
};

typedef void (*team_member_t)(struct team *team, void *arg);

/* Runs member in `size` processes. Returns the test's exit status. */
int team_run(struct team *team, int size, team_member_t member, void *arg);

/* Bytes to and from another member; waiting is bounded. */
void team_put(struct team *team, int rank, const void *data, size_t length);
void team_get(struct team *team, int rank, void *data, size_t length);

/* True if there is something to get, or the member is gone. */
bool team_ready(struct team *team, int rank);

/* As team_get, and calls progress(arg) while it waits. */
void team_get_progressing(struct team *team, int rank, void *data,
                          size_t length, void (*progress)(void *), void *arg);

/* Waits until every member has come here. */
void team_barrier(struct team *team, void (*progress)(void *), void *arg);

/* True if argv has the word. */
bool team_asked(int argc, char **argv, const char *word);

#endif
