/* SPDX-License-Identifier: BSD-3-Clause */
/* The slow path of measurements: reads the clock for a group of operations,
 * prints progress, and computes rates and averages from ticks. */
#include "meter.h"

#include <stddef.h>

#define GROUP_SECONDS  1e-6
#define REPORT_SECONDS 1.0

void meter_init(struct meter *meter, struct histogram *histogram,
                void (*report)(struct meter *meter), void *arg)
{
    *meter = (struct meter){.histogram   = histogram,
                            .report      = report,
                            .arg         = arg,
                            .group_ticks = perf_clock.ticks_per_second *
                                           GROUP_SECONDS};
    histogram_reset(histogram);
}

static uint64_t next_report(const struct meter *meter)
{
    return (meter->report == NULL) ?
               UINT64_MAX :
               meter->last +
                   (uint64_t)(perf_clock.ticks_per_second * REPORT_SECONDS);
}

void meter_start(struct meter *meter)
{
    meter->group       = 0;
    meter->left        = 1;
    meter->start       = clock_ticks();
    meter->last        = meter->start;
    meter->reported_at = meter->start;
    meter->report_at   = next_report(meter);
}

/* Prints a line of progress. The time of printing is excluded from the
 * measurement. */
void meter_report(struct meter *meter)
{
    uint64_t written;

    meter->report(meter);
    meter->reported    = meter->done;
    meter->reported_at = meter->last;
    written            = clock_ticks() - meter->last;
    meter->start += written;
    meter->reported_at += written;
    meter->last += written;
    meter->report_at = next_report(meter);
}

/* Reads the clock and adapts the number of operations in a group: the number
 * grows while a group takes less than about a microsecond, and shrinks if
 * operations become slow. */
void meter_look(struct meter *meter)
{
    uint64_t now  = clock_ticks();
    uint64_t time = now - meter->last;

    histogram_add(meter->histogram, time >> meter->group,
                  UINT64_C(1) << meter->group);
    meter->done += UINT64_C(1) << meter->group;
    meter->last = now;
    if ((time < meter->group_ticks) && (meter->group < METER_MAX_GROUP)) {
        ++meter->group;
    } else if ((time > 4 * meter->group_ticks) && (meter->group > 0)) {
        --meter->group;
    }
    meter->left = 1u << meter->group;
    if (now >= meter->report_at) {
        meter_report(meter);
    }
}

void meter_stop(struct meter *meter, uint64_t count)
{
    meter->last = clock_ticks();
    meter->done = count;
}

void meter_figures(const struct meter *meter, double rank, unsigned messages,
                   struct figures *figures)
{
    double whole  = clock_seconds(meter->last - meter->start);
    double recent = clock_seconds(meter->last - meter->reported_at);
    double count  = (double)meter->done * messages;
    double fresh  = (double)(meter->done - meter->reported) * messages;

    /* Avoids an infinite rate if the clock has not advanced. */
    whole               = (whole > 1e-9) ? whole : 1e-9;
    recent              = (recent > 1e-9) ? recent : 1e-9;
    figures->iterations = meter->done;
    figures->percentile = clock_seconds(
                              histogram_percentile(meter->histogram, rank)) *
                          1e6 / messages;
    figures->average_time = (fresh > 0) ? recent * 1e6 / fresh : 0;
    figures->overall_time = (count > 0) ? whole * 1e6 / count : 0;
    figures->average_rate = fresh / recent;
    figures->overall_rate = count / whole;
}
