/* SPDX-License-Identifier: BSD-3-Clause */
/* All variables of the process with their values, for programs that list
 * them. */
#include "ucs/config/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ucs/debug/log.h"

typedef struct {
    const char *app_prefix;
    void (*visit)(const ucs_config_item_t *item, void *arg);
    void *arg;
    const ucs_config_table_t *table; /* the table that is being visited */
    ucs_status_t status;             /* first failure to read a table; UCS_OK if
                                      * none */
} each_t;

static ucs_status_t each_option(const config_item_t *option, void *arg)
{
    const ucs_config_field_t *field = option->field;
    const each_t *each              = arg;
    char name[CONFIG_NAME_MAX * 2], value[CONFIG_TEXT_MAX] = "";
    char dfl[CONFIG_TEXT_MAX], type[CONFIG_TEXT_MAX]       = "";
    const ucs_config_item_t item = {
        .table     = each->table->title,
        .name      = name,
        .value     = value,
        .dfl_value = config_default(option, dfl, sizeof(dfl)),
        .type      = type,
        .doc       = (field->doc == NULL) ? "" : field->doc,
        .flags     = field->flags |
                 ((field->doc == NULL) ? UCS_CONFIG_FLAG_HIDDEN : 0),
    };

    snprintf(name, sizeof(name), "%s%s%s%s%s",
             (each->app_prefix == NULL) ? "" : each->app_prefix,
             (each->app_prefix == NULL) ? "" : "_", UCS_CONFIG_ENV_PREFIX,
             each->table->prefix, option->name);
    field->type->print(value, sizeof(value), option->ptr, field->arg);
    field->type->describe(type, sizeof(type), field->arg);
    each->visit(&item, each->arg);
    return UCS_OK;
}

static void each_table(const ucs_config_table_t *table, void *arg)
{
    each_t *each                     = arg;
    const ucs_config_source_t source = {.app_prefix = each->app_prefix};
    void *opts                       = calloc(1, table->size);
    ucs_status_t status;

    status = (opts == NULL) ? UCS_ERR_NO_MEMORY :
                              ucs_config_read(table, &source, opts);
    if (status == UCS_OK) {
        each->table = table;
        config_walk(table->fields, opts, each_option, each);
        ucs_config_release(table, opts);
    } else if (each->status == UCS_OK) {
        each->status = status;
    }
    free(opts);
}

ucs_status_t ucs_config_each(const char *app_prefix,
                             void (*visit)(const ucs_config_item_t *item,
                                           void *arg),
                             void *arg)
{
    each_t each = {app_prefix, visit, arg, NULL, UCS_OK};

    config_registry_each(each_table, &each);
    return each.status;
}
