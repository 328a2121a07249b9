/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints counters as text: a tree of records, or sums of records of one
 * type. */
#include "ucs/stats/block.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { NAME_WIDTH = 46, INDENT = 4 };

/* ---------------------------------------------------------------- lines -- */

static void print_rate(FILE *stream, double rate, int width)
{
    fprintf(stream, " %*.*f", width, (rate < 100) ? 1 : 0, rate);
}

/* Prints a line for the counter at `index`. If it counts messages, the next
 * counter is that of their bytes, and is printed in the same line. Returns the
 * number of counters in the line, 1 or 2, also if the line is omitted. */
static unsigned print_counter(FILE *stream, const stats_printer_t *printer,
                              const stats_block_t *block, unsigned index,
                              int indent)
{
    const ucs_stats_layout_counter_t *counter =
        &printer->view->counters[block->type->first_counter + index];
    int is_message = (counter->unit == UCS_STATS_MESSAGES);
    uint64_t count = block->now[index];
    uint64_t bytes = is_message ? block->now[index + 1] : 0;

    if (!stats_block_shows(block, printer, index)) {
        return 1 + (unsigned)is_message;
    }

    fprintf(stream, "%*s%-*s %14lu", indent, "", NAME_WIDTH - indent,
            counter->name, count);
    if (is_message) {
        fprintf(stream, " %18lu %12.0f", bytes, (double)bytes / (double)count);
    } else if (printer->before != NULL) {
        fprintf(stream, " %18s %12s", "", "");
    }
    if (printer->before != NULL) {
        print_rate(stream, stats_block_rate(block, printer, index), 14);
        if (is_message) {
            print_rate(stream, stats_block_rate(block, printer, index + 1), 18);
        }
    }
    fputc('\n', stream);
    return 1 + (unsigned)is_message;
}

static void print_block(FILE *stream, const stats_printer_t *printer,
                        const stats_block_t *block, int indent)
{
    unsigned i = 0;

    while (i < block->type->num_counters) {
        i += print_counter(stream, printer, block, i, indent);
    }
}

/* -------------------------------------------------------------- records -- */

static void print_title(FILE *stream, const ucs_stats_view_t *view,
                        const ucs_stats_view_record_t *record, int indent)
{
    fprintf(stream, "%*s%s %s", indent, "", view->types[record->type].name,
            record->name);
    if (record->state == UCS_STATS_ENDED) {
        fprintf(stream, ", ended");
        if (record->status != UCS_OK) {
            fprintf(stream, ": %s",
                    ucs_status_string((ucs_status_t)record->status));
        }
    }
    fputc('\n', stream);
}

/* The children of each record, as linked lists. Both arrays are indexed by the
 * position of a record in the view, and contain such positions; UINT_MAX ends a
 * list. */
typedef struct {
    unsigned *first; /* first child of the record */
    unsigned *next;  /* next child of the record's parent */
} family_t;

static int family_init(family_t *family, const ucs_stats_view_t *view)
{
    const ucs_stats_view_record_t *parent;
    unsigned i, index;

    family->first = malloc(2 * (size_t)view->num_records * sizeof(unsigned) +
                           1);
    if (family->first == NULL) {
        return 0;
    }

    family->next = family->first + view->num_records;
    memset(family->first, 0xff,
           2 * (size_t)view->num_records * sizeof(unsigned));
    /* each child is added at the front of its list: in the end, the child that
     * was created first is at the front */
    for (i = view->num_records; i-- > 0;) {
        parent = (view->records[i].parent == 0) ?
                     NULL :
                     stats_record_find(view, view->records[i].parent);
        if (parent != NULL) {
            index                = (unsigned)(parent - view->records);
            family->next[i]      = family->first[index];
            family->first[index] = i;
        }
    }
    return 1;
}

/* Prints a record, then its children with more indentation. If `family` is
 * NULL, children are not printed. */
static void print_record(FILE *stream, const stats_printer_t *printer,
                         const ucs_stats_view_record_t *record, int indent,
                         const family_t *family)
{
    const ucs_stats_view_t *view = printer->view;
    stats_block_t block;
    unsigned i;

    if (!stats_block_init(&block, view, record->type)) {
        return;
    }
    stats_block_add(&block, printer, record);
    if ((record->state != UCS_STATS_SUM) ||
        !stats_block_is_empty(&block, printer)) {
        print_title(stream, view, record, indent);
        print_block(stream, printer, &block, indent + INDENT);
    }
    stats_block_cleanup(&block);

    /* Limits the recursion, since the data may come from another process. The
     * records that UCX creates are not nested deeper. */
    if ((family == NULL) || (indent >= 8 * INDENT)) {
        return;
    }
    for (i = family->first[record - view->records]; i != UINT_MAX;
         i = family->next[i]) {
        print_record(stream, printer, &view->records[i], indent + INDENT,
                     family);
    }
}

static void print_sum(FILE *stream, const stats_printer_t *printer,
                      unsigned type, uint32_t root, int indent)
{
    stats_block_t block;

    if (!stats_block_init(&block, printer->view, type)) {
        return;
    }
    stats_block_sum(&block, printer, type, root);
    if (!stats_block_is_empty(&block, printer)) {
        fprintf(stream, "%*s%s, sum of %u\n", indent, "", block.type->name,
                block.records);
        print_block(stream, printer, &block, indent + INDENT);
    }
    stats_block_cleanup(&block);
}

/* ----------------------------------------------------- complete output -- */

/* Returns whether the record has no parent in the view. */
static int is_top(const ucs_stats_view_t *view,
                  const ucs_stats_view_record_t *record)
{
    return (record->parent == 0) ||
           (stats_record_find(view, record->parent) == NULL);
}

/* Prints all records. If `deep` is zero, prints only records without a parent,
 * each with the sums over its descendants. */
static void print_all(FILE *stream, const stats_printer_t *printer, int deep)
{
    const ucs_stats_view_t *view = printer->view;
    unsigned i, type;
    family_t family;

    if (!family_init(&family, view)) {
        return;
    }
    for (i = 0; i < view->num_records; ++i) {
        const ucs_stats_view_record_t *record = &view->records[i];

        if (!is_top(view, record)) {
            continue;
        }
        print_record(stream, printer, record, 0, deep ? &family : NULL);
        for (type = 0; !deep && (type < view->num_types); ++type) {
            print_sum(stream, printer, type, record->number, INDENT);
        }
    }
    free(family.first);
}

static void print_heading(FILE *stream, const stats_printer_t *printer)
{
    const ucs_stats_view_t *view = printer->view;
    time_t started               = (time_t)(view->started / 1000000000ul);
    char when[32]                = "";
    struct tm parts;

    if (gmtime_r(&started, &parts) != NULL) {
        strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S", &parts);
    }
    fprintf(stream, "# %s, process %d on %s: counting since %s UTC, %.1f s\n",
            view->program, (int)view->pid, view->host, when,
            (double)(int64_t)(view->taken - view->started) * 1e-9);
    if (view->lost > 0) {
        fprintf(stream,
                "# %lu objects have no record of their own and are "
                "counted in sums; UCX_STATS_MAX_SIZE is too small\n",
                view->lost);
    }
    fprintf(stream, "%-*s %14s %18s %12s", NAME_WIDTH, "#", "messages", "bytes",
            "average");
    if (printer->before != NULL) {
        fprintf(stream, " %14s %18s", "messages/s", "bytes/s");
    }
    fputc('\n', stream);
}

void ucs_stats_print(FILE *stream, const ucs_stats_view_t *view,
                     const ucs_stats_print_params_t *params)
{
    stats_printer_t printer = {
        .view   = view,
        .before = params->before,
        .filter = params->filter,
    };
    unsigned type;

    if (params->before != NULL) {
        printer.seconds = (double)(view->taken - params->before->taken) * 1e-9;
    }
    if (params->format == UCS_STATS_FORMAT_JSON) {
        stats_print_json(stream, &printer);
        return;
    }

    print_heading(stream, &printer);
    if (params->format == UCS_STATS_FORMAT_SUMMARY) {
        for (type = 0; type < view->num_types; ++type) {
            print_sum(stream, &printer, type, 0, 0);
        }
    } else {
        print_all(stream, &printer, params->format == UCS_STATS_FORMAT_FULL);
    }
}
