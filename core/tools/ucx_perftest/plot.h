/* SPDX-License-Identifier: BSD-3-Clause */
/* ucx_perftest plot: charts of results. */
#ifndef PERFTEST_PLOT_H
#define PERFTEST_PLOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum {
    PLOT_LABEL_MAX = 120,
    PLOT_ERROR_MAX = 256,
};

enum plot_kind {
    PLOT_LATENCY,   /* microseconds */
    PLOT_BANDWIDTH, /* bytes per second */
    PLOT_KINDS,
};

struct plot_point {
    double size;
    double value;
};

/* One line of a chart: a test from one file. */
struct plot_series {
    char label[PLOT_LABEL_MAX];
    enum plot_kind kind;
    struct plot_point *points; /* by size */
    size_t count;
};

struct plot {
    const char *title; /* NULL: no title */
    const char *rank;  /* percentile of the latency; NULL: the average */
    struct plot_series *series;
    size_t count;
};

int plot_main(int argc, char **argv);

/* plot_read.c: adds the contents of a --json or --csv file. `label` precedes
 * the tests' names in the legend; it may be NULL. */
bool plot_read(struct plot *plot, const char *path, const char *label,
               char error[PLOT_ERROR_MAX]);
void plot_free(struct plot *plot);

/* plot_svg.c: writes the chart, with a panel for each kind */
bool plot_write_svg(const struct plot *plot, FILE *file);

/* plot_axis.c: a logarithmic axis that fits the data */
struct plot_axis {
    double from; /* logarithms to the base of `base` */
    double to;
    double base;
    double step; /* distance between labels, in powers of the base */
};

void plot_axis_fit(struct plot_axis *axis, double base, double least,
                   double most, int labels);
double plot_axis_place(const struct plot_axis *axis, double value);
void plot_name_size(double bytes, char *text, size_t length);
void plot_name_time(double microseconds, char *text, size_t length);
void plot_name_speed(double bytes_per_second, char *text, size_t length);

#endif
