/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reading counters: of this process, of another one, or whatever bytes claim to
 * be such. A view is a copy: nothing in it changes, and everything in it has
 * been checked.
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
    unsigned       type;     /**< Index */
    unsigned       state;    /**< UCS_STATS_LIVE, _ENDED or _SUM */
    uint32_t       number;
    uint32_t       parent;   /**< 0: none */
    int32_t        status;
    uint64_t       since, until;  /**< ns since 1970 */
    char           name[UCS_STATS_NAME_MAX];
    const uint64_t *values;  /**< As many as the type has counters */
} ucs_stats_view_record_t;

typedef struct ucs_stats_view_type {
    char     name[24];
    unsigned first_counter, num_counters;
} ucs_stats_view_type_t;

typedef struct ucs_stats_view {
    pid_t                      pid;
    uint64_t                   started;  /**< ns since 1970 */
    uint64_t                   taken;    /**< Likewise: when it was copied */
    uint64_t                   lost;     /**< Records without room */
    char                       host[64];
    char                       program[64];
    unsigned                   num_types;
    ucs_stats_view_type_t      *types;
    ucs_stats_layout_counter_t *counters;
    unsigned                   num_records;
    ucs_stats_view_record_t    *records; /**< In order of their numbers */
    uint64_t                   *values;
} ucs_stats_view_t;

/** Room for a sentence about what is wrong. */
enum { UCS_STATS_WHY_MAX = 160 };

/**
 * Understands bytes from anywhere.
 *
 * @param [in]  bytes   Aligned to 8; not needed afterwards.
 * @param [out] view_p  To be freed.
 * @param [out] why     What is wrong with them; UCS_STATS_WHY_MAX bytes.
 *
 * @return UCS_ERR_INVALID_PARAM: they are no counters. UCS_ERR_UNSUPPORTED: they
 *         are, in a layout that is newer than we are. UCS_ERR_NO_MEMORY.
 */
ucs_status_t ucs_stats_view_parse(const void *bytes, size_t length,
                                  ucs_stats_view_t **view_p, char *why);

/** Those of this process. UCS_ERR_NO_ELEM: it does not count. */
ucs_status_t ucs_stats_view_self(ucs_stats_view_t **view_p);

/**
 * Opens the counters of a process, the `index`-th of them: there are several
 * where a process has the library twice.
 *
 * @return A descriptor; -1 after all of them, or with a sentence in `why`.
 */
int ucs_stats_open_process(pid_t pid, unsigned index, char *why);

/** Reads what a descriptor leads to. It may be read again. */
ucs_status_t ucs_stats_view_read(int fd, ucs_stats_view_t **view_p, char *why);

void ucs_stats_view_free(ucs_stats_view_t *view);

typedef enum {
    UCS_STATS_FORMAT_FULL,     /**< Every record */
    UCS_STATS_FORMAT_AGG,      /**< Sums by type below each top record */
    UCS_STATS_FORMAT_SUMMARY,  /**< Sums by type */
    UCS_STATS_FORMAT_JSON
} ucs_stats_format_t;

/** The names of the formats, ended by NULL. */
extern const char *const ucs_stats_format_names[];

typedef struct ucs_stats_print_params {
    ucs_stats_format_t             format;
    const ucs_config_names_array_t *filter; /**< Names with * and ?; NULL or
                                                 none: all counters */
    const ucs_stats_view_t         *before; /**< Not NULL: what has happened
                                                 since then, by the second */
} ucs_stats_print_params_t;

/** Shows a view. Counters that are zero are left out. */
void ucs_stats_print(FILE *stream, const ucs_stats_view_t *view,
                     const ucs_stats_print_params_t *params);

END_C_DECLS

#endif
