/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Selects the fastest of a few methods from the times of transfers (learn.h):
 * when to try which method, what a result changes, and when the next trial is
 * due.
 */
#include "ucp/learn/learn.h"

#include "ucp/learn/samples.h"
#include "ucs/sys/math.h"

#include <string.h>

/* Transfers from the first odd sample to the next one: a part of the trials of
 * the peer, which delay transfers to it. Twice as many to each of the next
 * ones: all of them together exceed these trials. */
enum { ODD_PARTS = 6, ODD_DOUBLINGS = UCP_LEARN_ODD - 1 };

/* If a method takes more than this many times as long as the selected one, its
 * next trial is later, and a trial with at least three samples ends early. */
#define HOPELESS 2.0

/* Limit of the time that trials add, as a fraction of the time of all
 * transfers. Each method that is not selected gets an equal share of it. The
 * gap between two trials that follows from this limit is at most
 * MAX_GAP_BY_COST transfers. */
#define MAX_COST        0.01
#define MAX_GAP_BY_COST 1e6

/* The mean of the samples shows what a trial costs, not their low quantile: the
 * first transfers after a change of the method take longer, because data is in
 * the caches of the other process. AND_BACK: so do those after the trial.
 * COSTLY: a sample of more than this many times the time of the selected method
 * was probably interrupted. */
#define AND_BACK 2
#define COSTLY   8.0

/* Limit of the time that the first trial of a method is expected to add, as a
 * fraction of the time of the first EARLY transfers; of later ones MAX_COST. A
 * method that is expected to take 2.5 times as long is tried after 90
 * transfers. A program makes fewer long transfers: LONG_COST. */
#define EARLY_COST 0.1
#define LONG_COST  0.03
enum { EARLY = 100 };

/* Another method is selected only if the time of the selected one exceeds the
 * time of the other by more than this fraction. */
#define MIN_ADVANTAGE 0.05

/* A method whose time differs by less than this factor takes about as long. */
#define CLOSE 1.3

ucp_learn_reason_t ucp_learn_reason(const ucp_learn_t *learn)
{
    double best               = ucp_learn_time(learn, learn->best);
    ucp_learn_reason_t reason = UCP_LEARN_ESTIMATED;
    double time;
    unsigned i;

    if (learn->is_led) {
        return UCP_LEARN_LED;
    }
    for (i = 0; i < UCP_LEARN_MAX_METHODS; ++i) {
        time = ucp_learn_time(learn, i);
        if ((i == learn->best) || (time == 0) || (best == 0)) {
            continue;
        }
        if (time < best) {
            return UCP_LEARN_WITHIN_NOISE;
        }
        reason = UCP_LEARN_FASTEST;
    }
    return reason;
}

static unsigned num_skip(const ucp_learn_t *learn)
{
    return learn->is_long ? UCP_LEARN_LONG_SKIP : UCP_LEARN_SKIP;
}

static int is_close(const ucp_learn_t *learn, unsigned index)
{
    return (index != learn->best) && (learn->close & UCS_BIT(index));
}

/* Returns the number of timed transfers in a trial of a method. */
static unsigned num_timed(const ucp_learn_t *learn, unsigned index)
{
    return learn->is_long         ? UCP_LEARN_LONG_TIMED :
           is_close(learn, index) ? UCP_LEARN_CLOSE :
                                    UCP_LEARN_TIMED;
}

/* Returns the number of transfers in a trial of a method. */
static unsigned trial_length(const ucp_learn_t *learn, unsigned index)
{
    return learn->warm[index] + num_timed(learn, index);
}

/* True if the last transfer was the first one of a trial that may end with it
 * (ucp_learn_t::first_limit). */
static int is_first(const ucp_learn_t *learn)
{
    return (learn->first_limit > 0) && (learn->trial != learn->best) &&
           (learn->left + 1U == trial_length(learn, learn->trial));
}

/* Returns the number of transfers after the first odd sample (ODD_PARTS); the
 * peer probably tries the same methods. */
static unsigned odd_gap(const ucp_learn_t *learn)
{
    unsigned sum = 0, i;

    for (i = 0; i < UCP_LEARN_MAX_METHODS; ++i) {
        if ((i != learn->best) && (learn->methods & UCS_BIT(i))) {
            sum += trial_length(learn, i);
        }
    }
    return (sum + ODD_PARTS - 1) / ODD_PARTS;
}

static unsigned watch_gap(const ucp_learn_t *learn)
{
    return learn->is_long ? UCP_LEARN_LONG_WATCH : UCP_LEARN_WATCH;
}

/* Returns the number of transfers until the next sample of the selected
 * method. */
static unsigned sample_gap(const ucp_learn_t *learn)
{
    return (learn->num_odd == 0) ?
               watch_gap(learn) :
               odd_gap(learn) << ucs_min(learn->num_odd - 1, ODD_DOUBLINGS);
}

void ucp_learn_init(ucp_learn_t *learn, unsigned methods, unsigned first,
                    const double *expected, int is_long)
{
    unsigned i;

    memset(learn, 0, sizeof(*learn));
    learn->methods = (uint8_t)methods;
    learn->best    = (uint8_t)first;
    learn->trial   = UCP_LEARN_NONE;
    learn->is_long = (uint8_t)is_long;
    for (i = 0; i < UCP_LEARN_MAX_METHODS; ++i) {
        learn->expected[i]   = (float)expected[i];
        learn->warm[i]       = is_long ? UCP_LEARN_LONG_WARM : UCP_LEARN_WARM;
        learn->method[i].due = num_skip(learn) + ((i == first) ? 0U : 1U);
        learn->method[i].gap = UCP_LEARN_MIN_GAP;
    }
}

void ucp_learn_continue(ucp_learn_t *learn, const ucp_learn_t *from)
{
    float expected[UCP_LEARN_MAX_METHODS];

    memcpy(expected, learn->expected, sizeof(expected));
    *learn = *from;
    memcpy(learn->expected, expected, sizeof(expected));
    learn->trial   = UCP_LEARN_NONE;
    learn->timing  = 0;
    learn->num_odd = 0;
    learn->record  = NULL;
}

/* ---------------------------------------------------------- what is next -- */

/* Returns the number of transfers until a method's trial is due; 0 or negative
 * if it is due. */
static int32_t remaining(const ucp_learn_t *learn, unsigned index)
{
    return (int32_t)(learn->method[index].due - learn->count);
}

/* Returns the expected time by a method in relation to that by the selected
 * one; 1 if it is unknown. If the selected method is slower than expected, the
 * others are not: they are tried soon. But all methods are slower for long
 * transfers, whose data is not in the caches. */
static double expected_ratio(const ucp_learn_t *learn, unsigned index)
{
    double time = learn->is_long ? 0 : ucp_learn_time(learn, learn->best);
    double best = ucs_max(time, (double)learn->expected[learn->best]);

    return ((best > 0) && (learn->expected[index] > 0)) ?
               learn->expected[index] / best :
               1;
}

/* True if the first trial of a method that is due may begin: if it will
 * probably add no more time than it may. */
static int is_affordable(const ucp_learn_t *learn, unsigned index)
{
    uint32_t early = ucs_min(learn->count, (uint32_t)EARLY);
    double share   = learn->is_long ? LONG_COST : EARLY_COST;
    double limit   = share * early + MAX_COST * (learn->count - early);
    double ratio   = expected_ratio(learn, index);
    unsigned count = ((learn->first_limit > 0) &&
                      (ratio > learn->first_limit)) ?
                         1 :
                         trial_length(learn, index);

    return count * (ratio - 1) <= limit;
}

/* True if the trial of the method `a` comes before that of `b`; both are
 * due. */
static int is_before(const ucp_learn_t *learn, unsigned a, unsigned b)
{
    int32_t longer = remaining(learn, b) - remaining(learn, a);

    return (longer != 0) ? (longer > 0) :
                           (learn->expected[a] < learn->expected[b]);
}

/* Returns the method whose trial begins now: the one that is overdue by most
 * transfers, and of several the one that is expected to be the fastest. Returns
 * UCP_LEARN_NONE if none is due. */
static unsigned find_due(const ucp_learn_t *learn)
{
    unsigned due = UCP_LEARN_NONE;
    unsigned i;

    for (i = 0; i < UCP_LEARN_MAX_METHODS; ++i) {
        if ((learn->methods & UCS_BIT(i)) && (remaining(learn, i) <= 0) &&
            ((due == UCP_LEARN_NONE) || is_before(learn, i, due)) &&
            ((learn->method[i].count > 0) || is_affordable(learn, i))) {
            due = i;
        }
    }
    return due;
}

unsigned ucp_learn_quiet(const ucp_learn_t *learn, unsigned limit)
{
    unsigned i;

    for (i = 0; i < UCP_LEARN_MAX_METHODS; ++i) {
        if ((learn->methods & UCS_BIT(i)) && (remaining(learn, i) > 0)) {
            limit = ucs_min(limit, (unsigned)remaining(learn, i) - 1);
        }
    }
    i = (learn->trial == UCP_LEARN_NONE) ? find_due(learn) : learn->trial;
    return (i == UCP_LEARN_NONE) ? limit : 0;
}

/* Starts a trial and drops the method's older samples. But if the method is the
 * selected one and has samples, the trial adds one sample to them. */
static void start_trial(ucp_learn_t *learn, unsigned method)
{
    learn->trial = (uint8_t)method;
    learn->left  = 1;
    learn->mean  = 0;
    if ((method != learn->best) || (learn->method[method].count == 0)) {
        learn->left = (uint8_t)trial_length(learn, method);
        ucp_learn_forget(learn, method);
    }
}

unsigned ucp_learn_next(ucp_learn_t *learn, int *timed_p)
{
    unsigned due;

    *timed_p      = 0;
    learn->is_led = 0;
    ++learn->count;
    if (learn->timing) {
        return learn->best;
    }
    if (learn->trial == UCP_LEARN_NONE) {
        due = find_due(learn);
        if (due == UCP_LEARN_NONE) {
            return learn->best;
        }
        start_trial(learn, due);
    }
    --learn->left;
    *timed_p = (learn->left < num_timed(learn, learn->trial)) ||
               is_first(learn);
    learn->timing = (uint8_t)*timed_p;
    return learn->trial;
}

static void select_best(ucp_learn_t *learn, unsigned method)
{
    learn->best    = (uint8_t)method;
    learn->num_odd = 0;
}

void ucp_learn_follow(ucp_learn_t *learn, unsigned method)
{
    ++learn->count;
    learn->is_led = 1;
    if (learn->best != method) {
        select_best(learn, method);
    }
}

void ucp_learn_drop(ucp_learn_t *learn)
{
    ucp_learn_method_t *method;

    if (learn->timing) {
        method      = &learn->method[learn->trial];
        method->due = learn->count +
                      ucs_min(1U << method->drops, watch_gap(learn));
        method->drops = (uint8_t)ucs_min(method->drops + 1, 8);
        learn->trial  = UCP_LEARN_NONE;
        learn->timing = 0;
    }
}

/* --------------------------------------------------------------- results -- */

/* Called when the selected method has become slower: the samples of the other
 * methods may be invalid, too, so their trials are due at once. */
static void try_others(ucp_learn_t *learn)
{
    unsigned i;

    for (i = 0; i < UCP_LEARN_MAX_METHODS; ++i) {
        if (i != learn->best) {
            learn->method[i].gap = UCP_LEARN_MIN_GAP;
            learn->method[i].due = learn->count + 1;
        }
    }
}

/* Called after a trial of the method `index`: selects it if it is faster than
 * the selected one by more than the noise, and by at least MIN_ADVANTAGE. The
 * noise is a quarter of the sum of both methods' ucp_learn_noise(). This is
 * half of their mean, because the noise of several samples together is about
 * half of that of one sample. */
static void decide(ucp_learn_t *learn, unsigned index)
{
    double noise = ucp_learn_noise(learn, index) +
                   ucp_learn_noise(learn, learn->best);
    double advantage = ucs_max(0.25 * noise, MIN_ADVANTAGE);

    if (ucp_learn_time(learn, index) * (1 + advantage) <
        ucp_learn_time(learn, learn->best)) {
        select_best(learn, index);
    }
}

/* Sets when the next trial of a method is due, which is not the selected one
 * and took `ratio` times as long. The second trial of a method follows soon,
 * even if it takes much time, because the first one may have been disturbed.
 * Later trials of a slow method are so rare that they add at most MAX_COST to
 * the time of all transfers. */
static void schedule_other(ucp_learn_t *learn, unsigned index, double ratio)
{
    ucp_learn_method_t *method = &learn->method[index];
    double needed = trial_length(learn, index) * (ratio - 1) * AND_BACK *
                    (UCP_LEARN_MAX_METHODS - 1) / MAX_COST;

    if ((method->gap > UCP_LEARN_MIN_GAP) && (needed > method->gap)) {
        method->gap = (uint32_t)ucs_min(needed, MAX_GAP_BY_COST);
    }
    method->due = learn->count + method->gap;
    if (method->gap < UCP_LEARN_MAX_GAP) {
        method->gap *= 2;
    }
}

/* Called at the end of a trial. Returns whether another one follows at once,
 * which is longer: if the method takes about as long as the selected one, a few
 * transfers just after the change do not show which one is faster. */
static int needs_longer(ucp_learn_t *learn, unsigned index)
{
    double time  = ucp_learn_time(learn, index);
    double best  = ucp_learn_time(learn, learn->best);
    int was_long = is_close(learn, index);

    learn->close &= (uint8_t)~UCS_BIT(index);
    if (learn->is_long || (index == learn->best) || (time > CLOSE * best) ||
        (best > CLOSE * time)) {
        return 0;
    }
    learn->close |= (uint8_t)UCS_BIT(index);
    return !was_long;
}

/* Called at the end of the trial of the method `index`. */
static void schedule(ucp_learn_t *learn, unsigned index)
{
    double time = ucp_learn_time(learn, learn->best);

    if (index == learn->best) {
        learn->method[index].due = learn->count + sample_gap(learn);
    } else {
        schedule_other(learn, index, (time > 0) ? learn->mean / time : 1);
    }
}

/* Adds the sample `number` of a trial, from 1. */
static void add_of_trial(ucp_learn_t *learn, double sample, unsigned number)
{
    double time  = ucp_learn_time(learn, learn->best);
    double limit = (time > 0) ? COSTLY * time : sample;

    ucp_learn_add(learn, learn->trial, sample);
    learn->mean += (float)((ucs_min(sample, limit) - learn->mean) / number);
}

/* Called with the time of the first transfer of a trial. It is a sample only if
 * it ends the trial. */
static void end_first(ucp_learn_t *learn, double sample)
{
    if (sample > learn->first_limit * ucp_learn_time(learn, learn->best)) {
        add_of_trial(learn, sample, 1);
        learn->left = 0;
    }
}

/* True if a method takes more than `limit` times as long as the selected one. */
static int exceeds(const ucp_learn_t *learn, unsigned index, double limit)
{
    return (index != learn->best) &&
           (ucp_learn_time(learn, index) >
            limit * ucp_learn_time(learn, learn->best));
}

/* True if the trial of the method may end before all of its transfers. */
static int is_slow(const ucp_learn_t *learn, unsigned index)
{
    unsigned count = learn->method[index].count;

    return (learn->slow_limit > 0) ?
               (count > 0) && exceeds(learn, index, learn->slow_limit) :
               (count >= 3) && exceeds(learn, index, HOPELESS);
}

void ucp_learn_postpone_alike(ucp_learn_t *learn, unsigned index,
                              unsigned transfers)
{
    unsigned i;

    for (i = 0; i < UCP_LEARN_MAX_METHODS; ++i) {
        if ((learn->alike & UCS_BIT(index)) && (learn->alike & UCS_BIT(i)) &&
            (i != learn->best) && (learn->method[i].count == 0)) {
            learn->method[i].due = learn->count + transfers;
        }
    }
}

/* The next trial of the method `index`, and the first ones of methods like it,
 * begin later. */
static void postpone(ucp_learn_t *learn, unsigned index)
{
    if (learn->method[index].gap == UCP_LEARN_MIN_GAP) {
        learn->method[index].gap = UCP_LEARN_SLOW_GAP;
    }
    ucp_learn_postpone_alike(learn, index, UCP_LEARN_SLOW_GAP);
}

void ucp_learn_result(ucp_learn_t *learn, double seconds_per_byte)
{
    unsigned index = learn->trial;
    unsigned before;

    if (!learn->timing) {
        return;
    }
    learn->timing              = 0;
    learn->method[index].drops = 0;
    if (is_first(learn)) {
        end_first(learn, seconds_per_byte);
    } else if ((index == learn->best) &&
               (learn->method[index].count >= num_timed(learn, index)) &&
               (learn->left == 0)) {
        if (ucp_learn_watch(learn, seconds_per_byte)) {
            try_others(learn);
        }
    } else {
        add_of_trial(learn, seconds_per_byte,
                     num_timed(learn, index) - learn->left);
    }
    if ((learn->left > 0) && !is_slow(learn, index)) {
        return;
    }
    before       = learn->best;
    learn->trial = UCP_LEARN_NONE;
    if (exceeds(learn, index, HOPELESS)) {
        postpone(learn, index);
    }
    if (index != before) {
        decide(learn, index);
        if (learn->best != before) {
            schedule_other(learn, before,
                           ucp_learn_time(learn, before) /
                               ucp_learn_time(learn, learn->best));
        }
    }
    if (needs_longer(learn, index)) {
        learn->method[index].due = learn->count + 1;
    } else {
        schedule(learn, index);
    }
}
