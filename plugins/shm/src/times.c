/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * See times.h.
 */
#include "times.h"

uint32_t shm_times_of(double seconds, double length)
{
    double value = seconds * 1e12 * 1024 / length;

    return !(value > 1)         ? 1 :
           (value > UINT32_MAX) ? UINT32_MAX : (uint32_t)value;
}

void shm_times_add(shm_times_t *times, uint32_t value)
{
    times->value[times->count % SHM_TIMED_SAMPLES] = value;
    times->count = (times->count < UINT32_MAX) ? times->count + 1 :
                                                 SHM_TIMED_SAMPLES;
}

uint32_t shm_times_median(const shm_times_t *times)
{
    uint32_t count = (times->count < SHM_TIMED_SAMPLES) ? times->count :
                                                          SHM_TIMED_SAMPLES;
    uint32_t sorted[SHM_TIMED_SAMPLES];
    uint32_t i, j;

    for (i = 0; i < count; ++i) {
        for (j = i; (j > 0) && (sorted[j - 1] > times->value[i]); --j) {
            sorted[j] = sorted[j - 1];
        }
        sorted[j] = times->value[i];
    }
    return (count > 0) ? sorted[count / 2] : 0;
}

double shm_times_bandwidth(uint32_t value)
{
    return 1024e12 / ((value > 0) ? value : 1);
}
