/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Colours, tables and paragraphs.
 */
#include "term.h"

#include "memory_end.h"

#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define WIDTH_MIN   40
#define WIDTH_MAX   120
#define FIELD_WIDTH 15

static int use_colors;

int term_init(const char *when)
{
    const char *no_color = getenv("NO_COLOR");
    const char *terminal = getenv("TERM");

    if (!strcmp(when, "always")) {
        use_colors = 1;
    } else if (!strcmp(when, "never")) {
        use_colors = 0;
    } else if (!strcmp(when, "auto")) {
        use_colors = isatty(STDOUT_FILENO) &&
                     ((no_color == NULL) || (no_color[0] == '\0')) &&
                     (terminal != NULL) && strcmp(terminal, "dumb");
    } else {
        return 0;
    }
    return 1;
}

const char *term_on(term_style_t style)
{
    static const char *const codes[] = {
        [TERM_PLAIN] = "",        [TERM_BOLD] = "\033[1m",
        [TERM_DIM] = "\033[2m",   [TERM_GOOD] = "\033[32m",
        [TERM_WARN] = "\033[33m", [TERM_BAD] = "\033[31m",
    };

    return use_colors ? codes[style] : "";
}

const char *term_off(term_style_t style)
{
    return (use_colors && (style != TERM_PLAIN)) ? "\033[0m" : "";
}

unsigned term_width(void)
{
    struct winsize size;

    /* lines are not broken in output that a script may read */
    if (!isatty(STDOUT_FILENO)) {
        return UINT_MAX / 2;
    } else if ((ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) ||
               (size.ws_col == 0)) {
        return 80;
    } else if (size.ws_col < WIDTH_MIN) {
        return WIDTH_MIN;
    }
    return (size.ws_col > WIDTH_MAX) ? WIDTH_MAX : size.ws_col;
}

/* Returns the number of characters in `length` bytes of UTF-8. */
static unsigned text_width(const char *text, size_t length)
{
    unsigned width = 0;
    size_t i;

    for (i = 0; i < length; ++i) {
        width += ((unsigned char)text[i] & 0xc0) != 0x80;
    }
    return width;
}

static void clean(char *text)
{
    for (; *text != '\0'; ++text) {
        if (((unsigned char)*text < 0x20) || (*text == 0x7f)) {
            *text = '?';
        }
    }
}

static void print_words(FILE *stream, unsigned indent, unsigned column,
                        const char *text)
{
    unsigned width = term_width(), word;
    int first      = 1;
    size_t length;

    for (; *text != '\0'; text += length) {
        text += strspn(text, " ");
        length = strcspn(text, " ");
        word   = text_width(text, length);
        if (length == 0) {
            break;
        }
        if (!first && (column + 1 + word > width)) {
            fprintf(stream, "\n%*s", (int)indent, "");
            column = indent;
            first  = 1;
        }
        fprintf(stream, "%s%.*s", first ? "" : " ", (int)length, text);
        column += word + !first;
        first = 0;
    }
    fputc('\n', stream);
}

/* Formats a text and replaces ASCII control characters, which a terminal would
 * interpret, by '?'. Release the result by free(). */
static char *clean_text(const char *format, va_list ap)
{
    char *text;

    if (vasprintf(&text, format, ap) < 0) {
        memory_end();
    }
    clean(text);
    return text;
}

void term_paragraph(FILE *stream, unsigned indent, const char *format, ...)
{
    va_list ap;
    char *text;

    va_start(ap, format);
    text = clean_text(format, ap);
    va_end(ap);
    fprintf(stream, "%*s", (int)indent, "");
    print_words(stream, indent, indent, text);
    free(text);
}

void term_field(const char *label, const char *format, ...)
{
    va_list ap;
    char *text;

    va_start(ap, format);
    text = clean_text(format, ap);
    va_end(ap);
    printf("%s%-*s%s", term_on(TERM_DIM), FIELD_WIDTH, label,
           term_off(TERM_DIM));
    print_words(stdout, FIELD_WIDTH, FIELD_WIDTH, text);
    free(text);
}

void term_table_init(term_table_t *table, unsigned num_columns)
{
    memset(table, 0, sizeof(*table));
    table->num_columns = num_columns;
}

void term_table_add(term_table_t *table, term_style_t style, const char *format,
                    ...)
{
    struct term_cell *cells;
    va_list ap;
    char *text;

    va_start(ap, format);
    text = clean_text(format, ap);
    va_end(ap);
    cells = memory_or_end(
        realloc(table->cells, (table->num_cells + 1) * sizeof(*cells)));
    table->cells                         = cells;
    table->cells[table->num_cells].text  = text;
    table->cells[table->num_cells].style = style;
    ++table->num_cells;
}

static void print_row(const struct term_cell *cells, const unsigned *widths,
                      unsigned num_columns)
{
    unsigned column, width;

    for (column = 0; column < num_columns; ++column) {
        width = text_width(cells[column].text, strlen(cells[column].text));
        printf("%s%s%s", term_on(cells[column].style), cells[column].text,
               term_off(cells[column].style));
        if (column + 1 < num_columns) {
            printf("%*s", (int)(widths[column] - width + 2), "");
        }
    }
    putchar('\n');
}

void term_table_print(term_table_t *table)
{
    unsigned widths[TERM_COLUMNS_MAX] = {0};
    unsigned i, width, column;

    for (i = 0; i < table->num_cells; ++i) {
        column = i % table->num_columns;
        width  = text_width(table->cells[i].text, strlen(table->cells[i].text));
        widths[column] = (width > widths[column]) ? width : widths[column];
    }
    for (i = 0; i + table->num_columns <= table->num_cells;
         i += table->num_columns) {
        print_row(&table->cells[i], widths, table->num_columns);
    }
    term_table_free(table);
}

void term_table_free(term_table_t *table)
{
    unsigned i;

    for (i = 0; i < table->num_cells; ++i) {
        free(table->cells[i].text);
    }
    free(table->cells);
    table->cells     = NULL;
    table->num_cells = 0;
}
