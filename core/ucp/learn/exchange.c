/* SPDX-License-Identifier: BSD-3-Clause */
/* Selects the method of transfers in exchanges: see exchange.h. */
#include "ucp/learn/exchange.h"

#include "ucs/sys/math.h"

#include <string.h>

/* Transfers to other peers after which another peer is counted. */
enum { MAX_OTHERS = 1024 };

/* A time of more seconds is no sample: the program has paused. */
#define MAX_SECONDS 1.0

void ucp_learn_exchange_init(ucp_learn_exchange_t *exchange, unsigned methods,
                             unsigned first, const double *expected,
                             int is_long)
{
    memset(exchange, 0, sizeof(*exchange));
    ucp_learn_init(&exchange->learn, methods, first, expected, is_long);
    exchange->announced = UCP_LEARN_NONE;
}

void ucp_learn_exchange_stop(ucp_learn_exchange_t *exchange, const void *ep)
{
    if (exchange->counted != ep) {
        return;
    }
    if (exchange->timed) {
        exchange->timed = 0;
        ucp_learn_drop(&exchange->learn);
    }
    exchange->counted = NULL;
}

void ucp_learn_exchange_announced(ucp_learn_exchange_t *exchange, uint64_t uuid,
                                  unsigned method)
{
    if ((exchange->uuid == uuid) && (method < UCP_LEARN_MAX_METHODS) &&
        (exchange->learn.methods & UCS_BIT(method))) {
        exchange->announced = (uint8_t)method;
        exchange->silent    = 0;
    }
}

/* True if this peer is counted from now on. */
static int is_counted(const ucp_learn_exchange_t *exchange,
                      const ucp_learn_peer_t *peer)
{
    return (exchange->counted == NULL) || (exchange->counted == peer->ep) ||
           (peer->uuid < exchange->uuid) || (exchange->others >= MAX_OTHERS);
}

static void count(ucp_learn_exchange_t *exchange, const ucp_learn_peer_t *peer)
{
    if (exchange->counted != peer->ep) {
        ucp_learn_exchange_stop(exchange, exchange->counted);
        exchange->counted = peer->ep;
    }
    if (exchange->uuid != peer->uuid) {
        exchange->uuid      = peer->uuid;
        exchange->announced = UCP_LEARN_NONE;
    }
}

/* Ends the timing of the last transfer to the counted peer. */
static void finish(ucp_learn_exchange_t *exchange, uint64_t now)
{
    double seconds = 1e-9 * (double)(now - exchange->begin);

    if (exchange->timed && (seconds > 0) && (seconds < MAX_SECONDS)) {
        ucp_learn_result(&exchange->learn, seconds / (double)exchange->length);
    } else if (exchange->timed) {
        ucp_learn_drop(&exchange->learn);
    }
}

/* True if the next transfer uses the method that the peer has announced. */
static int follows(const ucp_learn_exchange_t *exchange, int leads)
{
    return leads && (exchange->announced != UCP_LEARN_NONE) &&
           (exchange->silent < UCP_LEARN_SILENT);
}

unsigned ucp_learn_exchange_next(ucp_learn_exchange_t *exchange,
                                 const ucp_learn_peer_t *peer, size_t length,
                                 uint64_t now)
{
    int timed = 0;

    if (!is_counted(exchange, peer)) {
        ++exchange->others;
        return exchange->method;
    }
    count(exchange, peer);
    finish(exchange, now);
    if (follows(exchange, peer->leads)) {
        ++exchange->silent;
        exchange->method = exchange->announced;
        ucp_learn_follow(&exchange->learn, exchange->method);
    } else {
        exchange->method = (uint8_t)ucp_learn_next(&exchange->learn, &timed);
    }
    exchange->others = 0;
    exchange->begin  = now;
    exchange->length = length;
    exchange->timed  = (uint8_t)timed;
    return exchange->method;
}

unsigned ucp_learn_exchange_quiet(const ucp_learn_exchange_t *exchange,
                                  unsigned limit)
{
    return exchange->timed        ? 0 :
           exchange->learn.is_led ? limit :
                                    ucp_learn_quiet(&exchange->learn, limit);
}

int ucp_learn_exchange_repeat(ucp_learn_exchange_t *exchange, const void *ep,
                              int leads)
{
    int led = follows(exchange, leads);

    if ((exchange->counted != ep) || (led != exchange->learn.is_led) ||
        (led && (exchange->announced != exchange->method))) {
        return 0;
    }
    exchange->silent = (uint8_t)(exchange->silent + led);
    exchange->others = 0;
    ++exchange->learn.count;
    return 1;
}
