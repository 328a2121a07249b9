/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints counters as one line of JSON. README.md lists the keys; programs rely
 * on them. Names need no escaping except quotes and backslashes, because view.c
 * has replaced all other special characters. */
#include "ucs/stats/block.h"

#include <stdlib.h>

static void print_text(FILE *stream, const char *text)
{
    fputc('"', stream);
    for (; *text != '\0'; ++text) {
        if ((*text == '"') || (*text == '\\')) {
            fputc('\\', stream);
        }
        fputc(*text, stream);
    }
    fputc('"', stream);
}

static void print_key(FILE *stream, const char *key, int *first)
{
    fputs(*first ? "" : ", ", stream);
    *first = 0;
    print_text(stream, key);
    fputs(": ", stream);
}

static void print_time(FILE *stream, const char *key, uint64_t time)
{
    fprintf(stream, ", \"%s\": %lu.%06lu", key, time / 1000000000ul,
            time / 1000 % 1000000);
}

/* Prints {name: number, name: {messages, bytes}, ...}. The numbers are the
 * values of the counters, or their increase per second if `rates` is
 * nonzero. */
static void print_counters(FILE *stream, const stats_printer_t *printer,
                           const stats_block_t *block, int rates)
{
    const ucs_stats_layout_counter_t *counter;
    int first = 1;
    unsigned i;

    fputc('{', stream);
    for (i = 0; i < block->type->num_counters; ++i) {
        counter = &printer->view->counters[block->type->first_counter + i];
        if (counter->unit == UCS_STATS_BYTES) {
            continue; /* printed with the counter of the messages before it */
        }
        if (!stats_block_shows(block, printer, i)) {
            continue;
        }
        print_key(stream, counter->name, &first);
        if (counter->unit == UCS_STATS_EVENTS) {
            rates ?
                fprintf(stream, "%.3f", stats_block_rate(block, printer, i)) :
                fprintf(stream, "%lu", block->now[i]);
        } else if (rates) {
            fprintf(stream, "{\"messages\": %.3f, \"bytes\": %.3f}",
                    stats_block_rate(block, printer, i),
                    stats_block_rate(block, printer, i + 1));
        } else {
            fprintf(stream, "{\"messages\": %lu, \"bytes\": %lu}",
                    block->now[i], block->now[i + 1]);
        }
    }
    fputc('}', stream);
}

static void print_values(FILE *stream, const stats_printer_t *printer,
                         const stats_block_t *block)
{
    fputs("\"counters\": ", stream);
    print_counters(stream, printer, block, 0);
    if (printer->before != NULL) {
        fputs(", \"rates\": ", stream);
        print_counters(stream, printer, block, 1);
    }
}

/* Prints a record. Omits a record in state SUM that has no counter to print.
 * *first: 1 if no record was printed yet; set to 0. */
static void print_record(FILE *stream, const stats_printer_t *printer,
                         const ucs_stats_view_record_t *record, int *first)
{
    stats_block_t block;

    if (!stats_block_init(&block, printer->view, record->type)) {
        return;
    }
    stats_block_add(&block, printer, record);
    if ((record->state == UCS_STATS_SUM) &&
        stats_block_is_empty(&block, printer)) {
        goto out;
    }
    fputs(*first ? "" : ", ", stream);
    *first = 0;
    fprintf(stream,
            "{\"number\": %u, \"parent\": %u, \"type\": ", record->number,
            record->parent);
    print_text(stream, block.type->name);
    fputs(", \"name\": ", stream);
    print_text(stream, record->name);
    fprintf(stream, ", \"state\": \"%s\"", stats_state_name(record->state));
    print_time(stream, "since", record->since);
    if (record->state == UCS_STATS_ENDED) {
        print_time(stream, "until", record->until);
        fputs(", \"status\": ", stream);
        print_text(stream, ucs_status_string((ucs_status_t)record->status));
    }
    fputs(", ", stream);
    print_values(stream, printer, &block);
    fputc('}', stream);
out:
    stats_block_cleanup(&block);
}

static void print_totals(FILE *stream, const stats_printer_t *printer)
{
    stats_block_t block;
    int first = 1;
    unsigned type;

    for (type = 0; type < printer->view->num_types; ++type) {
        if (!stats_block_init(&block, printer->view, type)) {
            continue;
        }
        stats_block_sum(&block, printer, type, 0);
        print_key(stream, block.type->name, &first);
        fputc('{', stream);
        print_values(stream, printer, &block);
        fputc('}', stream);
        stats_block_cleanup(&block);
    }
}

void stats_print_json(FILE *stream, const stats_printer_t *printer)
{
    const ucs_stats_view_t *view = printer->view;
    int first                    = 1;
    unsigned i;

    fputs("{\"ucx_counters\": 1, \"program\": ", stream);
    print_text(stream, view->program);
    fprintf(stream, ", \"pid\": %d, \"host\": ", (int)view->pid);
    print_text(stream, view->host);
    print_time(stream, "started", view->started);
    print_time(stream, "taken", view->taken);
    fprintf(stream, ", \"without_record\": %lu", view->lost);
    if (printer->before != NULL) {
        fprintf(stream, ", \"interval\": %.6f", printer->seconds);
    }
    fputs(", \"totals\": {", stream);
    print_totals(stream, printer);
    fputs("}, \"records\": [", stream);
    for (i = 0; i < view->num_records; ++i) {
        print_record(stream, printer, &view->records[i], &first);
    }
    fputs("]}\n", stream);
}
