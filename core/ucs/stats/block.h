/* SPDX-License-Identifier: BSD-3-Clause */
/* Current and earlier values of counters, of one record or summed over several
 * records, for the two output formats (text and JSON). A record has the
 * counters of one object, such as an endpoint. */
#ifndef UCS_STATS_BLOCK_H
#define UCS_STATS_BLOCK_H

#include "ucs/stats/view.h"

typedef struct stats_printer {
    const ucs_stats_view_t *view;           /* the counters to print */
    const ucs_stats_view_t *before;         /* earlier copy of the counters, to
                                             * print rates; NULL: no rates */
    const ucs_config_names_array_t *filter; /* patterns of names of counters to
                                             * print; NULL or empty: all
                                             * counters */
    double seconds;                         /* time from `before` to `view` */
} stats_printer_t;

/* Sums of the values of records of one type. The arrays have one element for
 * each counter of the type. */
typedef struct stats_block {
    const ucs_stats_view_type_t *type;
    uint64_t *now;    /* sums in stats_printer_t::view */
    uint64_t *before; /* sums in stats_printer_t::before; 0 if that is NULL */
    unsigned records; /* number of records in the sums */
} stats_block_t;

/* Initializes the sums of a type with zeros. `type`: index in view->types.
 * Returns 0 if memory is exhausted. */
int stats_block_init(stats_block_t *block, const ucs_stats_view_t *view,
                     unsigned type);
void stats_block_cleanup(stats_block_t *block);

/* Adds the values of one record, and its values in printer->before. */
void stats_block_add(stats_block_t *block, const stats_printer_t *printer,
                     const ucs_stats_view_record_t *record);

/* Adds all records of the type with this index, which must be the type of the
 * block. If `root` is not 0, adds only the descendants of the record with
 * number `root`, which must have no parent in the view. */
void stats_block_sum(stats_block_t *block, const stats_printer_t *printer,
                     unsigned type, uint32_t root);

/* Returns the record with this number (ucs_stats_view_record_t::number), or
 * NULL. */
const ucs_stats_view_record_t *stats_record_find(const ucs_stats_view_t *view,
                                                 uint32_t number);

/* Follows the parents of a record, as far as the view contains them. Returns
 * the number of the last one, or of the record itself if there is no parent. */
uint32_t stats_record_root(const ucs_stats_view_t *view,
                           const ucs_stats_view_record_t *record);

/* Returns whether a counter must be printed: its value is not zero, and the
 * filter includes its name. `index`: position among the counters of the
 * type. */
int stats_block_shows(const stats_block_t *block,
                      const stats_printer_t *printer, unsigned index);

/* Returns whether no counter of the block must be printed. */
int stats_block_is_empty(const stats_block_t *block,
                         const stats_printer_t *printer);

/* Returns the increase of a counter per second between printer->before and
 * printer->view; 0 if it has not increased. */
double stats_block_rate(const stats_block_t *block,
                        const stats_printer_t *printer, unsigned index);

const char *stats_state_name(unsigned state);

void stats_print_json(FILE *stream, const stats_printer_t *printer);

#endif
