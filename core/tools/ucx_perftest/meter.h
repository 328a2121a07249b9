/* SPDX-License-Identifier: BSD-3-Clause */
/* Measurement of one thread. Hot path: a test calls meter_each() after each
 * operation if operations are sequential; each is timed. It calls meter_some()
 * if operations overlap: the clock is then read once for a group of operations
 * that takes about a microsecond, and percentiles are those of the groups'
 * averages. */
#ifndef PERFTEST_METER_H
#define PERFTEST_METER_H

#include "clock.h"
#include "histogram.h"

enum {
    METER_MAX_GROUP = 6, /* groups of up to 2^6 operations */
};

/* Times are in ticks of clock.h. */
struct meter {
    uint64_t last; /* time of the last read of the clock */
    /* Time from which meter_report() is called; UINT64_MAX: never */
    uint64_t report_at;
    uint64_t done;  /* number of operations completed before the time `last` */
    uint32_t left;  /* number of operations until the clock is read again */
    uint32_t group; /* a group is 2^group operations */
    /* Ticks that a group should take */
    uint64_t group_ticks;
    struct histogram *histogram;
    /* Start of the measurement, moved by the time that printing took */
    uint64_t start;
    uint64_t reported_at; /* time of the last printed line */
    uint64_t reported;    /* number of operations completed at the time
                           * reported_at */
    void (*report)(struct meter *meter);
    void *arg; /* argument of report */
};

/* Initializes a meter. `report` is called about every second; NULL: never. */
void meter_init(struct meter *meter, struct histogram *histogram,
                void (*report)(struct meter *meter), void *arg);
void meter_start(struct meter *meter);

/* Ends the measurement of `count` operations. All of them must be complete,
 * also at the peer. */
void meter_stop(struct meter *meter, uint64_t count);

/* Called when the operations of a group are done: reads the clock. */
void meter_look(struct meter *meter);
/* Calls `report`, and excludes the time of this call from the measurement. */
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

/* Results of one or several threads: average_* since the last printed line,
 * overall_* in total. Times are in microseconds. */
struct figures {
    uint64_t iterations;
    double percentile;
    double average_time;
    double overall_time;
    double average_rate; /* messages per second */
    double overall_rate;
};

/* Computes the results. `rank` is the rank of the percentile, 0 to 100.
 * `messages` is the number of messages in an iteration. The time of an
 * iteration is divided by this number: half of a round trip for a ping-pong,
 * which has 2. */
void meter_figures(const struct meter *meter, double rank, unsigned messages,
                   struct figures *figures);

#endif
