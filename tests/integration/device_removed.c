/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * failure: a device is removed under a listener and its connections. The
 * endpoints of both sides fail, the listener and the workers can be closed, and
 * nothing hangs. The removal itself may wait until the processes have released
 * the device.
 *
 * usage: device_removed HOST COMMAND
 *   HOST: address of the listener, on the device
 *   COMMAND: shell command that removes the device, in the background
 *
 * Needs a device that the command can remove (tests/vm).
 */
#include "common/server.h"

#include <stdio.h>
#include <stdlib.h>

enum { SERVER, CLIENT };

static const ucp_tag_t ALL = ~(ucp_tag_t)0;

struct plan {
    const char *host, *command;
};

static void exchange(struct side_ep *ep)
{
    char out = 1, in;

    side_send_wait(ep, &out, 1, 1);
    side_recv_wait(ep->side, &in, 1, 1, ALL);
}

static void expect_failure(struct side_ep *ep)
{
    side_wait_failure(ep, 30);
    EXPECT_INT(ep->failures, ==, 1);
    (void)side_close_ep(ep, UCP_EP_CLOSE_FLAG_FORCE);
}

static void serve(struct team *team, struct side *side, const struct plan *plan)
{
    struct server server;
    struct side_ep *ep;

    server_open(&server, side, plan->host, false);
    server_tell(&server, team, CLIENT);
    server_next(&server);
    ep = server_accept(&server, side);
    exchange(ep);
    team_barrier(team, side_progress, side);
    EXPECT_INT(system(plan->command), ==, 0);
    expect_failure(ep);
    server_close(&server);
}

static void connect_to(struct team *team, struct side *side)
{
    struct sockaddr_storage address = server_learn(team, SERVER);
    struct side_ep *ep              = server_connect(side, &address, 0);

    exchange(ep);
    team_barrier(team, side_progress, side);
    expect_failure(ep);
}

static void member(struct team *team, void *arg)
{
    const struct plan *plan = arg;
    struct side side;

    server_open_side(&side, UCP_FEATURE_TAG, 0);
    if (team->rank == SERVER) {
        serve(team, &side, plan);
    } else {
        connect_to(team, &side);
    }
    team_barrier(team, side_progress, &side);
    side_close(&side);
}

int main(int argc, char **argv)
{
    struct team team = {.limit = 60};
    struct plan plan;

    if (argc != 3) {
        fprintf(stderr, "usage: device_removed HOST COMMAND\n");
        return 2;
    }
    plan = (struct plan){argv[1], argv[2]};
    return team_run(&team, 2, member, &plan);
}
