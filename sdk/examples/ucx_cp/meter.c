/* SPDX-License-Identifier: BSD-3-Clause */
/* The progress bar; see meter.h. The bar is drawn at most ten times a second,
 * so that drawing takes negligible time. */
#include "meter.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { BAR_WIDTH = 32 };

static const double REDRAW_SEC = 0.1;

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + (time.tv_nsec * 1e-9);
}

const char *meter_bytes(double value, char *text, int capacity)
{
    static const char *const unit[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
    unsigned i                      = 0;

    while ((value >= 1024) && (i + 1 < sizeof(unit) / sizeof(unit[0]))) {
        value /= 1024;
        ++i;
    }
    snprintf(text, capacity, (i == 0) ? "%.0f %s" : "%.2f %s", value, unit[i]);
    return text;
}

void meter_begin(struct meter *meter, uint64_t total, bool quiet)
{
    *meter = (struct meter){.total   = total,
                            .started = now(),
                            .draw    = !quiet && (isatty(STDERR_FILENO) == 1)};
}

void meter_show(struct meter *meter, uint64_t done)
{
    static const char full[]  = "################################";
    static const char empty[] = "................................";
    char amount[24], speed[24];
    double time, part;
    int filled;

    if (!meter->draw) {
        return;
    }
    time = now();
    if (time - meter->shown < REDRAW_SEC) {
        return;
    }
    meter->shown = time;
    part         = (meter->total == 0) ? 1.0 : (double)done / meter->total;
    filled       = (int)(part * BAR_WIDTH);
    time -= meter->started;
    fprintf(stderr, "\r[%.*s%.*s] %3.0f %%  %s  %s/s \033[K", filled, full,
            BAR_WIDTH - filled, empty, part * 100,
            meter_bytes(done, amount, sizeof(amount)),
            meter_bytes((time > 0) ? done / time : 0, speed, sizeof(speed)));
    fflush(stderr);
}

double meter_end(struct meter *meter)
{
    double seconds = now() - meter->started;

    if (meter->draw && (meter->shown > 0)) {
        fprintf(stderr, "\r\033[K");
        fflush(stderr);
    }
    return seconds;
}
