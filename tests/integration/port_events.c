/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * failure: while a connection is idle, a command changes the state of its
 * device. Then the endpoints of both sides fail with the expected status within
 * a time limit, or messages still arrive.
 *
 * usage: port_events DEVICES0 DEVICES1 STATUS COMMAND
 *   DEVICES0, DEVICES1: UCX_NET_DEVICES of members 0 and 1
 *   STATUS: ok (messages still arrive), timeout or no_device
 *   COMMAND: shell command
 *
 * Needs devices that the command can control (tests/vm).
 */
#include "common/side.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const ucp_tag_t ALL = ~(ucp_tag_t)0;

struct plan {
    const char *devices[2];
    ucs_status_t status;
    const char *command;
};

static ucs_status_t status_named(const char *name)
{
    if (strcmp(name, "ok") == 0) {
        return UCS_OK;
    }
    if (strcmp(name, "timeout") == 0) {
        return UCS_ERR_ENDPOINT_TIMEOUT;
    }
    EXPECT(strcmp(name, "no_device") == 0);
    return UCS_ERR_NO_DEVICE;
}

/* One message each way, and a flush. */
static void exchange(struct team *team, struct side *side, struct side_ep *ep,
                     int round)
{
    struct side_op receive;
    int out = (round * 2) + team->rank, in = -1;

    side_recv(side, &receive, &in, sizeof(in), round, ALL);
    side_send_wait(ep, &out, sizeof(out), round);
    side_complete(side, &receive, "a message of the peer");
    EXPECT_INT(in, ==, (round * 2) + (1 - team->rank));
    EXPECT_OK(side_flush(ep));
    team_barrier(team, side_progress, side);
}

static void member(struct team *team, void *arg)
{
    const struct plan *plan = arg;
    struct side_ep *ep;
    struct side side;

    setenv("UCX_NET_DEVICES", plan->devices[team->rank], 1);
    side_open(&side, UCP_FEATURE_TAG);
    ep = side_meet(&side, team, 1 - team->rank);
    exchange(team, &side, ep, 1);
    if (team->rank == 0) {
        EXPECT_INT(system(plan->command), ==, 0);
    }
    team_barrier(team, side_progress, &side);
    if (plan->status == UCS_OK) {
        side_linger(&side, 0.1);
        exchange(team, &side, ep, 2);
        EXPECT_INT(ep->failures, ==, 0);
        EXPECT_OK(side_close_ep(ep, 0));
    } else {
        side_wait_failure(ep, 3);
        EXPECT_STATUS(ep->failure, plan->status);
        (void)side_close_ep(ep, UCP_EP_CLOSE_FLAG_FORCE);
    }
    team_barrier(team, side_progress, &side);
    side_close(&side);
}

int main(int argc, char **argv)
{
    struct team team = {.limit = 15};
    struct plan plan;

    if (argc != 5) {
        fprintf(stderr, "usage: port_events DEVICES0 DEVICES1 "
                        "ok|timeout|no_device COMMAND\n");
        return 2;
    }
    plan.devices[0] = argv[1];
    plan.devices[1] = argv[2];
    plan.status     = status_named(argv[3]);
    plan.command    = argv[4];
    return team_run(&team, 2, member, &plan);
}
