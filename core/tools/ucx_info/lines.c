/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lines that the library prints about its objects: printed unchanged, and
 * parsed for JSON. Their format is public, because other programs parse it,
 * too.
 */
#include "lines.h"

#include <stdlib.h>
#include <string.h>

#include "memory_end.h"

json_t *info_lines_split(const char *text)
{
    json_t *lines = json_array();
    size_t length;
    char *line;

    while (*text != '\0') {
        length = strcspn(text, "\n");
        line   = memory_or_end(strndup(text, length));
        json_array_append_new(lines, json_text(line));
        free(line);
        text += length + (text[length] == '\n');
    }
    return lines;
}

json_t *info_lines_capture(info_lines_print_f print, void *arg)
{
    char *text   = NULL;
    size_t size  = 0;
    FILE *stream = open_memstream(&text, &size);
    json_t *lines;

    memory_or_end(stream);
    print(arg, stream);
    memory_stream_close(stream, &text);
    lines = info_lines_split(text);
    free(text);
    return lines;
}

void info_lines_print(const info_t *info, const json_t *answer)
{
    json_t *line;
    size_t i;

    json_array_foreach(json_object_get(answer, "lines"), i, line) {
        printf("%s\n", json_string_value(line));
    }
}

void info_lines_add(json_t *answer, const char *format, ...)
{
    va_list ap;
    json_t *text;

    va_start(ap, format);
    text = json_vsprintf(format, ap);
    va_end(ap);
    json_array_append_new(json_object_get(answer, "lines"), text);
}

void info_lines_add_cost(json_t *answer, const info_cost_t *cost)
{
    /* negative if the resident memory has decreased, for example because
     * another thread has freed memory */
    double bytes = (cost->bytes > 0) ? cost->bytes : 0;

    json_object_set_new(answer, "memory_bytes",
                        json_integer((json_int_t)bytes));
    json_object_set_new(answer, "file_descriptors", json_integer(cost->fds));
    json_object_set_new(answer, "create_time_ms",
                        json_real(cost->seconds * 1e3));
    info_lines_add(answer, "# memory: %.2fMB, file descriptors: %d",
                   bytes / (1 << 20), cost->fds);
    info_lines_add(answer, "# create time: %.3f ms", cost->seconds * 1e3);
    info_lines_add(answer, "#");
}

const char *info_line_value(const char *line, char *label, size_t max)
{
    const char *begin, *colon;

    if (line[0] != '#') {
        return NULL;
    }
    begin = line + 1 + strspn(line + 1, " ");
    colon = strstr(begin, ": ");
    if ((colon == NULL) || (colon == begin) ||
        ((size_t)(colon - begin) >= max)) {
        return NULL;
    }
    memcpy(label, begin, (size_t)(colon - begin));
    label[colon - begin] = '\0';
    return colon + 2 + strspn(colon + 2, " ");
}
