/* SPDX-License-Identifier: BSD-3-Clause */
/* The samples of the methods of a search: see samples.h. */
#include "ucp/learn/samples.h"

#include "ucs/sys/math.h"

#include <string.h>

/* Limit of ucp_learn_noise(). With a larger value, a method that is clearly
 * faster would not be selected. */
#define MAX_NOISE 0.3

/* A sample is odd if it differs from ucp_learn_time() by more than this
 * fraction, and by more than three times the noise. Several odd samples in the
 * same direction mean that the conditions have changed. */
#define MIN_CHANGE 0.25

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

double ucp_learn_median(const ucp_learn_t *learn, unsigned index)
{
    float values[UCP_LEARN_SAMPLES];
    unsigned count = sorted(&learn->method[index], values);

    return (count == 0) ? 0 : values[count / 2];
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

void ucp_learn_forget(ucp_learn_t *learn, unsigned index)
{
    learn->method[index].count = 0;
    learn->method[index].next  = 0;
    learn->method[index].time  = 0;
}

/* Called after a change of the samples, of which there is at least one. */
static void set_time(ucp_learn_method_t *method)
{
    float values[UCP_LEARN_SAMPLES];
    unsigned count = sorted(method, values);

    method->time = values[(count - 1) / 3];
}

void ucp_learn_add(ucp_learn_t *learn, unsigned index, double sample)
{
    ucp_learn_method_t *method = &learn->method[index];

    method->samples[method->next] = (float)sample;
    method->next = (uint8_t)((method->next + 1) % UCP_LEARN_SAMPLES);
    if (method->count < UCP_LEARN_SAMPLES) {
        ++method->count;
    }
    set_time(method);
}

void ucp_learn_scale(ucp_learn_t *learn, unsigned index, double factor)
{
    ucp_learn_method_t *method = &learn->method[index];
    unsigned i;

    for (i = 0; i < method->count; ++i) {
        method->samples[i] *= (float)factor;
    }
    method->time *= (float)factor;
}

/* Called when the samples that are odd in a row end without a change. */
static void end_odd(ucp_learn_t *learn)
{
    learn->odd_before = (uint16_t)(((uint32_t)learn->odd_before
                                    << learn->num_odd) |
                                   UCS_MASK(learn->num_odd));
    learn->num_odd    = 0;
}

int ucp_learn_watch(ucp_learn_t *learn, double sample)
{
    double time  = ucp_learn_time(learn, learn->best);
    double bound = ucs_max(3 * ucp_learn_noise(learn, learn->best), MIN_CHANGE);
    int is_slow  = (sample > time * (1 + bound));
    int is_fast  = (sample * (1 + bound) < time);
    unsigned i;

    if (!is_slow && !is_fast) {
        end_odd(learn);
        learn->odd_before = (uint16_t)(learn->odd_before << 1);
        ucp_learn_add(learn, learn->best, sample);
        return 0;
    }
    if ((learn->num_odd > 0) && ((learn->odd[0] > time) != is_slow)) {
        end_odd(learn);
    }
    learn->odd[learn->num_odd++ % UCP_LEARN_ODD] = (float)sample;
    if (learn->num_odd < UCP_LEARN_ODD + ucs_popcount(learn->odd_before)) {
        return 0;
    }
    learn->num_odd = 0;
    ucp_learn_forget(learn, learn->best);
    for (i = 0; i < UCP_LEARN_ODD; ++i) {
        ucp_learn_add(learn, learn->best, learn->odd[i]);
    }
    return is_slow;
}
