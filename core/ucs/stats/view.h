/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads the counters (layout.h) of this process, of another process, or from
 * any bytes. A view is a copy of the counters that was checked, and which does
 * not change.
 */
#ifndef UCS_STATS_VIEW_H
#define UCS_STATS_VIEW_H

#include <stdio.h>
#include <sys/types.h>
#include <ucs/type/status.h>

#include "ucs/config/config.h"
#include "ucs/stats/layout.h"

BEGIN_C_DECLS

typedef struct ucs_stats_view_record {
    unsigned type;   /**< Index in ucs_stats_view_t::types */
    unsigned state;  /**< UCS_STATS_LIVE, _ENDED or _SUM */
    uint32_t number; /**< From 1, in order of creation */
    uint32_t parent; /**< `number` of the parent record; 0: none. The parent may
                      *   be missing in the view */
    int32_t status;  /**< State _ENDED: why the object was destroyed, a
                      *   ucs_status_t */
    uint64_t since, until; /**< When the record was created, and when it ended
                            *   (0: not ended), ns since 1970 */
    char name[UCS_STATS_NAME_MAX];
    const uint64_t *values; /**< One for each counter of the type */
} ucs_stats_view_record_t;

typedef struct ucs_stats_view_type {
    char name[24];
    unsigned first_counter, num_counters; /**< Index of the first counter in
                                           *   ucs_stats_view_t::counters, and
                                           *   number of counters */
} ucs_stats_view_type_t;

typedef struct ucs_stats_view {
    pid_t pid;        /**< Process that counts */
    uint64_t started; /**< When counting began, ns since 1970 */
    uint64_t taken;   /**< When the view was created, ns since 1970 */
    uint64_t lost;    /**< Number of records that could not be created for lack
                       *   of space */
    char host[64];
    char program[64];
    unsigned num_types;
    ucs_stats_view_type_t *types;
    ucs_stats_layout_counter_t *counters; /**< Of all types */
    unsigned num_records;
    ucs_stats_view_record_t *records; /**< In the order of their numbers */
    uint64_t *values;                 /**< To which the records point */
} ucs_stats_view_t;

/** Size of the buffers `why` below, which receive an error text. */
enum { UCS_STATS_WHY_MAX = 160 };

/**
 * Parses bytes from any source.
 *
 * @param [in]  bytes   Aligned to 8 bytes; may be released after the call.
 * @param [out] view_p  Release it by ucs_stats_view_free().
 * @param [out] why     Error text, of UCS_STATS_WHY_MAX bytes.
 *
 * @return UCS_ERR_INVALID_PARAM if the bytes are not valid counters,
 *         UCS_ERR_UNSUPPORTED for an unknown version of the layout,
 *         UCS_ERR_NO_MEMORY.
 */
ucs_status_t ucs_stats_view_parse(const void *bytes, size_t length,
                                  ucs_stats_view_t **view_p, char *why);

/** Reads this process's counters. UCS_ERR_NO_ELEM if counting is disabled. */
ucs_status_t ucs_stats_view_self(ucs_stats_view_t **view_p);

/**
 * Opens the counters of a process for ucs_stats_view_read(). A process that has
 * loaded the library more than once has several sets of counters; `index` (from
 * 0) selects one.
 *
 * @return A descriptor, which the caller closes. -1 with an error in `why`; -1
 *         with an empty `why` if the process has fewer sets.
 */
int ucs_stats_open_process(pid_t pid, unsigned index, char *why);

/** Reads the counters from a descriptor of ucs_stats_open_process(). May be
 *  called repeatedly. */
ucs_status_t ucs_stats_view_read(int fd, ucs_stats_view_t **view_p, char *why);

void ucs_stats_view_free(ucs_stats_view_t *view);

typedef enum {
    UCS_STATS_FORMAT_FULL,    /**< Every record */
    UCS_STATS_FORMAT_AGG,     /**< Each record without a parent, with sums over
                               *   its descendants by type */
    UCS_STATS_FORMAT_SUMMARY, /**< Sums over all records by type */
    UCS_STATS_FORMAT_JSON,    /**< Every record, for programs */
} ucs_stats_format_t;

/** The names of the formats, terminated by NULL. */
extern const char *const ucs_stats_format_names[];

typedef struct ucs_stats_print_params {
    ucs_stats_format_t format;
    const ucs_config_names_array_t *filter; /**< Names of the counters to print,
                                             *   as patterns with * and ?; NULL
                                             *   or empty: all counters */
    const ucs_stats_view_t *before; /**< Earlier view, to print the changes per
                                     *   second since then; NULL: no changes */
} ucs_stats_print_params_t;

/** Prints a view. Counters that are zero are omitted. */
void ucs_stats_print(FILE *stream, const ucs_stats_view_t *view,
                     const ucs_stats_print_params_t *params);

END_C_DECLS

#endif
