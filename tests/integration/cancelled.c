/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cancelled: one process sends tagged messages and cancels some at random,
 * another one receives. Sends that ended with success arrive complete and in
 * order, those that ended with CANCELED never arrive, and later messages are
 * not affected.
 */
#include "common/data.h"
#include "common/side.h"

#include <stdlib.h>
#include <string.h>

enum {
    ROUNDS   = 4,
    MAX_SIZE = 300000,
    MOST     = 2000, /* Messages per round */
};

/* What the receiver does until the sender has cancelled */
enum receiver {
    /* Calls no progress: messages wait at the sender for send resources */
    BLOCKED,
    /* Calls progress without receives: rendezvous announcements stay
     * unexpected */
    KEEPING,
    RECEIVING, /* Receives at once */
};

/* How many of the cancelled sends must end with CANCELED; the others succeed */
enum effect {
    ANY, /* Any number; none, if the receiver is quick */
    SOME,
    ALL,
};

struct way {
    const char *rndv_thresh;
    enum receiver receiver;
    int messages;
    size_t max_size;
    enum effect effect;
};

static const struct way ways[] = {
    {"inf", BLOCKED, MOST, 40000, SOME},
    {"inf", RECEIVING, MOST, 40000, ANY},
    {"2000", KEEPING, 60, MAX_SIZE, ALL},
    /* Announcements that the transport has accepted precede the cancels: the
     * receiver may fetch the data before it learns of the cancel. */
    {"2000", BLOCKED, 60, MAX_SIZE, ANY},
    {"2000", RECEIVING, 200, MAX_SIZE, ANY},
};

static const ucp_tag_t FULL = ~(ucp_tag_t)0;
static const ucp_tag_t END  = 1ull << 63;
static const ucp_request_param_t none;

struct talk {
    const struct way *way;
    struct team *team;
    struct side side;
    struct side_ep *ep;
    struct random random;
    ucs_status_ptr_t requests[MOST];
    bool cancelled[MOST];
    /* At the end of a round the receiver gets the sender's statuses */
    ucs_status_t statuses[MOST];
    char *buffer;
};

static void agree(struct talk *talk)
{
    team_barrier(talk->team, side_progress, &talk->side);
}

/* Every message is longer than 2000 bytes, the finite rendezvous threshold in
 * `ways`. */
static size_t size_of(const struct talk *talk, int number)
{
    return 2500 + (size_t)number * 7919 % (talk->way->max_size - 2500);
}

/* ---------------------------------------------------------------- sender -- */

/* All messages are sent from the same buffer, whose contents do not change. */
static void send_all(struct talk *talk)
{
    int i;

    for (i = 0; i < talk->way->messages; ++i) {
        talk->requests[i] = (i % 3 == 0) ?
                                ucp_tag_send_sync_nbx(talk->ep->ep,
                                                      talk->buffer,
                                                      size_of(talk, i),
                                                      (ucp_tag_t)i, &none) :
                                ucp_tag_send_nbx(talk->ep->ep, talk->buffer,
                                                 size_of(talk, i), (ucp_tag_t)i,
                                                 &none);
        EXPECT(!UCS_PTR_IS_ERR(talk->requests[i]));
    }
}

static void finish(struct talk *talk, int number)
{
    talk->statuses[number] = side_wait(&talk->side, talk->requests[number],
                                       "a send that may be cancelled");
}

/* Cancels each send that returned a request with a probability of one half, in
 * ascending or descending order. */
static void cancel_half(struct talk *talk)
{
    bool backwards = random_below(&talk->random, 2) == 0;
    int messages   = talk->way->messages;
    int i, number;

    for (i = 0; i < messages; ++i) {
        number                  = backwards ? messages - 1 - i : i;
        talk->cancelled[number] = (talk->requests[number] != NULL) &&
                                  (random_below(&talk->random, 2) == 0);
        if (talk->cancelled[number]) {
            ucp_request_cancel(talk->side.worker, talk->requests[number]);
        }
    }
}

static void check_statuses(struct talk *talk)
{
    int i, ended = 0;

    for (i = 0; i < talk->way->messages; ++i) {
        if (talk->statuses[i] == UCS_ERR_CANCELED) {
            EXPECT(talk->cancelled[i]);
            ++ended;
        } else {
            EXPECT_OK(talk->statuses[i]);
            EXPECT((talk->way->effect != ALL) || !talk->cancelled[i]);
        }
    }
    EXPECT((talk->way->effect == ANY) || (ended > 0));
}

static void send_round(struct talk *talk)
{
    char word = 1;
    int i;

    send_all(talk);
    if (talk->way->receiver == KEEPING) {
        /* so that some messages are announced before the cancel, and others
         * not */
        side_linger(&talk->side, 0.01);
    }
    cancel_half(talk);
    if (talk->way->effect == ALL) {
        for (i = 0; i < talk->way->messages; ++i) {
            if (talk->cancelled[i]) {
                finish(talk, i);
                talk->requests[i] = NULL;
            }
        }
    }
    team_put(talk->team, 1, &word, sizeof(word));
    for (i = 0; i < talk->way->messages; ++i) {
        if ((talk->way->effect != ALL) || !talk->cancelled[i]) {
            finish(talk, i);
        }
    }
    check_statuses(talk);
    side_send_wait(talk->ep, &word, sizeof(word), END);
    team_put(talk->team, 1, talk->statuses, sizeof(talk->statuses));
}

/* -------------------------------------------------------------- receiver -- */

static void wait_for_sender(struct talk *talk)
{
    char word;

    switch (talk->way->receiver) {
    case BLOCKED:
        team_get(talk->team, 0, &word, sizeof(word));
        break;
    case KEEPING:
        team_get_progressing(talk->team, 0, &word, sizeof(word), side_progress,
                             &talk->side);
        break;
    default:
        break;
    }
}

static void receive_round(struct talk *talk)
{
    static bool arrived[MOST];
    ucp_tag_recv_info_t info;
    struct side_op op;
    int number, last = -1;
    char word;

    memset(arrived, 0, sizeof(arrived));
    wait_for_sender(talk);
    for (;;) {
        memset(talk->buffer, 0, talk->way->max_size);
        side_recv(&talk->side, &op, talk->buffer, MAX_SIZE, 0, 0);
        side_complete(&talk->side, &op, "a message");
        if (op.info.sender_tag == END) {
            break;
        }
        number = (int)op.info.sender_tag;
        EXPECT_INT(number, >, last);
        EXPECT_INT(number, <, talk->way->messages);
        EXPECT_INT(op.info.length, ==, size_of(talk, number));
        data_verify(talk->buffer, op.info.length, 1);
        arrived[number] = true;
        last            = number;
    }
    if (talk->way->receiver == RECEIVING) {
        team_get(talk->team, 0, &word, sizeof(word));
    }
    team_get(talk->team, 0, talk->statuses, sizeof(talk->statuses));
    for (number = 0; number < talk->way->messages; ++number) {
        EXPECT(arrived[number] == (talk->statuses[number] == UCS_OK));
    }
    EXPECT(ucp_tag_probe_nb(talk->side.worker, 0, 0, 0, &info) == NULL);
}

/* ------------------------------------------------------------------ both -- */

static void talk_main(struct team *team, void *arg)
{
    static struct talk talk;
    int round;
    char byte;

    talk = *(struct talk *)arg;
    setenv("UCX_RNDV_THRESH", talk.way->rndv_thresh, 1);
    talk.team   = team;
    talk.buffer = malloc(MAX_SIZE);
    EXPECT(talk.buffer != NULL);
    side_open(&talk.side, UCP_FEATURE_TAG);
    talk.ep = side_meet(&talk.side, team, !team->rank);
    if (team->rank == 0) {
        data_fill(talk.buffer, MAX_SIZE, 1);
        /* a delivered message shows that the lanes are connected */
        side_send_wait(talk.ep, "", 1, 1);
    } else {
        side_recv_wait(&talk.side, &byte, 1, 1, FULL);
    }
    for (round = 0; round < ROUNDS; ++round) {
        agree(&talk);
        if (team->rank == 0) {
            send_round(&talk);
        } else {
            receive_round(&talk);
        }
    }
    agree(&talk);
    side_close_ep(talk.ep, 0);
    side_close(&talk.side);
    free(talk.buffer);
}

int main(int argc, char **argv)
{
    static struct talk talk;
    int status = 0;
    size_t i;

    talk.random = (struct random){random_seed(argc, argv)};
    for (i = 0; (i < sizeof(ways) / sizeof(ways[0])) && (status == 0); ++i) {
        talk.way = &ways[i];
        status   = team_run(&(struct team){.limit = 120}, 2, talk_main, &talk);
    }
    return status;
}
