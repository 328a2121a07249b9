/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The rounds of epochs in which the algorithm for streams compares methods
 * (ucp/learn/stream.h), driven by hand: which epochs follow each other, which
 * method is used meanwhile, and what a round costs. test_learn_stream.c tests
 * which method is found on simulated machines.
 */
#include "suite.h"
#include "ucp/learn/stream.h"

enum { EAGER, GET, PUT, AM, METHODS, IN_FLIGHT = 8, LENGTH = 131072 };

/* Starts a stream of gets. By the estimates, all methods are equal. */
static void start(ucp_learn_stream_t *stream)
{
    const double equal[METHODS] = {50, 50, 50, 50};

    ucp_learn_stream_init(stream, UCS_MASK(METHODS), GET, equal);
    stream->exact       = UCS_BIT(GET) | UCS_BIT(PUT);
    stream->learn.alike = UCS_BIT(EAGER) | UCS_BIT(AM);
}

/* Adds a transfer that must be the first one of a round. */
static void begin_round(ucp_learn_stream_t *stream, unsigned in_flight,
                        ucp_learn_round_t *round)
{
    ck_assert(ucp_learn_stream_add(stream));
    ck_assert(ucp_learn_stream_next(stream, in_flight, LENGTH, round));
}

/* Starts a stream of gets, which take 50 each, and begins the round of the
 * epochs FIRST. */
static void begin_firsts(ucp_learn_stream_t *stream, unsigned methods,
                         ucp_learn_round_t *round)
{
    const double before[] = {50};

    start(stream);
    stream->learn.methods = (uint8_t)methods;
    begin_round(stream, IN_FLIGHT, round);
    ucp_learn_stream_result(stream, round, before, 100);
    ck_assert(stream->credit > 0);
    begin_round(stream, IN_FLIGHT, round);
}

/* The epochs FIRST of several methods follow each other without a wait; of
 * methods that are alike only one. Then the method that seems to be the fastest
 * has its epoch FULL. If the credit is not sufficient, some wait. */
START_TEST(methods_are_compared_in_one_round)
{
    const double before[] = {50}, times[] = {45, 30};
    ucp_learn_round_t round;
    ucp_learn_stream_t stream;

    begin_firsts(&stream, UCS_MASK(METHODS), &round);
    ck_assert_uint_eq(round.num_epochs, 2);
    ck_assert_uint_eq(round.epochs[0].method, EAGER);
    ck_assert_uint_eq(round.epochs[1].method, PUT);
    ck_assert_uint_eq(stream.stage, UCP_LEARN_FIRST);
    ucp_learn_stream_result(&stream, &round, times, 0);
    ck_assert_uint_eq(ucp_learn_stream_method(&stream), GET);
    begin_round(&stream, IN_FLIGHT, &round);
    ck_assert_uint_eq(round.num_epochs, 1);
    ck_assert_uint_eq(round.epochs[0].method, PUT);
    ck_assert_uint_eq(stream.stage, UCP_LEARN_FULL);

    start(&stream);
    begin_round(&stream, IN_FLIGHT, &round);
    ucp_learn_stream_result(&stream, &round, before, 0);
    stream.credit = 4 - UCP_LEARN_ADVANCE_MIN;
    begin_round(&stream, IN_FLIGHT, &round);
    ck_assert_uint_eq(round.num_epochs, 1);
    ck_assert_uint_eq(round.epochs[0].method, EAGER);
}
END_TEST

/* Begins the epoch FULL of put, which has seemed to take this time in FIRST; get
 * takes 50. */
static void begin_full(ucp_learn_stream_t *stream, double first,
                       ucp_learn_round_t *round)
{
    begin_firsts(stream, UCS_BIT(GET) | UCS_BIT(PUT), round);
    ucp_learn_stream_result(stream, round, &first, 0);
    begin_round(stream, IN_FLIGHT, round);
    ck_assert_uint_eq(stream->stage, UCP_LEARN_FULL);
}

/* Until the result of the epoch FULL is known, its method is used if it seemed
 * to be faster in FIRST. When AFTER begins, as many transfers by this method may
 * be in flight. */
START_TEST(a_method_that_seems_faster_is_used_at_once)
{
    ucp_learn_round_t round;
    ucp_learn_stream_t stream;

    begin_full(&stream, 30, &round);
    ck_assert(ucp_learn_stream_repeat(&stream));
    ck_assert_uint_eq(ucp_learn_stream_method(&stream), PUT);
    ucp_learn_stream_result(&stream, &round, (const double[]){45}, 0);
    ck_assert_uint_eq(ucp_learn_stream_method(&stream), GET);
    begin_round(&stream, 40, &round);
    ck_assert_uint_eq(round.epochs[0].method, GET);
    ck_assert_uint_ge(round.epochs[0].warm, 40);
    ck_assert_uint_eq(ucp_learn_stream_method(&stream), GET);

    begin_full(&stream, 30, &round);
    ucp_learn_stream_drop(&stream, &round);
    ck_assert_uint_eq(ucp_learn_stream_method(&stream), GET);

    begin_full(&stream, 60, &round);
    ck_assert_uint_eq(ucp_learn_stream_method(&stream), GET);

    /* the next epoch FULL has not begun yet */
    begin_firsts(&stream, UCS_BIT(EAGER) | UCS_BIT(GET) | UCS_BIT(PUT), &round);
    ucp_learn_stream_result(&stream, &round, (const double[]){32, 30}, 0);
    begin_round(&stream, IN_FLIGHT, &round);
    ucp_learn_stream_result(&stream, &round, (const double[]){20}, 0);
    ck_assert_uint_eq(stream.stage, UCP_LEARN_FULL);
    ck_assert_uint_eq(stream.learn.trial, EAGER);
    ck_assert_uint_eq(ucp_learn_stream_method(&stream), PUT);
}
END_TEST

/* The measured time that a round has added is subtracted from the credit, but at
 * most four times that of its transfers: the process may have been
 * interrupted. */
START_TEST(trials_cost_what_is_measured)
{
    const double times[] = {60, 60};
    ucp_learn_round_t round;
    ucp_learn_stream_t stream;

    begin_firsts(&stream, UCS_MASK(METHODS), &round);
    stream.credit = 0;
    ucp_learn_stream_result(&stream, &round, times, 7);
    ck_assert_double_eq_tol(stream.credit, -7, 1e-5);
    begin_round(&stream, IN_FLIGHT, &round);
    stream.credit = 0;
    ucp_learn_stream_result(&stream, &round, times, 1e6);
    ck_assert_double_eq_tol(stream.credit,
                            -4.0 *
                                (round.epochs[0].warm + round.epochs[0].count),
                            1e-3);
    begin_round(&stream, IN_FLIGHT, &round);
    stream.credit = 0;
    ucp_learn_stream_result(&stream, &round, times, -5);
    ck_assert_double_eq(stream.credit, 0);
}
END_TEST

/* At the beginning, a method that is faster by an eighth is selected without
 * AFTER. The previous method is tried again; if it is the faster one now, it is
 * selected again. */
START_TEST(the_first_comparison_selects)
{
    ucp_learn_round_t round;
    ucp_learn_stream_t stream;

    begin_full(&stream, 60, &round);
    ucp_learn_stream_result(&stream, &round, (const double[]){46}, 0);
    ck_assert_uint_eq(stream.stage, UCP_LEARN_AFTER);

    begin_full(&stream, 60, &round);
    ucp_learn_stream_result(&stream, &round, (const double[]){44}, 0);
    ck_assert_uint_eq(ucp_learn_stream_method(&stream), PUT);
    begin_round(&stream, IN_FLIGHT, &round);
    ck_assert_uint_eq(stream.stage, UCP_LEARN_FULL);
    ck_assert_uint_eq(round.epochs[0].method, GET);
    ucp_learn_stream_result(&stream, &round, (const double[]){36}, 0);
    ck_assert_uint_eq(ucp_learn_stream_method(&stream), GET);
}
END_TEST

/* Returns whether another trial of put begins within 600 transfers after one in
 * which it took this time, and get 50; the credit is used up. */
static int is_tried_again(double full)
{
    const double get[] = {50};
    unsigned tried     = 0;
    ucp_learn_round_t round;
    ucp_learn_stream_t stream;
    unsigned i;

    begin_full(&stream, 60, &round);
    ucp_learn_stream_result(&stream, &round, &full, 0);
    begin_round(&stream, IN_FLIGHT, &round);
    ck_assert_uint_eq(stream.stage, UCP_LEARN_AFTER);
    ucp_learn_stream_result(&stream, &round, get, 0);
    stream.credit = 0;
    for (i = 0; (i < 600) && !tried; ++i) {
        if (ucp_learn_stream_add(&stream) &&
            ucp_learn_stream_next(&stream, IN_FLIGHT, LENGTH, &round)) {
            tried = (round.epochs[0].method == PUT);
            ucp_learn_stream_result(&stream, &round, get, 0);
        }
    }
    return (int)tried;
}

/* The second trial of a method may overdraw the credit, but not if the first one
 * has shown that it takes 1.5 times as long. */
START_TEST(a_slow_method_waits_for_credit)
{
    ck_assert(is_tried_again(65));
    ck_assert(!is_tried_again(85));
}
END_TEST

SUITE_MAIN("learn_rounds", methods_are_compared_in_one_round,
           a_method_that_seems_faster_is_used_at_once,
           trials_cost_what_is_measured, the_first_comparison_selects,
           a_slow_method_waits_for_credit)
