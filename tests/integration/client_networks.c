/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cm: connections between two hosts by an address of the link between them, to
 * a listener at that address and to one at the wildcard address. The hosts are
 * network namespaces; each also has a device that leads to no peer.
 */
#include "common/data.h"
#include "common/net.h"
#include "common/server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>

enum { LARGE = 300000 };

static const ucp_tag_t ALL = ~(ucp_tag_t)0;

static void exchange(struct side_ep *ep)
{
    char *out = malloc(LARGE), *in = malloc(LARGE);
    struct side_op send, receive;

    EXPECT((out != NULL) && (in != NULL));
    data_fill(out, LARGE, 1);
    side_send(ep, &send, out, LARGE, 1);
    side_recv(ep->side, &receive, in, LARGE, 1, ALL);
    side_complete(ep->side, &send, "send");
    side_complete(ep->side, &receive, "receive");
    data_verify(in, LARGE, 1);
    free(out);
    free(in);
}

/* Returns the listener's address with its IP address replaced by `host`. */
static struct sockaddr_storage reachable(const struct sockaddr_storage *address,
                                         const char *host)
{
    struct sockaddr_storage there = *address;

    EXPECT(inet_pton(AF_INET, host,
                     &((struct sockaddr_in *)&there)->sin_addr) == 1);
    return there;
}

static void meet(struct team *team, struct side *side, const char *listen_at)
{
    struct sockaddr_storage address;
    struct server server;
    struct side_ep *ep;

    if (team->rank == 0) {
        server_open(&server, side, listen_at, false);
        server_tell(&server, team, 1);
        server_next(&server);
        ep = server_accept(&server, side);
        exchange(ep);
        side_wait_failure(ep, 20);
        side_close_ep(ep, 0);
        server_close(&server);
    } else {
        address = server_learn(team, 0);
        address = reachable(&address, net_host(0));
        ep      = server_connect(side, &address, 0);
        exchange(ep);
        EXPECT_OK(side_close_ep(ep, 0));
    }
    team_barrier(team, side_progress, side);
}

static void member(struct team *team, void *arg)
{
    struct side side;

    (void)arg;
    server_open_side(&side, UCP_FEATURE_TAG, 0);
    meet(team, &side, net_host(0));
    meet(team, &side, "0.0.0.0");
    side_close(&side);
}

int main(void)
{
    struct team team = {.limit = 60, .place = TEAM_NAMESPACES};

    return team_run(&team, 2, member, NULL);
}
