/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * learn: exchanges. Two processes exchange large messages. The one with the
 * lower UUID searches for the fastest method, the other one uses what it
 * announces, and ucp_ep_print_info() says so. All data arrives.
 */
#include "common/data.h"
#include "common/side.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LENGTH = 100000,
    ROUND  = 64, /* Exchanges after which the members compare what they do */
};

/* Exchanges are recognized only while both processes run: other programs may
 * disturb many rounds. */
static const double LIMIT = 50;

static const ucp_tag_t ALL = ~(ucp_tag_t)0;

struct exchange {
    struct team *team;
    struct side side;
    struct side_ep *ep;
    char *out, *in;
    uint64_t number;
};

static void make_round(struct exchange *exchange)
{
    struct side_op send, receive;
    int i;

    for (i = 0; i < ROUND; ++i) {
        ++exchange->number;
        memcpy(exchange->out, &exchange->number, sizeof(exchange->number));
        memset(exchange->in, 0, sizeof(exchange->number));
        side_recv(&exchange->side, &receive, exchange->in, LENGTH, 1, ALL);
        side_send(exchange->ep, &send, exchange->out, LENGTH, 1);
        side_complete(&exchange->side, &send, "send");
        side_complete(&exchange->side, &receive, "receive");
        EXPECT_INT(receive.info.length, ==, LENGTH);
        EXPECT(memcmp(exchange->in, exchange->out, LENGTH) == 0);
    }
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
    found = (strstr(text, "selected by the peer") != NULL);
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
    struct exchange exchange = {
        .team = team,
        .out  = malloc(LENGTH),
        .in   = malloc(LENGTH),
    };
    double start = test_now();
    int led;

    (void)arg;
    EXPECT((exchange.out != NULL) && (exchange.in != NULL));
    data_fill(exchange.out, LENGTH, 1);
    side_open(&exchange.side, UCP_FEATURE_TAG);
    exchange.ep = side_meet(&exchange.side, team, 1 - team->rank);
    do {
        EXPECT(test_now() - start < test_seconds(LIMIT));
        make_round(&exchange);
        led = count_led(&exchange);
    } while (led == 0);
    EXPECT_INT(led, ==, 1);
    EXPECT_OK(side_flush(exchange.ep));
    team_barrier(team, side_progress, &exchange.side);
    EXPECT_OK(side_close_ep(exchange.ep, 0));
    side_close(&exchange.side);
    free(exchange.out);
    free(exchange.in);
}

int main(void)
{
    struct team team = {.limit = 60};

    return team_run(&team, 2, member, NULL);
}
