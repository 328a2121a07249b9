/* SPDX-License-Identifier: BSD-3-Clause */
/* Progress output: a bar on stderr, if stderr is a terminal, and the elapsed
 * time. */
#ifndef UCX_CP_METER_H
#define UCX_CP_METER_H

#include <stdbool.h>
#include <stdint.h>

struct meter {
    uint64_t total; /* Bytes to transfer */
    /* Seconds of the monotonic clock: */
    double started;
    double shown; /* When the bar was last drawn; 0: never */
    bool draw;    /* false: draw no bar */
};

void meter_begin(struct meter *meter, uint64_t total, bool quiet);
/* Redraws the bar after `done` bytes. */
void meter_show(struct meter *meter, uint64_t done);

/* Erases the bar and returns the seconds since meter_begin. */
double meter_end(struct meter *meter);

/* Writes value with a binary unit ("1.5 GiB") into text and returns text. */
const char *meter_bytes(double value, char *text, int capacity);

#endif
