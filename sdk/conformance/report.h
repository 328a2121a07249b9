/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Prints the findings: as text while the checks run, or as one JSON document at
 * the end.
 */
#ifndef CONFORMANCE_REPORT_H
#define CONFORMANCE_REPORT_H

#include <jansson.h>

#include "check.h"

typedef struct report {
    int json;
    unsigned count[3]; /* Number of checks, by check_outcome_t */
    json_t *results;   /* NULL: text output */
} report_t;

void report_begin(report_t *report, int json, const target_t *target);
void report_add(report_t *report, const check_t *check,
                const resource_t *resource, const record_t *record);

/* Returns 0 if the output could not be written. */
int report_end(report_t *report, const target_t *target);

void report_list(int json);

#endif
