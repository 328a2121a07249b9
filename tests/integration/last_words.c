/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * completion: a receiver may stop calling progress right after its receives are
 * complete, to compute or to wait elsewhere. The sender's operations complete
 * all the same: the library has sent acknowledgements and other replies by
 * then.
 */
#include "common/data.h"
#include "common/side.h"

#include <stdlib.h>

enum {
    SENDER,
    RECEIVER,
    /* More than one, because a library could delay acknowledgements to combine
     * them */
    MESSAGES = 4,
    ROUNDS   = 20,
    SMALL    = 8,
    LARGE    = 1024 * 1024,
};

static const ucp_request_param_t plain = {0};
static const ucp_tag_t ALL             = ~(ucp_tag_t)0;

struct talk {
    struct team *team;
    struct side side;
    struct side_ep *ep;
    char *buffers[MESSAGES]; /* LARGE bytes each */
};

static ucs_status_ptr_t start_synchronous(struct talk *talk, int i)
{
    return ucp_tag_send_sync_nbx(talk->ep->ep, talk->buffers[i], SMALL,
                                 (ucp_tag_t)i, &plain);
}

static ucs_status_ptr_t start_large(struct talk *talk, int i)
{
    return ucp_tag_send_nbx(talk->ep->ep, talk->buffers[i], LARGE, (ucp_tag_t)i,
                            &plain);
}

static void send_all(struct talk *talk,
                     ucs_status_ptr_t (*start)(struct talk *talk, int i))
{
    ucs_status_ptr_t requests[MESSAGES];
    char done = 1;
    int i;

    for (i = 0; i < MESSAGES; ++i) {
        requests[i] = start(talk, i);
    }
    for (i = 0; i < MESSAGES; ++i) {
        EXPECT_OK(side_wait(&talk->side, requests[i],
                            "a send whose receiver looks away"));
    }
    team_put(talk->team, RECEIVER, &done, sizeof(done));
}

/* Calls progress only until all receives are complete, then waits until the
 * sender has finished. */
static void receive_all(struct talk *talk, size_t length)
{
    struct side_op ops[MESSAGES];
    char done;
    int i;

    for (i = 0; i < MESSAGES; ++i) {
        side_recv(&talk->side, &ops[i], talk->buffers[i], length, (ucp_tag_t)i,
                  ALL);
    }
    for (i = 0; i < MESSAGES; ++i) {
        side_complete(&talk->side, &ops[i], "a receive");
    }
    team_get(talk->team, SENDER, &done, sizeof(done));
}

/* Waits until all messages have arrived, and only then posts the receives. They
 * complete within the posting call, which must also send the replies. */
static void meet_unexpected(struct talk *talk)
{
    ucp_tag_recv_info_t info;

    side_probe_wait(&talk->side, MESSAGES - 1, ALL, false, &info);
    receive_all(talk, SMALL);
}

/* Waits until the connection is established, for which both sides have to call
 * progress. The receiver stops calling it only after that. */
static void establish(struct talk *talk)
{
    char data = 1;

    if (talk->team->rank == SENDER) {
        side_send_wait(talk->ep, &data, sizeof(data), MESSAGES);
    } else {
        EXPECT_INT(side_recv_wait(&talk->side, &data, sizeof(data), MESSAGES,
                                  ALL),
                   ==, sizeof(data));
    }
    EXPECT_OK(side_flush_worker(&talk->side));
    team_barrier(talk->team, side_progress, &talk->side);
}

static void member(struct team *team, void *arg)
{
    struct talk talk = {.team = team};
    int i;

    (void)arg;
    for (i = 0; i < MESSAGES; ++i) {
        talk.buffers[i] = calloc(1, LARGE);
        EXPECT(talk.buffers[i] != NULL);
    }
    side_open(&talk.side, UCP_FEATURE_TAG);
    talk.ep = side_meet(&talk.side, team, 1 - team->rank);
    establish(&talk);
    for (i = 0; i < ROUNDS; ++i) {
        team_barrier(team, side_progress, &talk.side);
        if (team->rank == SENDER) {
            send_all(&talk, start_synchronous);
            send_all(&talk, start_large);
        } else {
            meet_unexpected(&talk);
            receive_all(&talk, LARGE);
        }
    }
    team_barrier(team, side_progress, &talk.side);
    EXPECT_OK(side_close_ep(talk.ep, 0));
    team_barrier(team, side_progress, &talk.side);
    side_close(&talk.side);
    for (i = 0; i < MESSAGES; ++i) {
        free(talk.buffers[i]);
    }
}

int main(void)
{
    struct team team = {.limit = 60};

    return team_run(&team, 2, member, NULL);
}
