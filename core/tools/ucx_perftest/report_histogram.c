/* SPDX-License-Identifier: BSD-3-Clause */
/* A histogram as text: four rows for each doubling of the time. */
#include "report.h"

#include <inttypes.h>

enum {
    ROWS_AN_OCTAVE = 4,
    BUCKETS_A_ROW  = HISTOGRAM_SUB / ROWS_AN_OCTAVE,
    ROW_COUNT      = HISTOGRAM_BUCKETS / BUCKETS_A_ROW,
    BAR_WIDTH      = 40,
};

static uint64_t row_total(const struct histogram *histogram, unsigned row)
{
    uint64_t total = 0;
    unsigned i;

    for (i = 0; i < BUCKETS_A_ROW; ++i) {
        total += histogram->counts[(row * BUCKETS_A_ROW) + i];
    }
    return total;
}

static void print_row(const struct result *result, unsigned row, uint64_t total,
                      uint64_t most)
{
    static const char bar[BAR_WIDTH + 1] =
        "########################################";
    int width = (int)((total * BAR_WIDTH + most - 1) / most);

    printf("  %10.3f - %10.3f %12" PRIu64 " %7.3f%% %.*s\n",
           report_us(result, histogram_lower(row * BUCKETS_A_ROW)),
           report_us(result, histogram_lower((row + 1) * BUCKETS_A_ROW)), total,
           100.0 * total / result->histogram.total, width, bar);
}

/* Prints a histogram. Consecutive empty rows between other rows are printed as
 * one line of dots. */
void report_histogram(const struct result *result)
{
    uint64_t most = 0, total;
    bool gap = false, any = false;
    unsigned row;

    for (row = 0; row < ROW_COUNT; ++row) {
        total = row_total(&result->histogram, row);
        most  = (total > most) ? total : most;
    }
    if (most == 0) {
        return;
    }
    printf("  %23s %12s %8s\n", "usec", "count", "share");
    for (row = 0; row < ROW_COUNT; ++row) {
        total = row_total(&result->histogram, row);
        if (total == 0) {
            gap = any;
            continue;
        }
        if (gap) {
            printf("  %23s\n", "...");
        }
        print_row(result, row, total, most);
        gap = false;
        any = true;
    }
}
