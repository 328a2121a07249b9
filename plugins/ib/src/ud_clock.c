/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The time of an interface. Handling a packet needs the time two or three
 * times, and reading the clock takes as long as the rest of the handling.
 * Therefore the time between two readings of the clock is computed from the
 * processor's counter. The period of the counter is measured again from each
 * reading to the next. A wrong period, for example after the counter has
 * changed its rate, is used only for a few milliseconds, which timeouts
 * tolerate.
 */
#include "ud.h"

/* Seconds between two readings of the clock. */
static const double SPAN = 4e-3;

/* A period is measured only if the interval between two readings of the clock
 * is at least this many times as long as each of the readings. A reading is
 * long if the thread was preempted between reading the counter and the
 * clock. */
enum { EXACT = 64 };

double ud_clock_read(ud_iface_t *iface)
{
    ud_clock_t *clock = &iface->clock;
    uint64_t ticks    = ud_ticks();
    double now        = iface->host->time();
    uint64_t slack    = ud_ticks() - ticks;
    uint64_t interval = ticks - clock->ticks;

    if (clock->time == 0) {
        clock->ticks = ticks;
        clock->slack = slack;
        clock->time  = now;
    } else if ((now > clock->time) && (slack < interval / EXACT) &&
               (clock->slack < interval / EXACT)) {
        clock->period = (now - clock->time) / (double)interval;
        clock->span   = (uint64_t)(SPAN / clock->period);
        clock->ticks  = ticks;
        clock->slack  = slack;
        clock->time   = now;
    }
    /* The time must not go back: times computed from the counter may have been
     * ahead of the clock by a few microseconds. */
    if (now > iface->now) {
        iface->now = now;
    }
    return iface->now;
}
