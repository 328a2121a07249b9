/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * When the algorithm that learns which method of transfer is the fastest
 * (ucp/learn/learn.h) makes trials, and how long they are. test_learn.c tests
 * which method it selects.
 */
#include "suite.h"
#include "ucp/learn/learn.h"
#include "ucs/sys/math.h"

enum { EAGER, GET, PUT, AM, METHODS };

/* The estimates are unknown. */
static const double unknown[METHODS];

/* Initializes the search as for transfers of 16 MiB. */
static void init_long(ucp_learn_t *learn, unsigned first,
                      const double *expected)
{
    ucp_learn_init(learn, UCS_MASK(METHODS), first, expected, 1);
    learn->first_limit = 1.225F;
}

/* Returns how many transfers precede the first one by `method`, of at most
 * 1000, if all take `slower` times as long as expected. */
static unsigned first_by(unsigned method, const double *expected, int is_long,
                         double slower)
{
    ucp_learn_t learn;
    unsigned i;
    int timed;

    if (is_long) {
        init_long(&learn, EAGER, expected);
    } else {
        ucp_learn_init(&learn, UCS_MASK(METHODS), EAGER, expected, 0);
    }
    for (i = 0; (i < 1000) && (ucp_learn_next(&learn, &timed) != method); ++i) {
        if (timed) {
            ucp_learn_result(&learn, slower * expected[learn.trial]);
        }
    }
    return i;
}

/* Methods are tried in the order of the expected times, the later, the more
 * time the trial will add: within 100 transfers if they are expected to take at
 * most 2.5 times as long. */
START_TEST(expected_times_determine_the_first_trials)
{
    const double times[METHODS] = {1e-10, 2.5e-10, 1.2e-10, 5e-10};
    const unsigned count        = UCP_LEARN_WARM + UCP_LEARN_TIMED;

    ck_assert_uint_le(first_by(PUT, times, 0, 1), UCP_LEARN_SKIP + 2 * count);
    ck_assert_uint_ge(first_by(GET, times, 0, 1), 80);
    ck_assert_uint_le(first_by(GET, times, 0, 1), 100);
    ck_assert_uint_ge(first_by(AM, times, 0, 1), 1000);
    ck_assert_uint_le(first_by(GET, times, 1, 1), 50);
    /* the data of long transfers is not in the caches: all methods are slower */
    ck_assert_uint_lt(first_by(GET, times, 0, 3), 50);
    ck_assert_uint_eq(first_by(GET, times, 1, 3), first_by(GET, times, 1, 1));
}
END_TEST

/* Returns how many of `count` transfers are by the method; get takes 1 us, the
 * others three times as long. */
static unsigned count_of(ucp_learn_t *learn, unsigned method, unsigned count)
{
    unsigned found = 0;
    unsigned used;
    int timed;

    for (; count > 0; --count) {
        used = ucp_learn_next(learn, &timed);
        found += (used == method);
        if (timed) {
            ucp_learn_result(learn, (used == GET) ? 1e-11 : 3e-11);
        }
    }
    return found;
}

/* Of two methods that are alike, the second one is not tried soon if the first
 * one is far slower than the selected method. */
START_TEST(methods_like_a_slow_one_are_tried_later)
{
    const double expected[METHODS] = {3e-11, 1e-11, 0, 3e-11};
    const unsigned most            = UCP_LEARN_WARM + UCP_LEARN_TIMED;
    const unsigned methods = UCS_BIT(EAGER) | UCS_BIT(GET) | UCS_BIT(AM);
    ucp_learn_t learn;
    unsigned eager;

    ucp_learn_init(&learn, methods, GET, expected, 0);
    learn.alike = UCS_BIT(EAGER) | UCS_BIT(AM);
    eager       = count_of(&learn, EAGER, UCP_LEARN_SLOW_GAP);
    ck_assert_uint_ge(eager, UCP_LEARN_WARM + 1);
    ck_assert_uint_le(eager, most);
    ck_assert_uint_eq(learn.method[AM].count, 0);
    ck_assert_uint_ge(count_of(&learn, AM, 2 * UCP_LEARN_SLOW_GAP),
                      UCP_LEARN_WARM + 1);

    ucp_learn_init(&learn, methods, GET, expected, 0);
    count_of(&learn, EAGER, UCP_LEARN_SLOW_GAP);
    ck_assert_uint_gt(learn.method[AM].count, 0);
}
END_TEST

/* A trial of a slow method ends after three samples, or after one if the
 * transfers take so long that it suffices. */
START_TEST(trials_of_slow_methods_end_early)
{
    const unsigned methods = UCS_BIT(EAGER) | UCS_BIT(GET);
    ucp_learn_t learn;

    ucp_learn_init(&learn, methods, GET, unknown, 0);
    ck_assert_uint_eq(count_of(&learn, EAGER, 100), UCP_LEARN_WARM + 3);
    ucp_learn_init(&learn, methods, GET, unknown, 0);
    learn.slow_limit = 1.4F;
    ck_assert_uint_eq(count_of(&learn, EAGER, 100), UCP_LEARN_WARM + 1);
    ck_assert_uint_eq(learn.best, GET);
}
END_TEST

/* Makes transfers by get, each of 1 s, until the first trial of put has ended,
 * whose first transfer takes `first`, the others 0.9 s. Returns the number of
 * transfers by put. */
static unsigned first_trial(ucp_learn_t *learn, double first)
{
    unsigned count = 0;
    unsigned method, i;
    int timed;

    for (i = 0; (i < 100) &&
                ((learn->method[PUT].count == 0) || (learn->trial == PUT));
         ++i) {
        method = ucp_learn_next(learn, &timed);
        count += (method == PUT);
        if (timed) {
            ucp_learn_result(learn, (method != PUT) ? 1.0 :
                                    (count == 1)    ? first :
                                                      0.9);
        }
    }
    return count;
}

/* A trial of long transfers ends after the first one if that is clearly slower
 * than the selected method; otherwise the later ones decide. */
START_TEST(a_slow_first_transfer_ends_a_long_trial)
{
    ucp_learn_t learn;

    init_long(&learn, GET, unknown);
    ck_assert_uint_eq(first_trial(&learn, 1.3), 1);
    ck_assert_uint_eq(learn.best, GET);

    init_long(&learn, GET, unknown);
    ck_assert_uint_eq(first_trial(&learn, 1.2),
                      UCP_LEARN_LONG_WARM + UCP_LEARN_LONG_TIMED);
    ck_assert_uint_eq(learn.best, PUT);
}
END_TEST

/* A method is as fast as the selected one, but after each change of the method
 * some transfers take five times as long. Its trials are so rare that they add
 * half a percent of the time, and as much after each trial. */
START_TEST(the_cost_of_a_change_counts)
{
    enum { TRANSFERS = 20000 };
    double extra  = 0;
    unsigned used = 0, method, i;
    ucp_learn_t learn;
    int timed;

    ucp_learn_init(&learn, UCS_BIT(GET) | UCS_BIT(PUT), GET, unknown, 0);
    for (i = 0; i < TRANSFERS; ++i) {
        method = ucp_learn_next(&learn, &timed);
        used   = (method == PUT) ? used + 1 : 0;
        /* of a trial, the last two transfers are as fast as the others */
        extra += ((used > 0) && (used <= UCP_LEARN_WARM + 2)) ? 4 : 0;
        if (timed) {
            ucp_learn_result(&learn,
                             ((used > 0) && (used <= UCP_LEARN_WARM + 2)) ?
                                 5.0 :
                                 1.0);
        }
    }
    ck_assert_uint_eq(learn.best, GET);
    ck_assert_double_gt(extra, 0);
    ck_assert_double_le(extra, 0.005 * TRANSFERS);
}
END_TEST

SUITE_MAIN("learn_trials", expected_times_determine_the_first_trials,
           methods_like_a_slow_one_are_tried_later,
           trials_of_slow_methods_end_early,
           a_slow_first_transfer_ends_a_long_trial, the_cost_of_a_change_counts)
