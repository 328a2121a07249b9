/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tag: messages of 0 B, 1 B and every power of two up to 64 MiB, with one byte
 * less and one more, arrive complete, expected and unexpected, in both
 * directions. --namespaces: the members are in two networks connected by a veth
 * pair. --short: up to 4 MiB.
 */
#include "common/data.h"
#include "common/side.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LARGEST_SHIFT = 26,
    SHORT_SHIFT   = 22,
    GUARD         = 64,
    MAX_SIZE      = (1 << LARGEST_SHIFT) + 1,
};

static const ucp_tag_t ALL = ~(ucp_tag_t)0;

struct exchange {
    struct team *team;
    struct side side;
    struct side_ep *ep;
    char *buffer;
    uint64_t message;
};

static void agree(struct exchange *exchange)
{
    team_barrier(exchange->team, side_progress, &exchange->side);
}

static void set_guard(char *buffer, size_t length)
{
    memset(buffer + length, 0x5a, GUARD);
}

static void check_guard(const char *buffer, size_t length)
{
    int i;

    for (i = 0; i < GUARD; ++i) {
        if (buffer[length + i] != 0x5a) {
            FAIL("a message of %zu bytes was written beyond its end", length);
        }
    }
}

static void send_one(struct exchange *exchange, size_t length, bool expected)
{
    struct side_op op;

    data_fill(exchange->buffer, length, exchange->message);
    if (expected) {
        agree(exchange); /* the receiver has posted its receive */
    }
    side_send(exchange->ep, &op, exchange->buffer, length, exchange->message);
    side_complete(&exchange->side, &op, "send");
}

static void receive_one(struct exchange *exchange, size_t length, bool expected)
{
    ucp_tag_recv_info_t info = {.length = length};
    struct side_op op;

    set_guard(exchange->buffer, length);
    if (!expected) {
        EXPECT(side_probe_wait(&exchange->side, exchange->message, ALL, false,
                               &info) != NULL);
        EXPECT_INT(info.length, ==, length);
        EXPECT_INT(info.sender_tag, ==, exchange->message);
    }
    side_recv(&exchange->side, &op, exchange->buffer, length, exchange->message,
              ALL);
    if (expected) {
        EXPECT(!op.done);
        agree(exchange);
    }
    side_complete(&exchange->side, &op, "receive");
    EXPECT_INT(op.info.length, ==, length);
    EXPECT_INT(op.info.sender_tag, ==, exchange->message);
    data_verify(exchange->buffer, length, exchange->message);
    check_guard(exchange->buffer, length);
}

static void exchange_size(struct exchange *exchange, size_t length)
{
    int expected, sender;

    for (expected = 0; expected < 2; ++expected) {
        for (sender = 0; sender < 2; ++sender) {
            ++exchange->message;
            if (exchange->team->rank == sender) {
                send_one(exchange, length, expected);
            } else {
                receive_one(exchange, length, expected);
            }
        }
    }
}

static void member(struct team *team, void *arg)
{
    struct exchange exchange = {.team = team};
    const int *largest       = arg;
    int shift;

    exchange.buffer = malloc(MAX_SIZE + GUARD);
    EXPECT(exchange.buffer != NULL);
    side_open(&exchange.side, UCP_FEATURE_TAG);
    exchange.ep = side_meet(&exchange.side, team, 1 - team->rank);
    exchange_size(&exchange, 0);
    exchange_size(&exchange, 1);
    for (shift = 1; shift <= *largest; ++shift) {
        exchange_size(&exchange, ((size_t)1 << shift) - 1);
        exchange_size(&exchange, (size_t)1 << shift);
        exchange_size(&exchange, ((size_t)1 << shift) + 1);
    }
    EXPECT_OK(side_close_ep(exchange.ep, 0));
    agree(&exchange);
    side_close(&exchange.side);
    free(exchange.buffer);
}

int main(int argc, char **argv)
{
    struct team team = {.limit = 120};
    int largest      = LARGEST_SHIFT;

    if (team_asked(argc, argv, "--namespaces")) {
        team.place = TEAM_NAMESPACES;
    }
    if (team_asked(argc, argv, "--short")) {
        largest = SHORT_SHIFT;
    }
    return team_run(&team, 2, member, &largest);
}
