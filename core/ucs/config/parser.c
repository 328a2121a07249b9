/* SPDX-License-Identifier: BSD-3-Clause */
/* The options that programs define by <ucs/config/parser.h>: defaults,
 * variables, setting, printing. */
#include <ucs/config/parser.h>

#include <stdlib.h>
#include <string.h>

#include "ucs/config/parser_internal.h"
#include "ucs/datastruct/string_buffer.h"
#include "ucs/debug/log.h"

#define PARSER_NAME_MAX   256
#define PARSER_TEXT_MAX   1024
#define PARSER_TEXT_LIMIT (1u << 20) /* longer values are truncated */

/* 1: the help function of a table type was called (see field_is_table). */
static __thread int help_of_table;

void ucs_config_help_table(char *buf, size_t max, const void *arg)
{
    (void)arg;
    help_of_table = 1;
    snprintf(buf, max, "options as \"NAME=VALUE;...\"");
}

/* A table type cannot be recognized by the addresses of its functions, because
 * a program stores the addresses of the drop-in library's functions or of its
 * own PLT entries. Instead, the type's help function is called, which needs no
 * value: the help function of table types sets help_of_table. */
static int field_is_table(const ucs_config_field_t *field)
{
    char text[PARSER_TEXT_MAX];

    help_of_table = 0;
    if (field->parser.help != NULL) {
        field->parser.help(text, sizeof(text), field->parser.arg);
    }

    return help_of_table;
}

/* ---- walking through the options of a table and of inner tables ---- */

typedef struct {
    const ucs_config_field_t *field;
    const char *name; /* including the names of outer tables */
    char *value;      /* in the program's options structure */
} option_t;

/* The walk stops when a callback returns anything but UCS_OK, and returns that
 * status. */
typedef ucs_status_t (*visit_t)(const option_t *option, void *arg);

typedef struct {
    char name[PARSER_NAME_MAX];
    visit_t visit;
    void *arg;
} walk_t;

static ucs_status_t walk_fields(walk_t *walk, const ucs_config_field_t *field,
                                char *opts, size_t length)
{
    size_t rest         = sizeof(walk->name) - length;
    ucs_status_t status = UCS_OK;
    option_t option;
    int added;

    for (; (field->name != NULL) && (status == UCS_OK); ++field) {
        added = snprintf(walk->name + length, rest, "%s", field->name);
        if ((size_t)added >= rest) {
            ucs_error("the name of option '%s...' is too long", walk->name);
            return UCS_ERR_EXCEEDS_LIMIT;
        }

        if (field_is_table(field)) {
            status = walk_fields(walk, field->parser.arg, opts + field->offset,
                                 length + (size_t)added);
            continue;
        }

        option.field = field;
        option.name  = walk->name;
        option.value = opts + field->offset;
        status       = walk->visit(&option, walk->arg);
    }

    return status;
}

static ucs_status_t walk_table(const ucs_config_field_t *fields,
                               const void *opts, visit_t visit, void *arg)
{
    walk_t walk = {.visit = visit, .arg = arg};

    return walk_fields(&walk, fields, (char *)opts, 0);
}

/* ---- defaults, copies, release ---- */

/* Releases the values of the fields before `end`, or of all fields if `end` is
 * NULL. */
static void release_fields(char *opts, const ucs_config_field_t *fields,
                           const ucs_config_field_t *end)
{
    const ucs_config_field_t *field;

    for (field = fields; (field != end) && (field->name != NULL); ++field) {
        field->parser.release(opts + field->offset, field->parser.arg);
    }
}

/* Sets the defaults of a table. Those of inner tables are set by
 * ucs_config_sscanf_table. */
static ucs_status_t set_defaults(char *opts, const ucs_config_field_t *fields)
{
    const ucs_config_field_t *field;
    const char *text;

    for (field = fields; field->name != NULL; ++field) {
        text = (field->dfl_value == NULL) ? "" : field->dfl_value;
        if (!field->parser.read(text, opts + field->offset,
                                field->parser.arg)) {
            ucs_error("the default '%s' of option %s is not a valid value for "
                      "it",
                      text, field->name);
            release_fields(opts, fields, field);
            return UCS_ERR_INVALID_PARAM;
        }
    }

    return UCS_OK;
}

int ucs_config_sscanf_table(const char *buf, void *dest, const void *arg)
{
    ucs_config_field_t *fields = (ucs_config_field_t *)arg;
    ucs_status_t status        = UCS_OK;
    char *text, *setting, *value, *save = NULL;

    if (set_defaults(dest, fields) != UCS_OK) {
        return 0;
    }

    text = strdup(buf);
    for (setting = (text == NULL) ? NULL : strtok_r(text, ";", &save);
         (setting != NULL) && (status == UCS_OK);
         setting = strtok_r(NULL, ";", &save)) {
        value = strchr(setting, '=');
        if (value == NULL) {
            status = UCS_ERR_INVALID_PARAM;
        } else {
            *value = '\0';
            status = ucs_config_parser_set_value(dest, fields, NULL, setting,
                                                 value + 1);
        }
    }

    if ((text == NULL) || (status != UCS_OK)) {
        ucs_config_release_table(dest, fields);
        status = UCS_ERR_INVALID_PARAM;
    }

    free(text);
    return status == UCS_OK;
}

/* Returns the value of an option as text, which the caller frees; NULL if
 * memory is exhausted. The functions of a program may return any number, so
 * only the length of the text shows whether it is complete. A list ends up to
 * three characters before the end of the buffer if its next element does not
 * fit. */
static char *option_text(const option_t *option)
{
    const ucs_config_parser_t *parser = &option->field->parser;
    size_t size                       = PARSER_TEXT_MAX;
    char *text                        = NULL, *larger;

    for (;; size *= 2) {
        larger = realloc(text, size);
        if (larger == NULL) {
            free(text);
            return NULL;
        }

        text    = larger;
        text[0] = '\0';
        parser->write(text, size, option->value, parser->arg);
        if ((strlen(text) + 4 < size) || (size >= PARSER_TEXT_LIMIT)) {
            return text;
        }
    }
}

static ucs_status_t write_setting(const option_t *option, void *arg)
{
    ucs_string_buffer_t *strb = arg;
    char *text                = option_text(option);

    if (text == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    ucs_string_buffer_appendf(strb, "%s%s=%s",
                              (ucs_string_buffer_length(strb) == 0) ? "" : ";",
                              option->name, text);
    free(text);
    return UCS_OK;
}

int ucs_config_sprintf_table(char *buf, size_t max, const void *src,
                             const void *arg)
{
    ucs_string_buffer_t strb;

    if (max == 0) {
        return 0;
    }

    ucs_string_buffer_init_fixed(&strb, buf, max);
    walk_table(arg, src, write_setting, &strb);
    return (int)ucs_string_buffer_length(&strb);
}

ucs_status_t ucs_config_clone_table(const void *src, void *dest,
                                    const void *arg)
{
    const ucs_config_field_t *fields = arg, *field;
    ucs_status_t status;

    for (field = fields; field->name != NULL; ++field) {
        status = field->parser.clone((const char *)src + field->offset,
                                     (char *)dest + field->offset,
                                     field->parser.arg);
        if (status != UCS_OK) {
            release_fields(dest, fields, field);
            return status;
        }
    }

    return UCS_OK;
}

void ucs_config_release_table(void *ptr, const void *arg)
{
    release_fields(ptr, arg, NULL);
}

ucs_status_t ucs_config_parser_clone_opts(const void *src, void *dst,
                                          ucs_config_field_t *fields)
{
    return ucs_config_clone_table(src, dst, fields);
}

void ucs_config_parser_release_opts(void *opts, ucs_config_field_t *fields)
{
    release_fields(opts, fields, NULL);
}

/* ---- setting ---- */

/* Replaces a value. The size of a value is unknown, so the old one is saved as
 * text and parsed again if the new text is invalid. If the saved text is
 * invalid too, the value becomes the default. */
static ucs_status_t option_set(const option_t *option, const char *text,
                               const char *full_name)
{
    const ucs_config_parser_t *parser = &option->field->parser;
    char *old                         = option_text(option);
    char help[PARSER_TEXT_MAX]        = "";

    if (old == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    parser->release(option->value, parser->arg);
    if (parser->read(text, option->value, parser->arg)) {
        free(old);
        return UCS_OK;
    }

    if (parser->help != NULL) {
        parser->help(help, sizeof(help), parser->arg);
    }
    ucs_error("'%s' is not a valid value for %s: expected %s", text, full_name,
              help);
    if (!parser->read(old, option->value, parser->arg)) {
        parser->read((option->field->dfl_value == NULL) ?
                         "" :
                         option->field->dfl_value,
                     option->value, parser->arg);
    }

    free(old);
    return UCS_ERR_INVALID_PARAM;
}

typedef struct {
    const char *name; /* as passed by the caller */
    const char *tail; /* `name` without the prefix; NULL if it does not begin
                       * with the prefix */
    const char *text; /* new value */
    int found;        /* an option with one of these names exists */
} set_t;

static ucs_status_t set_visit(const option_t *option, void *arg)
{
    set_t *set = arg;

    if (strcmp(option->name, set->name) &&
        ((set->tail == NULL) || strcmp(option->name, set->tail))) {
        return UCS_OK;
    }

    set->found = 1;
    return option_set(option, set->text, set->name);
}

ucs_status_t ucs_config_parser_set_value(void *opts, ucs_config_field_t *fields,
                                         const char *prefix, const char *name,
                                         const char *value)
{
    set_t set = {.name = name, .text = value};
    ucs_status_t status;

    if ((prefix != NULL) && !strncmp(name, prefix, strlen(prefix))) {
        set.tail = name + strlen(prefix);
    }

    status = walk_table(fields, opts, set_visit, &set);
    return (set.found || (status != UCS_OK)) ? status : UCS_ERR_NO_ELEM;
}

/* ---- variables ---- */

typedef struct {
    const char *prefixes[2];  /* e.g. "APP_UCC_" and "UCC_"; NULL: none */
    const char *table_prefix; /* follows them in the names */
    int ignore_errors;        /* keep the default if a text is invalid */
} env_t;

/* Searches the option with each prefix and the table's prefix, then with each
 * prefix alone, and sets it to the first text found. */
static ucs_status_t env_visit(const option_t *option, void *arg)
{
    const env_t *env = arg;
    char name[2 * PARSER_NAME_MAX];
    const char *text = NULL;
    ucs_status_t status;
    int pass;

    for (pass = 0; (pass < 4) && (text == NULL); ++pass) {
        if (env->prefixes[pass % 2] != NULL) {
            snprintf(name, sizeof(name), "%s%s%s", env->prefixes[pass % 2],
                     (pass < 2) ? env->table_prefix : "", option->name);
            text = config_parser_text(name);
        }
    }

    if (text == NULL) {
        return UCS_OK;
    }

    status = option_set(option, text, name);
    return env->ignore_errors ? UCS_OK : status;
}

/* Returns the last word of a prefix ("UCC_" of "APP_UCC_"), or NULL if it has
 * only one word. */
static const char *last_word(const char *prefix)
{
    size_t length = strlen(prefix);

    while (length > 1) {
        --length;
        if (prefix[length - 1] == '_') {
            return prefix + length;
        }
    }

    return NULL;
}

ucs_status_t ucs_config_parser_fill_opts(void *opts,
                                         ucs_config_global_list_entry_t *entry,
                                         const char *env_prefix,
                                         int ignore_errors)
{
    env_t env = {
        .prefixes      = {env_prefix, NULL},
        .table_prefix  = (entry->prefix == NULL) ? "" : entry->prefix,
        .ignore_errors = ignore_errors,
    };
    ucs_status_t status;

    if (env_prefix != NULL) {
        env.prefixes[1] = last_word(env_prefix);
    }

    status = set_defaults(opts, entry->table);
    if (status != UCS_OK) {
        return status;
    }

    status = walk_table(entry->table, opts, env_visit, &env);
    if (status != UCS_OK) {
        ucs_config_parser_release_opts(opts, entry->table);
    }

    return status;
}

/* ---- printing ---- */

typedef struct {
    FILE *stream;
    const char *prefix;
    const char *table_prefix;
    ucs_config_print_flags_t flags;
    const char *filter;
} print_t;

static void print_doc(FILE *stream, const ucs_config_field_t *field)
{
    const char *line           = (field->doc == NULL) ? "" : field->doc;
    char help[PARSER_TEXT_MAX] = "";
    ucs_string_buffer_t more;
    size_t length;

    fprintf(stream, "\n#\n");
    for (; *line != '\0'; line += length + (line[length] == '\n')) {
        length = strcspn(line, "\n");
        fprintf(stream, "# %.*s\n", (int)length, line);
    }

    ucs_string_buffer_init(&more);
    if (field->parser.doc != NULL) {
        field->parser.doc(&more, field->parser.arg);
    }
    if (ucs_string_buffer_length(&more) > 0) {
        fprintf(stream, "# %s\n", ucs_string_buffer_cstr(&more));
    }
    ucs_string_buffer_cleanup(&more);

    if (field->parser.help != NULL) {
        field->parser.help(help, sizeof(help), field->parser.arg);
    }
    fprintf(stream, "#\n# Value:   %s\n# Default: %s\n#\n", help,
            (field->dfl_value == NULL) ? "" : field->dfl_value);
}

static ucs_status_t print_visit(const option_t *option, void *arg)
{
    const ucs_config_field_t *field = option->field;
    const print_t *print            = arg;
    char name[3 * PARSER_NAME_MAX], *text;
    int is_default;

    snprintf(name, sizeof(name), "%s%s%s", print->prefix, print->table_prefix,
             option->name);
    if (((field->doc == NULL) && !(print->flags & UCS_CONFIG_PRINT_HIDDEN)) ||
        ((print->filter != NULL) && (strstr(name, print->filter) == NULL))) {
        return UCS_OK;
    }

    if (print->flags & UCS_CONFIG_PRINT_DOC) {
        print_doc(print->stream, field);
    }

    text = option_text(option);
    if (text == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    is_default = !strcmp(text,
                         (field->dfl_value == NULL) ? "" : field->dfl_value);
    fprintf(print->stream, "%s%s=%s\n",
            (is_default && (print->flags & UCS_CONFIG_PRINT_COMMENT_DEFAULT)) ?
                "# " :
                "",
            name, text);
    free(text);
    return UCS_OK;
}

void ucs_config_parser_print_opts(FILE *stream, const char *title,
                                  const void *opts, ucs_config_field_t *fields,
                                  const char *table_prefix, const char *prefix,
                                  ucs_config_print_flags_t flags,
                                  const char *filter)
{
    print_t print = {stream, (prefix == NULL) ? "" : prefix,
                     (table_prefix == NULL) ? "" : table_prefix, flags, filter};

    if (flags & UCS_CONFIG_PRINT_HEADER) {
        fprintf(stream, "#\n# %s\n#\n", (title == NULL) ? "" : title);
    }

    if (flags & UCS_CONFIG_PRINT_CONFIG) {
        walk_table(fields, opts, print_visit, &print);
    }
}
