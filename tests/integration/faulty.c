/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Traffic over the transport `faults` (tests/plugins/faults), whose endpoints
 * fail at random: during traffic of every class, on either side, while both
 * processes continue. Each failure is reported once. All operations of the
 * endpoint, its flush and its close end within a time limit, and later
 * operations are rejected. The worker can be destroyed with outstanding
 * operations, and no resources are left. --rounds N, --seed N.
 */
#include "common/traffic.h"
#include "common/usage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WARM_UP = 10, ROUNDS = 60, HEAP_MORE = 256 * 1024 };

/* A round ends when this member's endpoint fails or the peer has ended the
 * round; otherwise when both this time and MOST_STEPS steps have passed. */
static const double LONGEST = 0.5; /* seconds */
enum { MOST_STEPS = 5000 };

/* Results of this member, summed up over all rounds. */
struct tally {
    int failed; /* Rounds in which this member's endpoint failed */
    /* Operations, including closes, that had not ended in time because the peer
     * could not reply; a forced close ends them */
    int unanswered;
};

struct plan {
    uint64_t seed;
    int rounds;
};

/* All operations on the failed endpoint end within a time limit, and new ones
 * are rejected. */
static void check_failed_ep(struct traffic *traffic)
{
    struct side_ep *ep = traffic->ep;
    struct side_op op;
    char byte = 0;

    EXPECT(ep->failure != UCS_OK);
    EXPECT_INT(traffic_finish_sends(traffic, 10), ==, 0);
    side_send(ep, &op, &byte, 1, 1);
    side_finish(ep->side, &op, 5, "a send on a failed endpoint");
    EXPECT(op.status != UCS_OK);
    EXPECT(side_flush(ep) != UCS_OK);
    EXPECT_INT(ep->failures, ==, 1);
}

/* Closes an endpoint that has not failed. The peer's endpoint may have failed,
 * which the peer cannot report over it: then operations that wait for a reply,
 * and the close, are ended by force. */
static void close_working_ep(struct traffic *traffic, struct tally *tally)
{
    ucp_request_param_t flush = {0};
    ucp_request_param_t force = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS,
        .flags        = UCP_EP_CLOSE_FLAG_FORCE,
    };
    double end = test_now() + test_seconds(0.5);
    ucs_status_ptr_t request;

    tally->unanswered += (int)traffic_finish_sends(traffic, 0.2);
    request = ucp_ep_close_nbx(traffic->ep->ep,
                               (random_below(&traffic->random, 2) == 0) ?
                                   &force :
                                   &flush);
    if (!UCS_PTR_IS_PTR(request)) {
        return;
    }

    while ((ucp_request_check_status(request) == UCS_INPROGRESS) &&
           (test_now() < end)) {
        traffic_step(traffic, false);
    }
    if (ucp_request_check_status(request) == UCS_INPROGRESS) {
        ++tally->unanswered;
        EXPECT(!UCS_PTR_IS_PTR(ucp_ep_close_nbx(traffic->ep->ep, &force)));
        end = test_now() + test_seconds(5);
        while (ucp_request_check_status(request) == UCS_INPROGRESS) {
            traffic_step(traffic, false);
            EXPECT(test_now() < end);
        }
    }
    ucp_request_free(request);
}

static void end_round(struct traffic *traffic, struct team *team,
                      struct side *side, struct tally *tally, bool abrupt)
{
    struct side_ep *ep = traffic->ep;

    if (abrupt) {
        return; /* the worker is destroyed without closing */
    }

    if (ep->failures > 0) {
        check_failed_ep(traffic);
        EXPECT_OK(side_close_ep(ep, (random_below(&traffic->random, 2) == 0) ?
                                        UCP_EP_CLOSE_FLAG_FORCE :
                                        0));
    } else {
        close_working_ep(traffic, tally);
        side->eps = NULL;
        free(ep);
    }
    traffic->ep = NULL;
    EXPECT_INT(traffic_finish_sends(traffic, 5), ==, 0);
    traffic_drop_key(traffic);
    team_barrier(team, side_progress, side);
    (void)traffic_cancel_receives(traffic);
}

static void do_round(struct traffic *traffic, struct side *context,
                     struct team *team, struct tally *tally, bool abrupt)
{
    int other = 1 - team->rank;
    char over = 1;
    int steps = 0;
    double end;
    struct side side;

    side_open_worker(&side, context);
    traffic_meet(traffic, &side, team, other);
    EXPECT(traffic->ep != NULL);
    end = test_now() + LONGEST;
    while ((traffic->ep->failures == 0) && !team_ready(team, other) &&
           ((test_now() < end) || (steps < MOST_STEPS))) {
        traffic_step(traffic, true);
        ++steps;
    }
    tally->failed += (traffic->ep->failures > 0);
    team_put(team, other, &over, 1);
    while (!team_ready(team, other)) {
        traffic_step(traffic, false);
    }
    team_get(team, other, &over, 1);
    end_round(traffic, team, &side, tally, abrupt);
    if (abrupt) {
        team_barrier(team, side_progress, &side);
        free(traffic->ep);
        side.eps       = NULL;
        traffic->quiet = true;
        traffic_drop_key(traffic);
        ucp_worker_destroy(side.worker);
    } else {
        side_close_worker(&side);
    }
    EXPECT_INT(traffic_open_sends(traffic), ==, 0);
    EXPECT_INT(traffic_open_receives(traffic), ==, 0);
    team_barrier(team, NULL, NULL);
}

/* Each member has its own seed, so that endpoints of both fail, at different
 * times. */
static void choose_seed(const struct plan *plan, int rank)
{
    char text[32];

    snprintf(text, sizeof(text), "%lu",
             (unsigned long)(plan->seed % 1000000007 * 2) +
                 (unsigned long)rank);
    setenv("UCX_FAULTS_SEED", text, 1);
}

/* Expects that endpoints failed in more than a quarter of the rounds,
 * counted on both sides together: a round ends with the first failure on
 * either side. */
static void expect_failures(struct team *team, const struct tally *own,
                            int rounds)
{
    int other = 1 - team->rank, others;

    team_put(team, other, &own->failed, sizeof(own->failed));
    team_get(team, other, &others, sizeof(others));
    EXPECT_INT(own->failed + others, >, rounds / 4);
}

static void member(struct team *team, void *arg)
{
    const struct plan *plan = arg;
    struct random random    = {plan->seed};
    struct tally tally      = {0};
    unsigned fds            = 0;
    size_t heap             = 0;
    struct traffic traffic;
    struct side context;
    int i;

    choose_seed(plan, team->rank);
    side_open(&context, TRAFFIC_FEATURES);
    traffic_open(&traffic, &context, plan->seed * 2 + (uint64_t)team->rank);
    for (i = 0; i < plan->rounds; ++i) {
        if (i == WARM_UP) {
            fds  = usage_fds();
            heap = usage_heap();
        }
        do_round(&traffic, &context, team, &tally,
                 random_below(&random, 4) == 0);
    }
    printf("member %d: %d of %d endpoints failed, %d operations were given up"
           " because nobody could answer them\n",
           team->rank, tally.failed, plan->rounds, tally.unanswered);
    expect_failures(team, &tally, plan->rounds);
    if (plan->rounds > WARM_UP) {
        side_wait_fds(&context, fds + 1);
        EXPECT_INT(usage_heap(), <=, heap + HEAP_MORE);
    }
    traffic.side = &context;
    traffic_close(&traffic);
    side_close(&context);
}

int main(int argc, char **argv)
{
    struct plan plan = {random_seed(argc, argv), ROUNDS};
    struct team team = {.limit = 120};

    if (getenv("FAULTS_LIBRARY") == NULL) {
        check_skip("there are no faults without the plugin `faults`");
    }
    if ((argc > 2) && (strcmp(argv[1], "--rounds") == 0)) {
        plan.rounds = atoi(argv[2]);
    }
    setenv("UCX_FAULTS_EP_FAILURE", "400", 0);
    return team_run(&team, 2, member, &plan);
}
