/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Variables of counters. They are read when counters are opened, not at load,
 * so that programs without counters pay nothing.
 */
#include "ucs/stats/internal.h"

#include "ucs/sys/sys.h"

enum { USUAL_ROOM = 32 << 20 };

const char *const ucs_stats_format_names[] = {"full", "agg", "summary", "json",
                                              NULL};

static const ucs_config_field_t fields[] = {
    {"STATS", "n",
     "Count messages, bytes, protocols and waits, for each worker and endpoint.\n"
     "\"ucx_info --live PID\" shows them while the process runs.",
     ucs_offsetof(stats_options_t, enable), UCS_CONFIG_TYPE_BOOL, 0},

    {"STATS_DEST", "",
     "Where to write the counters; not empty: count, as STATS=y does.\n"
     "stdout, stderr - as text\n"
     "file:<path>    - into a file of its own. %p, %h, %e, %u and %t stand for\n"
     "                 process id, host, program, user and time. A path that\n"
     "                 ends in .json gets JSON",
     ucs_offsetof(stats_options_t, dest), UCS_CONFIG_TYPE_STRING,
     UCS_CONFIG_FLAG_PATH},

    {"STATS_TRIGGER", "exit",
     "When to write them, beside the end of the process:\n"
     "exit             - then only\n"
     "signal:<signal>  - whenever the process gets it, by name or number\n"
     "timer:<interval> - again and again",
     ucs_offsetof(stats_options_t, trigger), UCS_CONFIG_TYPE_STRING, 0},

    {"STATS_FORMAT", "full",
     "full    - every worker, interface, endpoint and lane\n"
     "agg     - every worker, with the sums of what belongs to it\n"
     "summary - the sums of the process\n"
     "json    - everything, for programs",
     ucs_offsetof(stats_options_t, format),
     UCS_CONFIG_TYPE_ENUM(ucs_stats_format_names), 0},

    {"STATS_FILTER", "*",
     "Names of the counters to write, separated by commas; * stands for any\n"
     "letters.",
     ucs_offsetof(stats_options_t, filter), UCS_CONFIG_TYPE_STRING_ARRAY, 0},

    {"STATS_ROOM", "32m",
     "Memory for counters, at most. What finds no room in it is counted in\n"
     "sums.",
     ucs_offsetof(stats_options_t, room),
     UCS_CONFIG_TYPE_MEMUNITS_RANGE(16384, UCS_STATS_SIZE_MAX), 0},

    {NULL, NULL, NULL, 0, NULL, NULL, 0}};

UCS_CONFIG_DEFINE_TABLE(stats_table, "UCX counters", "", fields,
                        stats_options_t)

int stats_options_read(const ucs_config_source_t *source,
                       stats_options_t *options)
{
    if (ucs_config_read(&stats_table, source, options) != UCS_OK) {
        return 0;
    }
    if (options->room == UCS_MEMUNITS_AUTO) {
        options->room = USUAL_ROOM;
    } else if (options->room > UCS_STATS_SIZE_MAX) {
        options->room = UCS_STATS_SIZE_MAX; /* "inf" */
    }
    if (options->dest[0] != '\0') {
        options->enable = 1;
    }
    if (ucs_sys_is_secure()) {
        options->enable = 0; /* the user of a privileged program must not see
                              * the counters */
    }
    return 1;
}

void stats_options_release(stats_options_t *options)
{
    ucs_config_release(&stats_table, options);
}
