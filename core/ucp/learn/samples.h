/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The samples of the methods of a search (learn.h): times of transfers, in
 * seconds per byte, of which the last UCP_LEARN_SAMPLES are kept.
 */
#ifndef UCP_LEARN_SAMPLES_H
#define UCP_LEARN_SAMPLES_H

#include "ucp/learn/learn.h"

/** Removes all samples of a method. */
void ucp_learn_forget(ucp_learn_t *learn, unsigned method);

/** Adds a sample, in seconds per byte, which replaces the oldest one if there
 *  are UCP_LEARN_SAMPLES. */
void ucp_learn_add(ucp_learn_t *learn, unsigned method, double sample);

/** Adds a sample of the selected method, unless the sample is odd
 *  (ucp_learn::odd). UCP_LEARN_ODD odd samples in a row, all slower or all
 *  faster, replace the earlier samples; one more for each of the 16 samples
 *  before them that was odd, because then odd samples are frequent. Returns
 *  non-zero if slower samples have now replaced the earlier ones. */
int ucp_learn_watch(ucp_learn_t *learn, double sample);

/** Multiplies all samples of a method by a factor. */
void ucp_learn_scale(ucp_learn_t *learn, unsigned method, double factor);

/** Returns the median of a method's samples: of two middle samples, the greater
 *  one. Returns 0 if there are none. */
double ucp_learn_median(const ucp_learn_t *learn, unsigned method);

/** Returns the range of a method's samples, without the slowest third, as a
 *  fraction of ucp_learn_time(); at most 0.3. Returns 0 if there are fewer than
 *  two samples. */
double ucp_learn_noise(const ucp_learn_t *learn, unsigned method);

#endif
