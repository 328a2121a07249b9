/* SPDX-License-Identifier: BSD-3-Clause */
/* Output: the table, lines of values, CSV, JSON and histograms. */
#ifndef PERFTEST_REPORT_H
#define PERFTEST_REPORT_H

#include "perf.h"

#include <jansson.h>
#include <stdio.h>

enum {
    OUTPUT_MAX_NAMES = 16,
    OUTPUT_NAME_MAX  = 64,
};

/* Output settings of this process. */
struct output {
    bool final_only; /* -f: print only the final results */
    bool numeric;    /* -N: separate thousands */
    bool values;     /* -v: print values separated by commas */
    bool extra;      /* -I: also print the transports that are used */
    /* --histogram: print the number of operations by time */
    bool histogram;
    bool table;           /* false: no table is printed, because the CSV or JSON
                           * text goes to stdout */
    double rank;          /* -R: percentile to show */
    const char *csv_path; /* NULL: no file; "-": stdout */
    const char *json_path;
    /* Open CSV file; NULL: none */
    FILE *csv;
    /* Results for the JSON file; NULL: none */
    json_t *results;
    const char *files[OUTPUT_MAX_NAMES]; /* headings of the columns with the
                                          * test's names: the batch files (-b);
                                          * with --sweep also "size", after
                                          * "test" if there is no batch file */
    unsigned file_count;
    const char *label; /* heading of the columns with times; NULL before the
                        * first test */
};

/* The names of a test: the first words of the lines of batch files that
 * describe the test, and its size with --sweep. The count is 0 if there are
 * none. */
struct names {
    char text[OUTPUT_MAX_NAMES][OUTPUT_NAME_MAX];
    unsigned count;
};

struct result {
    const struct perf_test *test;
    const struct params *params;
    const struct names *names;
    unsigned outstanding;
    unsigned messages;          /* number of messages in an iteration */
    struct figures figures;     /* of all threads together */
    struct histogram histogram; /* durations of iterations in ticks */
    uint64_t wrong;
    char transports[256];
};

/* Opens the files. Returns false after a message. */
bool report_open(struct output *output);

/* Closes the files. Returns false, after a message, if writing failed. */
bool report_close(struct output *output);

/* Prints the parameters of the test that is about to run. */
void report_test(const struct perf_run *run);
/* Prints the head of the table, as far as it differs from the last one. */
void report_head(struct output *output, const struct perf_test *test,
                 const struct names *names);
/* Prints a line with the results of a thread so far. */
void report_progress(const struct output *output, const struct perf_run *run,
                     const struct perf_thread *thread);
void report_result(struct output *output, const struct result *result);

/* report_data.c: rows for programs */
void report_csv_head(FILE *file);
void report_csv(FILE *file, const struct result *result);
json_t *report_json(const struct result *result, bool histogram);

/* report_histogram.c */
void report_histogram(const struct result *result);

/* Joins the names by '/'. Without names, writes the test's name. */
void report_name(const struct perf_test *test, const struct names *names,
                 char *text, size_t length);
const char *report_label(const struct perf_test *test);

/* Converts the duration of an iteration in ticks to the time of one message in
 * microseconds. */
double report_us(const struct result *result, double ticks);

#endif
