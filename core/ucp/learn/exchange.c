/* SPDX-License-Identifier: BSD-3-Clause */
/* Selects the method of transfers in exchanges: see exchange.h. */
#include "ucp/learn/exchange.h"

#include <string.h>

/* Transfers to other peers after which another leader is selected. */
enum { MAX_OTHERS = 1024 };

/* A time of more seconds is no sample: the program has paused. */
#define MAX_SECONDS 1.0

void ucp_learn_exchange_init(ucp_learn_exchange_t *exchange, unsigned methods,
                             unsigned first, const double *expected,
                             int is_long)
{
    memset(exchange, 0, sizeof(*exchange));
    ucp_learn_init(&exchange->learn, methods, first, expected, is_long);
}

void ucp_learn_exchange_stop(ucp_learn_exchange_t *exchange, const void *peer)
{
    if (exchange->leader != peer) {
        return;
    }
    if (exchange->timed) {
        exchange->timed = 0;
        ucp_learn_drop(&exchange->learn);
    }
    exchange->leader = NULL;
}

unsigned ucp_learn_exchange_next(ucp_learn_exchange_t *exchange,
                                 const void *peer, size_t length, uint64_t now)
{
    double seconds = 1e-9 * (double)(now - exchange->begin);
    int timed;

    if ((exchange->leader != NULL) && (exchange->leader != peer)) {
        if (++exchange->others <= MAX_OTHERS) {
            return exchange->method;
        }
        ucp_learn_exchange_stop(exchange, exchange->leader);
    }
    if (exchange->timed && (seconds > 0) && (seconds < MAX_SECONDS)) {
        ucp_learn_result(&exchange->learn, seconds / (double)exchange->length);
    } else if (exchange->timed) {
        ucp_learn_drop(&exchange->learn);
    }
    exchange->leader = peer;
    exchange->others = 0;
    exchange->begin  = now;
    exchange->length = length;
    exchange->method = (uint8_t)ucp_learn_next(&exchange->learn, &timed);
    exchange->timed  = (uint8_t)timed;
    return exchange->method;
}
