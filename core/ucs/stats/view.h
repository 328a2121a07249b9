/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads counters: of this process, of another one, or from any bytes. A view is
 * a checked copy, which does not change.
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
    unsigned type;  /**< Index */
    unsigned state; /**< UCS_STATS_LIVE, _ENDED or _SUM */
    uint32_t number;
    uint32_t parent; /**< 0: none */
    int32_t status;
    uint64_t since, until; /**< ns since 1970 */
    char name[UCS_STATS_NAME_MAX];
    const uint64_t *values; /**< As many as the type has counters */
} ucs_stats_view_record_t;

typedef struct ucs_stats_view_type {
    char name[24];
    unsigned first_counter, num_counters;
} ucs_stats_view_type_t;

typedef struct ucs_stats_view {
    pid_t pid;
    uint64_t started; /**< ns since 1970 */
    uint64_t taken;   /**< ns since 1970, when it was
                       *   copied */
    uint64_t lost;    /**< Records that were not created for lack of space */
    char host[64];
    char program[64];
    unsigned num_types;
    ucs_stats_view_type_t *types;
    ucs_stats_layout_counter_t *counters;
    unsigned num_records;
    ucs_stats_view_record_t *records; /**< In the order of their numbers */
    uint64_t *values;
} ucs_stats_view_t;

/** Size of an error text. */
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
 * Opens the counters of a process; `index` selects one if the process has the
 * library more than once.
 *
 * @return A descriptor; -1 after the last one, or with an error in `why`.
 */
int ucs_stats_open_process(pid_t pid, unsigned index, char *why);

/** Reads the counters from a descriptor of ucs_stats_open_process(). May be
 *  called repeatedly. */
ucs_status_t ucs_stats_view_read(int fd, ucs_stats_view_t **view_p, char *why);

void ucs_stats_view_free(ucs_stats_view_t *view);

typedef enum {
    UCS_STATS_FORMAT_FULL,    /**< Every record */
    UCS_STATS_FORMAT_AGG,     /**< Sums by type below each top record */
    UCS_STATS_FORMAT_SUMMARY, /**< Sums by type */
    UCS_STATS_FORMAT_JSON,
} ucs_stats_format_t;

/** The names of the formats, terminated by NULL. */
extern const char *const ucs_stats_format_names[];

typedef struct ucs_stats_print_params {
    ucs_stats_format_t format;
    const ucs_config_names_array_t *filter; /**< Names with * and ?; NULL or
                                             *   empty: all counters */
    const ucs_stats_view_t *before;         /**< Earlier view. Not NULL: print
                                             * changes since that view, per
                                             * second */
} ucs_stats_print_params_t;

/** Prints a view. Counters that are zero are omitted. */
void ucs_stats_print(FILE *stream, const ucs_stats_view_t *view,
                     const ucs_stats_print_params_t *params);

END_C_DECLS

#endif
