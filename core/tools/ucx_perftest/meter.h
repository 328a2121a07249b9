/* SPDX-License-Identifier: BSD-3-Clause */
/* What one thread measures. Hot path: a test calls meter_each() where one
 * operation waits for another and its time counts, and meter_some() where
 * operations overlap: there the clock is read for groups of operations that
 * together take about a microsecond, and percentiles are those of the means of
 * groups. */
#ifndef PERFTEST_METER_H
#define PERFTEST_METER_H

#include "clock.h"
#include "histogram.h"

enum {
    METER_MAX_GROUP = 6 /* groups of up to 2^6 operations */
};

struct meter {
    uint64_t last;      /* when the clock was read last */
    uint64_t report_at;
    uint64_t done;      /* operations until then */
    uint32_t left;      /* operations until the clock is read again */
    uint32_t group;     /* their number is 2^group */
    uint64_t group_ticks;
    struct histogram *histogram;
    uint64_t start;
    uint64_t reported_at;  /* the last line that was printed: when, ... */
    uint64_t reported;     /* ... and after how many operations */
    void (*report)(struct meter *meter);
    void *arg;             /* of report */
};

/* `report` is called about every second; NULL: never. */
void meter_init(struct meter *meter, struct histogram *histogram,
                void (*report)(struct meter *meter), void *arg);
void meter_start(struct meter *meter);

/* All is done, also what is asked of the other side. */
void meter_stop(struct meter *meter, uint64_t count);

void meter_look(struct meter *meter);
void meter_report(struct meter *meter);

static inline void meter_each(struct meter *meter)
{
    uint64_t now = clock_ticks();

    histogram_add(meter->histogram, now - meter->last, 1);
    meter->last = now;
    ++meter->done;
    if (__builtin_expect(now >= meter->report_at, 0)) {
        meter_report(meter);
    }
}

static inline void meter_some(struct meter *meter)
{
    if (--meter->left == 0) {
        meter_look(meter);
    }
}

/* How figures of one or several threads are written down: times in us, rates
 * per second; those since the last line, and those of the whole. */
struct figures {
    uint64_t iterations;
    double percentile;
    double average_time;
    double overall_time;
    double average_rate; /* of messages */
    double overall_rate;
};

/* `messages` are those of one iteration: 2 where an iteration is there and
 * back, and a time is half of it. */
void meter_figures(const struct meter *meter, double rank, unsigned messages,
                   struct figures *figures);

#endif
