/* SPDX-License-Identifier: BSD-3-Clause */
/* Visits the options of a table, including those of its sub-tables. */
#include "ucs/config/internal.h"

#include <stdio.h>
#include <string.h>

#include "ucs/debug/log.h"
#include "ucs/sys/sys.h"

typedef struct {
    char name[CONFIG_NAME_MAX]; /* of the current option, with the prefixes of
                                 * sub-tables */
    config_visit_t visit;
    void *arg;
} walk_t;

/* Visits the fields. `length`: number of characters of walk->name that are the
 * prefixes of the enclosing sub-tables. `scope`: the innermost of these
 * sub-tables, or NULL. */
static ucs_status_t walk_fields(walk_t *walk, const ucs_config_field_t *fields,
                                char *opts, size_t length,
                                const config_scope_t *scope)
{
    const ucs_config_field_t *field;
    ucs_status_t status = UCS_OK;
    config_scope_t inner;
    config_item_t item;

    for (field = fields; (field->name != NULL) && (status == UCS_OK); ++field) {
        if (!ucs_strncpy_zero(walk->name + length, field->name,
                              sizeof(walk->name) - length)) {
            ucs_error("the name of option '%s...' is too long", walk->name);
            return UCS_ERR_EXCEEDS_LIMIT;
        }

        if (field->type == &ucs_config_type_table) {
            inner.up          = scope;
            inner.dfl         = field->dfl_value;
            inner.name_offset = strlen(walk->name);
            status            = walk_fields(walk, field->arg,
                                 (opts == NULL) ? NULL : opts + field->offset,
                                            inner.name_offset, &inner);
            continue;
        }

        item.field = field;
        item.name  = walk->name;
        item.ptr   = (opts == NULL) ? NULL : opts + field->offset;
        item.scope = scope;
        status     = walk->visit(&item, walk->arg);
    }

    return status;
}

ucs_status_t config_walk(const ucs_config_field_t *fields, void *opts,
                         config_visit_t visit, void *arg)
{
    walk_t walk = {.visit = visit, .arg = arg};

    return walk_fields(&walk, fields, opts, 0, NULL);
}

int config_item_is_called(const config_item_t *item, const char *name)
{
    size_t inner; /* length of the prefix that sub-tables add to the option's
                   * name and to its alternative name */

    if (!strcmp(item->name, name)) {
        return 1;
    } else if (item->field->also == NULL) {
        return 0;
    }

    inner = strlen(item->name) - strlen(item->field->name);
    return !strncmp(item->name, name, inner) &&
           !strcmp(item->field->also, name + inner);
}

/* Finds `name` in a list such as "A=1;NAME=2" and copies its value to `buf`.
 * Returns 0 if the list does not contain it. */
static int scope_find(const char *list, const char *name, char *buf, size_t max)
{
    size_t name_length = strlen(name);
    size_t length;

    while (*list != '\0') {
        length = strcspn(list, ";");
        if ((length > name_length) && (list[name_length] == '=') &&
            !strncmp(list, name, name_length)) {
            snprintf(buf, max, "%.*s", (int)(length - name_length - 1),
                     list + name_length + 1);
            return 1;
        }
        list += length + (list[length] == ';');
    }

    return 0;
}

const char *config_default(const config_item_t *item, char *buf, size_t max)
{
    const char *text = item->field->dfl_value;
    const config_scope_t *scope;

    /* from the innermost to the outermost sub-table: the outermost one that has
     * a default for this option takes precedence */
    for (scope = item->scope; scope != NULL; scope = scope->up) {
        if ((scope->dfl != NULL) &&
            scope_find(scope->dfl, item->name + scope->name_offset, buf, max)) {
            text = buf;
        }
    }

    return (text == NULL) ? "" : text;
}
