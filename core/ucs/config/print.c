/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints configurations in the syntax of ucx.conf. */
#include "ucs/config/internal.h"

#include <stdlib.h>
#include <string.h>

#include "ucs/debug/log.h"

typedef struct {
    FILE *stream;
    const ucs_config_table_t *table;
    const char *app_prefix;
    ucs_config_print_flags_t flags;
    ucs_status_t status; /* first failure to read a table; UCS_OK if none */
} print_t;

/* Prints the help of an option as comment lines. */
static void print_doc(FILE *stream, const config_item_t *item,
                      const char *table_prefix)
{
    const char *line = (item->field->doc == NULL) ? "" : item->field->doc;
    char text[CONFIG_TEXT_MAX];
    size_t length;

    fprintf(stream, "\n#\n");
    while (*line != '\0') {
        length = strcspn(line, "\n");
        fprintf(stream, "# %.*s\n", (int)length, line);
        line += length + (line[length] == '\n');
    }

    item->field->type->describe(text, sizeof(text), item->field->arg);
    fprintf(stream, "#\n# Value:   %s\n", text);
    fprintf(stream, "# Default: %s\n",
            config_default(item, text, sizeof(text)));
    if (item->field->also != NULL) {
        fprintf(stream, "# Also:    %s%s%.*s%s\n", UCS_CONFIG_ENV_PREFIX,
                table_prefix,
                (int)(strlen(item->name) - strlen(item->field->name)),
                item->name, item->field->also);
    }
    fprintf(stream, "#\n");
}

/* Returns whether the value, printed as `text`, has the same text as the
 * default. */
static int is_default(const config_item_t *item, const char *text)
{
    const ucs_config_field_t *field = item->field;
    char dfl[CONFIG_TEXT_MAX], why[UCS_CONFIG_WHY_MAX];
    const char *dfl_text;
    void *value;
    int same = 0;

    value = malloc(field->type->size + 1);
    if (value == NULL) {
        return 0;
    }

    dfl_text = config_default(item, dfl, sizeof(dfl));
    if (field->type->parse(dfl_text, value, field->arg, why) == UCS_OK) {
        field->type->print(dfl, sizeof(dfl), value, field->arg);
        same = !strcmp(dfl, text);
        if (field->type->release != NULL) {
            field->type->release(value, field->arg);
        }
    }

    free(value);
    return same;
}

static ucs_status_t print_visit(const config_item_t *item, void *arg)
{
    const ucs_config_field_t *field = item->field;
    const print_t *print            = arg;
    char text[CONFIG_TEXT_MAX]      = "";
    const char *comment             = "";

    if (((field->doc == NULL) ||
         (field->flags &
          (UCS_CONFIG_FLAG_HIDDEN | UCS_CONFIG_FLAG_DEPRECATED))) &&
        !(print->flags & UCS_CONFIG_PRINT_HIDDEN)) {
        return UCS_OK;
    }

    if (print->flags & UCS_CONFIG_PRINT_DOC) {
        print_doc(print->stream, item, print->table->prefix);
    }

    field->type->print(text, sizeof(text), item->ptr, field->arg);
    if ((print->flags & UCS_CONFIG_PRINT_COMMENT_DEFAULT) &&
        is_default(item, text)) {
        comment = "# ";
    }

    fprintf(print->stream, "%s%s%s%s%s%s=%s\n", comment,
            (print->app_prefix == NULL) ? "" : print->app_prefix,
            (print->app_prefix == NULL) ? "" : "_", UCS_CONFIG_ENV_PREFIX,
            print->table->prefix, item->name, text);
    return UCS_OK;
}

void ucs_config_print(FILE *stream, const char *title,
                      const ucs_config_table_t *table, const void *opts,
                      const char *app_prefix, ucs_config_print_flags_t flags)
{
    print_t print = {stream, table, app_prefix, flags, UCS_OK};

    if (flags & UCS_CONFIG_PRINT_HEADER) {
        fprintf(stream, "#\n# %s\n#\n", (title == NULL) ? table->title : title);
    }

    if (flags & UCS_CONFIG_PRINT_CONFIG) {
        config_walk(table->fields, (void *)opts, print_visit, &print);
    }
}

static void print_table(const ucs_config_table_t *table, void *arg)
{
    print_t *print             = arg;
    ucs_config_source_t source = {.app_prefix = print->app_prefix};
    ucs_status_t status;
    void *opts;

    opts   = calloc(1, table->size);
    status = (opts == NULL) ? UCS_ERR_NO_MEMORY :
                              ucs_config_read(table, &source, opts);
    if (status == UCS_OK) {
        ucs_config_print(print->stream, table->title, table, opts,
                         print->app_prefix, print->flags);
        fprintf(print->stream, "\n");
        ucs_config_release(table, opts);
    } else if (print->status == UCS_OK) {
        print->status = status;
    }

    free(opts);
}

ucs_status_t ucs_config_print_all(FILE *stream, const char *app_prefix,
                                  ucs_config_print_flags_t flags)
{
    print_t print = {stream, NULL, app_prefix, flags, UCS_OK};

    config_registry_each(print_table, &print);
    return print.status;
}
