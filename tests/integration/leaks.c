/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * leaks: contexts, workers, endpoints and messages are created and destroyed
 * many times, in two processes, and neither descriptors nor the heap grow.
 */
#include "common/data.h"
#include "common/side.h"
#include "common/usage.h"

#include <stdlib.h>

enum {
    WARM_UP   = 5,
    ROUNDS    = 40,
    EPS       = 8,
    LARGE     = 300 * 1024,
    HEAP_MORE = 128 * 1024,
};

static const ucp_tag_t ALL = ~(ucp_tag_t)0;

static void exchange(struct side *side, struct side_ep **eps, char *out,
                     char *in, int round)
{
    struct side_op sends[EPS], receives[EPS];
    int i;

    for (i = 0; i < EPS; ++i) {
        side_recv(side, &receives[i], in, LARGE, 100 + i, ALL);
        side_send(eps[i], &sends[i], out, (i % 2) ? LARGE : 10 * round,
                  100 + i);
    }
    for (i = 0; i < EPS; ++i) {
        side_complete(side, &sends[i], "send");
        side_complete(side, &receives[i], "receive");
    }
}

/* One cycle from ucp_init() to ucp_cleanup(); endpoints are closed with flush
 * or by force in turn. */
static void whole_life(struct team *team, char *out, char *in, int round)
{
    struct side_ep *eps[EPS];
    struct side side;
    int i;

    side_open(&side, UCP_FEATURE_TAG);
    for (i = 0; i < EPS; ++i) {
        eps[i] = side_meet(&side, team, 1 - team->rank);
    }
    exchange(&side, eps, out, in, round);
    /* One message stays unexpected until the endpoints are closed. */
    side_send_wait(eps[0], out, 100, 7);
    EXPECT_OK(side_flush(eps[0]));
    team_barrier(team, side_progress, &side);
    for (i = 0; i < EPS; ++i) {
        side_close_ep(eps[i], (round % 2) ? UCP_EP_CLOSE_FLAG_FORCE : 0);
    }
    team_barrier(team, side_progress, &side);
    side_recv_wait(&side, in, 100, 7, ALL);
    side_close(&side);
    team_barrier(team, NULL, NULL);
}

static void member(struct team *team, void *arg)
{
    char *out = calloc(1, LARGE), *in = malloc(LARGE);
    unsigned fds = 0;
    size_t heap  = 0;
    int round;

    (void)arg;
    EXPECT((out != NULL) && (in != NULL));
    for (round = 0; round < WARM_UP + ROUNDS; ++round) {
        if (round == WARM_UP) {
            fds  = usage_fds();
            heap = usage_heap();
        }
        whole_life(team, out, in, round);
    }
    EXPECT_INT(usage_fds(), <=, fds);
    EXPECT_INT(usage_heap(), <=, heap + HEAP_MORE);
    free(out);
    free(in);
}

int main(void)
{
    struct team team = {.limit = 60};

    return team_run(&team, 2, member, NULL);
}
