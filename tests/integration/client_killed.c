/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cm: when a client or a server is killed, its peer is notified, both on a
 * connected endpoint and on one that is still connecting. Afterwards a
 * surviving server can open another listener.
 */
#include "common/server.h"

#include <signal.h>

enum { SERVER, CLIENT, SMALL = 64 };

static const ucp_tag_t ALL = ~(ucp_tag_t)0;

static void exchange(struct side_ep *ep)
{
    char out[SMALL] = {0}, in[SMALL];

    side_send_wait(ep, out, SMALL, 1);
    side_recv_wait(ep->side, in, SMALL, 1, ALL);
}

static void expect_loss(struct side_ep *ep)
{
    side_wait_failure(ep, 30);
    EXPECT_INT(ep->failures, ==, 1);
    side_close_ep(ep, 0);
}

/* The client has two endpoints: one is connected, the other waits for the
 * server's reply. Then `victim` (SERVER or CLIENT) kills itself. */
static void be_server(struct team *team, struct side *side, int victim)
{
    struct side_ep *connected, *late;
    struct server server;
    char word = 0;

    server_open(&server, side, "127.0.0.1", false);
    server_tell(&server, team, CLIENT);
    server_next(&server);
    connected = server_accept(&server, side);
    exchange(connected);
    server_next(&server);
    /* tell the client that its second request has arrived */
    team_put(team, CLIENT, &word, 1);
    if (victim == SERVER) {
        raise(SIGKILL);
    }

    expect_loss(connected);
    /* the client that sent the second request has ended: accepting it fails, or
     * the new endpoint does */
    late = server_try_accept(&server, side);
    if (late != NULL) {
        expect_loss(late);
    }
    server_close(&server);
    server_open(&server, side, "127.0.0.1", false);
    server_close(&server);
}

static void be_client(struct team *team, struct side *side, int victim)
{
    struct sockaddr_storage address = server_learn(team, SERVER);
    struct side_ep *connected       = server_connect(side, &address, 0);
    struct side_ep *waiting;
    char word;

    exchange(connected);
    waiting = server_connect(side, &address, 0);
    team_get_progressing(team, SERVER, &word, 1, side_progress, side);
    if (victim == CLIENT) {
        raise(SIGKILL);
    }

    expect_loss(connected);
    expect_loss(waiting);
}

static void member(struct team *team, void *arg)
{
    int victim = *(const int *)arg;
    struct side side;

    server_open_side(&side, UCP_FEATURE_TAG, 0);
    if (team->rank == SERVER) {
        be_server(team, &side, victim);
    } else {
        be_client(team, &side, victim);
    }
    side_close(&side);
}

int main(void)
{
    int victim, status = 0;

    for (victim = SERVER; (victim <= CLIENT) && (status == 0); ++victim) {
        struct team team = {.limit = 60};

        team.may_die[victim] = true;
        status               = team_run(&team, 2, member, &victim);
    }
    return status;
}
