/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ucx_info -m SIZE: how UCP allocates memory of this size, and which domains
 * register it.
 */
#include "lines.h"

#include <string.h>

#include "ucs/config/config.h"

typedef struct {
    const char *spec;
    ucp_context_h context;
} memory_t;

int info_memory_is_size(const char *text)
{
    char size[32];
    size_t bytes, length = strcspn(text, ",");

    if (length >= sizeof(size)) {
        return 0;
    }
    memcpy(size, text, length);
    size[length] = '\0';
    return (ucs_str_to_memunits(size, &bytes) == UCS_OK) && (bytes > 0) &&
           (bytes < UCS_MEMUNITS_AUTO);
}

static void print_memory(void *arg, FILE *stream)
{
    const memory_t *memory = arg;

    ucp_mem_print_info(memory->spec, memory->context, stream);
}

static json_t *read_words(const char *text)
{
    json_t *words = json_array();
    char word[64];
    int used;

    while (sscanf(text, "%63s%n", word, &used) == 1) {
        json_array_append_new(words, json_string(word));
        text += used;
    }
    return words;
}

/* Parses a line. Returns non-zero if it reports a failure. */
static int read_line(const char *line, json_t *answer)
{
    char size[64], method[64], page[64], label[64];
    const char *value;

    if (line[0] == '<') {
        json_object_set_new(answer, "failure", json_text(line));
        return 1;
    } else if (sscanf(line,
                      "# allocated %63s at address %*s with %63[^,], "
                      "pagesize: %63s",
                      size, method, page) == 3) {
        json_object_set_new(answer, "method", json_string(method));
        json_object_set_new(answer, "page", json_string(page));
        return 0;
    }
    value = info_line_value(line, label, sizeof(label));
    if ((value != NULL) && (strcmp(label, "registered on") == 0)) {
        json_object_set_new(answer, "registered_on", read_words(value));
    }
    return 0;
}

int info_memory_ask(info_t *info, json_t **answer_p)
{
    memory_t memory = {
        .spec    = info_argument(info, "memory"),
        .context = info_session_context(info, NULL),
    };
    int code = INFO_OK;
    json_t *answer, *line;
    size_t i;

    if (memory.context == NULL) {
        return INFO_BAD;
    }

    answer = json_pack("{s:s, s:o}", "size", memory.spec, "lines",
                       info_lines_capture(print_memory, &memory));
    if (answer == NULL) {
        info_complain("out of memory");
        return INFO_BAD;
    }
    json_array_foreach(json_object_get(answer, "lines"), i, line) {
        if (read_line(json_string_value(line), answer)) {
            code = INFO_BAD;
        }
    }
    *answer_p = answer;
    return code;
}
