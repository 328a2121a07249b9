/* SPDX-License-Identifier: BSD-3-Clause */
/* A plan is the list of tests of a command line: one test, or those of batch
 * files, each with every size of a sweep (--sweep). */
#ifndef PERFTEST_PLAN_H
#define PERFTEST_PLAN_H

#include "options.h"

struct plan_entry {
    struct params params;
    struct names names;
};

struct plan {
    struct plan_entry *entries;
    unsigned count;
};

/* Reads all batch files before any test runs, so that an invalid line is
 * reported at once: `error` contains its file and number. */
bool plan_make(struct plan *plan, struct options *options,
               char error[PARAMS_ERROR_MAX]);
void plan_free(struct plan *plan);

#endif
