/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line, and the lines of batch files, which have the same
 * syntax. */
#ifndef PERFTEST_OPTIONS_H
#define PERFTEST_OPTIONS_H

#include "report.h"

enum {
    OPTIONS_MAX_CPUS = 256,
};

struct options {
    struct params params;
    struct output output;
    const char *host; /* NULL: not given */
    const char *batches[OUTPUT_MAX_NAMES];
    unsigned batch_count;
    uint16_t port;
    bool ipv6;
    bool self_fork;
    bool forever;
    bool help;
    bool version;
    int cpus[OPTIONS_MAX_CPUS];
    unsigned cpu_count;  /* 0: the system decides */
    uint64_t sweep_from; /* range of sizes in bytes, each twice the previous
                          * one; both are 0 without a range */
    uint64_t sweep_to;
};

void options_init(struct options *options);

/* Parses argv[1..]. On failure returns false and sets `error`. Keeps pointers
 * to the words. */
bool options_read(struct options *options, int argc, char **argv,
                  char error[PARAMS_ERROR_MAX]);

/* Applies the words of a line of a batch file, which can contain options of
 * tests only. */
bool options_apply(struct params *params, int count, char **words,
                   char error[PARAMS_ERROR_MAX]);

/* help.c: prints the help */
void options_help(void);

#endif
