/* SPDX-License-Identifier: BSD-3-Clause */
/* Implementation of calm.h. Each process is measured by its first thread. */
#include "calm.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Waiting time that is allowed, as a part of the duration. */
#define WAITED_MAX 0.05

void calm_open(calm_t *calm, pid_t peer)
{
    const pid_t pids[] = {getpid(), peer};
    char path[64];
    unsigned i;

    calm->is_known = 1;
    for (i = 0; i < 2; ++i) {
        calm->fds[i] = -1;
        if (pids[i] != 0) {
            snprintf(path, sizeof(path), "/proc/%d/schedstat", (int)pids[i]);
            calm->fds[i] = open(path, O_RDONLY | O_CLOEXEC);
            calm->is_known &= (calm->fds[i] >= 0);
        }
    }
}

void calm_close(calm_t *calm)
{
    unsigned i;

    for (i = 0; i < 2; ++i) {
        if (calm->fds[i] >= 0) {
            close(calm->fds[i]);
        }
    }
}

/* Returns the seconds that both processes have waited for a processor so far. A
 * schedstat file contains nanoseconds on a processor, nanoseconds of waiting
 * for a processor, and the number of time slices. */
static double waited(calm_t *calm)
{
    char text[100], *rest;
    double sum = 0;
    ssize_t length;
    unsigned i;

    for (i = 0; i < 2; ++i) {
        if (calm->fds[i] < 0) {
            continue;
        }
        length = pread(calm->fds[i], text, sizeof(text) - 1, 0);
        if (length <= 0) {
            calm->is_known = 0;
            continue;
        }
        text[length] = '\0';
        (void)strtoull(text, &rest, 10);
        sum += (double)strtoull(rest, NULL, 10) * 1e-9;
    }
    return sum;
}

void calm_begin(calm_t *calm)
{
    calm->waited = waited(calm);
}

int calm_held(calm_t *calm, double duration)
{
    return (waited(calm) - calm->waited <= WAITED_MAX * duration) &&
           calm->is_known;
}
