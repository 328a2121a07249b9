/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ep: during traffic of every class, either side or both sides close, with
 * flush or by force, or destroy their worker. Every operation ends within a
 * time limit, data sent before a close with flush arrives, and the remaining
 * side continues. --rounds N, --seed N.
 */
#include "common/traffic.h"
#include "common/usage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WARM_UP = 12, ROUNDS = 84, HEAP_MORE = 256 * 1024 };

/* How a side ends: close with flush, close by force, or destroy its worker. */
enum leaving { FLUSH, FORCE, DESTROY, LEAVINGS };

static const char *const names[] = {"flush", "force", "destroy"};

struct round {
    enum leaving leaving[2]; /* by rank */
    /* Seconds from the start of traffic until the side ends; by rank */
    double when[2];
};

struct fate {
    uint64_t sent; /* Number of tagged messages that the side has sent */
    /* All of them must arrive: the close with flush succeeded */
    int exact;
};

static struct round any_round(struct random *random, int number)
{
    struct round round;
    int i;

    for (i = 0; i < 2; ++i) {
        round.leaving[i] = (enum leaving)((number / (i ? LEAVINGS : 1)) %
                                          LEAVINGS);
        round.when[i]    = (double)random_below(random, 30) * 1e-3;
    }
    if (random_below(random, 3) == 0) {
        round.when[1] = round.when[0]; /* both at once */
    }
    return round;
}

/* Sends and receives for `seconds`, or until the peer has closed. */
static void run(struct traffic *traffic, double seconds)
{
    double end = test_now() + seconds;

    while ((test_now() < end) && (traffic->ep->failures == 0)) {
        traffic_step(traffic, true);
    }
}

/* Closes with flush. A flush may need replies of the peer, which therefore
 * continues to receive. */
static void close_by_flush(struct traffic *traffic, struct fate *fate)
{
    struct side_ep *ep        = traffic->ep;
    int alive                 = (ep->failures == 0);
    ucs_status_t status       = UCS_OK;
    ucp_request_param_t param = {0};
    double end                = test_now() + test_seconds(20);
    ucs_status_ptr_t request;

    request = ucp_ep_close_nbx(ep->ep, &param);
    if (UCS_PTR_IS_PTR(request)) {
        while ((status = ucp_request_check_status(request)) == UCS_INPROGRESS) {
            traffic_step(traffic, false);
            if (test_now() > end) {
                FAIL("closing by flush: not over after %.0f s; %u sends are"
                     " open",
                     test_seconds(20), traffic_open_sends(traffic));
            }
        }
        ucp_request_free(request);
    } else {
        status = UCS_PTR_STATUS(request);
    }
    EXPECT_INT(traffic_open_sends(traffic), ==, 0);
    fate->sent  = traffic->tags_sent;
    fate->exact = alive && (status == UCS_OK) && (ep->failures == 0);
}

static void leave(struct traffic *traffic, enum leaving leaving,
                  struct fate *fate)
{
    ucp_request_param_t force = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS,
        .flags        = UCP_EP_CLOSE_FLAG_FORCE,
    };

    fate->exact = 0;
    if (leaving == FLUSH) {
        close_by_flush(traffic, fate);
    } else if (leaving == FORCE) {
        EXPECT(!UCS_PTR_IS_PTR(ucp_ep_close_nbx(traffic->ep->ep, &force)));
        EXPECT_INT(traffic_finish_sends(traffic, 10), ==, 0);
    }
}

/* Sends this side's result to the peer and continues to receive until the peer
 * has closed, too, and until all tagged messages that the peer's flush covered
 * have arrived. */
static void wait_for_other(struct traffic *traffic, struct team *team,
                           const struct fate *own)
{
    int other = 1 - team->rank;
    struct fate fate;
    double end;

    team_put(team, other, own, sizeof(*own));
    while (!team_ready(team, other)) {
        traffic_step(traffic, false);
    }
    team_get(team, other, &fate, sizeof(fate));
    end = test_now() + test_seconds(10);
    while (fate.exact && (traffic->tags_received < fate.sent)) {
        traffic_step(traffic, false);
        if (test_now() > end) {
            FAIL("%llu tagged messages were flushed, %llu have come",
                 (unsigned long long)fate.sent,
                 (unsigned long long)traffic->tags_received);
        }
    }
}

static void do_round(struct traffic *traffic, struct side *context,
                     struct team *team, const struct round *round)
{
    enum leaving leaving = round->leaving[team->rank];
    struct fate fate     = {.exact = 0};
    struct side side;

    side_open_worker(&side, context);
    traffic_meet(traffic, &side, team, 1 - team->rank);
    EXPECT(traffic->ep != NULL);
    team_barrier(team, side_progress, &side);
    run(traffic, round->when[team->rank]);
    if (leaving != DESTROY) {
        leave(traffic, leaving, &fate);
        wait_for_other(traffic, team, &fate);
        (void)traffic_cancel_receives(traffic);
        free(traffic->ep);
        side.eps = NULL;
    } else {
        /* destroy the worker without closing or waiting */
        free(traffic->ep);
        side.eps       = NULL;
        traffic->quiet = true;
    }
    traffic_drop_key(traffic);
    ucp_worker_destroy(side.worker);
    EXPECT_INT(traffic_open_sends(traffic), ==, 0);
    EXPECT_INT(traffic_open_receives(traffic), ==, 0);
    if (leaving == DESTROY) {
        team_put(team, 1 - team->rank, &fate, sizeof(fate));
        team_get(team, 1 - team->rank, &fate, sizeof(fate));
    }
    team_barrier(team, NULL, NULL);
}

struct plan {
    uint64_t seed;
    int rounds;
};

static void member(struct team *team, void *arg)
{
    const struct plan *plan = arg;
    struct random random    = {plan->seed};
    unsigned fds            = 0;
    size_t heap             = 0;
    struct traffic traffic;
    struct side context;
    struct round round;
    int i;

    side_open(&context, TRAFFIC_FEATURES & ~(uint64_t)UCP_FEATURE_WAKEUP);
    traffic_open(&traffic, &context, plan->seed * 2 + (uint64_t)team->rank);
    for (i = 0; i < plan->rounds; ++i) {
        if (i == WARM_UP) {
            fds  = usage_fds();
            heap = usage_heap();
        }
        round = any_round(&random, i);
        if (getenv("TEST_VERBOSE") != NULL) {
            fprintf(stderr,
                    "[%d] round %d: %s after %.0f ms, %s after %.0f"
                    " ms\n",
                    team->rank, i, names[round.leaving[0]], round.when[0] * 1e3,
                    names[round.leaving[1]], round.when[1] * 1e3);
        }
        do_round(&traffic, &context, team, &round);
    }
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

    if ((argc > 2) && (strcmp(argv[1], "--rounds") == 0)) {
        plan.rounds = atoi(argv[2]);
    }
    return team_run(&team, 2, member, &plan);
}
