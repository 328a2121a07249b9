/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * See learn.h.
 */
#include "ucp/learn/learn.h"

#include "ucs/sys/math.h"

#include <string.h>

/* The least advantage that counts, and the largest noise that may hide one. */
#define MIN_ADVANTAGE 0.05
#define MAX_NOISE     0.3

/* A sample that differs from the median by more than this, or by three times
 * the noise, is odd. Several in the same direction are a
 * change. */
#define MIN_CHANGE 0.25

/* A method that took this many times longer three times is not tried at once again. */
#define HOPELESS 2.0

/* Trials cost at most this part of the time of all transfers, shared among the
 * methods. */
#define MAX_COST 0.01

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

static double least(const ucp_learn_t *learn, unsigned index)
{
    float values[UCP_LEARN_SAMPLES];

    return (sorted(&learn->method[index], values) == 0) ? 0 : values[0];
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

void ucp_learn_init(ucp_learn_t *learn, unsigned methods, unsigned first,
                    unsigned run)
{
    unsigned i;

    memset(learn, 0, sizeof(*learn));
    learn->methods = (uint8_t)methods;
    learn->best    = (uint8_t)first;
    learn->timing  = UCP_LEARN_NONE;
    learn->run     = (uint8_t)run;
    for (i = 0; i < UCP_LEARN_MAX_METHODS; ++i) {
        learn->method[i].due = UCP_LEARN_SKIP + ((i == first) ? 0 : 1 + i);
        learn->method[i].gap = UCP_LEARN_MIN_GAP;
    }
}

static int is_possible(const ucp_learn_t *learn, unsigned index)
{
    return !!(learn->methods & UCS_BIT(index));
}

/* Transfers until it is due; not positive: now. */
static int32_t remaining(const ucp_learn_t *learn, unsigned index)
{
    return (int32_t)(learn->method[index].due - learn->count);
}

unsigned ucp_learn_next(ucp_learn_t *learn, int *timed_p)
{
    unsigned next = UCP_LEARN_NONE;
    unsigned i;

    *timed_p = 0;
    ++learn->count;
    if (learn->timing != UCP_LEARN_NONE) {
        return learn->best;
    }
    for (i = 0; i < UCP_LEARN_MAX_METHODS; ++i) {
        if (is_possible(learn, i) && (remaining(learn, i) <= 0) &&
            ((next == UCP_LEARN_NONE) ||
             (remaining(learn, i) < remaining(learn, next)))) {
            next = i;
        }
    }
    if (next == UCP_LEARN_NONE) {
        return learn->best;
    }
    *timed_p      = 1;
    learn->timing = (uint8_t)next;
    return next;
}

void ucp_learn_drop(ucp_learn_t *learn)
{
    if (learn->timing != UCP_LEARN_NONE) {
        /* at least as long as a result takes to arrive */
        learn->method[learn->timing].due = learn->count + UCP_LEARN_WATCH;
        learn->timing                    = UCP_LEARN_NONE;
    }
}

static void add(ucp_learn_method_t *method, float sample)
{
    method->samples[method->next] = sample;
    method->next = (uint8_t)((method->next + 1) % UCP_LEARN_SAMPLES);
    if (method->count < UCP_LEARN_SAMPLES) {
        ++method->count;
    }
}

static void forget(ucp_learn_method_t *method)
{
    method->count   = 0;
    method->next    = 0;
    method->num_odd = 0;
}

/* Stores a sample. Non-zero: the method has become slower. */
static int store(ucp_learn_t *learn, unsigned index, float sample)
{
    ucp_learn_method_t *method = &learn->method[index];
    float time                 = (float)ucp_learn_time(learn, index);
    float bound = (float)ucs_max(3 * ucp_learn_noise(learn, index), MIN_CHANGE);
    int is_slow = (sample > time * (1 + bound));
    int is_fast = (sample * (1 + bound) < time);
    unsigned i;

    if ((method->count < UCP_LEARN_ENOUGH) || (!is_slow && !is_fast)) {
        method->num_odd = 0;
        add(method, sample);
        return 0;
    }
    if ((method->num_odd > 0) && ((method->odd[0] > time) != is_slow)) {
        method->num_odd = 0;
    }
    method->odd[method->num_odd++] = sample;
    if (method->num_odd < UCP_LEARN_ODD) {
        return 0;
    }
    forget(method);
    for (i = 0; i < UCP_LEARN_ODD; ++i) {
        add(method, method->odd[i]);
    }
    return is_slow;
}

/* Selects the method of the lowest time, if its advantage exceeds the noise:
 * that of several samples is about half of that of one. */
static void decide(ucp_learn_t *learn)
{
    unsigned i;

    for (i = 0; i < UCP_LEARN_MAX_METHODS; ++i) {
        double now       = ucp_learn_time(learn, learn->best);
        double advantage = ucs_max(0.25 * (ucp_learn_noise(learn, i) +
                                           ucp_learn_noise(learn, learn->best)),
                                   MIN_ADVANTAGE);

        if (is_possible(learn, i) && (i != learn->best) &&
            (learn->method[i].count >= UCP_LEARN_ENOUGH) &&
            (learn->method[learn->best].count >= UCP_LEARN_ENOUGH) &&
            (ucp_learn_time(learn, i) * (1 + advantage) < now)) {
            learn->best = (uint8_t)i;
        }
    }
}

/* Sets when a method is timed again. */
static void schedule(ucp_learn_t *learn, unsigned index)
{
    ucp_learn_method_t *method = &learn->method[index];
    double best                = ucp_learn_time(learn, learn->best);
    double ratio               = (best > 0) ?
                                 ucp_learn_time(learn, index) / best : 1;
    double affordable;

    if ((method->count < UCP_LEARN_ENOUGH) &&
        ((method->count < UCP_LEARN_ODD) || (ratio < HOPELESS))) {
        method->due = learn->count + 1;
        return;
    }
    if ((method->num_odd > 0) ||
        ((method->count < UCP_LEARN_SAMPLES) && (index != learn->best) &&
         (least(learn, index) < best * (1 + MAX_NOISE)))) {
        /* a change to be confirmed, or a difference that noise may hide */
        method->due = learn->count + UCP_LEARN_SKIP;
        return;
    }
    if (index == learn->best) {
        method->gap = UCP_LEARN_MIN_GAP;
        method->due = learn->count + UCP_LEARN_WATCH;
        return;
    }
    affordable = learn->run * (ratio - 1) * (UCP_LEARN_MAX_METHODS - 1) / MAX_COST;
    if ((method->count >= UCP_LEARN_ENOUGH) && (affordable > method->gap)) {
        method->gap = (uint32_t)ucs_min(affordable, 1e9);
    }
    method->due = learn->count + method->gap;
    if (method->gap < UCP_LEARN_MAX_GAP) {
        method->gap *= 2;
    }
}

/* The conditions have changed: what is known of the others may be wrong. */
static void try_others_soon(ucp_learn_t *learn)
{
    unsigned i;

    for (i = 0; i < UCP_LEARN_MAX_METHODS; ++i) {
        if (i != learn->best) {
            forget(&learn->method[i]);
            learn->method[i].gap = UCP_LEARN_MIN_GAP;
            learn->method[i].due = learn->count + 1;
        }
    }
}

void ucp_learn_result(ucp_learn_t *learn, double seconds_per_byte)
{
    unsigned index = learn->timing;

    if (index == UCP_LEARN_NONE) {
        return;
    }
    learn->timing = UCP_LEARN_NONE;
    if (store(learn, index, (float)seconds_per_byte) &&
        (index == learn->best)) {
        try_others_soon(learn);
    }
    decide(learn);
    schedule(learn, index);
}
