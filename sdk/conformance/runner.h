/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs one check in a process of its own, under a time limit, and brings back
 * its record. What the record means is not judged here.
 */
#ifndef CONFORMANCE_RUNNER_H
#define CONFORMANCE_RUNNER_H

#include "check.h"

/* Shared memory for one record; 0: out of memory. */
record_t *runner_record_new(void);
void runner_record_free(record_t *record);

/*
 * `record` is emptied first. A check that ends by a signal or exits early gets
 * a finding under `rule`, one that is still running after `limit` seconds a
 * finding of its own kind. Both say in what.
 */
void runner_run(const target_t *target, const resource_t *resource,
                void (*check)(run_t *run), int rule, double limit,
                record_t *record);

/* Waits for a process at most `limit` seconds, then kills it. Returns its wait
 * status; *timed_out tells whether it had to be killed. */
int runner_wait(pid_t pid, double limit, int *timed_out);

#endif
