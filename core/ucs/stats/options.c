/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The variables UCX_STATS*. They are read by ucs_stats_open(), not when the
 * library is loaded, so that programs without this call do not read the
 * variables.
 */
#include "ucs/stats/internal.h"

#include "ucs/sys/sys.h"

enum { DEFAULT_MAX_SIZE = 32 << 20 };

const char *const ucs_stats_format_names[] = {"full", "agg", "summary", "json",
                                              NULL};

static const ucs_config_field_t fields[] = {
    {"STATS", "n",
     "Count messages, bytes, protocols and waits, for each worker and endpoint.\n"
     "\"ucx_info --live PID\" shows them while the process runs.",
     ucs_offsetof(stats_options_t, enable), UCS_CONFIG_TYPE_BOOL, 0},

    {"STATS_DEST", "",
     "Where to write the counters; if set, STATS=y is implied.\n"
     "stdout, stderr - as text\n"
     "file:<path>    - to a file. %p, %h, %e, %u and %t are replaced by process\n"
     "                 id, host, program, user and time. A path that ends in\n"
     "                 .json selects the format json",
     ucs_offsetof(stats_options_t, dest), UCS_CONFIG_TYPE_STRING,
     UCS_CONFIG_FLAG_PATH},

    {"STATS_TRIGGER", "exit",
     "When to write the counters:\n"
     "exit             - at the end of the process\n"
     "signal:<signal>  - also on this signal, a name or a number\n"
     "timer:<interval> - also at this interval",
     ucs_offsetof(stats_options_t, trigger), UCS_CONFIG_TYPE_STRING, 0},

    {"STATS_FORMAT", "full",
     "full    - every worker, interface, endpoint and lane\n"
     "agg     - every worker, with the sums of its interfaces and endpoints\n"
     "summary - the sums of the process\n"
     "json    - everything, for programs",
     ucs_offsetof(stats_options_t, format),
     UCS_CONFIG_TYPE_ENUM(ucs_stats_format_names), 0},

    {"STATS_FILTER", "*",
     "Names of the counters to write, separated by commas; * matches any\n"
     "characters.",
     ucs_offsetof(stats_options_t, filter), UCS_CONFIG_TYPE_STRING_ARRAY, 0},

    {"STATS_MAX_SIZE", "32m",
     "Maximum memory for counters. Objects beyond it have no counters of their\n"
     "own; their events are counted in sums.",
     ucs_offsetof(stats_options_t, max_size),
     UCS_CONFIG_TYPE_MEMUNITS_RANGE(16384, UCS_STATS_SIZE_MAX), 0},

    {NULL, NULL, NULL, 0, NULL, NULL, 0},
};

UCS_CONFIG_DEFINE_TABLE(stats_table, "UCX counters", "", fields,
                        stats_options_t)

int stats_options_read(const ucs_config_source_t *source,
                       stats_options_t *options)
{
    if (ucs_config_read(&stats_table, source, options) != UCS_OK) {
        return 0;
    }
    if (options->max_size == UCS_MEMUNITS_AUTO) {
        options->max_size = DEFAULT_MAX_SIZE;
    } else if (options->max_size > UCS_STATS_SIZE_MAX) {
        options->max_size = UCS_STATS_SIZE_MAX; /* "inf" */
    }
    if (options->dest[0] != '\0') {
        options->enable = 1;
    }
    if (ucs_sys_is_secure()) {
        options->enable = 0; /* the user of a privileged program must not
                              * control its files */
    }
    return 1;
}

void stats_options_release(stats_options_t *options)
{
    ucs_config_release(&stats_table, options);
}
