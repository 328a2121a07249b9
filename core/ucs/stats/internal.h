/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of this folder share. */
#ifndef UCS_STATS_INTERNAL_H
#define UCS_STATS_INTERNAL_H

#include "ucs/stats/stats.h"
#include "ucs/stats/view.h"

/** The variables UCX_STATS*. */
typedef struct stats_options {
    int                      enable;
    char                     *dest;
    char                     *trigger;
    unsigned                 format;  /* ucs_stats_format_t */
    ucs_config_names_array_t filter;
    size_t                   room;
} stats_options_t;

/** Reads them. Zero: a value is bad, which has been told. */
int stats_options_read(const ucs_config_source_t *source,
                       stats_options_t *options);
void stats_options_release(stats_options_t *options);

/** Sets up where and when reports are written, unless it was done. Values that
 *  are bad are told of. Not under a lock. */
void stats_report_start(const stats_options_t *options);

/** No more of them, but the last one. */
void stats_report_stop(void);

/** In a child after fork: it has nothing to report yet. */
void stats_report_forked(void);

/** The last report, when the process ends. */
void stats_report_last(void);

/** A copy of our own memory, to be freed; NULL: there is none, or no memory. */
void *stats_segment_copy(size_t *length_p);

#endif
