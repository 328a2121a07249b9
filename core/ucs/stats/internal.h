/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the files of this folder, which count events of the library: the
 * variables, the types of records, and the reports, which write the counters
 * to a file or stream. */
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

/** Reads the variables. Returns zero, after a message, if one of them has an
 *  invalid value. */
int stats_options_read(const ucs_config_source_t *source,
                       stats_options_t *options);
void stats_options_release(stats_options_t *options);

/* ---- types.c; the caller holds the lock of the segment ---- */
ucs_stats_layout_type_t *stats_type_at(ucs_stats_header_t *header,
                                       unsigned index);
/** Computes where types, counters and records begin, with space for `types` and
 *  for types that are added later. */
void stats_types_reserve(ucs_stats_header_t *header,
                         const ucs_stats_type_t *types, unsigned num_types);
/** Returns the index of the type that has this name and the same counters, or
 *  -1 if there is none. */
int stats_type_find(ucs_stats_header_t *header, const ucs_stats_type_t *type);
/** Adds a type and returns its index, or -1 if there is no space. */
int stats_type_append(ucs_stats_header_t *header, const ucs_stats_type_t *type);

/** Configures the reports, unless an earlier call has configured them. Invalid
 *  values are logged. The caller must not hold a lock. */
void stats_report_start(const stats_options_t *options);

/** Stops periodic and requested reports. The last report is still written. */
void stats_report_stop(void);

/** Called in a forked child: drops the state of the parent's reports. */
void stats_report_forked(void);

/** Writes the last report when the process exits. */
void stats_report_last(void);

/** Copies this process's counters. Release the result by free(). Returns NULL
 *  if nothing is counted, or memory is exhausted. */
void *stats_segment_copy(size_t *length_p);

#endif
