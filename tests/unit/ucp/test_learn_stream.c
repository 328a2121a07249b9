/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The algorithm that learns which method is the fastest for streams, that is,
 * for transfers of which several are in flight (ucp/learn/stream.h). It
 * measures the rate of an epoch, which is a row of transfers by one method. A
 * trial is the epochs that compare another method with the selected one.
 * Profiles of machines define how long a transfer takes by each method, on a
 * simulated clock: no time is measured.
 */
#include "suite.h"
#include "ucp/learn/due.h"
#include "ucp/learn/follow.h"
#include "ucp/learn/samples.h"
#include "ucs/sys/math.h"

#include <math.h>

enum { EAGER, GET, PUT, AM, METHODS, IN_FLIGHT = 8, LENGTH = 131072 };

/* USUAL: transfers that count in an epoch of usual length. SEEDS: sequences of
 * random deviations with which each machine is simulated. */
enum { USUAL = 8, SEEDS = 40 };

/* A simulated machine: the time of a transfer by each method, and the largest
 * relative deviation in an epoch of USUAL transfers. `rounds_lost`: on average
 * one of this many rounds has no result; 0: none. `settling`: after a change of
 * the method, this many transfers take 1.3 times as long. */
typedef struct profile {
    const char *name;
    double time[METHODS];
    double noise;
    unsigned rounds_lost;
    unsigned settling;
} profile_t;

static const profile_t profiles[] = {
    {"fast messages", {30, 80, 70, 31}, 0.02, 0, 0},
    {"fast get", {90, 40, 60, 90}, 0.05, 0, 0},
    {"fast put", {400, 60, 45, 400}, 0.05, 0, 0},
    {"slow copies", {60, 900, 700, 62}, 0.02, 0, 0},
    {"little difference", {37, 33, 36, 38}, 0.1, 0, 0},
    {"lost rounds", {70, 39, 50, 75}, 0.05, 3, 0},
    {"caches that must settle", {50, 40, 60, 90}, 0.02, 0, 16},
};

enum { PROFILES = sizeof(profiles) / sizeof(profiles[0]) };

/* A stream on a simulated machine. */
typedef struct machine {
    const profile_t *profile;
    ucp_learn_stream_t stream;
    size_t length; /* Bytes of a transfer */
    unsigned in_flight;
    unsigned seed, epochs;
    /* Time that trials have added, as a number of transfers by the method that
     * was selected during the trial */
    double extra;
} machine_t;

static double random_unit(machine_t *m)
{
    m->seed = m->seed * 1664525u + 1013904223u;
    return (m->seed >> 8) / (double)(1u << 24);
}

/* Starts a stream. `expected`: the estimated time of a transfer by each method.
 * `first`: the method that is selected at first. */
static void start(machine_t *m, const profile_t *profile,
                  const double *expected, unsigned first, unsigned seed)
{
    *m = (machine_t){.profile   = profile,
                     .length    = LENGTH,
                     .in_flight = IN_FLIGHT,
                     .seed      = seed};
    ucp_learn_stream_init(&m->stream, UCS_MASK(METHODS), first, expected);
    m->stream.exact       = UCS_BIT(GET) | UCS_BIT(PUT);
    m->stream.learn.alike = UCS_BIT(EAGER) | UCS_BIT(AM);
}

/* Returns the result of an epoch. */
static double time_of(machine_t *m, const ucp_learn_epoch_t *epoch)
{
    double time  = m->profile->time[epoch->method];
    double noise = m->profile->noise * sqrt((double)USUAL / epoch->count);

    if ((epoch->method != m->stream.learn.best) &&
        (m->profile->settling > epoch->warm)) {
        time *= 1 + 0.3 *
                        ucs_min(m->profile->settling - epoch->warm,
                                (unsigned)epoch->count) /
                        epoch->count;
    }
    return time * (1 + noise * (2 * random_unit(m) - 1));
}

/* Makes the transfers of a round, whose first one has been added, and those
 * that are in flight behind them when the results are known. Returns their
 * number. */
static unsigned transfer_round(machine_t *m, const ucp_learn_round_t *round)
{
    double best   = m->profile->time[m->stream.learn.best];
    double extra  = 0;
    unsigned done = 0, i;
    double times[UCP_LEARN_MAX_METHODS];
    const ucp_learn_epoch_t *epoch;

    for (i = 0; i < round->num_epochs; ++i) {
        epoch    = &round->epochs[i];
        times[i] = time_of(m, epoch);
        done += epoch->warm + epoch->count;
        extra += (epoch->warm + epoch->count) *
                 (m->profile->time[epoch->method] - best) / best;
    }
    m->extra += extra;
    for (i = 0; i < m->in_flight; ++i) {
        ck_assert(!ucp_learn_stream_add(&m->stream));
    }
    m->epochs += round->num_epochs;
    if ((m->profile->rounds_lost > 0) &&
        (random_unit(m) * m->profile->rounds_lost < 1)) {
        ucp_learn_stream_drop(&m->stream, round);
    } else {
        ucp_learn_stream_result(&m->stream, round, times, extra);
    }
    return done + m->in_flight;
}

/* Transfers at least `count` times, and ends a round that has started; returns
 * the number of transfers. */
static unsigned transfer(machine_t *m, unsigned count)
{
    ucp_learn_round_t round;
    unsigned done = 0;

    while (done < count) {
        if (ucp_learn_stream_add(&m->stream) &&
            ucp_learn_stream_next(&m->stream, m->in_flight, m->length,
                                  &round)) {
            done += transfer_round(m, &round);
        } else {
            ++done;
        }
    }
    return done;
}

/* Returns whether the selected method takes at most 1.15 times as long as the
 * best one. */
static int is_good(const machine_t *m)
{
    const profile_t *of = m->profile;
    double best         = of->time[0];
    unsigned i;

    for (i = 1; i < METHODS; ++i) {
        best = ucs_min(best, of->time[i]);
    }
    return of->time[m->stream.learn.best] <= 1.15 * best;
}

/* By the estimates, all methods are equal. */
static const double equal[METHODS] = {50, 50, 50, 50};

/* Fails if a good method is selected at the end of fewer than all sequences;
 * `misses` may be without. `good`: number of sequences with one. */
static void check_good(unsigned good, unsigned misses, const char *name,
                       const char *when)
{
    ck_assert_msg(good + misses >= SEEDS,
                  "%s, %s: the selected method is good in"
                  " only %u of %u sequences",
                  name, when, good, SEEDS);
}

/* Noise of 10 % and lost rounds mislead some sequences. */
static int is_hard(const profile_t *profile)
{
    return (profile->noise > 0.05) || (profile->rounds_lost > 0);
}

/* Checks that a good method is selected after `easy` transfers, or after `hard`
 * ones with a profile that is_hard(), whichever is selected at first. In at
 * most `misses` sequences of such a profile, and `easy_misses` of the others,
 * it is not. */
static void check_profiles(unsigned easy, unsigned easy_misses, unsigned hard,
                           unsigned misses, const char *when)
{
    unsigned i, first, seed, good;
    machine_t m;

    for (i = 0; i < PROFILES; ++i) {
        for (first = 0; first < METHODS; ++first) {
            for (seed = 0, good = 0; seed < SEEDS; ++seed) {
                start(&m, &profiles[i], equal, first, seed);
                transfer(&m, is_hard(&profiles[i]) ? hard : easy);
                good += is_good(&m);
            }
            check_good(good, is_hard(&profiles[i]) ? misses : easy_misses,
                       profiles[i].name, when);
        }
    }
}

/* The best method is selected. It takes long if trials of others, which are far
 * slower than estimated, use up the time that trials may add (`credit` in
 * ucp/learn/stream.h). */
START_TEST(finds_the_best)
{
    check_profiles(1000, 0, 8000, 1, "at the end");
}
END_TEST

/* In most sequences the best of four methods is found in the time of about five
 * trials. */
START_TEST(finds_the_best_soon)
{
    check_profiles(250, SEEDS / 4, 2500, SEEDS / 4, "after some trials");
}
END_TEST

/* If the estimates are equal and the best method is clearly better, 100
 * transfers and those of the epoch that is under way suffice. */
START_TEST(finds_a_much_better_method_within_100_transfers)
{
    machine_t m;

    start(&m, &(profile_t){"two methods", {90, 40}, 0, 0, 0}, equal, EAGER, 1);
    m.stream.learn.methods = UCS_BIT(EAGER) | UCS_BIT(GET);
    transfer(&m, 100);
    ck_assert_uint_eq(m.stream.learn.best, GET);
}
END_TEST

/* Eager messages prove to be clearly slower in their epoch FIRST: so are
 * fragments, which are not tried soon. */
START_TEST(methods_like_a_slow_one_are_tried_later)
{
    machine_t m;

    start(&m, &profiles[2], equal, GET, 1);
    while (m.stream.learn.method[EAGER].count == 0) {
        transfer(&m, 1);
    }
    ck_assert_uint_eq(m.stream.learn.method[AM].count, 0);
    transfer(&m, 200);
    ck_assert_uint_eq(m.stream.learn.method[AM].count, 0);
    ck_assert_uint_eq(m.stream.learn.best, PUT);
    transfer(&m, 20000);
    ck_assert_uint_gt(m.stream.learn.method[AM].count, 0);
}
END_TEST

/* Returns the stage after the first epoch FULL. */
static unsigned stage_after_full(machine_t *m)
{
    while (m->stream.stage != UCP_LEARN_FULL) {
        transfer(m, 1);
    }
    transfer(m, 1);
    return m->stream.stage;
}

/* A method that is far faster is selected at the end of its epoch FULL. But not
 * if that is small, because much of its data may still be in buffers: then AFTER
 * and a longer trial follow. */
START_TEST(a_small_epoch_selects_no_method)
{
    const profile_t profile = {"two methods", {90, 40}, 0, 0, 0};
    machine_t m;

    start(&m, &profile, equal, EAGER, 1);
    m.stream.learn.methods = UCS_BIT(EAGER) | UCS_BIT(GET);
    ck_assert_uint_ne(stage_after_full(&m), UCP_LEARN_AFTER);
    ck_assert_uint_eq(m.stream.learn.best, GET);

    start(&m, &profile, equal, EAGER, 1);
    m.stream.learn.methods = UCS_BIT(EAGER) | UCS_BIT(GET);
    m.length               = 16384;
    ck_assert_uint_eq(stage_after_full(&m), UCP_LEARN_AFTER);
    transfer(&m, 1);
    ck_assert_uint_eq(m.stream.learn.best, EAGER);
    ck_assert_uint_ne(stage_after_full(&m), UCP_LEARN_AFTER);
    ck_assert_uint_eq(m.stream.learn.best, GET);
}
END_TEST

/* Large transfers, too, although a single trial takes the time of many
 * megabytes; but not the first ones of the stream. */
START_TEST(finds_a_better_method_for_large_transfers)
{
    machine_t m;

    start(&m, &(profile_t){"two methods", {60, 40}, 0, 0, 0}, equal, EAGER, 1);
    m.stream.learn.methods = UCS_BIT(EAGER) | UCS_BIT(GET);
    m.length               = 64 << 20;
    m.in_flight            = 2;
    transfer(&m, 4);
    ck_assert_uint_eq(m.stream.learn.method[GET].count, 0);
    transfer(&m, 100);
    ck_assert_uint_eq(m.stream.learn.best, GET);
}
END_TEST

/* With many long transfers in flight, whose trials add much time, the best
 * method is found in most sequences after eight times as many. */
START_TEST(finds_the_best_of_many_in_flight)
{
    unsigned i, first, seed, good;
    machine_t m;

    for (i = 0; i < PROFILES; ++i) {
        for (first = 0; (first < METHODS) && !is_hard(&profiles[i]); ++first) {
            for (seed = 0, good = 0; seed < SEEDS; ++seed) {
                start(&m, &profiles[i], equal, first, seed);
                m.length    = 512 << 10;
                m.in_flight = 64;
                transfer(&m, 8 * m.in_flight);
                good += is_good(&m);
            }
            check_good(good, SEEDS / 4, profiles[i].name, "64 in flight");
        }
    }
}
END_TEST

/* If the estimates are wrong, a trial of the best method starts later: only
 * when `credit` (ucp/learn/stream.h) exceeds the time that the trial is
 * expected to add. */
START_TEST(finds_the_best_against_the_estimates)
{
    const double wrong[METHODS] = {100, 30, 30, 100};
    unsigned seed, good = 0;
    machine_t m;

    for (seed = 0; seed < SEEDS; ++seed) {
        start(&m, &profiles[0], wrong, GET, seed);
        transfer(&m, 8000);
        good += is_good(&m);
    }
    check_good(good, 0, profiles[0].name, "with wrong estimates");
}
END_TEST

/* All trials together add at most one percent of the time of the stream, plus
 * the transfers by which they may overdraw the credit, plus the time by which
 * one trial takes longer than expected. */
START_TEST(trials_cost_one_percent)
{
    unsigned i, first, count, k;
    double limit;
    machine_t m;

    for (i = 0; i < PROFILES; ++i) {
        for (first = 0; first < METHODS; ++first) {
            start(&m, &profiles[i], equal, first, 1);
            for (k = 0, count = 0; k < 50; ++k) {
                count += transfer(&m, 1000);
                /* the last term: 25 transfers in the epochs FIRST and FULL
                 * of a trial, by a method that takes 20 times as long */
                limit = 0.01 * count + UCP_LEARN_ADVANCE_MIN + 20 * 25;
                ck_assert_msg(m.extra <= limit, "%s: %g of %u transfers",
                              profiles[i].name, m.extra, count);
            }
        }
    }
}
END_TEST

/* A method that is known to be slow is tried ever more rarely. */
START_TEST(trials_become_rarer)
{
    unsigned epochs[2];
    machine_t m;

    start(&m, &profiles[1], equal, GET, 1);
    transfer(&m, 20000);
    epochs[0] = m.epochs;
    transfer(&m, 20000);
    epochs[1] = m.epochs - epochs[0];
    ck_assert_uint_lt(epochs[1], epochs[0]);
}
END_TEST

/* The rate of the stream changes with other work on the machine, but all other
 * methods stay twice as slow: a change is no reason to try them again. */
START_TEST(load_causes_no_trials)
{
    const profile_t load[] = {{"idle", {90, 40, 85, 95}, 0.05, 0, 0},
                              {"loaded", {120, 55, 115, 125}, 0.05, 0, 0}};
    double extra           = 0;
    unsigned count, k;
    machine_t m;

    start(&m, &load[0], equal, GET, 1);
    for (k = 0, count = 0; k < 80; ++k) {
        m.profile = &load[k % 2];
        if (k == 20) {
            extra = m.extra;
            count = 0;
        }
        count += transfer(&m, 2000);
    }
    ck_assert_double_le(m.extra - extra, 0.003 * count);
}
END_TEST

START_TEST(follows_a_change)
{
    unsigned seed, good = 0, after = 0;
    machine_t m;

    for (seed = 0; seed < SEEDS; ++seed) {
        start(&m, &profiles[1], equal, GET, seed);
        transfer(&m, 3000);
        good += is_good(&m);
        m.profile = &profiles[3];
        transfer(&m, 3000);
        after += is_good(&m);
    }
    check_good(good, 0, profiles[1].name, "before the change");
    check_good(after, 0, profiles[3].name, "after the change");
}
END_TEST

/* All methods take equally long but for the noise: the selected one stays
 * selected in at least 95 of 100 sequences. */
START_TEST(noise_does_not_switch)
{
    const profile_t same = {"equal methods", {50, 50, 50, 50}, 0.05, 0, 0};
    unsigned seed, wrong = 0;
    machine_t m;

    for (seed = 0; seed < 100; ++seed) {
        start(&m, &same, equal, GET, seed);
        transfer(&m, 5000);
        wrong += (m.stream.learn.best != GET);
    }
    ck_assert_uint_le(wrong, 5);
}
END_TEST

/* FIRST has shown that put and fragments take three times as long. Put may have
 * waited for transfers by the other method: its estimate stays. */
START_TEST(first_does_not_judge_a_put)
{
    ucp_learn_stream_t *stream;
    machine_t m;

    start(&m, &profiles[1], equal, GET, 1);
    stream         = &m.stream;
    stream->rough  = UCS_BIT(PUT) | UCS_BIT(AM);
    stream->passed = stream->rough;
    ucp_learn_add(&stream->learn, GET, 1);
    ucp_learn_add(&stream->learn, PUT, 3);
    ucp_learn_add(&stream->learn, AM, 3);
    ck_assert_double_eq_tol(ucp_learn_ratio(stream, AM), 3, 1e-6);
    ck_assert_double_eq_tol(ucp_learn_ratio(stream, PUT), 1.5, 1e-6);

    /* an epoch FULL does */
    stream->rough = 0;
    ck_assert_double_eq_tol(ucp_learn_ratio(stream, PUT), 3, 1e-6);
}
END_TEST

/* While the peer leads, its method is used, and there are no epochs. Methods
 * that are not possible are ignored. If the peer is silent, the search goes
 * on. */
START_TEST(the_leader_selects_the_method)
{
    unsigned i, epochs;
    machine_t m;

    start(&m, &profiles[1], equal, EAGER, 1);
    m.stream.learn.methods = UCS_BIT(EAGER) | UCS_BIT(GET) | UCS_BIT(PUT);
    transfer(&m, 20);
    epochs = m.epochs;
    for (i = 0; i < 10; ++i) {
        ucp_learn_stream_announced(&m.stream, PUT);
        ucp_learn_stream_announced(&m.stream, AM);
        ucp_learn_stream_announced(&m.stream, 255);
        ck_assert_uint_eq(m.stream.learn.best, PUT);
        ck_assert_int_eq(ucp_learn_reason(&m.stream.learn), UCP_LEARN_LED);
        transfer(&m, UCP_LEARN_STREAM_SILENT - 1);
        ck_assert_uint_eq(m.epochs, epochs);
    }
    transfer(&m, 8000);
    ck_assert_uint_gt(m.epochs, epochs);
    ck_assert_uint_eq(m.stream.learn.best, GET);
    ck_assert_int_ne(ucp_learn_reason(&m.stream.learn), UCP_LEARN_LED);
}
END_TEST

/* The leader announces a method while an epoch is under way: its result still
 * counts, but the next epoch does not begin. */
START_TEST(the_leader_interrupts_a_trial)
{
    const double times[UCP_LEARN_MAX_METHODS] = {90, 90, 90, 90};
    ucp_learn_round_t round;
    unsigned i;
    machine_t m;

    start(&m, &profiles[1], equal, EAGER, 1);
    ck_assert(ucp_learn_stream_add(&m.stream));
    ck_assert(ucp_learn_stream_next(&m.stream, IN_FLIGHT, LENGTH, &round));
    ucp_learn_stream_announced(&m.stream, GET);
    ck_assert_uint_eq(m.stream.learn.best, EAGER);
    ucp_learn_stream_result(&m.stream, &round, times, 0);
    ck_assert_uint_eq(m.stream.learn.method[EAGER].count, 1);
    ucp_learn_stream_announced(&m.stream, GET);
    ck_assert_uint_eq(m.stream.learn.best, GET);
    for (i = 1; i < UCP_LEARN_STREAM_SILENT; ++i) {
        ck_assert(!ucp_learn_stream_add(&m.stream));
    }
    ck_assert(ucp_learn_stream_add(&m.stream));
}
END_TEST

/* Adds transfers until one may begin an epoch, and returns their number. All
 * must use this method. */
static unsigned transfers_by(ucp_learn_stream_t *stream, unsigned method)
{
    unsigned count = 0;

    while (!ucp_learn_stream_add(stream)) {
        ck_assert_uint_eq(ucp_learn_stream_method(stream), method);
        ++count;
    }
    return count;
}

/* The method of the leader's trial is used for as many transfers as are in
 * flight, at least 16, or until the leader announces another one; then the
 * previous one, for as long as that of any other announcement. */
START_TEST(the_leader_tries_a_method)
{
    const unsigned in_flight[] = {1, 40}, limit[] = {16, 40};
    ucp_learn_round_t round;
    unsigned i;
    machine_t m;

    for (i = 0; i < 2; ++i) {
        start(&m, &profiles[1], equal, GET, 1);
        ucp_learn_stream_announced_trial(&m.stream, AM, in_flight[i]);
        ck_assert_uint_eq(ucp_learn_stream_method(&m.stream), AM);
        ucp_learn_stream_announced_trial(&m.stream, EAGER, in_flight[i]);
        ucp_learn_stream_announced_trial(&m.stream, 255, 1000);
        ck_assert_uint_eq(transfers_by(&m.stream, EAGER), limit[i] - 1);
        ck_assert(!ucp_learn_stream_next(&m.stream, 8, LENGTH, &round));
        ck_assert_int_eq(ucp_learn_reason(&m.stream.learn), UCP_LEARN_LED);
        ck_assert_uint_eq(ucp_learn_stream_method(&m.stream), GET);
        ck_assert_uint_eq(transfers_by(&m.stream, GET),
                          UCP_LEARN_STREAM_SILENT - 1);
        ck_assert(ucp_learn_stream_next(&m.stream, 8, LENGTH, &round));
    }

    start(&m, &profiles[1], equal, GET, 1);
    ucp_learn_stream_announced_trial(&m.stream, EAGER, 1);
    ucp_learn_stream_announced(&m.stream, PUT);
    ck_assert_uint_eq(transfers_by(&m.stream, PUT),
                      UCP_LEARN_STREAM_SILENT - 1);
}
END_TEST

SUITE_MAIN("learn_stream", finds_the_best, finds_the_best_soon,
           finds_a_much_better_method_within_100_transfers,
           methods_like_a_slow_one_are_tried_later,
           a_small_epoch_selects_no_method,
           finds_a_better_method_for_large_transfers,
           finds_the_best_of_many_in_flight,
           finds_the_best_against_the_estimates, trials_cost_one_percent,
           trials_become_rarer, load_causes_no_trials, follows_a_change,
           noise_does_not_switch, first_does_not_judge_a_put,
           the_leader_selects_the_method, the_leader_interrupts_a_trial,
           the_leader_tries_a_method)
