/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The search for the fastest method of exchanges (ucp/learn/exchange.h), of two
 * processes on a simulated clock. The time of an exchange depends on the methods
 * of both.
 */
#include "suite.h"
#include "ucp/learn/exchange.h"
#include "ucs/sys/math.h"

enum { EAGER, GET, PUT, AM, METHODS };

enum { LENGTH = 131072 };

static const double unknown[METHODS];

/* The microseconds of an exchange if both processes use the same method, and if
 * they use different ones. */
typedef struct machine {
    double same[METHODS];
    double mixed;
    double other_work; /* Microseconds between two exchanges */
    double noise;      /* Largest relative deviation */
} machine_t;

static const machine_t machines[] = {
    {{11.5, 16, 17, 12}, 15, 0, 0.05},
    {{20, 15.8, 18, 21}, 18, 0, 0.05},
    {{20, 15.8, 18, 21}, 18, 10, 0.03},
    {{65, 32, 60, 70}, 60, 0, 0.1},
};

enum { MACHINES = sizeof(machines) / sizeof(machines[0]) };

static unsigned seed;

static double random_unit(void)
{
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 8) / (double)(1u << 24);
}

static double best_of(const machine_t *machine)
{
    double best = machine->same[0];
    unsigned i;

    for (i = 1; i < METHODS; ++i) {
        best = ucs_min(best, machine->same[i]);
    }
    return best;
}

/* Makes 100 exchanges, and checks that both processes then use the same method,
 * whose time is within 10 % of the best one. */
static void check_pair(const machine_t *machine, unsigned first)
{
    ucp_learn_exchange_t pair[2];
    unsigned method[2] = {0, 0};
    double time;
    uint64_t now = 1000;
    unsigned i, k;

    for (k = 0; k < 2; ++k) {
        ucp_learn_exchange_init(&pair[k], UCS_MASK(METHODS), first, unknown, 0);
    }
    for (i = 0; i < 100; ++i) {
        for (k = 0; k < 2; ++k) {
            method[k] = ucp_learn_exchange_next(&pair[k], &pair[1 - k], LENGTH,
                                                now);
        }
        time = (method[0] == method[1]) ? machine->same[method[0]] :
                                          machine->mixed;
        time *= 1 + machine->noise * (2 * random_unit() - 1);
        now += (uint64_t)(1e3 * (time + machine->other_work));
    }
    ck_assert_uint_eq(pair[0].learn.best, pair[1].learn.best);
    ck_assert_msg(machine->same[pair[0].learn.best] <= 1.1 * best_of(machine),
                  "machine %zu, first %u: %u takes %g us, the best %g",
                  (size_t)(machine - machines), first, pair[0].learn.best,
                  machine->same[pair[0].learn.best], best_of(machine));
}

START_TEST(both_find_the_best_pair)
{
    unsigned first, i;
    size_t m;

    for (m = 0; m < MACHINES; ++m) {
        for (first = 0; first < METHODS; ++first) {
            for (i = 0; i < 20; ++i) {
                seed = i;
                check_pair(&machines[m], first);
            }
        }
    }
}
END_TEST

/* With several peers the transfers to one of them are counted, and the others
 * use the same method. When that peer is not used any more, another one is
 * counted. */
START_TEST(one_peer_leads)
{
    ucp_learn_exchange_t exchange;
    const char peers[4] = "";
    uint64_t now        = 1000;
    unsigned method, i, k;

    ucp_learn_exchange_init(&exchange, UCS_MASK(METHODS), GET, unknown, 0);
    for (i = 1; i <= 50; ++i) {
        method = ucp_learn_exchange_next(&exchange, &peers[0], LENGTH, now);
        for (k = 1; k < 4; ++k) {
            now += 100;
            ck_assert_uint_eq(ucp_learn_exchange_next(&exchange, &peers[k],
                                                      LENGTH, now),
                              method);
        }
        now += 10000;
        ck_assert_uint_eq(exchange.learn.count, i);
    }
    for (i = 0; (i < 2000) && (exchange.leader != &peers[1]); ++i) {
        ucp_learn_exchange_next(&exchange, &peers[1], LENGTH, now += 10000);
    }
    ck_assert_ptr_eq(exchange.leader, &peers[1]);
}
END_TEST

/* A pause, and transfers that do not belong to the exchange, are no samples. */
START_TEST(pauses_are_no_samples)
{
    ucp_learn_exchange_t exchange;
    const char peer = 0, other = 0;
    uint64_t now = 1000;
    unsigned i, k;

    ucp_learn_exchange_init(&exchange, UCS_MASK(METHODS), GET, unknown, 0);
    for (i = 0; i < 300; ++i) {
        ucp_learn_exchange_next(&exchange, &peer, LENGTH, now);
        ucp_learn_exchange_stop(&exchange, &other);
        ck_assert_ptr_eq(exchange.leader, &peer);
        if (i % 3 == 1) {
            ucp_learn_exchange_stop(&exchange, &peer);
            ck_assert_ptr_null(exchange.leader);
            now += 500000000;
        } else {
            now += (i % 3 == 2) ? 2000000000 : 10000;
        }
    }
    for (i = 0; i < METHODS; ++i) {
        for (k = 0; k < exchange.learn.method[i].count; ++k) {
            ck_assert_float_eq_tol(exchange.learn.method[i].samples[k],
                                   1e-5f / LENGTH, 1e-15f);
        }
    }
    ck_assert_uint_gt(exchange.learn.method[GET].count, 0);
}
END_TEST

SUITE_MAIN("learn_exchange", both_find_the_best_pair, one_peer_leads,
           pauses_are_no_samples)
