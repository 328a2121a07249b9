/* SPDX-License-Identifier: BSD-3-Clause */
/* Types of statistics that public interfaces use. */
#ifndef UCS_STATS_FWD_H
#define UCS_STATS_FWD_H

#include <ucs/sys/compiler_def.h>

BEGIN_C_DECLS

/** Node in a tree of statistics; opaque. */
typedef struct ucs_stats_node ucs_stats_node_t;

/** Level of detail of written statistics, see UCX_STATS_FORMAT. */
typedef enum ucs_stats_formats {
    UCS_STATS_FULL,     /**< The counters of each object */
    UCS_STATS_FULL_AGG, /**< Each worker, with the sums of its objects */
    UCS_STATS_SUMMARY,  /**< The sums of all objects of the process */
    UCS_STATS_LAST,
} ucs_stats_formats_t;

END_C_DECLS

#endif
