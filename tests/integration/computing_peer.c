/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ep: a peer that computes and does not call progress is not reported as lost.
 * The transport buffers a few messages for it, so that the sender's flush
 * completes. Further messages wait at the sender for longer than the
 * transport's timeout for a lost peer (the argument, in seconds). All messages
 * arrive once and in order.
 */
#include "common/data.h"
#include "common/side.h"

#include <stdlib.h>

enum {
    SENDER,
    COMPUTER,
    LENGTH = 200,
    FEW    = 100,
    MANY   = 2000,
};

static const ucp_tag_t ALL = ~(ucp_tag_t)0;

struct talk {
    struct team *team;
    struct side side;
    struct side_ep *ep;
};

static void send_some(struct talk *talk, struct side_op *ops, char *data,
                      unsigned count)
{
    for (unsigned i = 0; i < count; ++i) {
        data_fill(data + (i * LENGTH), LENGTH, i);
        side_send(talk->ep, &ops[i], data + (i * LENGTH), LENGTH, 1);
    }
}

static void complete_sends(struct talk *talk, struct side_op *ops,
                           unsigned count)
{
    for (unsigned i = 0; i < count; ++i) {
        side_complete(&talk->side, &ops[i], "a send to a peer that computes");
    }
}

static void receive_all(struct talk *talk, unsigned count)
{
    char buffer[LENGTH];

    for (unsigned i = 0; i < count; ++i) {
        EXPECT_INT(side_recv_wait(&talk->side, buffer, LENGTH, 1, ALL), ==,
                   LENGTH);
        data_verify(buffer, LENGTH, i);
    }
}

/* Notifies the member that it may continue: compute() waits for this without
 * progress. */
static void tell(struct talk *talk, int rank)
{
    char done = 1;

    team_put(talk->team, rank, &done, sizeof(done));
}

static void compute(struct talk *talk)
{
    char done;

    team_get(talk->team, SENDER, &done, sizeof(done));
}

/* Waits until the connection is established, which needs progress of both sides
 * and thus cannot happen while the peer computes. One message proves it. */
static void establish(struct talk *talk)
{
    char data[LENGTH] = {0};

    if (talk->team->rank == SENDER) {
        side_send_wait(talk->ep, data, LENGTH, 2);
    } else {
        EXPECT_INT(side_recv_wait(&talk->side, data, LENGTH, 2, ALL), ==,
                   LENGTH);
    }
    team_barrier(talk->team, side_progress, &talk->side);
}

static void member(struct team *team, void *arg)
{
    double seconds      = *(double *)arg;
    struct talk talk    = {.team = team};
    struct side_op *ops = calloc(MANY, sizeof(*ops));
    char *data          = malloc(MANY * LENGTH);

    EXPECT((ops != NULL) && (data != NULL));
    side_open(&talk.side, UCP_FEATURE_TAG);
    talk.ep = side_meet(&talk.side, team, 1 - team->rank);
    establish(&talk);
    if (team->rank == SENDER) {
        send_some(&talk, ops, data, FEW);
        complete_sends(&talk, ops, FEW);
        EXPECT_OK(side_flush(talk.ep));
        tell(&talk, COMPUTER);
        team_barrier(team, side_progress, &talk.side);
        send_some(&talk, ops, data, MANY);
        side_linger(&talk.side, 2.5 * seconds);
        tell(&talk, COMPUTER);
        complete_sends(&talk, ops, MANY);
    } else {
        compute(&talk);
        receive_all(&talk, FEW);
        team_barrier(team, side_progress, &talk.side);
        compute(&talk);
        receive_all(&talk, MANY);
    }
    team_barrier(team, side_progress, &talk.side);
    EXPECT_INT(talk.ep->failures, ==, 0);
    EXPECT_OK(side_close_ep(talk.ep, 0));
    team_barrier(team, side_progress, &talk.side);
    side_close(&talk.side);
    free(data);
    free(ops);
}

int main(int argc, char **argv)
{
    struct team team = {.limit = 60};
    double seconds   = (argc > 1) ? strtod(argv[1], NULL) : 0;

    return team_run(&team, 2, member, &seconds);
}
