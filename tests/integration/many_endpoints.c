/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ep: 64 endpoints connect to one worker, first from 64 workers in four
 * processes, then from one worker. Each endpoint carries its own traffic in
 * both directions.
 */
#include "common/data.h"
#include "common/side.h"

#include <stdlib.h>

enum {
    CLIENTS    = 4,
    PER_CLIENT = 16,
    ENDPOINTS  = CLIENTS * PER_CLIENT,
    ROUNDS     = 20,
    LARGE      = 200 * 1024,
};

static const ucp_tag_t ALL = ~(ucp_tag_t)0;

static size_t size_of(int index, int round)
{
    return (round == ROUNDS - 1) ? LARGE + index : (index * 37) + round;
}

/* Tag of a request (kind 1) or a reply (kind 2): unique by endpoint and
 * round. */
static ucp_tag_t tag_of(int kind, int index, int round)
{
    return ((ucp_tag_t)kind << 48) | ((ucp_tag_t)index << 16) | round;
}

/* The server: receives the requests of all endpoints and replies. */
static void serve(struct side *side, struct side_ep **eps, char *buffer)
{
    int left, index, round;
    ucp_tag_recv_info_t info;
    ucp_tag_t tag;

    for (left = ENDPOINTS * ROUNDS; left > 0; --left) {
        side_probe_wait(side, tag_of(1, 0, 0), (ucp_tag_t)0xffff << 48, false,
                        &info);
        tag   = info.sender_tag;
        index = (tag >> 16) & 0xffff;
        round = tag & 0xffff;
        EXPECT_INT(index, <, ENDPOINTS);
        EXPECT_INT(info.length, ==, size_of(index, round));
        side_recv_wait(side, buffer, info.length, tag, ALL);
        data_verify(buffer, info.length, tag);
        data_fill(buffer, info.length, tag_of(2, index, round));
        side_send_wait(eps[index], buffer, info.length,
                       tag_of(2, index, round));
    }
}

/* A client's endpoint with its worker, its request in flight, and the receive
 * for the reply. */
struct talk {
    struct side side;
    struct side_ep *ep;
    struct side_op sent, answered;
    char *out, *in;
};

static void start_round(struct talk *talk, int index, int round)
{
    size_t size = size_of(index, round);

    data_fill(talk->out, size, tag_of(1, index, round));
    side_recv(&talk->side, &talk->answered, talk->in, LARGE + ENDPOINTS,
              tag_of(2, index, round), ALL);
    side_send(talk->ep, &talk->sent, talk->out, size, tag_of(1, index, round));
}

static void end_round(struct talk *talk, int index, int round)
{
    side_complete(&talk->side, &talk->sent, "send");
    side_complete(&talk->side, &talk->answered, "answer");
    EXPECT_INT(talk->answered.info.length, ==, size_of(index, round));
    data_verify(talk->in, size_of(index, round), tag_of(2, index, round));
}

static void make_room(struct talk *talk)
{
    talk->out = malloc(LARGE + ENDPOINTS);
    talk->in  = malloc(LARGE + ENDPOINTS);
    EXPECT((talk->out != NULL) && (talk->in != NULL));
}

static void progress_talks(struct talk *talks)
{
    int i;

    for (i = 0; i < PER_CLIENT; ++i) {
        side_progress(&talks[i].side);
    }
}

static void progress_talks_arg(void *talks)
{
    progress_talks(talks);
}

static void client(struct team *team)
{
    struct talk talks[PER_CLIENT];
    int first = (team->rank - 1) * PER_CLIENT;
    struct side base;
    void *address;
    int i, round;

    side_open(&base, UCP_FEATURE_TAG);
    for (i = 0; i < PER_CLIENT; ++i) {
        side_open_worker(&talks[i].side, &base);
        make_room(&talks[i]);
        side_put_address(&talks[i].side, team, 0);
        address     = side_get_address(team, 0);
        talks[i].ep = side_connect(&talks[i].side, address);
        free(address);
    }
    for (round = 0; round < ROUNDS; ++round) {
        for (i = 0; i < PER_CLIENT; ++i) {
            start_round(&talks[i], first + i, round);
        }
        for (i = 0; i < PER_CLIENT; ++i) {
            while (!talks[i].answered.done) {
                progress_talks(talks);
            }
            end_round(&talks[i], first + i, round);
        }
    }
    team_barrier(team, progress_talks_arg, talks);
    for (i = 0; i < PER_CLIENT; ++i) {
        side_close_worker(&talks[i].side);
        free(talks[i].out);
        free(talks[i].in);
    }
    side_close(&base);
    team_barrier(team, NULL, NULL);
}

static void server(struct team *team)
{
    struct side_ep *eps[ENDPOINTS];
    struct side side;
    char *buffer = malloc(LARGE + ENDPOINTS);
    int rank, i;

    EXPECT(buffer != NULL);
    side_open(&side, UCP_FEATURE_TAG);
    for (rank = 1; rank <= CLIENTS; ++rank) {
        for (i = 0; i < PER_CLIENT; ++i) {
            eps[((rank - 1) * PER_CLIENT) + i] = side_meet(&side, team, rank);
        }
    }
    serve(&side, eps, buffer);
    team_barrier(team, side_progress, &side);
    side_linger(&side, 0);
    team_barrier(team, side_progress, &side); /* all clients have closed */
    side_close(&side);
    free(buffer);
}

static void workers_member(struct team *team, void *arg)
{
    (void)arg;
    if (team->rank == 0) {
        server(team);
    } else {
        client(team);
    }
}

/* The second part: 64 endpoints connect the same two workers. */
static void single_member(struct team *team, void *arg)
{
    struct talk talks[ENDPOINTS];
    struct side_ep *eps[ENDPOINTS];
    struct side side;
    char *buffer = malloc(LARGE + ENDPOINTS);
    int i, round;

    (void)arg;
    EXPECT(buffer != NULL);
    side_open(&side, UCP_FEATURE_TAG);
    for (i = 0; i < ENDPOINTS; ++i) {
        eps[i] = side_meet(&side, team, 1 - team->rank);
    }
    if (team->rank == 0) {
        serve(&side, eps, buffer);
    } else {
        for (i = 0; i < ENDPOINTS; ++i) {
            talks[i].side = side;
            talks[i].ep   = eps[i];
            make_room(&talks[i]);
        }
        for (round = 0; round < ROUNDS; ++round) {
            for (i = 0; i < ENDPOINTS; ++i) {
                start_round(&talks[i], i, round);
            }
            for (i = 0; i < ENDPOINTS; ++i) {
                end_round(&talks[i], i, round);
            }
        }
        for (i = 0; i < ENDPOINTS; ++i) {
            free(talks[i].out);
            free(talks[i].in);
        }
    }
    for (i = 0; i < ENDPOINTS; ++i) {
        EXPECT_OK(side_close_ep(eps[i], 0));
    }
    team_barrier(team, side_progress, &side);
    side_close(&side);
    free(buffer);
}

int main(void)
{
    struct team many = {.limit = 60};
    struct team two  = {.limit = 60};
    int status       = team_run(&many, CLIENTS + 1, workers_member, NULL);

    return (status != 0) ? status : team_run(&two, 2, single_member, NULL);
}
