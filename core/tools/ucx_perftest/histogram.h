/* SPDX-License-Identifier: BSD-3-Clause */
/* Histogram of durations. The width of a bucket is at most a 128th of its
 * duration, so a percentile is exact within 0.8 percent. Adding costs a few
 * instructions and one cache line. */
#ifndef PERFTEST_HISTOGRAM_H
#define PERFTEST_HISTOGRAM_H

#include <stdint.h>

enum {
    /* There are 2^7 buckets for each doubling of the duration. */
    HISTOGRAM_SUB_BITS = 7,
    HISTOGRAM_SUB      = 1 << HISTOGRAM_SUB_BITS,
    /* Durations from 2^40 ticks (minutes) share the last bucket. */
    HISTOGRAM_OCTAVES  = 40 - HISTOGRAM_SUB_BITS + 1,
    HISTOGRAM_BUCKETS  = HISTOGRAM_OCTAVES * HISTOGRAM_SUB,
};

/* Durations are in ticks of clock.h. */
struct histogram {
    uint64_t total; /* number of durations */
    uint64_t min;
    uint64_t max;
    uint64_t counts[HISTOGRAM_BUCKETS];
};

void histogram_reset(struct histogram *histogram);
void histogram_merge(struct histogram *into, const struct histogram *from);

/* Returns the duration that `rank` percent of all durations do not exceed; 0 if
 * the histogram is empty. */
double histogram_percentile(const struct histogram *histogram, double rank);

/* Returns the lowest duration of a bucket. The bucket ends before that of the
 * next one. */
uint64_t histogram_lower(unsigned bucket);

/* Returns the bucket of a duration. Each duration below HISTOGRAM_SUB has its
 * own bucket. */
static inline unsigned histogram_bucket(uint64_t value)
{
    unsigned octave, bucket;

    if (value < HISTOGRAM_SUB) {
        return value;
    }
    octave = 63 - __builtin_clzll(value) - HISTOGRAM_SUB_BITS;
    bucket = (octave << HISTOGRAM_SUB_BITS) + (value >> octave);
    return (bucket < HISTOGRAM_BUCKETS) ? bucket : HISTOGRAM_BUCKETS - 1;
}

/* Adds a duration `times` times. Hot path. */
static inline void histogram_add(struct histogram *histogram, uint64_t value,
                                 uint64_t times)
{
    histogram->counts[histogram_bucket(value)] += times;
    histogram->total += times;
    if (__builtin_expect(value < histogram->min, 0)) {
        histogram->min = value;
    }
    if (__builtin_expect(value > histogram->max, 0)) {
        histogram->max = value;
    }
}

#endif
