/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The search for the fastest method of exchanges (ucp/learn/exchange.h), of two
 * processes on a simulated clock. The time of an exchange depends on the methods
 * of both.
 */
#include "suite.h"
#include "ucp/learn/exchange.h"
#include "ucs/sys/math.h"

#include <string.h>

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
    double delay;      /* Most microseconds by which a process begins late */
} machine_t;

static const machine_t machines[] = {
    {{11.5, 16, 17, 12}, 15, 0, 0.05, 0},
    {{20, 15.8, 18, 21}, 18, 0, 0.05, 0},
    {{20, 15.8, 18, 21}, 18, 10, 0.03, 0},
    {{65, 32, 60, 70}, 60, 0, 0.1, 0},
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

/* Two processes; that with the lower number leads. */
typedef struct pair {
    ucp_learn_exchange_t side[2];
    unsigned method[2]; /* Of the last exchange */
    unsigned left[2];   /* Transfers that may be repeated (trial.c) */
    unsigned repeated;
    uint64_t now;
    unsigned mixed; /* Number of exchanges with different methods */
} pair_t;

static void pair_init(pair_t *pair, unsigned first)
{
    unsigned k;

    memset(pair, 0, sizeof(*pair));
    pair->now = 1000;
    for (k = 0; k < 2; ++k) {
        ucp_learn_exchange_init(&pair->side[k], UCS_MASK(METHODS), first,
                                unknown, 0);
    }
}

static ucp_learn_peer_t peer_of(const pair_t *pair, unsigned k)
{
    return (ucp_learn_peer_t){&pair->side[1 - k], 2 - k, k == 1};
}

/* Returns the method of the next transfer of side `k`, as trial.c selects it. */
static unsigned select_method(pair_t *pair, unsigned k, uint64_t now)
{
    ucp_learn_exchange_t *side = &pair->side[k];
    ucp_learn_peer_t peer      = peer_of(pair, k);
    unsigned method;

    if ((pair->left[k] > 0) &&
        ucp_learn_exchange_repeat(side, peer.ep, peer.leads)) {
        --pair->left[k];
        ++pair->repeated;
        return side->method;
    }
    method        = ucp_learn_exchange_next(side, &peer, LENGTH, now);
    pair->left[k] = ucp_learn_exchange_quiet(side, 7);
    return method;
}

/* Makes an exchange. The announcements arrive after both transfers have begun;
 * those of `silent` never arrive. */
static void exchange(pair_t *pair, const machine_t *machine, int silent)
{
    double time, delay;
    int k;

    for (k = 0; k < 2; ++k) {
        delay           = 1e3 * machine->delay * random_unit();
        pair->method[k] = select_method(pair, (unsigned)k,
                                        pair->now + (uint64_t)delay);
    }
    for (k = 0; k < 2; ++k) {
        if (k != silent) {
            ucp_learn_exchange_announced(&pair->side[1 - k], 1 + (unsigned)k,
                                         pair->method[k]);
        }
    }
    time = (pair->method[0] == pair->method[1]) ?
               machine->same[pair->method[0]] :
               machine->mixed;
    pair->mixed += (pair->method[0] != pair->method[1]);
    time *= 1 + machine->noise * (2 * random_unit() - 1);
    pair->now += (uint64_t)(1e3 * (time + machine->other_work));
}

static void check_best(const pair_t *pair, const machine_t *machine, unsigned k)
{
    unsigned best = pair->side[k].learn.best;

    ck_assert_msg(machine->same[best] <= 1.1 * best_of(machine),
                  "machine %zu: %u takes %g us, the best %g",
                  (size_t)(machine - machines), best, machine->same[best],
                  best_of(machine));
}

/* Makes 100 exchanges, and checks that the time of the leader's method is
 * within 10 % of the best one, and that the peer uses it. */
static void check_pair(const machine_t *machine, unsigned first)
{
    pair_t pair;
    unsigned i;

    pair_init(&pair, first);
    for (i = 0; i < 100; ++i) {
        exchange(&pair, machine, -1);
    }
    check_best(&pair, machine, 0);
    ck_assert_uint_eq(pair.side[0].learn.best, pair.side[1].learn.best);
    ck_assert_int_ne(ucp_learn_reason(&pair.side[0].learn), UCP_LEARN_LED);
    ck_assert_int_eq(ucp_learn_reason(&pair.side[1].learn), UCP_LEARN_LED);
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

/* Get and put take about the same time, and each process measures it with another
 * error. If both searched, they would often use different methods, which takes
 * longer. */
START_TEST(both_change_together)
{
    const machine_t machine = {{40, 15, 15.5, 40}, 20, 0, 0.1, 10};
    pair_t pair;
    unsigned i;

    seed = 1;
    pair_init(&pair, GET);
    for (i = 0; i < 20000; ++i) {
        exchange(&pair, &machine, -1);
    }
    ck_assert_uint_lt(pair.mixed, 100);
    ck_assert_uint_gt(pair.repeated, 20000);
}
END_TEST

/* A process that receives no announcements searches itself. */
START_TEST(a_silent_leader_is_not_followed)
{
    const machine_t *machine = &machines[0];
    pair_t pair;
    unsigned i;

    seed = 1;
    pair_init(&pair, GET);
    for (i = 0; i < 10; ++i) {
        exchange(&pair, machine, -1);
    }
    ck_assert_int_eq(ucp_learn_reason(&pair.side[1].learn), UCP_LEARN_LED);
    for (i = 0; i < UCP_LEARN_SILENT + 100; ++i) {
        exchange(&pair, machine, 0);
    }
    ck_assert_int_ne(ucp_learn_reason(&pair.side[1].learn), UCP_LEARN_LED);
    check_best(&pair, machine, 1);
    exchange(&pair, machine, -1);
    exchange(&pair, machine, -1);
    ck_assert_int_eq(ucp_learn_reason(&pair.side[1].learn), UCP_LEARN_LED);
}
END_TEST

/* Announcements of other workers, and of methods that are impossible, are
 * ignored. */
START_TEST(only_valid_announcements_are_used)
{
    const ucp_learn_peer_t peer = {&machines, 7, 1};
    ucp_learn_exchange_t exchange;
    unsigned i;

    ucp_learn_exchange_init(&exchange, UCS_BIT(GET) | UCS_BIT(AM), GET, unknown,
                            0);
    ucp_learn_exchange_next(&exchange, &peer, LENGTH, 1000);
    ucp_learn_exchange_announced(&exchange, 6, AM);
    for (i = 0; i <= UINT8_MAX; ++i) {
        if (i != AM) {
            ucp_learn_exchange_announced(&exchange, 7, i);
        }
    }
    ck_assert_uint_eq(ucp_learn_exchange_next(&exchange, &peer, LENGTH, 2000),
                      GET);
    ucp_learn_exchange_announced(&exchange, 7, AM);
    ck_assert_uint_eq(ucp_learn_exchange_next(&exchange, &peer, LENGTH, 3000),
                      AM);
}
END_TEST

/* With several peers the transfers to that with the lowest UUID are counted, and
 * the others use the same method. When that peer is not used any more, another
 * one is counted. */
START_TEST(the_lowest_peer_is_counted)
{
    ucp_learn_exchange_t exchange;
    const char names[4]       = "";
    ucp_learn_peer_t peers[4] = {{&names[0], 7, 0},
                                 {&names[1], 5, 0},
                                 {&names[2], 6, 0},
                                 {&names[3], 8, 0}};
    uint64_t now              = 1000;
    unsigned method, i, k;

    ucp_learn_exchange_init(&exchange, UCS_MASK(METHODS), GET, unknown, 0);
    ucp_learn_exchange_next(&exchange, &peers[0], LENGTH, now);
    ck_assert_ptr_eq(exchange.counted, &names[0]);
    for (i = 2; i <= 50; ++i) {
        method = ucp_learn_exchange_next(&exchange, &peers[1], LENGTH, now);
        for (k = 0; k < 4; k += (k == 0) ? 2 : 1) {
            now += 100;
            ck_assert_uint_eq(ucp_learn_exchange_next(&exchange, &peers[k],
                                                      LENGTH, now),
                              method);
        }
        now += 10000;
        ck_assert_ptr_eq(exchange.counted, &names[1]);
        ck_assert_uint_eq(exchange.learn.count, i);
    }
    for (i = 0; (i < 2000) && (exchange.counted != &names[3]); ++i) {
        ucp_learn_exchange_next(&exchange, &peers[3], LENGTH, now += 10000);
    }
    ck_assert_ptr_eq(exchange.counted, &names[3]);
}
END_TEST

/* Only transfers to the counted peer are repeated. */
START_TEST(other_transfers_are_not_repeated)
{
    ucp_learn_exchange_t exchange;
    const char name = 0, other = 0;
    const ucp_learn_peer_t peer = {&name, 7, 1};

    ucp_learn_exchange_init(&exchange, UCS_MASK(METHODS), GET, unknown, 0);
    ucp_learn_exchange_next(&exchange, &peer, LENGTH, 1000);
    ck_assert_uint_gt(ucp_learn_exchange_quiet(&exchange, 7), 0);
    ck_assert_int_ne(ucp_learn_exchange_repeat(&exchange, &name, 1), 0);
    ck_assert_int_eq(ucp_learn_exchange_repeat(&exchange, &other, 1), 0);
    ck_assert_uint_eq(exchange.learn.count, 2);
    ucp_learn_exchange_announced(&exchange, 7, AM);
    ck_assert_int_eq(ucp_learn_exchange_repeat(&exchange, &name, 1), 0);
    ucp_learn_exchange_next(&exchange, &peer, LENGTH, 2000);
    ck_assert_int_ne(ucp_learn_exchange_repeat(&exchange, &name, 1), 0);
    ucp_learn_exchange_stop(&exchange, &name);
    ck_assert_int_eq(ucp_learn_exchange_repeat(&exchange, &name, 1), 0);
}
END_TEST

/* A pause, and transfers that do not belong to the exchange, are no samples. */
START_TEST(pauses_are_no_samples)
{
    ucp_learn_exchange_t exchange;
    const char name = 0, other = 0;
    const ucp_learn_peer_t peer = {&name, 1, 0};
    uint64_t now                = 1000;
    unsigned i, k;

    ucp_learn_exchange_init(&exchange, UCS_MASK(METHODS), GET, unknown, 0);
    for (i = 0; i < 300; ++i) {
        ucp_learn_exchange_next(&exchange, &peer, LENGTH, now);
        ucp_learn_exchange_stop(&exchange, &other);
        ck_assert_ptr_eq(exchange.counted, &name);
        if (i % 3 == 1) {
            ucp_learn_exchange_stop(&exchange, &name);
            ck_assert_ptr_null(exchange.counted);
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

SUITE_MAIN("learn_exchange", both_find_the_best_pair, both_change_together,
           a_silent_leader_is_not_followed, only_valid_announcements_are_used,
           the_lowest_peer_is_counted, other_transfers_are_not_repeated,
           pauses_are_no_samples)
