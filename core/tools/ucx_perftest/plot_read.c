/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the results of --json and --csv that a chart contains. The files may be
 * from any source, so all values are checked. */
#include "plot.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_FILE    = 64 << 20,
    MAX_COLUMNS = 64,
};

/* The values of one result. */
struct row {
    const char *test;
    const char *kind;
    double size;
    double time;
    double speed;
};

static bool fail(char *error, const char *path, const char *why)
{
    snprintf(error, PLOT_ERROR_MAX, "%.120s: %.120s", path, why);
    return false;
}

static struct plot_series *series_of(struct plot *plot, const char *label,
                                     const char *test, enum plot_kind kind)
{
    struct plot_series *grown;
    char text[PLOT_LABEL_MAX];
    size_t i;

    snprintf(text, sizeof(text), "%.60s%s%.40s", (label == NULL) ? "" : label,
             (label == NULL) ? "" : ": ", test);
    for (i = 0; i < plot->count; ++i) {
        if ((plot->series[i].kind == kind) &&
            (strcmp(plot->series[i].label, text) == 0)) {
            return &plot->series[i];
        }
    }
    grown = realloc(plot->series, (plot->count + 1) * sizeof(*grown));
    if (grown == NULL) {
        return NULL;
    }
    plot->series = grown;
    grown += plot->count++;
    *grown = (struct plot_series){.kind = kind};
    memcpy(grown->label, text, sizeof(text));
    return grown;
}

/* Inserts a point, sorted by size. It replaces a point with the same size. */
static bool add_point(struct plot_series *series, double size, double value)
{
    struct plot_point *grown;
    size_t i;

    for (i = 0; (i < series->count) && (series->points[i].size < size); ++i) {
    }
    if ((i < series->count) && (series->points[i].size == size)) {
        series->points[i].value = value;
        return true;
    }
    grown = realloc(series->points, (series->count + 1) * sizeof(*grown));
    if (grown == NULL) {
        return false;
    }
    series->points = grown;
    memmove(grown + i + 1, grown + i, (series->count - i) * sizeof(*grown));
    grown[i] = (struct plot_point){.size = size, .value = value};
    ++series->count;
    return true;
}

static bool drawable(double value)
{
    return isfinite(value) && (value > 0) && (value < 1e18);
}

/* Adds a result. Values that a logarithmic axis cannot show are skipped. */
static bool add_row(struct plot *plot, const char *label, const struct row *row)
{
    bool latency = (strcmp(row->kind, "latency") == 0);
    double value = latency ? row->time : row->speed;
    struct plot_series *series;

    if (!drawable(value) || !drawable(row->size)) {
        return true;
    }
    series = series_of(plot, label, row->test,
                       latency ? PLOT_LATENCY : PLOT_BANDWIDTH);
    return (series != NULL) && add_point(series, row->size, value);
}

static bool read_json(struct plot *plot, const char *text, const char *path,
                      const char *label, char *error)
{
    json_error_t reason;
    json_t *root = json_loads(text, 0, &reason), *result;
    bool good    = true;
    struct row row;
    size_t i;

    if (root == NULL) {
        return fail(error, path, reason.text);
    }
    if (!json_is_array(json_object_get(root, "results"))) {
        json_decref(root);
        return fail(error, path, "no results of ucx_perftest --json");
    }
    json_array_foreach(json_object_get(root, "results"), i, result) {
        row = (struct row){
            .test = json_string_value(json_object_get(result, "test")),
            .kind = json_string_value(json_object_get(result, "kind")),
            .size = json_number_value(json_object_get(result, "size")),
            .time = json_number_value(
                json_object_get(json_object_get(result, "time_us"),
                                (plot->rank == NULL) ? "overall" : plot->rank)),
            .speed = json_number_value(
                json_object_get(result, "bytes_per_second"))};
        if ((row.test == NULL) || (row.kind == NULL)) {
            good = fail(error, path, "a result without test or kind");
            break;
        }
        if (!add_row(plot, label, &row)) {
            good = fail(error, path, "no memory");
            break;
        }
    }
    json_decref(root);
    return good;
}

static size_t split(char *line, char **cells)
{
    size_t count = 0;
    char *comma;

    for (; count < MAX_COLUMNS; line = comma + 1) {
        cells[count++] = line;
        comma          = strchr(line, ',');
        if (comma == NULL) {
            break;
        }
        *comma = '\0';
    }
    return count;
}

static long find(char **cells, size_t count, const char *name)
{
    size_t i;

    for (i = 0; i < count; ++i) {
        if (strcmp(cells[i], name) == 0) {
            return i;
        }
    }
    return -1;
}

static bool read_csv(struct plot *plot, char *text, const char *path,
                     const char *label, char *error)
{
    char rank[32]             = "overall_us";
    const char *const names[] = {"test", "kind", "size", rank,
                                 "bytes_per_second"};
    char *saved, *line, *cells[MAX_COLUMNS];
    long columns[5], last = 0;
    struct row row;
    size_t count, i;

    if (plot->rank != NULL) {
        snprintf(rank, sizeof(rank), "p%.16s_us", plot->rank);
    }
    line  = strtok_r(text, "\r\n", &saved);
    count = (line == NULL) ? 0 : split(line, cells);
    for (i = 0; i < 5; ++i) {
        columns[i] = find(cells, count, names[i]);
        last       = (columns[i] > last) ? columns[i] : last;
        if (columns[i] < 0) {
            snprintf(error, PLOT_ERROR_MAX,
                     "%.120s: neither JSON nor CSV of "
                     "ucx_perftest (--json, --csv): no \"%s\"",
                     path, names[i]);
            return false;
        }
    }
    while ((line = strtok_r(NULL, "\r\n", &saved)) != NULL) {
        if (split(line, cells) <= (size_t)last) {
            return fail(error, path, "a row is cut short");
        }
        row = (struct row){.test  = cells[columns[0]],
                           .kind  = cells[columns[1]],
                           .size  = strtod(cells[columns[2]], NULL),
                           .time  = strtod(cells[columns[3]], NULL),
                           .speed = strtod(cells[columns[4]], NULL)};
        if (!add_row(plot, label, &row)) {
            return fail(error, path, "no memory");
        }
    }
    return true;
}

static char *read_all(const char *path, char *error)
{
    FILE *file  = (strcmp(path, "-") == 0) ? stdin : fopen(path, "r");
    char *text  = NULL, *grown;
    size_t used = 0, capacity = 0, got = 1;

    if (file == NULL) {
        fail(error, path, strerror(errno));
        return NULL;
    }
    while (got > 0) {
        if (capacity - used < 4096) {
            capacity = (2 * capacity) + 65536;
            grown    = (capacity > MAX_FILE) ? NULL : realloc(text, capacity);
            if (grown == NULL) {
                fail(error, path, "too long");
                break;
            }
            text = grown;
        }
        got = fread(text + used, 1, capacity - used - 1, file);
        used += got;
    }
    if ((got > 0) || ferror(file)) {
        if (ferror(file)) {
            fail(error, path, strerror(errno));
        }
        free(text);
        text = NULL;
    } else {
        text[used] = '\0';
    }
    if (file != stdin) {
        fclose(file);
    }
    return text;
}

bool plot_read(struct plot *plot, const char *path, const char *label,
               char error[PLOT_ERROR_MAX])
{
    char *text = read_all(path, error);
    bool good;

    if (text == NULL) {
        return false;
    }
    good = (text[strspn(text, " \t\r\n")] == '{') ?
               read_json(plot, text, path, label, error) :
               read_csv(plot, text, path, label, error);
    free(text);
    return good;
}

void plot_free(struct plot *plot)
{
    size_t i;

    for (i = 0; i < plot->count; ++i) {
        free(plot->series[i].points);
    }
    free(plot->series);
}
