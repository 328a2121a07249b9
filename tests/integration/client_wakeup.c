/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cm: a server and a client sleep whenever there is no event. Every event wakes
 * them: the connection request, the reply, messages, and the peer's close.
 */
#include "common/server.h"


enum { ROUNDS = 50, SMALL = 64 };

static const ucp_tag_t ALL = ~(ucp_tag_t)0;

/* Sleeps if progress has nothing to do. After a lost wake-up it sleeps until
 * the time limit of the test (team.h), which then fails. */
static void sleep_until_news(struct side *side)
{
    if (ucp_worker_progress(side->worker) == 0) {
        EXPECT_OK(ucp_worker_wait(side->worker));
    }
}

static void finish(struct side *side, struct side_op *op)
{
    while (!op->done) {
        sleep_until_news(side);
    }
    EXPECT_OK(op->status);
}

static void close_sleeping(struct side_ep *ep)
{
    ucp_request_param_t param = {.op_attr_mask = 0};
    struct side *side         = ep->side;
    ucs_status_ptr_t request  = ucp_ep_close_nbx(ep->ep, &param);

    side_forget(ep);
    if (UCS_PTR_IS_PTR(request)) {
        while (ucp_request_check_status(request) == UCS_INPROGRESS) {
            sleep_until_news(side);
        }
        EXPECT_OK(ucp_request_check_status(request));
        ucp_request_free(request);
    }
}

static void be_server(struct team *team, struct side *side)
{
    struct server server;
    struct side_ep *ep;
    struct side_op op;
    char data[SMALL];
    int i;

    server_open(&server, side, "127.0.0.1", false);
    server_tell(&server, team, 1);
    for (i = 0; i < ROUNDS; ++i) {
        while (server.count == 0) {
            sleep_until_news(side);
        }
        ep = server_accept(&server, side);
        side_recv(side, &op, data, SMALL, 1, ALL);
        finish(side, &op);
        side_send(ep, &op, data, SMALL, 2);
        finish(side, &op);
        while (ep->failures == 0) {
            sleep_until_news(side);
        }
        close_sleeping(ep);
    }
    server_close(&server);
}

static void be_client(struct team *team, struct side *side)
{
    struct sockaddr_storage address = server_learn(team, 0);
    char out[SMALL]                 = {0}, in[SMALL];
    struct side_op send, receive;
    struct side_ep *ep;
    int i;

    for (i = 0; i < ROUNDS; ++i) {
        ep = server_connect(side, &address, 0);
        side_send(ep, &send, out, SMALL, 1);
        side_recv(side, &receive, in, SMALL, 2, ALL);
        finish(side, &send);
        finish(side, &receive);
        close_sleeping(ep);
    }
}

static void member(struct team *team, void *arg)
{
    struct side side;

    (void)arg;
    server_open_side(&side, UCP_FEATURE_TAG | UCP_FEATURE_WAKEUP, 0);
    if (team->rank == 0) {
        be_server(team, &side);
    } else {
        be_client(team, &side);
    }
    side_close(&side);
}

int main(void)
{
    struct team team = {.limit = 60};

    return team_run(&team, 2, member, NULL);
}
