/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * See cma_speed.h.
 */
#include "cma_speed.h"

/* Seconds until the figures are measured again: longer each time they hold. */
#define GOOD_FOR_MIN 10e-3
#define GOOD_FOR_MAX 5.0

/* A result is worse if it is less than so much of the last one. */
#define WORSE 0.9

/* Old copies count half when so many bytes have come since. */
#define HELP_WINDOW (64.0 * 1024 * 1024)

/* Bytes of which the helper is supposed to have copied its half at first. */
#define HELP_ASSUMED (128.0 * 1024)

int cma_speed_is_due(const cma_speed_t *speed, double now)
{
    return (speed->bandwidth == 0) || (now - speed->at >= speed->good_for);
}

/* The best of some tries; < 0: none succeeded. */
static double best_of(cma_speed_copy_t copy, void *arg, size_t length)
{
    double best = -1;

    for (unsigned i = 0; i < CMA_SPEED_TRIES; ++i) {
        double seconds = copy(arg, length);

        if ((seconds > 0) && ((best < 0) || (seconds < best))) {
            best = seconds;
        }
    }
    return best;
}

static void hold(cma_speed_t *speed)
{
    speed->good_for = (2 * speed->good_for < GOOD_FOR_MAX) ?
                      2 * speed->good_for : GOOD_FOR_MAX;
}

static void accept(cma_speed_t *speed, double overhead, double bandwidth)
{
    speed->overhead   = overhead;
    speed->bandwidth  = bandwidth;
    speed->is_doubted = 0;
}

void cma_speed_measure(cma_speed_t *speed, cma_speed_copy_t copy, void *arg,
                       double now)
{
    double large = best_of(copy, arg, CMA_SPEED_LARGE);
    double small = best_of(copy, arg, CMA_SPEED_SMALL);
    double bandwidth, overhead;

    speed->at = now;
    if (speed->good_for < GOOD_FOR_MIN) {
        speed->good_for = GOOD_FOR_MIN;
    }
    if ((small <= 0) || (large <= small)) {
        return; /* Not a measure of anything: asked again */
    }
    bandwidth = (CMA_SPEED_LARGE - CMA_SPEED_SMALL) / (large - small);
    overhead  = small - CMA_SPEED_SMALL / bandwidth;
    overhead  = (overhead > 0) ? overhead : 0;

    if ((bandwidth >= speed->bandwidth * WORSE) || speed->is_doubted) {
        accept(speed, overhead, bandwidth);
        hold(speed);
    } else {
        speed->is_doubted = 1;
        speed->good_for   = GOOD_FOR_MIN;
    }
}

void cma_speed_note_help(cma_speed_t *speed, size_t offered, size_t helped)
{
    speed->offered += (double)offered;
    speed->helped  += (double)helped;
    if (speed->offered > HELP_WINDOW) {
        speed->offered /= 2;
        speed->helped  /= 2;
    }
}

double cma_speed_alone(const cma_speed_t *speed)
{
    return speed->bandwidth;
}

/* Both copy at the same time, so that the larger part counts. */
double cma_speed_gain(const cma_speed_t *speed)
{
    double part = (speed->helped + HELP_ASSUMED / 2) /
                  (speed->offered + HELP_ASSUMED);

    if (part < 0.5) {
        part = 1 - part;
    }
    return (part < 1) ? 1 / part : 1;
}

int cma_speed_wants(cma_speed_t *speed, size_t length)
{
    return (length >= SHM_TIMED_MIN) &&
           (!shm_times_are_known(&speed->real) ||
            (++speed->copies % SHM_TIMED_EVERY == 0));
}

void cma_speed_note_copy(cma_speed_t *speed, size_t length, double seconds,
                         double now)
{
    if (now - speed->real_at > SHM_TIMES_GOOD_FOR) {
        speed->real.count = 0;
    }
    shm_times_add(&speed->real, shm_times_of(seconds - speed->overhead,
                                             (double)length));
    speed->real_at = now;
}

uint32_t cma_speed_real(const cma_speed_t *speed, double now)
{
    return (shm_times_are_known(&speed->real) &&
            (now - speed->real_at <= SHM_TIMES_GOOD_FOR)) ?
           shm_times_median(&speed->real) : 0;
}
