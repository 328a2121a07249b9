/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ep, the first moments of an endpoint: both sides connect at once and many
 * times; one side connects alone; one closes in any form before or after the
 * connection is established; one is killed during that time. Sent messages
 * arrive once and in order, operations that cannot complete end with an error
 * within a time limit, and no resources are left. With transports that need a
 * handshake, most of this happens during the handshake.
 *
 * Member 0 connects, member 1 is its peer, the others are killed.
 */
#include "common/data.h"
#include "common/side.h"
#include "common/usage.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    FIRST_VICTIM = 2,
    VICTIMS      = TEAM_MAX - FIRST_VICTIM,
    PAIRS        = 16, /* Endpoints of each side at the same time */
    BURST        = 40, /* Messages on each endpoint */
    ROUNDS       = 60, /* Number of endpoints that close early */
    LARGE        = 300000,
};

static const ucp_tag_t ALL = ~(ucp_tag_t)0;

static void progress_many(struct side *side, unsigned count)
{
    for (; count > 0; --count) {
        side_progress(side);
    }
}

/* Waits until the other member has called this. */
static void meet(struct team *team, struct side *side, int other)
{
    char token = 'm';

    team_put(team, other, &token, 1);
    team_get_progressing(team, other, &token, 1, side_progress, side);
    EXPECT_INT(token, ==, 'm');
}

/* ------------------------------------------- both sides at the same time -- */

/* Both sides create many endpoints to each other and send. The messages of an
 * endpoint have its number as tag, and contain 0, 1, 2 and so on. */
static void crossed(struct team *team, struct side *side, int other)
{
    struct side_op sends[PAIRS][BURST];
    uint64_t words[PAIRS][BURST], word;
    struct side_ep *eps[PAIRS];
    void *address;
    int i, j;

    side_put_address(side, team, other);
    address = side_get_address(team, other);
    meet(team, side, other);
    for (i = 0; i < PAIRS; ++i) {
        eps[i] = side_connect(side, address);
        for (j = 0; j < BURST; ++j) {
            words[i][j] = (uint64_t)j;
            side_send(eps[i], &sends[i][j], &words[i][j], sizeof(word),
                      (ucp_tag_t)i);
        }
    }
    free(address);
    for (i = 0; i < PAIRS; ++i) {
        for (j = 0; j < BURST; ++j) {
            side_recv_wait(side, &word, sizeof(word), (ucp_tag_t)i, ALL);
            EXPECT_INT(word, ==, j);
            side_complete(side, &sends[i][j], "an early send");
        }
        EXPECT_OK(side_flush(eps[i]));
    }
    /* the peer may not have received the last messages yet */
    meet(team, side, other);
    for (i = 0; i < PAIRS; ++i) {
        EXPECT_INT(eps[i]->failures, ==, 0);
        EXPECT_OK(
            side_close_ep(eps[i], (i % 3 == 0) ? UCP_EP_CLOSE_FLAG_FORCE : 0));
    }
    meet(team, side, other);
}

/* ----------------------------------------------------------------- alone -- */

/* Only this side has an endpoint; the library of the peer replies without
 * one. */
static void alone_active(struct team *team, struct side *side)
{
    char *buffer       = malloc(LARGE);
    void *address      = side_get_address(team, 1);
    struct side_ep *ep = side_connect(side, address);
    struct side_op ops[2];

    free(address);
    EXPECT(buffer != NULL);
    data_fill(buffer, LARGE, 5);
    side_send(ep, &ops[0], buffer, LARGE, 1);
    side_send(ep, &ops[1], buffer, 100, 2);
    side_complete(side, &ops[0], "a large message right at the start");
    side_complete(side, &ops[1], "a small one behind it");
    EXPECT_OK(side_close_ep(ep, 0));
    free(buffer);
    meet(team, side, 1);
}

static void alone_passive(struct team *team, struct side *side)
{
    char *buffer = malloc(LARGE);

    EXPECT(buffer != NULL);
    side_put_address(side, team, 0);
    EXPECT_INT(side_recv_wait(side, buffer, LARGE, 1, ALL), ==, LARGE);
    data_verify(buffer, LARGE, 5);
    EXPECT_INT(side_recv_wait(side, buffer, LARGE, 2, ALL), ==, 100);
    free(buffer);
    /* the acknowledgements for the sender may not have been sent yet */
    meet(team, side, 0);
}

/* ----------------------------------------------------------- early close -- */

/* Closes after some rounds of progress (0, 1, 2 and so on), with and without
 * messages. Messages sent before a close with flush must arrive. */
static uint64_t close_early(struct side *side, const void *address, int round)
{
    struct side_ep *ep = side_connect(side, address);
    int by_force       = round & 1;
    int sends          = (round & 2) ? 3 : 0;
    struct side_op ops[3];
    uint64_t words[3];
    int i;

    for (i = 0; i < sends; ++i) {
        words[i] = (uint64_t)round * 4 + i;
        side_send(ep, &ops[i], &words[i], sizeof(words[i]),
                  by_force ? 0x108 : 0x107);
    }
    progress_many(side, (unsigned)round / 4);
    EXPECT_INT(ep->failures, ==, 0);
    EXPECT_OK(side_close_ep(ep, by_force ? UCP_EP_CLOSE_FLAG_FORCE : 0));
    for (i = 0; i < sends; ++i) {
        side_finish(side, &ops[i], 10, "a send before an early close");
        EXPECT(by_force || (ops[i].status == UCS_OK));
    }
    return by_force ? 0 : (uint64_t)sends;
}

static void early_active(struct team *team, struct side *side)
{
    void *address = side_get_address(team, 1);
    uint64_t sent = 0;
    int round;

    for (round = 0; round < ROUNDS; ++round) {
        sent += close_early(side, address, round);
    }
    free(address);
    team_put(team, 1, &sent, sizeof(sent));
    meet(team, side, 1);
}

/* The messages of each endpoint arrive once and in order. Those of one endpoint
 * may arrive before those of another that was closed earlier. */
static void early_passive(struct team *team, struct side *side)
{
    unsigned next[ROUNDS] = {0};
    uint64_t sent, word, i;
    struct side_op op;

    side_put_address(side, team, 0);
    team_get_progressing(team, 0, &sent, sizeof(sent), side_progress, side);
    for (i = 0; i < sent; ++i) {
        side_recv(side, &op, &word, sizeof(word), 0x107, ALL);
        side_complete(side, &op, "what was flushed before an early close");
        EXPECT_INT(word, <, ROUNDS * 4);
        EXPECT_INT(word % 4, ==, next[word / 4]++);
    }
    meet(team, side, 0);
}

/* ---------------------------------------------------------------- killed -- */

/* Kills itself after 0, 40, 80 and so on rounds of progress, counted from the
 * moment at which the survivor starts to connect. */
static void victim_main(struct team *team)
{
    struct side side;
    char word;

    side_open(&side, UCP_FEATURE_TAG);
    side_put_address(&side, team, 0);
    team_get_progressing(team, 0, &word, 1, side_progress, &side);
    progress_many(&side, (unsigned)(team->rank - FIRST_VICTIM) * 40);
    raise(SIGKILL);
}

static void kill_early(struct team *team, struct side *side, int rank)
{
    void *address = side_get_address(team, rank);
    uint64_t word = 0;
    struct side_op op;
    struct side_ep *ep;

    team_put(team, rank, "", 1);
    ep = side_try_connect(side, address);
    free(address);
    if (ep == NULL) {
        return; /* the peer had ended before */
    }
    side_send(ep, &op, &word, sizeof(word), 9);
    side_wait_failure(ep, 10);
    side_finish(side, &op, 10, "a send to a peer that dies");
    EXPECT_INT(ep->failures, ==, 1);
    side_close_ep(ep, UCP_EP_CLOSE_FLAG_FORCE);
}

/* ----------------------------------------------------------------- roles -- */

static void member(struct team *team, void *arg)
{
    struct side side;
    unsigned fds;
    int rank;

    (void)arg;
    if (team->rank >= FIRST_VICTIM) {
        victim_main(team);
        return;
    }

    side_open(&side, UCP_FEATURE_TAG);
    /* This opens the connections that stay open as long as the worker, before
     * descriptors are counted. */
    if (team->rank == 0) {
        alone_active(team, &side);
        crossed(team, &side, 1);
    } else {
        alone_passive(team, &side);
        crossed(team, &side, 0);
    }
    side_linger(&side, 0.05);
    fds = usage_fds();
    if (team->rank == 0) {
        early_active(team, &side);
        for (rank = FIRST_VICTIM; rank < team->size; ++rank) {
            kill_early(team, &side, rank);
        }
    } else {
        early_passive(team, &side);
    }
    crossed(team, &side, 1 - team->rank);
    side_wait_fds(&side, fds);
    side_close(&side);
}

int main(void)
{
    struct team team = {.limit = 90};
    int rank;

    for (rank = FIRST_VICTIM; rank < TEAM_MAX; ++rank) {
        team.may_die[rank] = true;
    }
    return team_run(&team, TEAM_MAX, member, NULL);
}
