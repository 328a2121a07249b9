/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whether other programs have disturbed a measurement: the time in which the two
 * processes of a conversation were ready to run and waited for a processor. The
 * kernel counts it for each thread (/proc/PID/schedstat).
 */
#ifndef CONFORMANCE_CALM_H
#define CONFORMANCE_CALM_H

#include <sys/types.h>

typedef struct calm {
    int fds[2];    /* of this process and of the peer; -1: none */
    double waited; /* s, at the start of the measurement */
    int is_known;  /* the kernel counts it */
} calm_t;

/* `peer` 0: there is none. */
void calm_open(calm_t *calm, pid_t peer);
void calm_close(calm_t *calm);

void calm_begin(calm_t *calm);
/* Non-zero: at most a twentieth of the `duration`, in seconds, was spent waiting
 * for a processor. */
int calm_held(calm_t *calm, double duration);

#endif
