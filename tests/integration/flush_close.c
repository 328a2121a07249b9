/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ep: a flush completes earlier sends. A close with flush delivers all sent
 * data. A forced close ends every operation at once, and the peer's endpoint
 * can be closed as well. A new endpoint can be created after either close.
 */
#include "common/data.h"
#include "common/side.h"

#include <stdlib.h>

enum {
    MESSAGES = 200,
    SIZE     = 3000,
    LARGE    = 8 * 1024 * 1024,
    STUCK    = 16,
};

static const ucp_tag_t ALL = ~(ucp_tag_t)0;

struct talk {
    struct team *team;
    struct side side;
    struct side_ep *ep;
    char *buffer; /* LARGE bytes */
};

static void agree(struct talk *talk)
{
    team_barrier(talk->team, side_progress, &talk->side);
}

static void meet(struct talk *talk)
{
    talk->ep = side_meet(&talk->side, talk->team, 1 - talk->team->rank);
    agree(talk);
}

static void start_sends(struct talk *talk, struct side_op *ops, ucp_tag_t base)
{
    int i;

    for (i = 0; i < MESSAGES; ++i) {
        side_send(talk->ep, &ops[i], talk->buffer, SIZE, base + i);
    }
}

static void receive_sends(struct talk *talk, ucp_tag_t base)
{
    int i;

    for (i = 0; i < MESSAGES; ++i) {
        EXPECT_INT(side_recv_wait(&talk->side, talk->buffer, SIZE, base + i,
                                  ALL),
                   ==, SIZE);
        data_verify(talk->buffer, SIZE, 1);
    }
}

static void flush_ends_sends(struct talk *talk, bool of_worker)
{
    struct side_op ops[MESSAGES];
    int i;

    if (talk->team->rank == 0) {
        data_fill(talk->buffer, SIZE, 1);
        start_sends(talk, ops, 0);
        EXPECT_OK(of_worker ? side_flush_worker(&talk->side) :
                              side_flush(talk->ep));
        for (i = 0; i < MESSAGES; ++i) {
            side_complete(&talk->side, &ops[i], "a send before a flush");
        }
    } else {
        receive_sends(talk, 0);
    }
    agree(talk);
    /* Nothing is in flight any more: a flush completes nevertheless. */
    EXPECT_OK(side_flush(talk->ep));
    EXPECT_OK(side_flush_worker(&talk->side));
    agree(talk);
}

/* The sender closes right after its last send, and every message arrives. */
static void closing_flush_delivers(struct talk *talk)
{
    struct side_op ops[MESSAGES];
    int i;

    if (talk->team->rank == 0) {
        data_fill(talk->buffer, SIZE, 1);
        start_sends(talk, ops, 1000);
        EXPECT_OK(side_close_ep(talk->ep, 0));
        for (i = 0; i < MESSAGES; ++i) {
            EXPECT(ops[i].done);
            EXPECT_OK(ops[i].status);
        }
        agree(talk);
    } else {
        receive_sends(talk, 1000);
        agree(talk);
        side_close_ep(talk->ep, UCP_EP_CLOSE_FLAG_FORCE);
    }
}

/* Large sends without receives are in flight when the endpoint is closed by
 * force: each of them ends with an error. */
static void forced_close_ends_sends(struct talk *talk)
{
    struct side_op ops[STUCK];
    double started;
    int i;

    if (talk->team->rank == 0) {
        for (i = 0; i < STUCK; ++i) {
            side_send(talk->ep, &ops[i], talk->buffer, LARGE, 2000 + i);
        }
        side_linger(&talk->side, 0.05);
        started = test_now();
        side_close_ep(talk->ep, UCP_EP_CLOSE_FLAG_FORCE);
        EXPECT_INT((test_now() - started) * 1e3, <, test_seconds(5) * 1e3);
        for (i = 0; i < STUCK; ++i) {
            side_finish(&talk->side, &ops[i], 5, "a send after a forced close");
            EXPECT(ops[i].status != UCS_OK);
        }
        agree(talk);
    } else {
        agree(talk);
        /* The peer has closed by force: closing this endpoint ends as well,
         * with or without an error. */
        side_close_ep(talk->ep, UCP_EP_CLOSE_FLAG_FORCE);
    }
    agree(talk);
}

static void idle_ep_closes(struct talk *talk, unsigned flags)
{
    meet(talk);
    side_close_ep(talk->ep, flags);
    agree(talk);
}

static void member(struct team *team, void *arg)
{
    struct talk talk = {.team = team, .buffer = calloc(1, LARGE)};
    int i;

    (void)arg;
    EXPECT(talk.buffer != NULL);
    side_open(&talk.side, UCP_FEATURE_TAG);
    EXPECT_OK(side_flush_worker(&talk.side));
    meet(&talk);
    flush_ends_sends(&talk, false);
    flush_ends_sends(&talk, true);
    closing_flush_delivers(&talk);
    meet(&talk);
    forced_close_ends_sends(&talk);
    for (i = 0; i < 5; ++i) {
        idle_ep_closes(&talk, 0);
        idle_ep_closes(&talk, UCP_EP_CLOSE_FLAG_FORCE);
    }
    /* After all these closes a new endpoint carries messages. */
    meet(&talk);
    flush_ends_sends(&talk, false);
    EXPECT_OK(side_close_ep(talk.ep, 0));
    agree(&talk);
    side_close(&talk.side);
    free(talk.buffer);
}

int main(void)
{
    struct team team = {.limit = 60};

    return team_run(&team, 2, member, NULL);
}
