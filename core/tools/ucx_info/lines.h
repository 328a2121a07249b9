/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lines that the library prints about its objects (ucp_*_print_info). The
 * member "lines" of an answer contains them; these functions parse them.
 */
#ifndef UCX_INFO_LINES_H
#define UCX_INFO_LINES_H

#include <stdarg.h>

#include "info.h"
#include "session.h"

/* Writes text about the object `arg` to a stream. */
typedef void (*info_lines_print_f)(void *arg, FILE *stream);

/* Returns the lines that `print` writes. */
json_t *info_lines_capture(info_lines_print_f print, void *arg);

/* Splits a text into lines. */
json_t *info_lines_split(const char *text);

/* Adds a line to an answer. */
void info_lines_add(json_t *answer, const char *format, ...) UCS_F_PRINTF(2, 3);

/* Adds the cost to an answer, as members and as lines. */
void info_lines_add_cost(json_t *answer, const info_cost_t *cost);

/* Splits a line "# label: value". Copies the label to `label`, which has `max`
 * bytes, and returns the value, which is a part of `line`. Returns NULL if the
 * line has another form. */
const char *info_line_value(const char *line, char *label, size_t max);

#endif
