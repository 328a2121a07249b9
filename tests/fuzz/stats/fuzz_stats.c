/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzz target: the memory in which another process publishes its counters. Each
 * input is parsed unchanged, and with changes in its header. The changed header
 * passes the first checks, so that the data after it is parsed too. If the
 * counters are valid, they are printed in every format.
 */
#include "ucs/stats/view.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Prints the counters in every format. before: earlier counters, which are
 * subtracted; NULL: none. */
static void print_all(const ucs_stats_view_t *view,
                      const ucs_stats_view_t *before)
{
    ucs_stats_print_params_t params = {.before = before};
    char *text                      = NULL;
    size_t length, i;
    FILE *stream;

    for (params.format = UCS_STATS_FORMAT_FULL;
         params.format <= UCS_STATS_FORMAT_JSON; ++params.format) {
        stream = open_memstream(&text, &length);
        ucs_stats_print(stream, view, &params);
        fclose(stream);
        for (i = 0; i < length; ++i) {
            if ((text[i] != '\n') && ((text[i] < ' ') || (text[i] > '~'))) {
                abort(); /* control characters must not be printed */
            }
        }
        free(text);
    }
}

/* Parses and prints counters. is_whole: a rejection must have a reason. */
static void read_one(const void *bytes, size_t size, int is_whole)
{
    char why[UCS_STATS_WHY_MAX] = "";
    ucs_stats_view_t *view;

    if (ucs_stats_view_parse(bytes, size, &view, why) == UCS_OK) {
        print_all(view, NULL);
        print_all(view, view);
        ucs_stats_view_free(view);
    } else if (is_whole && (why[0] == '\0')) {
        abort(); /* a rejection must have a reason */
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ucs_stats_header_t *header;
    void *copy = malloc(size + (size == 0));

    memcpy(copy, data, size);
    read_one(copy, size, 1);
    if (size >= sizeof(*header)) {
        header           = copy;
        header->major    = UCS_STATS_MAJOR;
        header->used     = size;
        header->types_at = sizeof(*header);
        header->num_types &= 7;
        header->counters_at = (uint32_t)(sizeof(*header) +
                                         header->num_types *
                                             sizeof(ucs_stats_layout_type_t));
        header->num_counters &= 15;
        header->records_at = (uint32_t)(header->counters_at +
                                        header->num_counters *
                                            sizeof(ucs_stats_layout_counter_t));
        memcpy(header->magic, UCS_STATS_MAGIC, sizeof(header->magic));
        read_one(copy, size, 1);
    }
    free(copy);
    return 0;
}
