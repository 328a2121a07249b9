/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints the results of ucp_bench: a table for users, or JSON for programs. The
 * script `compare` reads the JSON of two libraries. */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool less_is_better(const struct figure *figure)
{
    return strstr(figure->unit, "/s") == NULL;
}

void report_table(const struct figure_list *list, const struct result *results,
                  double foreign)
{
    const struct result *result = results;
    const struct figure *figure;

    printf("UCP %s, UCX_TLS=%s, other work on the machine: %.0f %%\n",
           ucp_get_version_string(),
           (getenv("UCX_TLS") != NULL) ? getenv("UCX_TLS") : "(default)",
           foreign * 100);
    printf("%-20s %12s %-6s %16s\n", "figure", "value", "", "floors, us");
    for (figure = list->figures; result < results + list->count;
         ++figure, ++result) {
        if (result->floor_before <= 0) {
            continue;
        }
        if (result->value < 0) {
            printf("%-20s %12s %-6s %8.3f %7.3f\n", figure->name, "not offered",
                   "", result->floor_before, result->floor_after);
        } else {
            printf("%-20s %12.3f %-6s %8.3f %7.3f\n", figure->name,
                   result->value, figure->unit, result->floor_before,
                   result->floor_after);
        }
    }
}

void report_json(const struct figure_list *list, const struct result *results,
                 double foreign)
{
    const struct figure *figure;
    const char *separator = "";
    unsigned i;

    printf("{\"version\": \"%s\", \"foreign_cpu\": %.4f, \"figures\": [",
           ucp_get_version_string(), foreign);
    for (i = 0; i < list->count; ++i) {
        figure = &list->figures[i];
        if (results[i].floor_before > 0) {
            printf("%s\n  {\"name\": \"%s\", \"unit\": \"%s\", \"less_is_better"
                   "\": %s, \"value\": %.6g, \"floors\": [%.4f, %.4f]}",
                   separator, figure->name, figure->unit,
                   less_is_better(figure) ? "true" : "false", results[i].value,
                   results[i].floor_before, results[i].floor_after);
            separator = ",";
        }
    }
    printf("\n]}\n");
}
