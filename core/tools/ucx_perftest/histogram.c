/* SPDX-License-Identifier: BSD-3-Clause */
/* Evaluation of a histogram. Adding is inline, in the header. */
#include "histogram.h"

#include <string.h>

void histogram_reset(struct histogram *histogram)
{
    memset(histogram, 0, sizeof(*histogram));
    histogram->min = UINT64_MAX;
}

void histogram_merge(struct histogram *into, const struct histogram *from)
{
    unsigned i;

    for (i = 0; i < HISTOGRAM_BUCKETS; ++i) {
        into->counts[i] += from->counts[i];
    }
    into->total += from->total;
    into->min = (from->min < into->min) ? from->min : into->min;
    into->max = (from->max > into->max) ? from->max : into->max;
}

uint64_t histogram_lower(unsigned bucket)
{
    unsigned octave = bucket >> HISTOGRAM_SUB_BITS;
    uint64_t sub    = bucket & (HISTOGRAM_SUB - 1);

    return (octave == 0) ? sub : (HISTOGRAM_SUB + sub) << (octave - 1);
}

/* Interpolates within the bucket that contains the rank, and limits the result
 * to the observed minimum and maximum. */
double histogram_percentile(const struct histogram *histogram, double rank)
{
    double wanted = histogram->total * rank / 100, seen = 0, value = 0;
    double lower, upper;
    unsigned i;

    if (histogram->total == 0) {
        return 0;
    }
    for (i = 0; i < HISTOGRAM_BUCKETS; ++i) {
        if (histogram->counts[i] == 0) {
            continue;
        }
        lower = histogram_lower(i);
        upper = histogram_lower(i + 1) - 1;
        if (seen + histogram->counts[i] >= wanted) {
            value = lower +
                    ((upper - lower) * (wanted - seen) / histogram->counts[i]);
            break;
        }
        seen += histogram->counts[i];
        value = upper;
    }
    value = (value < histogram->min) ? histogram->min : value;
    return (value > histogram->max) ? histogram->max : value;
}
