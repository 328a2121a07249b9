/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The algorithm that learns which method of transfer is the fastest
 * (ucp/learn/learn.h). Profiles of machines define how long a transfer takes by
 * each method, on a simulated clock: no time is measured.
 */
#include "suite.h"
#include "ucp/learn/samples.h"
#include "ucs/sys/math.h"

#include <math.h>
#include <stdio.h>

enum { EAGER, GET, PUT, AM, METHODS };

enum { KB64, KB256, MB1, MB16, SIZES };

static const double lengths[SIZES] = {65536, 262144, 1048576, 16777216};

/* A simulated machine: the microseconds of a transfer by each method and of
 * each size. */
typedef struct profile {
    const char *name;
    double time[METHODS][SIZES];
    double noise; /* Largest relative deviation of a time */
    /* On average one of this many transfers takes `outlier` times as long; 0:
     * none */
    unsigned outliers;
    double outlier;     /* Factor; see `outliers` */
    double first_touch; /* Factor for the first two transfers by a method */
    unsigned settling;  /* After a change of the method, this many transfers
                         * take 1.3 times as long */
} profile_t;

static const profile_t profiles[] = {
    {"EPYC, same cache",
     {{3.0, 11, 41, 1500},
      {4.2, 13, 40, 1460},
      {4.4, 13.5, 42, 1600},
      {4.1, 12, 36, 1750}},
     0.03,
     0,
     0,
     1},
    {"EPYC, remote caches",
     {{28, 112, 450, 7200},
      {27, 68, 232, 2637},
      {29, 64, 188, 2522},
      {30, 113, 452, 7200}},
     0.04,
     0,
     0,
     1},
    {"Xeon, 2 cores",
     {{7.15, 21, 81, 1290},
      {3.2, 12.5, 49, 1422},
      {3.6, 13, 51, 1500},
      {7.4, 20, 80, 1261}},
     0.03,
     0,
     0,
     1},
    {"Xeon, 16 cores",
     {{4.99, 19, 71, 1900},
      {5.9, 14, 41, 1075},
      {6.1, 15, 44, 1100},
      {6.5, 20, 87, 1906}},
     0.04,
     0,
     0,
     1},
    {"helper that is slow",
     {{3.0, 12, 45, 1500},
      {9, 40, 160, 4000},
      {8, 36, 140, 3900},
      {4.1, 13, 44, 1480}},
     0.05,
     0,
     0,
     1},
    {"oversubscribed cores",
     {{6, 20, 70, 2000},
      {8, 24, 60, 1500},
      {9, 26, 64, 1600},
      {8, 24, 80, 2100}},
     0.05,
     12,
     500,
     1},
    {"link that is throttled",
     {{590, 2300, 9000, 144000},
      {620, 2200, 8600, 137000},
      {680, 2280, 8700, 137500},
      {650, 2350, 9050, 144100}},
     0.02,
     0,
     0,
     1},
    {"first touch of pages",
     {{7, 27, 105, 1900},
      {4, 14, 50, 1400},
      {4.2, 14.5, 52, 1450},
      {7.5, 28, 110, 1950}},
     0.03,
     0,
     0,
     6},
    {"methods that are equal",
     {{10, 40, 160, 2560},
      {10, 40, 160, 2560},
      {10, 40, 160, 2560},
      {10, 40, 160, 2560}},
     0.05,
     0,
     0,
     1},
    {"noise of a virtual machine",
     {{5, 20, 80, 1400},
      {4, 14, 52, 1150},
      {6, 22, 78, 1300},
      {9, 30, 99, 1800}},
     0.08,
     7,
     20,
     1},
};

enum { PROFILES = sizeof(profiles) / sizeof(profiles[0]) };

/* No estimates. */
static const double unknown[METHODS];

/* A sequence of transfers of one size on a simulated machine. */
typedef struct machine {
    const profile_t *profile;
    unsigned size;
    ucp_learn_t learn;
    unsigned seed;
    unsigned used[METHODS];
    unsigned last, in_row; /* The method of the last transfers, their number */
    double time; /* Sum of the times of all transfers so far, in microseconds */
} machine_t;

static double random_unit(machine_t *m)
{
    m->seed = m->seed * 1664525u + 1013904223u;
    return (m->seed >> 8) / (double)(1u << 24);
}

/* Returns the time of the next transfer by `method`, in microseconds. */
static double take(machine_t *m, unsigned method)
{
    const profile_t *profile = m->profile;
    double time              = profile->time[method][m->size];

    time *= 1 + profile->noise * (2 * random_unit(m) - 1);
    if ((profile->outliers > 0) && (random_unit(m) * profile->outliers < 1)) {
        time *= profile->outlier;
    }
    if (m->used[method] < 2) {
        time *= profile->first_touch;
    }
    m->in_row = (method == m->last) ? m->in_row + 1 : 1;
    m->last   = method;
    if (m->in_row <= profile->settling) {
        time *= 1.3;
    }
    ++m->used[method];
    return time;
}

static void start(machine_t *m, const profile_t *profile, unsigned size,
                  unsigned first, unsigned seed)
{
    *m = (machine_t){.profile = profile, .size = size, .seed = seed};
    ucp_learn_init(&m->learn, UCS_MASK(METHODS), first, unknown, 0);
}

static void transfer(machine_t *m, unsigned count)
{
    unsigned method;
    double time;
    int timed;

    while (count-- > 0) {
        method = ucp_learn_next(&m->learn, &timed);
        time   = take(m, method);
        m->time += time;
        if (timed) {
            ucp_learn_result(&m->learn, time * 1e-6 / lengths[m->size]);
        }
    }
}

static double best_time(const profile_t *profile, unsigned size)
{
    double best = INFINITY;
    unsigned i;

    for (i = 0; i < METHODS; ++i) {
        best = ucs_min(best, profile->time[i][size]);
    }
    return best;
}

static int is_good(const machine_t *m)
{
    return m->profile->time[m->learn.best][m->size] <=
           1.1 * best_time(m->profile, m->size);
}

static void check_best(const machine_t *m, const char *when)
{
    ck_assert_msg(is_good(m),
                  "%s, %.0f bytes, seed %u, %s: method %u takes %g us,"
                  " the best %g us",
                  m->profile->name, lengths[m->size], m->seed, when,
                  m->learn.best, m->profile->time[m->learn.best][m->size],
                  best_time(m->profile, m->size));
}

/* Checks that a method that takes at most 1.1 times as long as the best one is
 * selected after 100 transfers, for every method that is selected at first, and
 * for several sequences of noise. On a machine with outliers, 2 of 100
 * sequences may end with another method. */
static void check_finds_the_best(const profile_t *of)
{
    unsigned wrong = 0, checks = 0;
    unsigned size, first, seed;
    machine_t m;

    for (size = 0; size < SIZES; ++size) {
        for (first = 0; first < METHODS; ++first) {
            for (seed = 0; seed < 20; ++seed) {
                start(&m, of, size, first, seed);
                transfer(&m, 100);
                if (of->outliers == 0) {
                    check_best(&m, "after 100 transfers");
                }
                wrong += !is_good(&m);
                ++checks;
            }
        }
    }
    ck_assert_msg(wrong * 50 <= checks, "%s: %u of %u times wrong", of->name,
                  wrong, checks);
}

START_TEST(finds_the_best)
{
    unsigned i;

    for (i = 0; i < PROFILES; ++i) {
        check_finds_the_best(&profiles[i]);
    }
}
END_TEST

/* Checks that the best method stays selected. 1 of 200 checks may fail: several
 * outliers in a row look like a change of the machine. */
static void check_stays_with_the_best(const profile_t *of)
{
    unsigned wrong = 0, checks = 0;
    unsigned size, seed, i;
    machine_t m;

    for (size = 0; size < SIZES; ++size) {
        for (seed = 0; seed < 10; ++seed) {
            start(&m, of, size, EAGER, seed);
            transfer(&m, 100);
            for (i = 0; i < 1000; ++i) {
                transfer(&m, 10);
                ++checks;
                wrong += !is_good(&m);
            }
        }
    }
    ck_assert_msg(wrong * 200 <= checks, "%s: %u of %u times wrong", of->name,
                  wrong, checks);
}

START_TEST(stays_with_the_best)
{
    unsigned i;

    for (i = 0; i < PROFILES; ++i) {
        check_stays_with_the_best(&profiles[i]);
    }
}
END_TEST

/* Checks that trials of other methods cost at most one percent of the time,
 * from the 101st transfer on, on a machine without outliers and noise. */
static void check_trials_cost_one_percent(const profile_t *of)
{
    profile_t profile = *of;
    unsigned size, seed, method;
    double before, expected;
    machine_t m;

    profile.outliers = 0;
    profile.noise    = 0;
    for (size = 0; size < SIZES; ++size) {
        for (seed = 0; seed < 4; ++seed) {
            start(&m, &profile, size, EAGER, seed);
            transfer(&m, 100);
            method = m.learn.best;
            before = m.time;
            transfer(&m, 20000);
            expected = 20000 * profile.time[method][size];
            ck_assert_msg(m.time - before <= 1.01 * expected,
                          "%s, %.0f bytes: %g us instead of %g", profile.name,
                          lengths[size], m.time - before, expected);
        }
    }
}

START_TEST(trials_cost_one_percent)
{
    unsigned i;

    for (i = 0; i < PROFILES; ++i) {
        check_trials_cost_one_percent(&profiles[i]);
    }
}
END_TEST

/* The selected method becomes slow, as if another process delayed it or the
 * process migrated: another method must be selected. */
START_TEST(notices_a_change_for_the_worse)
{
    unsigned size, seed;
    machine_t m;

    for (size = 0; size < SIZES; ++size) {
        for (seed = 0; seed < 20; ++seed) {
            start(&m, &profiles[0], size, GET, seed);
            transfer(&m, 3000);
            m.profile = &profiles[1];
            /* The selected method is timed once in UCP_LEARN_WATCH transfers.
             * When it has become slow, trials of the other methods start at
             * once. */
            transfer(&m, 4 * UCP_LEARN_WATCH);
            check_best(&m, "after the processes have moved");
            m.profile = &profiles[4];
            /* The selected method may have become faster. That starts no trial
             * of the others: the next trial is due within about
             * UCP_LEARN_MAX_GAP transfers. */
            transfer(&m, UCP_LEARN_MAX_GAP);
            transfer(&m, 4 * UCP_LEARN_WATCH);
            check_best(&m, "with a slow helper");
        }
    }
}
END_TEST

/* Another method becomes faster while the selected one does not change: trials
 * must detect this. The longer nothing has changed, the rarer trials are. */
START_TEST(notices_a_better_method)
{
    profile_t slow = profiles[2], quick = profiles[2];
    unsigned size, seed;
    machine_t m;

    for (size = 0; size < SIZES; ++size) {
        slow.time[GET][size] = slow.time[PUT][size] = 1.5 *
                                                      slow.time[EAGER][size];
    }
    for (size = 0; size < SIZES; ++size) {
        for (seed = 0; seed < 20; ++seed) {
            start(&m, &slow, size, EAGER, seed);
            transfer(&m, 1000);
            check_best(&m, "before the change");
            m.profile = &quick;
            transfer(&m, 3000);
            check_best(&m, "after the change");
        }
    }
}
END_TEST

START_TEST(times_one_at_a_time)
{
    ucp_learn_t learn;
    unsigned i;
    int timed = 0;

    ucp_learn_init(&learn, UCS_BIT(GET) | UCS_BIT(AM), AM, unknown, 0);
    for (i = 0; !timed; ++i) {
        ck_assert_uint_eq(ucp_learn_next(&learn, &timed), AM);
    }
    ck_assert_uint_eq(i, UCP_LEARN_SKIP + UCP_LEARN_WARM);
    for (i = 0; i < 1000; ++i) {
        ck_assert_uint_eq(ucp_learn_next(&learn, &timed), AM);
        /* the first timed transfer has no result yet: no other one is timed */
        ck_assert(!timed);
    }
    ucp_learn_drop(&learn);
    ck_assert_uint_eq(ucp_learn_next(&learn, &timed), GET);
    ck_assert(!timed);
    ucp_learn_next(&learn, &timed);
    ck_assert_uint_eq(ucp_learn_next(&learn, &timed), GET);
    ck_assert(timed);
}
END_TEST

/* All methods take equally long but for the noise: the one that is selected at
 * first stays selected. */
START_TEST(noise_does_not_switch)
{
    profile_t profile = profiles[8];
    unsigned seed, first, i;
    machine_t m;

    profile.noise = 0.02;
    for (first = 0; first < METHODS; ++first) {
        for (seed = 0; seed < 20; ++seed) {
            start(&m, &profile, MB1, first, seed);
            for (i = 0; i < 100; ++i) {
                transfer(&m, 100);
                ck_assert_uint_eq(m.learn.best, first);
            }
        }
    }
}
END_TEST

/* A machine on which get takes 100 us for 1 MiB, put a little longer, and
 * messages twice as long. */
static profile_t copies(const char *name, double put)
{
    profile_t profile = {.name = name, .noise = 0.03, .first_touch = 1};

    profile.time[EAGER][MB1] = 200;
    profile.time[GET][MB1]   = 100;
    profile.time[PUT][MB1]   = put;
    profile.time[AM][MB1]    = 200;
    return profile;
}

/* One of four transfers takes 1.6 times as long, by any method. Several such
 * samples in a row are not a change, because they are frequent: the fastest
 * method stays selected although another one is almost as fast. */
START_TEST(frequent_odd_samples_are_no_change)
{
    profile_t profile = copies("frequent odd samples", 105);
    unsigned seed, used = 0;
    machine_t m;

    profile.outliers = 4;
    profile.outlier  = 1.6;
    for (seed = 0; seed < 20; ++seed) {
        start(&m, &profile, MB1, GET, seed);
        transfer(&m, 50000);
        used += m.used[PUT];
    }
    /* 2 % are trials */
    ck_assert_uint_lt(used, 20 * 2000);
}
END_TEST

/* Adds `count` samples of the selected method that take 1.6 times as long as
 * the usual ones. Returns whether the last one proves a change. */
static int add_odd(ucp_learn_t *learn, unsigned count)
{
    int changed = 0;

    while (count-- > 0) {
        changed = ucp_learn_watch(learn, 1.6);
    }
    return changed;
}

/* Four odd samples in a row are a change, and one more for each odd sample of
 * the 16 before. */
START_TEST(frequent_odd_samples_need_more)
{
    ucp_learn_t learn;
    unsigned i;

    ucp_learn_init(&learn, UCS_MASK(METHODS), GET, unknown, 0);
    for (i = 0; i < UCP_LEARN_SAMPLES; ++i) {
        ucp_learn_watch(&learn, 1);
    }
    for (i = 0; i < 8; ++i) {
        ck_assert(!add_odd(&learn, 3));
        ck_assert(!ucp_learn_watch(&learn, 1));
    }
    /* 12 of the last 16 were odd */
    ck_assert(!add_odd(&learn, 15));
    ck_assert(!ucp_learn_watch(&learn, 1));
    /* now 15 */
    ck_assert(!add_odd(&learn, 18));
    ck_assert(!ucp_learn_watch(&learn, 1));
    ck_assert(!add_odd(&learn, 18));
    ck_assert(add_odd(&learn, 1));
    ck_assert_double_eq_tol(ucp_learn_time(&learn, GET), 1.6, 1e-6);
}
END_TEST

/* Put is selected, and get is a little faster, but not in the first transfers
 * after a change. A longer trial shows it. */
START_TEST(close_methods_have_longer_trials)
{
    profile_t profile = copies("first transfers that are slow", 112);
    unsigned seed, good = 0;
    machine_t m;

    profile.settling = 6;
    for (seed = 0; seed < 100; ++seed) {
        start(&m, &profile, MB1, PUT, seed);
        transfer(&m, 1000);
        good += (m.learn.best == GET);
    }
    ck_assert_uint_ge(good, 90);
}
END_TEST

/* While the peer tries three methods, one after another, its processor is busy,
 * and transfers to it take four times as long. That is no reason for trials
 * here: they would delay the peer's transfers, and so on. `warm`: transfers in
 * the warm-up of messages. */
static void check_peer(unsigned warm)
{
    const unsigned burst = UCP_LEARN_WARM + 2 * warm + 3 * UCP_LEARN_TIMED;
    profile_t usual      = profiles[2];
    profile_t disturbed;
    unsigned i, tried, phase;
    machine_t m;

    usual.time[PUT][MB1] = 1.5 * usual.time[GET][MB1]; /* no long trials */
    disturbed            = usual;
    for (i = 0; i < METHODS; ++i) {
        disturbed.time[i][MB1] *= 4;
    }
    for (phase = 0; phase < UCP_LEARN_WATCH; ++phase) {
        start(&m, &usual, MB1, GET, 1);
        m.learn.warm[EAGER] = m.learn.warm[AM] = (uint8_t)warm;
        transfer(&m, 500 + phase);
        tried     = m.used[EAGER] + m.used[PUT] + m.used[AM];
        m.profile = &disturbed;
        transfer(&m, burst);
        m.profile = &usual;
        transfer(&m, 100);
        ck_assert_uint_eq(m.used[EAGER] + m.used[PUT] + m.used[AM], tried);
    }
}

START_TEST(trials_of_the_peer_cause_none)
{
    check_peer(UCP_LEARN_WARM);
    check_peer(32);
}
END_TEST

/* A method that is the fastest in trials only, and slow when it is selected (for
 * example because the peer has then selected it, too), is selected ever more
 * rarely. */
START_TEST(a_disappointing_method_becomes_rare)
{
    profile_t promising = profiles[2], disappointing = profiles[2];
    unsigned selected = 0, before = GET;
    unsigned i;
    machine_t m;

    promising.time[AM][MB1]     = 20;
    disappointing.time[AM][MB1] = 100;
    start(&m, &promising, MB1, GET, 1);
    for (i = 0; i < 20000; ++i) {
        m.profile = (m.learn.best == AM) ? &disappointing : &promising;
        transfer(&m, 1);
        selected += (m.learn.best == AM) && (before != AM);
        before = m.learn.best;
    }
    ck_assert_uint_ge(selected, 1);
    ck_assert_uint_le(selected, 9);
}
END_TEST

/* If the selected method is slower than expected, the others are tried as if
 * they took as long as expected. */
START_TEST(a_wrong_estimate_is_soon_noticed)
{
    const double times[METHODS] = {4e-11, 1e-10, 1e-10, 1e-10};
    const profile_t *profile    = &profiles[1];
    machine_t m;

    start(&m, profile, MB1, EAGER, 1);
    ucp_learn_init(&m.learn, UCS_MASK(METHODS), EAGER, times, 0);
    transfer(&m, 40);
    check_best(&m, "after 40 transfers");
}
END_TEST

/* True if the first transfers by a method, and single ones, are as fast as the
 * others. */
static int is_steady(const profile_t *profile)
{
    return (profile->outliers == 0) && (profile->first_touch == 1);
}

/* Initializes the search as for transfers of 16 MiB. */
static void init_long(ucp_learn_t *learn, unsigned first,
                      const double *expected)
{
    ucp_learn_init(learn, UCS_MASK(METHODS), first, expected, 1);
    learn->first_limit = 1.225F;
}

/* Long transfers: the fastest method is found after few of them, and if the
 * estimates are right, trials add a twentieth of the time at most. */
START_TEST(long_transfers_have_short_trials)
{
    double times[METHODS];
    unsigned i, k, seed;
    machine_t m;

    for (i = 0; i < PROFILES; ++i) {
        for (seed = 0; (seed < 20) && is_steady(&profiles[i]); ++seed) {
            start(&m, &profiles[i], MB16, seed % METHODS, seed);
            init_long(&m.learn, seed % METHODS, unknown);
            transfer(&m, 20);
            check_best(&m, "after 20 long transfers");
        }
        for (k = 0; k < METHODS; ++k) {
            times[k] = profiles[i].time[k][MB16] * 1e-6 / lengths[MB16];
        }
        for (k = 0; (k < METHODS) && is_steady(&profiles[i]); ++k) {
            start(&m, &profiles[i], MB16, k, 1);
            if (is_good(&m)) {
                init_long(&m.learn, k, times);
                transfer(&m, 40);
                ck_assert_msg(m.time <= 1.05 * 40 * profiles[i].time[k][MB16] *
                                            (1 + profiles[i].noise),
                              "%s: %g us", profiles[i].name, m.time);
            }
        }
    }
}
END_TEST

SUITE_MAIN("learn", finds_the_best, stays_with_the_best,
           trials_cost_one_percent, notices_a_change_for_the_worse,
           notices_a_better_method, times_one_at_a_time, noise_does_not_switch,
           frequent_odd_samples_are_no_change, frequent_odd_samples_need_more,
           close_methods_have_longer_trials, a_wrong_estimate_is_soon_noticed,
           long_transfers_have_short_trials, trials_of_the_peer_cause_none,
           a_disappointing_method_becomes_rare)
