/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * learn: exchanges, and with --streams, streams in both directions. With
 * --answers one process sends only after it has received, which is an exchange,
 * too. Two processes send large messages to each other. The one with the lower
 * UUID searches for the fastest method, the other one uses what it announces,
 * and ucp_ep_print_info() says so. All data arrives.
 */
#include "common/data.h"
#include "common/side.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LENGTH    = 100000,
    ROUND     = 64, /* Exchanges after which the members compare what they do */
    IN_FLIGHT = 8,  /* Messages at once, in streams */
};

/* Exchanges are recognized only while both processes run: other programs may
 * disturb many rounds. */
static const double LIMIT = 50;

static const ucp_tag_t ALL = ~(ucp_tag_t)0;

struct mode {
    int in_flight;
    bool answers;
};

struct exchange {
    struct team *team;
    struct side side;
    struct side_ep *ep;
    int in_flight; /* Messages at once: 1, or IN_FLIGHT */
    bool answers;  /* Send after the receive only */
    uint64_t number;
    struct message {
        struct side_op send, receive;
        char out[LENGTH], in[LENGTH];
    } messages[IN_FLIGHT];
};

static void start(struct exchange *exchange, struct message *message)
{
    ++exchange->number;
    memcpy(message->out, &exchange->number, sizeof(exchange->number));
    memset(message->in, 0, sizeof(exchange->number));
    side_recv(&exchange->side, &message->receive, message->in, LENGTH, 1, ALL);
    if (exchange->answers) {
        side_complete(&exchange->side, &message->receive, "receive");
    }
    side_send(exchange->ep, &message->send, message->out, LENGTH, 1);
}

static void finish(struct exchange *exchange, struct message *message)
{
    side_complete(&exchange->side, &message->send, "send");
    if (!exchange->answers) {
        side_complete(&exchange->side, &message->receive, "receive");
    }
    EXPECT_INT(message->receive.info.length, ==, LENGTH);
    EXPECT(memcmp(message->in, message->out, LENGTH) == 0);
}

/* Keeps as many messages in flight as there are. */
static void make_round(struct exchange *exchange)
{
    int total = ROUND * exchange->in_flight;
    int i;

    for (i = 0; i < total + exchange->in_flight; ++i) {
        struct message *message = &exchange->messages[i % exchange->in_flight];

        if (i >= exchange->in_flight) {
            finish(exchange, message);
        }
        if (i < total) {
            start(exchange, message);
        }
    }
}

/* True if a line of the text contains both strings. */
static bool has_line(char *text, const char *first, const char *second)
{
    char *line, *rest = text;

    while ((line = strsep(&rest, "\n")) != NULL) {
        if ((strstr(line, first) != NULL) && (strstr(line, second) != NULL)) {
            return true;
        }
    }
    return false;
}

static bool is_led(struct exchange *exchange)
{
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    bool found;

    EXPECT(stream != NULL);
    ucp_ep_print_info(exchange->ep->ep, stream);
    fclose(stream);
    found = has_line(text,
                     (exchange->in_flight > 1) ? "in streams both ways" :
                                                 "in exchanges",
                     "selected by the peer");
    free(text);
    return found;
}

/* Returns how many members are led by the other one. */
static int count_led(struct exchange *exchange)
{
    char own = (char)is_led(exchange), other;

    team_put(exchange->team, 1 - exchange->team->rank, &own, 1);
    team_get_progressing(exchange->team, 1 - exchange->team->rank, &other, 1,
                         side_progress, &exchange->side);
    return own + other;
}

static void member(struct team *team, void *arg)
{
    const struct mode *mode   = arg;
    struct exchange *exchange = calloc(1, sizeof(*exchange));
    double begin              = test_now();
    int i, led;

    EXPECT(exchange != NULL);
    exchange->team      = team;
    exchange->in_flight = mode->in_flight;
    exchange->answers   = mode->answers && (team->rank == 1);
    for (i = 0; i < IN_FLIGHT; ++i) {
        data_fill(exchange->messages[i].out, LENGTH, 1);
    }
    side_open(&exchange->side, UCP_FEATURE_TAG);
    exchange->ep = side_meet(&exchange->side, team, 1 - team->rank);
    do {
        EXPECT(test_now() - begin < test_seconds(LIMIT));
        make_round(exchange);
        led = count_led(exchange);
    } while (led == 0);
    EXPECT_INT(led, ==, 1);
    EXPECT_OK(side_flush(exchange->ep));
    team_barrier(team, side_progress, &exchange->side);
    EXPECT_OK(side_close_ep(exchange->ep, 0));
    side_close(&exchange->side);
    free(exchange);
}

int main(int argc, char **argv)
{
    struct team team = {.limit = 60};
    struct mode mode = {.in_flight = 1};

    if ((argc > 1) && (strcmp(argv[1], "--streams") == 0)) {
        mode.in_flight = IN_FLIGHT;
    } else if ((argc > 1) && (strcmp(argv[1], "--answers") == 0)) {
        mode.answers = true;
    }
    return team_run(&team, 2, member, &mode);
}
