/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Endpoints: two processes connect to each other by worker address, at the same
 * moment, 1000 times (--cycles N: more than 100), exchange messages in most
 * cycles, and close: both with flush, both by force, or one each way. After all
 * cycles each process has at most one descriptor and HEAP_MORE bytes of heap
 * more than after the first hundred.
 */
#include "common/data.h"
#include "common/side.h"
#include "common/usage.h"

#include <stdlib.h>
#include <string.h>

enum {
    WARM_UP   = 100,
    CYCLES    = 1000,
    LARGE     = 100 * 1024,
    HEAP_MORE = 256 * 1024, /* a pool may allocate one more chunk late */
};

static const ucp_tag_t ALL = ~(ucp_tag_t)0;

struct parting {
    unsigned flags[2]; /* Flags of the close, by rank */
    bool silent;       /* Without messages: the endpoint is closed unused */
    size_t length;
};

static struct parting parting_of(int cycle)
{
    struct parting parting = {
        .flags = {(cycle & 1) ? UCP_EP_CLOSE_FLAG_FORCE : 0,
                  (cycle & 2) ? UCP_EP_CLOSE_FLAG_FORCE : 0},
        .silent = (cycle % 7) == 3,
        .length = ((cycle & 4) != 0) ? LARGE : (size_t)(cycle % 64),
    };

    return parting;
}

/* Exchanges one message in each direction. */
static void talk(struct side *side, struct side_ep *ep, struct team *team,
                 char *buffers, const struct parting *parting, int cycle)
{
    char *out = buffers, *in = buffers + LARGE;
    ucp_tag_t own   = 2 * (ucp_tag_t)cycle + team->rank;
    ucp_tag_t other = 2 * (ucp_tag_t)cycle + 1 - team->rank;
    struct side_op send, receive;

    data_fill(out, parting->length, own);
    side_recv(side, &receive, in, LARGE, other, ALL);
    side_send(ep, &send, out, parting->length, own);
    side_complete(side, &send, "send");
    side_complete(side, &receive, "receive");
    EXPECT_INT(receive.info.length, ==, parting->length);
    data_verify(in, parting->length, other);
}

static void cycle_once(struct side *side, struct team *team, char *buffers,
                       const void *address, int cycle)
{
    struct parting parting = parting_of(cycle);
    struct side_ep *ep;

    team_barrier(team, side_progress, side); /* both connect at the same time */
    ep = side_connect(side, address);
    if (!parting.silent) {
        talk(side, ep, team, buffers, &parting, cycle);
        /* a forced close drops messages in flight: wait for them */
        team_barrier(team, side_progress, side);
    }
    EXPECT_OK(side_close_ep(ep, parting.flags[team->rank]));
}

static void member(struct team *team, void *arg)
{
    int cycles    = *(int *)arg;
    char *buffers = malloc(2 * LARGE);
    unsigned fds  = 0;
    size_t heap   = 0;
    struct side side;
    void *address;
    int cycle;

    EXPECT(buffers != NULL);
    side_open(&side, UCP_FEATURE_TAG);
    side_put_address(&side, team, 1 - team->rank);
    address = side_get_address(team, 1 - team->rank);
    for (cycle = 0; cycle < cycles; ++cycle) {
        if (cycle == WARM_UP) {
            fds  = usage_fds();
            heap = usage_heap();
        }
        cycle_once(&side, team, buffers, address, cycle);
    }
    team_barrier(team, side_progress, &side);
    /* one more descriptor may be open until the last close is complete */
    side_wait_fds(&side, fds + 1);
    EXPECT_INT(usage_heap(), <=, heap + HEAP_MORE);
    team_barrier(team, side_progress, &side);
    side_close(&side);
    free(address);
    free(buffers);
}

int main(int argc, char **argv)
{
    struct team team = {.limit = 120};
    int cycles       = CYCLES;

    if ((argc > 2) && (strcmp(argv[1], "--cycles") == 0)) {
        cycles = atoi(argv[2]);
    }
    EXPECT_INT(cycles, >, WARM_UP);
    return team_run(&team, 2, member, &cycles);
}
