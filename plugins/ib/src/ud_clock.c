/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The time of an interface. Handling a packet reads the time two or three
 * times, and reading the clock takes as long as the rest of the handling.
 * Therefore the processor's counter is used between two readings. Its period is
 * measured from one reading to the next. So an error, for example when the
 * counter changes its rate, lasts only for a few milliseconds, which timeouts
 * tolerate.
 */
#include "ud.h"

/* Seconds between two readings of the clock. */
static const double SPAN = 4e-3;

/* Minimum exactness of a period: the measured interval must be this many times
 * as long as the readings at its start and end. A thread may be preempted
 * between reading the counter and the clock. */
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
    /* The computed time may be ahead by a few microseconds. */
    if (now > iface->now) {
        iface->now = now;
    }
    return iface->now;
}
