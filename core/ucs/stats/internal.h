/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the files of this folder. */
#ifndef UCS_STATS_INTERNAL_H
#define UCS_STATS_INTERNAL_H

#include "ucs/stats/stats.h"
#include "ucs/stats/view.h"

/** The variables UCX_STATS*. */
typedef struct stats_options {
    int enable;
    char *dest;
    char *trigger;
    unsigned format; /* ucs_stats_format_t */
    ucs_config_names_array_t filter;
    size_t max_size;
} stats_options_t;

/** Reads them. Zero: a value is invalid, which was reported. */
int stats_options_read(const ucs_config_source_t *source,
                       stats_options_t *options);
void stats_options_release(stats_options_t *options);

/* types.c; with the lock of the segment held. */
ucs_stats_layout_type_t *stats_type_at(ucs_stats_header_t *header,
                                       unsigned index);
/** Sets where types, counters and records begin: space for `types` and more. */
void stats_types_reserve(ucs_stats_header_t *header,
                         const ucs_stats_type_t *types, unsigned num_types);
/** A type of that name with the same counters; -1: none. */
int stats_type_find(ucs_stats_header_t *header, const ucs_stats_type_t *type);
/** -1: no space. */
int stats_type_append(ucs_stats_header_t *header, const ucs_stats_type_t *type);

/** Configures reports, unless done before. Invalid values are reported. Not
 *  under a lock. */
void stats_report_start(const stats_options_t *options);

/** Stops reports, except the last one. */
void stats_report_stop(void);

/** In a forked child: nothing to report yet. */
void stats_report_forked(void);

/** Writes the last report when the process exits. */
void stats_report_last(void);

/** Copies this process's counters; free() the result. NULL: none, or out of
 *  memory. */
void *stats_segment_copy(size_t *length_p);

#endif
