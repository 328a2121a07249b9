/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Determines whether other programs have disturbed a measurement, by the time
 * for which the two processes of a conversation were ready to run and waited
 * for a processor. The kernel counts it for each thread (/proc/PID/schedstat).
 */
#ifndef CONFORMANCE_CALM_H
#define CONFORMANCE_CALM_H

#include <sys/types.h>

typedef struct calm {
    int fds[2];    /* Files of this process and of the peer; -1: none */
    double waited; /* Seconds, at the start of the measurement */
    int is_known;  /* The kernel provides the count */
} calm_t;

/* Opens the files of this process and of `peer` (0: no peer). */
void calm_open(calm_t *calm, pid_t peer);
void calm_close(calm_t *calm);

void calm_begin(calm_t *calm);
/* Returns non-zero if at most a twentieth of `duration` (seconds) was spent
 * waiting for a processor. */
int calm_held(calm_t *calm, double duration);

#endif
