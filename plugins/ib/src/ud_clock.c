/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The time of an interface. Each packet needs it two or three times, and reading
 * the clock costs as much as the rest of a packet's handling. Therefore the
 * processor's counter is used between two readings. Its period is measured from
 * one reading to the next, so that an error, even that of a counter that changes
 * its rate, lasts for a few milliseconds, which timeouts tolerate.
 */
#include "ud.h"

/* Seconds between two readings of the clock. */
static const double SPAN = 4e-3;

/* A period is at least as exact as this: an interval is this many times as long
 * as the time in which its ends were read. A thread may be preempted between the
 * counter and the clock. */
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
    /* The time that was computed may be ahead by a few microseconds. */
    if (now > iface->now) {
        iface->now = now;
    }
    return iface->now;
}
