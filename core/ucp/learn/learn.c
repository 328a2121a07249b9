/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Selects the fastest of a few methods from the times of transfers (learn.h):
 * when to try which method, what a result changes, and when the next trial is
 * due.
 */
#include "ucp/learn/learn.h"

#include "ucs/sys/math.h"

#include <string.h>

/* Limit of ucp_learn_noise(). With a larger value, a method that is clearly
 * faster would not be selected. */
#define MAX_NOISE 0.3

/* A sample is odd if it differs from ucp_learn_time() by more than this
 * fraction, and by more than three times the noise. Several odd samples in the
 * same direction mean that the conditions have changed. */
#define MIN_CHANGE 0.25

/* A trial ends early if the method takes more than this many times as long as
 * the selected one. */
#define HOPELESS 2.0

/* Limit of the time that trials add, as a fraction of the time of all
 * transfers. Each method that is not selected gets an equal share of it. */
#define MAX_COST        0.01
#define MAX_GAP_BY_COST 1e6

/* The plan for transfers that are alone. The first units are skipped, because
 * code and data are not in the caches yet. */
const ucp_learn_plan_t ucp_learn_plan_alone = {
    .skip      = 4,
    .warm      = 2,
    .timed     = 4,
    .cost      = 6,
    .watch     = 64,
    .min_gap   = 128,
    .max_gap   = 16384,
    .advantage = 0.05,
};

/* The plan for series. A series itself begins with transfers that are not timed
 * (ucp_timing_series()), so `warm` and `skip` are 0. A trial has only one
 * sample, so the noise of the method is not known and `advantage` is larger. */
const ucp_learn_plan_t ucp_learn_plan_series = {
    .skip      = 0,
    .warm      = 0,
    .timed     = 1,
    .cost      = 2,
    .watch     = 8,
    .min_gap   = 8,
    .max_gap   = 1024,
    .advantage = 0.08,
};

static void sort(float *values, unsigned count)
{
    unsigned i, k;
    float value;

    for (i = 1; i < count; ++i) {
        value = values[i];
        for (k = i; (k > 0) && (values[k - 1] > value); --k) {
            values[k] = values[k - 1];
        }
        values[k] = value;
    }
}

static unsigned sorted(const ucp_learn_method_t *method, float *values)
{
    memcpy(values, method->samples, method->count * sizeof(*values));
    sort(values, method->count);
    return method->count;
}

double ucp_learn_time(const ucp_learn_t *learn, unsigned index)
{
    float values[UCP_LEARN_SAMPLES];
    unsigned count = sorted(&learn->method[index], values);

    return (count == 0) ? 0 : values[(count - 1) / 3];
}

double ucp_learn_noise(const ucp_learn_t *learn, unsigned index)
{
    float values[UCP_LEARN_SAMPLES];
    unsigned count = sorted(&learn->method[index], values);
    double noise;

    if (count < 2) {
        return 0;
    }
    noise = (values[2 * (count - 1) / 3] - values[0]) / values[(count - 1) / 3];
    return ucs_min(noise, MAX_NOISE);
}

ucp_learn_reason_t ucp_learn_reason(const ucp_learn_t *learn)
{
    double best               = ucp_learn_time(learn, learn->best);
    ucp_learn_reason_t reason = UCP_LEARN_ESTIMATED;
    double time;
    unsigned i;

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

void ucp_learn_init(ucp_learn_t *learn, const ucp_learn_plan_t *plan,
                    unsigned methods, unsigned first)
{
    unsigned i;

    memset(learn, 0, sizeof(*learn));
    learn->plan    = plan;
    learn->methods = (uint8_t)methods;
    learn->best    = (uint8_t)first;
    learn->trial   = UCP_LEARN_NONE;
    for (i = 0; i < UCP_LEARN_MAX_METHODS; ++i) {
        learn->method[i].due = plan->skip + ((i == first) ? 0U : 1U);
        learn->method[i].gap = learn->plan->min_gap;
    }
}

void ucp_learn_postpone(ucp_learn_t *learn, unsigned methods)
{
    unsigned i;

    for (i = 0; i < UCP_LEARN_MAX_METHODS; ++i) {
        if ((i != learn->best) && (methods & UCS_BIT(i)) &&
            (learn->method[i].count == 0)) {
            learn->method[i].due = learn->count + learn->plan->max_gap / 8;
        }
    }
}

/* ---------------------------------------------------------- what is next -- */

/* Returns the number of units until a method's trial is due; 0 or negative if
 * it is due. */
static int32_t remaining(const ucp_learn_t *learn, unsigned index)
{
    return (int32_t)(learn->method[index].due - learn->count);
}

/* Returns the method whose trial is overdue by most units, or UCP_LEARN_NONE if
 * none is due. */
static unsigned find_due(const ucp_learn_t *learn)
{
    unsigned due = UCP_LEARN_NONE;
    unsigned i;

    for (i = 0; i < UCP_LEARN_MAX_METHODS; ++i) {
        if ((learn->methods & UCS_BIT(i)) && (remaining(learn, i) <= 0) &&
            ((due == UCP_LEARN_NONE) ||
             (remaining(learn, i) < remaining(learn, due)))) {
            due = i;
        }
    }
    return due;
}

static void forget(ucp_learn_method_t *method)
{
    method->count = 0;
    method->next  = 0;
}

/* Starts a trial and drops the method's older samples. But if the method is the
 * selected one and has samples, the trial adds one sample to them. */
static void start_trial(ucp_learn_t *learn, unsigned method)
{
    learn->trial = (uint8_t)method;
    learn->left  = 1;
    if ((method != learn->best) || (learn->method[method].count == 0)) {
        learn->left = (uint8_t)(learn->plan->warm + learn->plan->timed);
        forget(&learn->method[method]);
    }
}

unsigned ucp_learn_next(ucp_learn_t *learn, int *timed_p)
{
    unsigned due;

    *timed_p = 0;
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
    *timed_p      = (--learn->left < learn->plan->timed);
    learn->timing = (uint8_t)*timed_p;
    return learn->trial;
}

void ucp_learn_drop(ucp_learn_t *learn)
{
    ucp_learn_method_t *method;

    if (learn->timing) {
        method        = &learn->method[learn->trial];
        method->due   = learn->count + ucs_min(1U << method->drops,
                                               (uint32_t)learn->plan->watch);
        method->drops = (uint8_t)ucs_min(method->drops + 1, 8);
        learn->trial  = UCP_LEARN_NONE;
        learn->timing = 0;
    }
}

/* --------------------------------------------------------------- results -- */

static void add(ucp_learn_method_t *method, float sample)
{
    method->samples[method->next] = sample;
    method->next = (uint8_t)((method->next + 1) % UCP_LEARN_SAMPLES);
    if (method->count < UCP_LEARN_SAMPLES) {
        ++method->count;
    }
}

/* Called when the selected method has become slower: the samples of the other
 * methods may be invalid, too, so their trials are due at once. */
static void try_others(ucp_learn_t *learn)
{
    unsigned i;

    for (i = 0; i < UCP_LEARN_MAX_METHODS; ++i) {
        if (i != learn->best) {
            learn->method[i].gap = learn->plan->min_gap;
            learn->method[i].due = learn->count + 1;
        }
    }
}

/* Stores a sample of the selected method. An odd sample is not used at first;
 * but UCP_LEARN_ODD of them in a row, all slower or all faster, replace the
 * earlier samples. */
static void watch(ucp_learn_t *learn, float sample)
{
    ucp_learn_method_t *method = &learn->method[learn->best];
    double time                = ucp_learn_time(learn, learn->best);
    double bound = ucs_max(3 * ucp_learn_noise(learn, learn->best), MIN_CHANGE);
    int is_slow  = (sample > time * (1 + bound));
    int is_fast  = (sample * (1 + bound) < time);
    unsigned i;

    if (!is_slow && !is_fast) {
        learn->num_odd = 0;
        add(method, sample);
        return;
    }
    if ((learn->num_odd > 0) && ((learn->odd[0] > time) != is_slow)) {
        learn->num_odd = 0;
    }
    learn->odd[learn->num_odd++] = sample;
    if (learn->num_odd < UCP_LEARN_ODD) {
        return;
    }
    learn->num_odd = 0;
    forget(method);
    for (i = 0; i < UCP_LEARN_ODD; ++i) {
        add(method, learn->odd[i]);
    }
    if (is_slow) {
        try_others(learn);
    }
}

/* Called after a trial of the method `index`: selects it if it is faster than
 * the selected one by more than the noise, and by at least plan->advantage. The
 * noise is a quarter of the sum of both methods' ucp_learn_noise(). This is
 * half of their mean, because the noise of several samples together is about
 * half of that of one sample. */
static void decide(ucp_learn_t *learn, unsigned index)
{
    double noise = ucp_learn_noise(learn, index) +
                   ucp_learn_noise(learn, learn->best);
    double advantage = ucs_max(0.25 * noise, learn->plan->advantage);

    if (ucp_learn_time(learn, index) * (1 + advantage) <
        ucp_learn_time(learn, learn->best)) {
        learn->best    = (uint8_t)index;
        learn->num_odd = 0;
    }
}

/* Sets when the next trial of a method is due. The second trial of a method
 * follows soon, even if it takes much time, because the first one may have been
 * disturbed. Later trials of a slow method are so rare that they add at most
 * MAX_COST to the time of all transfers. */
static void schedule(ucp_learn_t *learn, unsigned index)
{
    ucp_learn_method_t *method = &learn->method[index];
    double ratio, needed;

    if (index == learn->best) {
        method->gap = learn->plan->min_gap;
        method->due = learn->count +
                      ((learn->num_odd > 0) ? 1 : learn->plan->watch);
        return;
    }
    ratio  = (learn->method[learn->best].count == 0) ?
                 1 :
                 ucp_learn_time(learn, index) /
                    ucp_learn_time(learn, learn->best);
    needed = learn->plan->cost * (ratio - 1) * (UCP_LEARN_MAX_METHODS - 1) /
             MAX_COST;
    if ((method->gap > learn->plan->min_gap) && (needed > method->gap)) {
        method->gap = (uint32_t)ucs_min(needed, MAX_GAP_BY_COST);
    }
    method->due = learn->count + method->gap;
    if (method->gap < learn->plan->max_gap) {
        method->gap *= 2;
    }
}

static int is_hopeless(const ucp_learn_t *learn, unsigned index)
{
    return (index != learn->best) && (learn->method[index].count >= 3) &&
           (ucp_learn_time(learn, index) >
            HOPELESS * ucp_learn_time(learn, learn->best));
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
    if ((index == learn->best) &&
        (learn->method[index].count >= learn->plan->timed) &&
        (learn->left == 0)) {
        watch(learn, (float)seconds_per_byte);
    } else {
        add(&learn->method[index], (float)seconds_per_byte);
    }
    if ((learn->left > 0) && !is_hopeless(learn, index)) {
        return;
    }
    before       = learn->best;
    learn->trial = UCP_LEARN_NONE;
    if (index != before) {
        decide(learn, index);
        if (learn->best != before) {
            schedule(learn, before);
        }
    }
    schedule(learn, index);
}
