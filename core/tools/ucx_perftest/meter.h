/* SPDX-License-Identifier: BSD-3-Clause */
/* Measurement of one thread. Hot path: a test calls meter_each() if operations
 * are sequential and each is timed, and meter_some() if they overlap: then the
 * clock is read once for a group of operations of about a microsecond, and
 * percentiles are those of group means. */
#ifndef PERFTEST_METER_H
#define PERFTEST_METER_H

#include "clock.h"
#include "histogram.h"

enum {
    METER_MAX_GROUP = 6, /* groups of up to 2^6 operations */
};

struct meter {
    uint64_t last; /* time of the last read of the clock */
    uint64_t report_at;
    uint64_t done;  /* operations up to then */
    uint32_t left;  /* operations until the next read */
    uint32_t group; /* their number is 2^group */
    uint64_t group_ticks;
    struct histogram *histogram;
    uint64_t start;
    uint64_t reported_at; /* time of the last printed line ... */
    uint64_t reported;    /* ... and the number of operations then */
    void (*report)(struct meter *meter);
    void *arg; /* of report */
};

/* `report` is called about every second; NULL: never. */
void meter_init(struct meter *meter, struct histogram *histogram,
                void (*report)(struct meter *meter), void *arg);
void meter_start(struct meter *meter);

/* All operations are complete, including those at the other side. */
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

/* Results of one or several threads: times in us, rates per second; since the
 * last line, and in total. */
struct figures {
    uint64_t iterations;
    double percentile;
    double average_time;
    double overall_time;
    double average_rate; /* of messages */
    double overall_rate;
};

/* `messages` per iteration: 2 for a round trip, whose time is halved. */
void meter_figures(const struct meter *meter, double rank, unsigned messages,
                   struct figures *figures);

#endif
