/* SPDX-License-Identifier: BSD-3-Clause */
/* Draws the chart: panels side by side, both axes logarithmic, legends
 * below. */
#include "plot.h"

#include <math.h>
#include <string.h>

enum {
    PANEL_WIDTH  = 620,
    PANEL_HEIGHT = 400,
    MARGIN_LEFT  = 86,
    MARGIN_RIGHT = 24,
    MARGIN_TOP   = 76,
    AXIS_HEIGHT  = 62, /* labels of sizes, and the axis title */
    LEGEND_LINE  = 20,
    MAX_LABELS_X = 12,
    MAX_LABELS_Y = 9,
};

/* The colours can be distinguished with colour blindness; the marks also differ
 * in shape. */
static const char *const colours[] = {"#0b6bb8", "#d9541e", "#26863d",
                                      "#8c4fb0", "#c2910c", "#0f97a0",
                                      "#c23a72", "#5b6470"};

enum {
    COLOUR_COUNT = sizeof(colours) / sizeof(colours[0]),
};

struct panel {
    enum plot_kind kind;
    struct plot_axis x;
    struct plot_axis y;
    double left;
    double top;
    double width;
    double height;
};

static void escape(FILE *file, const char *text)
{
    for (; *text != '\0'; ++text) {
        if (strchr("<>&\"", *text) != NULL) {
            fprintf(file, "&#%d;", *text);
        } else if ((unsigned char)*text >= ' ') {
            fputc(*text, file);
        }
    }
}

static double at_x(const struct panel *panel, double value)
{
    return panel->left + (plot_axis_place(&panel->x, value) * panel->width);
}

static double at_y(const struct panel *panel, double value)
{
    return panel->top + panel->height -
           (plot_axis_place(&panel->y, value) * panel->height);
}

static size_t lines_of(const struct plot *plot, enum plot_kind kind)
{
    size_t count = 0, i;

    for (i = 0; i < plot->count; ++i) {
        count += (plot->series[i].kind == kind);
    }
    return count;
}

static void fit(struct panel *panel, const struct plot *plot)
{
    double low_x = INFINITY, high_x = 0, low_y = INFINITY, high_y = 0;
    const struct plot_series *series;
    size_t i, j;

    for (i = 0; i < plot->count; ++i) {
        series = &plot->series[i];
        for (j = 0; (series->kind == panel->kind) && (j < series->count); ++j) {
            low_x  = fmin(low_x, series->points[j].size);
            high_x = fmax(high_x, series->points[j].size);
            low_y  = fmin(low_y, series->points[j].value);
            high_y = fmax(high_y, series->points[j].value);
        }
    }
    plot_axis_fit(&panel->x, 2, low_x, high_x, MAX_LABELS_X);
    plot_axis_fit(&panel->y, 10, low_y, high_y, MAX_LABELS_Y);
}

static void draw_x(FILE *file, const struct panel *panel)
{
    char name[32];
    double power, x;

    for (power = panel->x.from; power <= panel->x.to + 1e-9;
         power += panel->x.step) {
        x = at_x(panel, pow(2, power));
        plot_name_size(pow(2, power), name, sizeof(name));
        fprintf(file,
                "<line class=\"grid\" x1=\"%.1f\" y1=\"%.1f\" "
                "x2=\"%.1f\" y2=\"%.1f\"/>\n",
                x, panel->top, x, panel->top + panel->height);
        fprintf(file,
                "<text class=\"tick\" text-anchor=\"middle\" x=\"%.1f\" "
                "y=\"%.1f\">%s</text>\n",
                x, panel->top + panel->height + 18, name);
    }
    fprintf(file,
            "<text class=\"axis\" text-anchor=\"middle\" x=\"%.1f\" "
            "y=\"%.1f\">message size, bytes</text>\n",
            panel->left + (panel->width / 2), panel->top + panel->height + 42);
}

/* Draws the vertical axis, with faint lines at 2 to 9 between powers of ten. */
static void draw_y(FILE *file, const struct panel *panel)
{
    char name[32];
    double power, value, y;
    int digit;

    for (power = panel->y.from; power <= panel->y.to + 1e-9; power += 1) {
        for (digit = 1; digit < 10; ++digit) {
            value = pow(10, power) * digit;
            if ((digit > 1) &&
                ((power >= panel->y.to - 1e-9) || (panel->y.step > 1))) {
                break;
            }
            y = at_y(panel, value);
            fprintf(file,
                    "<line class=\"%s\" x1=\"%.1f\" y1=\"%.1f\" "
                    "x2=\"%.1f\" y2=\"%.1f\"/>\n",
                    (digit == 1) ? "grid" : "faint", panel->left, y,
                    panel->left + panel->width, y);
        }
        if (panel->kind == PLOT_LATENCY) {
            plot_name_time(pow(10, power), name, sizeof(name));
        } else {
            plot_name_speed(pow(10, power), name, sizeof(name));
        }
        fprintf(file,
                "<text class=\"tick\" text-anchor=\"end\" x=\"%.1f\" "
                "y=\"%.1f\">%s</text>\n",
                panel->left - 8, at_y(panel, pow(10, power)) + 4, name);
    }
}

/* Draws a mark in one of four shapes, which are used in turn like the
 * colours. */
static void draw_mark(FILE *file, size_t shape, double x, double y,
                      const char *colour)
{
    switch (shape % 4) {
    case 0:
        fprintf(file,
                "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3.6\" "
                "fill=\"%s\"/>\n",
                x, y, colour);
        break;
    case 1:
        fprintf(file,
                "<rect x=\"%.1f\" y=\"%.1f\" width=\"6.6\" "
                "height=\"6.6\" fill=\"%s\"/>\n",
                x - 3.3, y - 3.3, colour);
        break;
    case 2:
        fprintf(file, "<path d=\"M%.1f %.1fl4.4 7.4h-8.8z\" fill=\"%s\"/>\n", x,
                y - 4.6, colour);
        break;
    default:
        fprintf(file,
                "<path d=\"M%.1f %.1fl4.6 4.6l-4.6 4.6l-4.6 -4.6z\" "
                "fill=\"%s\"/>\n",
                x, y - 4.6, colour);
        break;
    }
}

static void draw_series(FILE *file, const struct panel *panel,
                        const struct plot_series *series, size_t index)
{
    const char *colour = colours[index % COLOUR_COUNT];
    size_t i;

    fprintf(file, "<polyline class=\"line\" stroke=\"%s\" points=\"", colour);
    for (i = 0; i < series->count; ++i) {
        fprintf(file, "%s%.1f,%.1f", (i == 0) ? "" : " ",
                at_x(panel, series->points[i].size),
                at_y(panel, series->points[i].value));
    }
    fputs("\"/>\n", file);
    for (i = 0; i < series->count; ++i) {
        draw_mark(file, index, at_x(panel, series->points[i].size),
                  at_y(panel, series->points[i].value), colour);
    }
}

static void draw_legend(FILE *file, const struct panel *panel,
                        const struct plot_series *series, size_t index)
{
    const char *colour = colours[index % COLOUR_COUNT];
    double y           = panel->top + panel->height + AXIS_HEIGHT + 4 +
               (index * LEGEND_LINE);

    fprintf(file,
            "<line class=\"line\" stroke=\"%s\" x1=\"%.1f\" y1=\"%.1f\" "
            "x2=\"%.1f\" y2=\"%.1f\"/>\n",
            colour, panel->left, y, panel->left + 30, y);
    draw_mark(file, index, panel->left + 15, y, colour);
    fprintf(file, "<text class=\"legend\" x=\"%.1f\" y=\"%.1f\">",
            panel->left + 40, y + 4);
    escape(file, series->label);
    fputs("</text>\n", file);
}

static void draw_panel(FILE *file, const struct plot *plot, struct panel *panel)
{
    size_t index = 0, i;

    fit(panel, plot);
    fprintf(file, "<text class=\"head\" x=\"%.1f\" y=\"%.1f\">%s</text>\n",
            panel->left, panel->top - 12,
            (panel->kind == PLOT_LATENCY) ? "Latency" : "Bandwidth");
    draw_x(file, panel);
    draw_y(file, panel);
    fprintf(file,
            "<rect class=\"frame\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" "
            "height=\"%.1f\"/>\n",
            panel->left, panel->top, panel->width, panel->height);
    for (i = 0; i < plot->count; ++i) {
        if (plot->series[i].kind == panel->kind) {
            draw_series(file, panel, &plot->series[i], index);
            draw_legend(file, panel, &plot->series[i], index++);
        }
    }
}

static const char STYLE[] =
    "<style>\n"
    "text { font-family: 'DejaVu Sans', 'Liberation Sans', Arial, sans-serif; "
    "fill: #2b3138 }\n"
    ".title { font-size: 19px; font-weight: bold }\n"
    ".head { font-size: 15px; font-weight: bold }\n"
    ".axis, .legend { font-size: 13px }\n"
    ".tick { font-size: 12px; fill: #5b6470 }\n"
    ".grid { stroke: #d5d9de; stroke-width: 1 }\n"
    ".faint { stroke: #eef0f2; stroke-width: 1 }\n"
    ".frame { fill: none; stroke: #8a929b; stroke-width: 1 }\n"
    ".line { fill: none; stroke-width: 2; stroke-linejoin: round }\n"
    "</style>\n";

bool plot_write_svg(const struct plot *plot, FILE *file)
{
    size_t lines[PLOT_KINDS], most = 0, panels = 0;
    struct panel panel;
    int kind, width, height;

    for (kind = 0; kind < PLOT_KINDS; ++kind) {
        lines[kind] = lines_of(plot, kind);
        most        = (lines[kind] > most) ? lines[kind] : most;
        panels += (lines[kind] > 0);
    }
    width  = PANEL_WIDTH * (int)panels;
    height = MARGIN_TOP + PANEL_HEIGHT + AXIS_HEIGHT +
             (LEGEND_LINE * (int)most) + 12;
    fprintf(file,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" "
            "height=\"%d\" viewBox=\"0 0 %d %d\">\n%s<rect width=\"100%%\" "
            "height=\"100%%\" fill=\"#ffffff\"/>\n",
            width, height, width, height, STYLE);
    if (plot->title != NULL) {
        fprintf(file, "<text class=\"title\" x=\"%d\" y=\"28\">", MARGIN_LEFT);
        escape(file, plot->title);
        fputs("</text>\n", file);
    }
    panels = 0;
    for (kind = 0; kind < PLOT_KINDS; ++kind) {
        if (lines[kind] > 0) {
            panel = (struct panel){.kind = kind,
                                   .left = ((double)PANEL_WIDTH * panels++) +
                                           MARGIN_LEFT,
                                   .top   = MARGIN_TOP,
                                   .width = PANEL_WIDTH - MARGIN_LEFT -
                                            MARGIN_RIGHT,
                                   .height = PANEL_HEIGHT};
            draw_panel(file, plot, &panel);
        }
    }
    fputs("</svg>\n", file);
    return !ferror(file);
}
