/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The library's clock: nanoseconds of CLOCK_MONOTONIC. The public header does
 * not define the unit of ucs_time_t, so that it may change; therefore code
 * converts times by the functions of this file.
 */
#ifndef UCS_TIME_H
#define UCS_TIME_H

#include <time.h>
#include <ucs/time/time_def.h>

BEGIN_C_DECLS

#define UCS_NSEC_PER_SEC 1000000000ul

/** Returns the current time. The call takes about 20 ns if the kernel provides
 *  the clock in user space (vDSO), otherwise a system call. */
static inline ucs_time_t ucs_get_time(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (ucs_time_t)ts.tv_sec * UCS_NSEC_PER_SEC + (ucs_time_t)ts.tv_nsec;
}

/** Converts seconds. Returns 0 for negative values and NaN, and
 *  UCS_TIME_INFINITY for 1.8e10 seconds or more: 64 bits hold 1.84e10. */
static inline ucs_time_t ucs_time_from_sec(double sec)
{
    if (!(sec > 0)) {
        return 0;
    }

    return (sec >= 1.8e10) ? UCS_TIME_INFINITY : (ucs_time_t)(sec * 1e9 + 0.5);
}

static inline ucs_time_t ucs_time_from_msec(double msec)
{
    return ucs_time_from_sec(msec * 1e-3);
}

static inline ucs_time_t ucs_time_from_usec(double usec)
{
    return ucs_time_from_sec(usec * 1e-6);
}

static inline double ucs_time_to_sec(ucs_time_t time)
{
    return (double)time * 1e-9;
}

static inline double ucs_time_to_msec(ucs_time_t time)
{
    return (double)time * 1e-6;
}

static inline uint64_t ucs_time_to_nsec(ucs_time_t time)
{
    return time;
}

END_C_DECLS

#endif
