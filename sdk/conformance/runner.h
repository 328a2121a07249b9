/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs one check in a process of its own, under a time limit, and returns its
 * record.
 */
#ifndef CONFORMANCE_RUNNER_H
#define CONFORMANCE_RUNNER_H

#include "check.h"

/* Returns shared memory for one record; NULL: out of memory. */
record_t *runner_record_new(void);
void runner_record_free(record_t *record);

typedef struct limits {
    double check;     /* Seconds for each check */
    double notice;    /* Value of run_t.notice (check.h), in seconds */
    double tolerance; /* Value of run_t.tolerance (check.h), a factor */
} limits_t;

/*
 * Clears `record` and runs `check`. If its process is killed by a signal or
 * exits early, records a finding under `rule`; if it exceeds the time limit,
 * kills the process and records a finding under CHECK_TIME_LIMIT. Both findings
 * name the current step of the check.
 */
void runner_run(const target_t *target, const resource_t *resource,
                void (*check)(run_t *run), int rule, const limits_t *limits,
                record_t *record);

/*
 * Runs `body` in a child process of a check, so that the check can run several
 * bodies that fork a peer: a peer has to be forked before the plugin is loaded.
 * The record is shared. If the child crashes, exits early or exceeds `limit`
 * seconds, records a finding under `rule` that names `what`.
 */
void runner_apart(run_t *run, void (*body)(run_t *run, void *arg), void *arg,
                  double limit, int rule, const char *what);

/* Waits at most `limit` seconds for a process, then kills it (never, if the
 * kernel has no pidfd_open()). Returns its wait status; *timed_out is set if it
 * was killed. */
int runner_wait(pid_t pid, double limit, int *timed_out);

#endif
