/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The results of a timing (timing.h), from the times of its marks and groups.
 */
#ifndef UCP_RESULTS_H
#define UCP_RESULTS_H

#include "ucp/learn/timing.h"

/** A result of fewer seconds per byte (500 GB/s) is an error of measurement and
 *  ignored. */
#define UCP_RESULTS_MIN 2e-12

/** Returns the seconds per byte of a transfer that is alone, whose mark has its
 *  time. */
double ucp_results_alone(const ucp_timing_t *timing);

/** Sets `results` to the seconds per byte of each epoch of a round, whose marks
 *  have their times; to 0 if an epoch has no result. */
void ucp_results_round(struct ucp_trials *trials, double *results);

/** Returns the time that the round has added to the stream since it began, as a
 *  number of transfers that take as long as those of the epoch BEFORE; 0 before
 *  the first one. */
double ucp_results_added(const struct ucp_trials *trials);

/** Returns the seconds between two times; negative if the second is earlier. */
static inline double ucp_results_seconds(ucs_time_t first, ucs_time_t second)
{
    return 1e-9 * (double)(int64_t)(second - first);
}

#endif
