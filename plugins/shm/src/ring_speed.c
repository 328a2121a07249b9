/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * See ring_speed.h.
 */
#include "ring_speed.h"

#include <string.h>

/* Lines that one core has under way at a time, at most: processors of today have
 * 10 to 16 buffers for that, so that this is a limit and not a figure of one. */
#define LINES_UNDER_WAY 16
#define LINE_SIZE       64

/* Seconds without messages after which the first times count no more. */
#define GOOD_FOR_FIRST 20e-3

/* Cores whose lines take so many times longer or shorter have moved. */
#define MOVED 2

/* What is not used was perhaps disturbed when it was timed: it is tried again
 * soon, and then less and less often. */
static void forget(shm_ring_speed_t *speed)
{
    double good_for = 2 * speed->good_for;

    memset(speed, 0, sizeof(*speed));
    speed->good_for = (good_for < SHM_TIMES_GOOD_FOR) ? good_for :
                                                        SHM_TIMES_GOOD_FOR;
}

/* By steps of an eighth or so: less noise makes no difference. */
static double limit(uint32_t latency)
{
    int bits = 31 - __builtin_clz(latency);

    if (bits > 3) {
        latency &= ~((1u << (bits - 3)) - 1);
    }
    return LINES_UNDER_WAY * LINE_SIZE / (latency * 1e-12);
}

double shm_ring_speed_bandwidth(shm_ring_speed_t *speed, uint32_t latency,
                                uint32_t received, double now)
{
    uint32_t in, out;

    latency = (latency > 0) ? latency : 1;
    if ((speed->latency != 0) &&
        ((latency / MOVED > speed->latency) ||
         (speed->latency / MOVED > latency) ||
         (now - speed->at > speed->good_for))) {
        forget(speed);
    }
    if (!shm_times_are_known(&speed->in) || !shm_times_are_known(&speed->out)) {
        return (received > 0) ? shm_times_bandwidth(received) : limit(latency);
    }
    if (speed->latency == 0) {
        speed->latency = latency;
        if (speed->good_for == 0) {
            speed->good_for = GOOD_FOR_FIRST;
        }
    }
    in  = shm_times_median(&speed->in);
    out = shm_times_median(&speed->out);
    return shm_times_bandwidth((in > out) ? in : out);
}
