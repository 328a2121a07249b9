/* SPDX-License-Identifier: BSD-3-Clause */
/* The values of one record, or sums of several, and what they were before: what
 * both ways of printing print. */
#ifndef UCS_STATS_BLOCK_H
#define UCS_STATS_BLOCK_H

#include "ucs/stats/view.h"

typedef struct stats_printer {
    const ucs_stats_view_t         *view;
    const ucs_stats_view_t         *before;   /* NULL: no rates */
    const ucs_config_names_array_t *filter;   /* NULL: all */
    double                         seconds;   /* from before to view */
} stats_printer_t;

/* Values by the counters of a type. */
typedef struct stats_block {
    const ucs_stats_view_type_t *type;
    uint64_t                    *now;
    uint64_t                    *before;  /* zeros without a view before */
    unsigned                    records;  /* that are in it */
} stats_block_t;

/* Zeros; 0: no memory. */
int stats_block_init(stats_block_t *block, const ucs_stats_view_t *view,
                     unsigned type);
void stats_block_cleanup(stats_block_t *block);

/* Adds one record, and what it was before. */
void stats_block_add(stats_block_t *block, const stats_printer_t *printer,
                     const ucs_stats_view_record_t *record);

/* Adds those of the block's type that descend from a record; root 0: all. */
void stats_block_sum(stats_block_t *block, const stats_printer_t *printer,
                     unsigned type, uint32_t root);

/* The record of a number, or NULL. */
const ucs_stats_view_record_t *
stats_record_find(const ucs_stats_view_t *view, uint32_t number);

/* Who a record belongs to in the end: itself, if to nobody. */
uint32_t stats_record_root(const ucs_stats_view_t *view,
                           const ucs_stats_view_record_t *record);

/* Is the counter asked for, and of the block not zero? `index` within type. */
int stats_block_shows(const stats_block_t *block,
                      const stats_printer_t *printer, unsigned index);

/* Does it show nothing at all? */
int stats_block_is_empty(const stats_block_t *block,
                         const stats_printer_t *printer);

/* By the second. */
double stats_block_rate(const stats_block_t *block,
                        const stats_printer_t *printer, unsigned index);

const char *stats_state_name(unsigned state);

void stats_print_json(FILE *stream, const stats_printer_t *printer);

#endif
