/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the files of this folder, which count events of the library. A
 * record has the counters of one object, such as an endpoint; layout.h
 * describes the memory with the records (the segment). A report writes the
 * counters to a file or stream. */
#ifndef UCS_STATS_INTERNAL_H
#define UCS_STATS_INTERNAL_H

#include "ucs/stats/stats.h"
#include "ucs/stats/view.h"

/** The variables UCX_STATS*. */
typedef struct stats_options {
    int enable;      /* whether to count */
    char *dest;      /* where reports are written: "stdout", "stderr" or
                      * "file:PATH"; "": nowhere */
    char *trigger;   /* when reports are written: at "exit", and also by
                      * "signal:SIGNAL" or "timer:INTERVAL" */
    unsigned format; /* ucs_stats_format_t */
    ucs_config_names_array_t filter; /* patterns of the counters to print */
    size_t max_size;                 /* bytes of the memory for counters */
} stats_options_t;

/** Reads the variables. Returns zero, after a message, if one of them has an
 *  invalid value. */
int stats_options_read(const ucs_config_source_t *source,
                       stats_options_t *options);
void stats_options_release(stats_options_t *options);

/* ---- types.c; the caller holds the lock of the segment ---- */

/** Returns the type with this index. */
ucs_stats_layout_type_t *stats_type_at(ucs_stats_header_t *header,
                                       unsigned index);
/** Sets the members of the header that say where types, counters and records
 *  begin. There is space for `types`, which are not added, and for some
 *  more. */
void stats_types_reserve(ucs_stats_header_t *header,
                         const ucs_stats_type_t *types, unsigned num_types);
/** Returns the index of the type that has this name and the same counters, or
 *  -1 if there is none. */
int stats_type_find(ucs_stats_header_t *header, const ucs_stats_type_t *type);
/** Adds a type and returns its index, or -1 if there is no space. */
int stats_type_append(ucs_stats_header_t *header, const ucs_stats_type_t *type);

/** Configures the reports, unless an earlier call has configured them and
 *  stats_report_stop() was not called since. Invalid values are logged. The
 *  caller must not hold the lock of the segment. */
void stats_report_start(const stats_options_t *options);

/** Stops the reports by a timer or a signal. stats_report_last() still writes
 *  one report. */
void stats_report_stop(void);

/** Called in a forked child: disables the reports, which belong to the
 *  parent. */
void stats_report_forked(void);

/** Called when the process exits: writes one report, if reports are
 *  configured. */
void stats_report_last(void);

/** Returns a copy of the segment of this process in the layout of layout.h.
 *  Release it by free(). *length_p receives its size in bytes. Returns NULL if
 *  counting is disabled, or memory is exhausted. */
void *stats_segment_copy(size_t *length_p);

#endif
