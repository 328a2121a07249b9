/* SPDX-License-Identifier: BSD-3-Clause */
/* Results for programs: times in microseconds, rates in bytes and messages per
 * second, whatever the table shows. README.md describes the fields. */
#include "report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Percentiles of every result. -R does not change them: it is for the table. */
static const struct {
    const char *name;
    double rank;
} ranks[] = {{"50", 50}, {"90", 90}, {"99", 99}, {"99.9", 99.9}};

enum {
    RANK_COUNT = sizeof(ranks) / sizeof(ranks[0]),
};

void report_csv_head(FILE *file)
{
    fputs("name,test,api,size,threads,outstanding,iterations,kind,overall_us,"
          "min_us,p50_us,p90_us,p99_us,p99.9_us,max_us,bytes_per_second,"
          "messages_per_second,checked,wrong\n",
          file);
}

void report_csv(FILE *file, const struct result *result)
{
    uint64_t size = params_size(result->params);
    char name[512];
    unsigned i;

    report_name(result->test, result->names, name, sizeof(name));
    fprintf(file, "%s,%s,%s,%" PRIu64 ",%u,%u,%" PRIu64 ",%s,%.4f,%.4f", name,
            result->test->name, result->test->api->name, size,
            result->params->threads, result->outstanding,
            result->figures.iterations, report_label(result->test),
            result->figures.overall_time,
            report_us(result, result->histogram.min));
    for (i = 0; i < RANK_COUNT; ++i) {
        fprintf(file, ",%.4f",
                report_us(result, histogram_percentile(&result->histogram,
                                                       ranks[i].rank)));
    }
    fprintf(file, ",%.4f,%.0f,%.0f,%s,%" PRIu64 "\n",
            report_us(result, result->histogram.max),
            result->figures.overall_rate * size, result->figures.overall_rate,
            (result->params->flags & PARAMS_CHECK) ? "yes" : "no",
            result->wrong);
    fflush(file);
}

static json_t *json_times(const struct result *result)
{
    json_t *times = json_object();
    unsigned i;

    json_object_set_new(times, "overall",
                        json_real(result->figures.overall_time));
    json_object_set_new(times, "min",
                        json_real(report_us(result, result->histogram.min)));
    json_object_set_new(times, "max",
                        json_real(report_us(result, result->histogram.max)));
    for (i = 0; i < RANK_COUNT; ++i) {
        json_object_set_new(
            times, ranks[i].name,
            json_real(report_us(result, histogram_percentile(&result->histogram,
                                                             ranks[i].rank))));
    }
    return times;
}

/* Returns the non-empty buckets, as arrays of from, to and count. */
static json_t *json_histogram(const struct result *result)
{
    json_t *rows = json_array();
    unsigned i;

    for (i = 0; i < HISTOGRAM_BUCKETS; ++i) {
        if (result->histogram.counts[i] > 0) {
            json_array_append_new(
                rows,
                json_pack("[f, f, I]", report_us(result, histogram_lower(i)),
                          report_us(result, histogram_lower(i + 1)),
                          (json_int_t)result->histogram.counts[i]));
        }
    }
    return rows;
}

/* Returns the environment variables UCX_*, which may have influenced the
 * test. */
static json_t *json_environment(void)
{
    extern char **environ;
    json_t *object = json_object();
    char **entry, *equals, name[128];

    for (entry = environ; *entry != NULL; ++entry) {
        equals = strchr(*entry, '=');
        if ((strncmp(*entry, "UCX_", 4) == 0) && (equals != NULL) &&
            (equals - *entry < (long)sizeof(name))) {
            snprintf(name, sizeof(name), "%.*s", (int)(equals - *entry),
                     *entry);
            json_object_set_new(object, name, json_string(equals + 1));
        }
    }
    return object;
}

static json_t *json_sizes(const struct params *params)
{
    json_t *sizes = json_array();
    unsigned i;

    for (i = 0; i < params->size_count; ++i) {
        json_array_append_new(sizes, json_integer(params->sizes[i]));
    }
    return sizes;
}

json_t *report_json(const struct result *result, bool histogram)
{
    const struct params *params = result->params;
    json_t *object;
    char name[512];

    report_name(result->test, result->names, name, sizeof(name));
    object = json_pack(
        "{s:s, s:s, s:s, s:s, s:I, s:o, s:i, s:i, s:I, s:I, s:s,"
        " s:o, s:f, s:f, s:b, s:I, s:s, s:o}",
        "name", name, "test", result->test->name, "description",
        result->test->description, "api", result->test->api->name, "size",
        (json_int_t)params_size(params), "sizes", json_sizes(params), "threads",
        (int)params->threads, "outstanding", (int)result->outstanding,
        "iterations", (json_int_t)result->figures.iterations, "warmup",
        (json_int_t)params->warmup, "kind", report_label(result->test),
        "time_us", json_times(result), "bytes_per_second",
        result->figures.overall_rate * params_size(params),
        "messages_per_second", result->figures.overall_rate, "checked",
        (params->flags & PARAMS_CHECK) != 0, "wrong", (json_int_t)result->wrong,
        "transports", result->transports, "environment", json_environment());
    if ((object != NULL) && histogram) {
        json_object_set_new(object, "histogram", json_histogram(result));
    }
    return object;
}
