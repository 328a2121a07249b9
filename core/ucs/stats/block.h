/* SPDX-License-Identifier: BSD-3-Clause */
/* Arithmetic on counters for the two ways to print them (text and JSON):
 * current and earlier values of one record, or sums over several records. */
#ifndef UCS_STATS_BLOCK_H
#define UCS_STATS_BLOCK_H

#include "ucs/stats/view.h"

typedef struct stats_printer {
    const ucs_stats_view_t *view;
    const ucs_stats_view_t *before;         /* NULL: rates are not printed */
    const ucs_config_names_array_t *filter; /* NULL: all counters */
    double seconds;                         /* time between before and view */
} stats_printer_t;

/* Values indexed by the counters of a type. */
typedef struct stats_block {
    const ucs_stats_view_type_t *type;
    uint64_t *now;
    uint64_t *before; /* zeros without an earlier view */
    unsigned records; /* number of records added */
} stats_block_t;

/* Initializes a block with zeros. Returns 0 if memory is exhausted. */
int stats_block_init(stats_block_t *block, const ucs_stats_view_t *view,
                     unsigned type);
void stats_block_cleanup(stats_block_t *block);

/* Adds one record and its earlier values. */
void stats_block_add(stats_block_t *block, const stats_printer_t *printer,
                     const ucs_stats_view_record_t *record);

/* Adds the records of the block's type that descend from record number `root`,
 * or all records of that type if `root` is 0. */
void stats_block_sum(stats_block_t *block, const stats_printer_t *printer,
                     unsigned type, uint32_t root);

/* Returns the record whose number is `number`, or NULL. */
const ucs_stats_view_record_t *stats_record_find(const ucs_stats_view_t *view,
                                                 uint32_t number);

/* Returns the number of the top record from which a record descends; its own
 * number if it has no parent. */
uint32_t stats_record_root(const ucs_stats_view_t *view,
                           const ucs_stats_view_record_t *record);

/* Returns whether the counter must be printed: the filter includes it, and it
 * is not zero. `index` is its position within the type. */
int stats_block_shows(const stats_block_t *block,
                      const stats_printer_t *printer, unsigned index);

/* Returns whether no counter of the block must be printed. */
int stats_block_is_empty(const stats_block_t *block,
                         const stats_printer_t *printer);

/* Returns the rate of a counter, per second. */
double stats_block_rate(const stats_block_t *block,
                        const stats_printer_t *printer, unsigned index);

const char *stats_state_name(unsigned state);

void stats_print_json(FILE *stream, const stats_printer_t *printer);

#endif
