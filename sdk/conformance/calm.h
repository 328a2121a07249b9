/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Determines whether other programs have disturbed a measurement: by the time
 * for which the measuring process and its peer process were ready to run and
 * waited for a processor. The kernel counts this time for each thread
 * (/proc/PID/schedstat).
 */
#ifndef CONFORMANCE_CALM_H
#define CONFORMANCE_CALM_H

#include <sys/types.h>

typedef struct calm {
    int fds[2];    /* schedstat files of this process and of the peer; -1: no
                    * peer, or the file cannot be opened */
    double waited; /* Seconds that both processes had waited for a processor
                    * when calm_begin() was called */
    int is_known;  /* 0: a file could not be opened or read */
} calm_t;

/* Opens the schedstat files of this process and of `peer` (0: no peer). */
void calm_open(calm_t *calm, pid_t peer);
void calm_close(calm_t *calm);

void calm_begin(calm_t *calm);
/* Ends a measurement of `duration` seconds. Returns non-zero if since
 * calm_begin() both processes together waited for a processor for at most a
 * twentieth of `duration`; 0 also if the waiting time is unknown. */
int calm_held(calm_t *calm, double duration);

#endif
