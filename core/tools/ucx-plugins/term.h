/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Text output: colours if supported, tables, paragraphs.
 */
#ifndef UCX_PLUGINS_TERM_H
#define UCX_PLUGINS_TERM_H

#include <stdio.h>

typedef enum term_style {
    TERM_PLAIN,
    TERM_BOLD,
    TERM_DIM,
    TERM_GOOD,
    TERM_WARN,
    TERM_BAD,
} term_style_t;

/* Enables or disables colours. `when` is "auto", "always" or "never"; returns 0
 * for any other word. "auto" enables them on a terminal, unless NO_COLOR is set
 * or TERM is dumb. */
int term_init(const char *when);

/* Return the sequences that switch a style on and off, or "" if colours are
 * disabled. */
const char *term_on(term_style_t style);
const char *term_off(term_style_t style);

/* Returns the number of columns for text: those of the terminal (80 if
 * unknown), but from 40 to 120; a very large number if the output is not a
 * terminal. */
unsigned term_width(void);

/* Prints words with line breaks to fit term_width(); each line is indented by
 * `indent` blanks. In this and the following functions, ASCII control
 * characters become '?'. */
void term_paragraph(FILE *stream, unsigned indent, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Prints a line "Label   value", for the output of the subcommands show and
 * why. */
void term_field(const char *label, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#define TERM_COLUMNS_MAX 8

typedef struct term_table {
    /* Number of columns, at most TERM_COLUMNS_MAX */
    unsigned num_columns;
    unsigned num_cells;
    struct term_cell {
        char *text;
        term_style_t style;
    } * cells; /* row by row, num_cells entries */
} term_table_t;

void term_table_init(term_table_t *table, unsigned num_columns);

/* Formats the text of the next cell; the row is full after num_columns
 * cells. */
void term_table_add(term_table_t *table, term_style_t style, const char *format,
                    ...) __attribute__((format(printf, 3, 4)));

/* Prints aligned columns and frees the table. */
void term_table_print(term_table_t *table);

void term_table_free(term_table_t *table);

#endif
