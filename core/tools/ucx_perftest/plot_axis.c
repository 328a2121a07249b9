/* SPDX-License-Identifier: BSD-3-Clause */
/* Logarithmic axes and their labels. */
#include "plot.h"

#include <math.h>

/* Sets the range of the axis. It ends at whole powers; a single value gets
 * space on both sides. */
void plot_axis_fit(struct plot_axis *axis, double base, double least,
                   double most, int labels)
{
    axis->base = base;
    axis->from = floor(log(least) / log(base) + 1e-9);
    axis->to   = ceil(log(most) / log(base) - 1e-9);
    if (axis->to <= axis->from) {
        axis->from -= 1;
        axis->to = axis->from + 2;
    }
    axis->step = ceil((axis->to - axis->from) / labels);
    axis->step = (axis->step < 1) ? 1 : axis->step;
}

/* Returns the position of a value: 0 at the start of the axis, 1 at its end. */
double plot_axis_place(const struct plot_axis *axis, double value)
{
    return ((log(value) / log(axis->base)) - axis->from) /
           (axis->to - axis->from);
}

static void name(double value, const char *const *units, double step,
                 char *text, size_t length)
{
    while ((value >= step) && (units[1] != NULL)) {
        value /= step;
        ++units;
    }
    snprintf(text, length, "%.4g%s", value, units[0]);
}

void plot_name_size(double bytes, char *text, size_t length)
{
    static const char *const units[] = {"", "K", "M", "G", "T", NULL};

    name(bytes, units, 1024, text, length);
}

void plot_name_time(double microseconds, char *text, size_t length)
{
    static const char *const units[] = {" ns", " \302\265s", " ms", " s", NULL};

    name(microseconds * 1000, units, 1000, text, length);
}

void plot_name_speed(double bytes_per_second, char *text, size_t length)
{
    static const char *const units[] = {" B/s",  " kB/s", " MB/s",
                                        " GB/s", " TB/s", NULL};

    name(bytes_per_second, units, 1000, text, length);
}
