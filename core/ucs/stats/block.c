/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums of counters, and their changes since an earlier copy, for all output
 * formats. See block.h for the terms. */
#include "ucs/stats/block.h"

#include <fnmatch.h>
#include <stdlib.h>

static const ucs_stats_layout_counter_t *
counter_of(const stats_block_t *block, const stats_printer_t *printer,
           unsigned index)
{
    return &printer->view->counters[block->type->first_counter + index];
}

int stats_block_init(stats_block_t *block, const ucs_stats_view_t *view,
                     unsigned type)
{
    block->type    = &view->types[type];
    block->records = 0;
    block->now     = calloc(2 * (size_t)block->type->num_counters + 1,
                            sizeof(*block->now));
    block->before  = (block->now == NULL) ?
                         NULL :
                         block->now + block->type->num_counters;
    return block->now != NULL;
}

void stats_block_cleanup(stats_block_t *block)
{
    free(block->now);
}

const ucs_stats_view_record_t *stats_record_find(const ucs_stats_view_t *view,
                                                 uint32_t number)
{
    unsigned from = 0, to = view->num_records;

    while (from < to) {
        unsigned middle = from + (to - from) / 2;

        if (view->records[middle].number < number) {
            from = middle + 1;
        } else {
            to = middle;
        }
    }
    return ((from < view->num_records) &&
            (view->records[from].number == number)) ?
               &view->records[from] :
               NULL;
}

uint32_t stats_record_root(const ucs_stats_view_t *view,
                           const ucs_stats_view_record_t *record)
{
    const ucs_stats_view_record_t *parent = record;

    /* the loop terminates, since a parent's number is smaller than its
     * child's */
    while (parent != NULL) {
        record = parent;
        parent = (record->parent == 0) ?
                     NULL :
                     stats_record_find(view, record->parent);
    }
    return record->number;
}

void stats_block_add(stats_block_t *block, const stats_printer_t *printer,
                     const ucs_stats_view_record_t *record)
{
    const ucs_stats_view_record_t *old = NULL;
    unsigned i;

    if (printer->before != NULL) {
        old = stats_record_find(printer->before, record->number);
        if ((old != NULL) && ((old->type != record->type) ||
                              (printer->before->types[old->type].num_counters !=
                               block->type->num_counters))) {
            old = NULL;
        }
    }
    for (i = 0; i < block->type->num_counters; ++i) {
        block->now[i] += record->values[i];
        block->before[i] += (old != NULL) ? old->values[i] : 0;
    }
    ++block->records;
}

void stats_block_sum(stats_block_t *block, const stats_printer_t *printer,
                     unsigned type, uint32_t root)
{
    const ucs_stats_view_t *view = printer->view;
    unsigned i;

    for (i = 0; i < view->num_records; ++i) {
        const ucs_stats_view_record_t *record = &view->records[i];

        if ((record->type == type) &&
            ((root == 0) || ((record->number != root) &&
                             (stats_record_root(view, record) == root)))) {
            stats_block_add(block, printer, record);
        }
    }
}

int stats_block_shows(const stats_block_t *block,
                      const stats_printer_t *printer, unsigned index)
{
    const char *name = counter_of(block, printer, index)->name;
    unsigned i;

    if (block->now[index] == 0) {
        return 0;
    }
    if ((printer->filter == NULL) || (printer->filter->count == 0)) {
        return 1;
    }
    for (i = 0; i < printer->filter->count; ++i) {
        if (fnmatch(printer->filter->names[i], name, 0) == 0) {
            return 1;
        }
    }
    return 0;
}

int stats_block_is_empty(const stats_block_t *block,
                         const stats_printer_t *printer)
{
    unsigned i;

    for (i = 0; i < block->type->num_counters; ++i) {
        if (stats_block_shows(block, printer, i)) {
            return 0;
        }
    }
    return 1;
}

double stats_block_rate(const stats_block_t *block,
                        const stats_printer_t *printer, unsigned index)
{
    uint64_t now = block->now[index], before = block->before[index];

    return ((now > before) && (printer->seconds > 0)) ?
               (double)(now - before) / printer->seconds :
               0;
}

const char *stats_state_name(unsigned state)
{
    switch (state) {
    case UCS_STATS_LIVE:
        return "live";
    case UCS_STATS_ENDED:
        return "ended";
    default:
        return "sum";
    }
}
