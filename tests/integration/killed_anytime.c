/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * failure: a process is killed at a random moment during traffic of every
 * class: eager, rendezvous, active messages, put, get and atomics. The survivor
 * is notified once, all its operations end within a time limit, including
 * receives, and its worker can connect to another process. --rounds N, --seed
 * N.
 */
#include "common/traffic.h"
#include "common/usage.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 24, SURVIVOR = 0, NEXT = 1, VICTIM = 2 };

static const double LONGEST_LIFE = 0.04; /* seconds */
static const ucp_tag_t NEXT_TAG  = UINT64_MAX;

struct round {
    uint64_t random;
};

/* Sends until it is killed. */
static void victim_main(struct team *team, const struct round *round)
{
    struct traffic traffic;
    struct side side;

    side_open(&side, TRAFFIC_FEATURES);
    traffic_open(&traffic, &side, round->random);
    traffic_meet(&traffic, &side, team, SURVIVOR);
    for (;;) {
        traffic_step(&traffic, true);
    }
}

/* One message in each direction. */
static void greet(struct side *side, struct side_ep *ep, int speaks_first)
{
    char word = 'g';

    if (speaks_first) {
        side_send_wait(ep, &word, 1, NEXT_TAG);
        side_recv_wait(side, &word, 1, NEXT_TAG, UINT64_MAX);
    } else {
        side_recv_wait(side, &word, 1, NEXT_TAG, UINT64_MAX);
        side_send_wait(ep, &word, 1, NEXT_TAG);
    }
    EXPECT_INT(word, ==, 'g');
}

/* Closes the side after both processes have called this: before, the peer may
 * still need this process for its own close. */
static void part(struct team *team, struct side *side, int other)
{
    char word = 'p';

    team_put(team, other, &word, 1);
    team_get_progressing(team, other, &word, 1, side_progress, side);
    side_close(side);
}

static void next_main(struct team *team)
{
    struct side side;
    struct side_ep *ep;

    side_open(&side, TRAFFIC_FEATURES);
    ep = side_meet(&side, team, SURVIVOR);
    greet(&side, ep, 0);
    EXPECT_OK(side_close_ep(ep, 0));
    part(team, &side, SURVIVOR);
}

static void await_failure(struct traffic *traffic)
{
    double end = test_now() + test_seconds(15);

    while (traffic->ep->failures == 0) {
        traffic_step(traffic, true);
        if (test_now() > end) {
            FAIL("nobody noticed the end of the victim");
        }
    }
}

/* Cancels the receives until all have ended. A receive whose message had
 * begun to arrive cannot be cancelled: it ends when the endpoint to the
 * victim fails. */
static void end_receives(struct traffic *traffic)
{
    double end = test_now() + test_seconds(15);

    while (traffic_cancel_receives(traffic) > 0) {
        side_progress(traffic->side);
        if (test_now() > end) {
            FAIL("%u receives from the dead are not over",
                 traffic_open_receives(traffic));
        }
    }
}

static void survivor_main(struct team *team, const struct round *round)
{
    struct random random = {round->random | 1};
    struct traffic traffic;
    struct side_ep *next;
    struct side side;
    double when;

    side_open(&side, TRAFFIC_FEATURES);
    traffic_open(&traffic, &side, round->random + 1);
    traffic_meet(&traffic, &side, team, VICTIM);
    EXPECT(traffic.ep != NULL);
    when = test_now() + (double)random_below(&random, 1000) * 1e-3 *
                            test_seconds(LONGEST_LIFE);
    while (test_now() < when) {
        traffic_step(&traffic, true);
    }
    EXPECT(kill(team->pids[VICTIM], SIGKILL) == 0);
    await_failure(&traffic);
    EXPECT_INT(traffic_finish_sends(&traffic, 15), ==, 0);
    end_receives(&traffic);
    EXPECT_INT(traffic.ep->failures, ==, 1);
    traffic_drop_key(&traffic);
    EXPECT_OK(side_close_ep(traffic.ep,
                            (round->random & 1) ? UCP_EP_CLOSE_FLAG_FORCE : 0));

    next = side_meet(&side, team, NEXT);
    greet(&side, next, 1);
    EXPECT_OK(side_close_ep(next, 0));
    traffic_close(&traffic);
    part(team, &side, NEXT);
}

static void member(struct team *team, void *arg)
{
    switch (team->rank) {
    case SURVIVOR:
        survivor_main(team, arg);
        break;
    case NEXT:
        next_main(team);
        break;
    default:
        victim_main(team, arg);
        break;
    }
}

int main(int argc, char **argv)
{
    struct random random = {random_seed(argc, argv)};
    int rounds = ROUNDS, status = 0, i;

    if ((argc > 2) && (strcmp(argv[1], "--rounds") == 0)) {
        rounds = atoi(argv[2]);
    }
    /* no warnings: some transports read only some of these variables */
    setenv("UCX_WARN_UNUSED_ENV_VARS", "n", 1);
    setenv("UCX_POSIX_KEEPALIVE", "10ms", 1);
    setenv("UCX_SYSV_KEEPALIVE", "10ms", 1);
    setenv("UCX_CMA_KEEPALIVE", "10ms", 1);
    for (i = 0; (i < rounds) && (status == 0); ++i) {
        struct team team   = {.limit = 60, .may_die = {[VICTIM] = true}};
        struct round round = {random_next(&random)};

        status = team_run(&team, 3, member, &round);
    }
    return status;
}
