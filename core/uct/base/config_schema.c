/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Translates a plugin's table of variables (ucx_config_table_t) to a table of
 * ucs/config, and registers it. The plugin's table is not trusted: an invalid
 * one is rejected before anything uses it.
 */
#include "uct/base/config_schema.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "uct/base/config_types.h"

/* The types of the translated variables, indexed by ucx_config_type_t, the type
 * in the plugin ABI. They are those of ucs/config (ucs_config_type_*), or of
 * config_types.h (uct_config_type_*) if ucs/config has no type with the same
 * values. */
static const ucs_config_type_t *const uct_config_types[] = {
    [UCX_CONFIG_INT]         = &ucs_config_type_int,
    [UCX_CONFIG_UINT]        = &uct_config_type_uint,
    [UCX_CONFIG_ULONG]       = &ucs_config_type_ulong,
    [UCX_CONFIG_DOUBLE]      = &ucs_config_type_double,
    [UCX_CONFIG_BOOL]        = &ucs_config_type_bool,
    [UCX_CONFIG_TERNARY]     = &ucs_config_type_ternary_auto,
    [UCX_CONFIG_ON_OFF_AUTO] = &ucs_config_type_on_off_auto,
    [UCX_CONFIG_STRING]      = &ucs_config_type_string,
    [UCX_CONFIG_ENUM]        = &ucs_config_type_enum,
    [UCX_CONFIG_BITMAP]      = &uct_config_type_bitmap,
    [UCX_CONFIG_MEMUNITS]    = &ucs_config_type_memunits,
    [UCX_CONFIG_TIME]        = &uct_config_type_time,
    [UCX_CONFIG_BANDWIDTH]   = &uct_config_type_bandwidth,
    [UCX_CONFIG_STRING_LIST] = &ucs_config_type_string_array,
    [UCX_CONFIG_ALLOW_LIST]  = &ucs_config_type_allow_list,
};

/* The types whose values have names, and the types that may have a range of
 * values, as bits. */
#define UCT_CONFIG_NAMED (UCS_BIT(UCX_CONFIG_ENUM) | UCS_BIT(UCX_CONFIG_BITMAP))
#define UCT_CONFIG_RANGED \
    (UCS_BIT(UCX_CONFIG_INT) | UCS_BIT(UCX_CONFIG_UINT) | \
     UCS_BIT(UCX_CONFIG_ULONG) | UCS_BIT(UCX_CONFIG_DOUBLE) | \
     UCS_BIT(UCX_CONFIG_MEMUNITS) | UCS_BIT(UCX_CONFIG_TIME) | \
     UCS_BIT(UCX_CONFIG_BANDWIDTH))

static unsigned uct_config_count_names(const char *const *names)
{
    unsigned count = 0;

    while (names[count] != NULL) {
        ++count;
    }
    return count;
}

/* Returns an error text if a field is invalid, otherwise NULL. */
static const char *uct_config_field_flaw(const ucx_config_field_t *field,
                                         size_t options_size)
{
    const ucs_config_type_t *type;
    size_t align;

    if ((field->name == NULL) || (field->name[0] == '\0')) {
        return "it has no name";
    }
    if ((unsigned)field->type >= ucs_static_array_size(uct_config_types)) {
        return "its type is not known to this version";
    }

    type  = uct_config_types[field->type];
    align = (type->size < sizeof(void *)) ? type->size : sizeof(void *);
    if ((type->size > options_size) ||
        (field->offset > options_size - type->size)) {
        return "it lies outside of the options";
    }
    if ((field->offset % align) != 0) {
        return "it is not aligned";
    }
    if ((UCS_BIT(field->type) & UCT_CONFIG_NAMED) &&
        ((field->values == NULL) || (field->values[0] == NULL) ||
         ((field->type == UCX_CONFIG_BITMAP) &&
          (uct_config_count_names(field->values) > 32)))) {
        return "it needs 1 to 32 names of values";
    }
    if ((field->dflt == NULL) && (field->type != UCX_CONFIG_STRING)) {
        return "it has no default";
    }
    return NULL;
}

/* Translates one field. If the field has a range, stores it in *range. */
static void uct_config_field_convert(const ucx_config_field_t *from,
                                     ucs_config_range_t *range,
                                     ucs_config_field_t *to)
{
    to->name      = from->name;
    to->dfl_value = (from->dflt == NULL) ? "" : from->dflt;
    to->doc       = (from->help == NULL) ? "" : from->help;
    to->offset    = from->offset;
    to->type      = uct_config_types[from->type];
    to->flags = (from->flags & UCX_CONFIG_FLAG_PATH) ? UCS_CONFIG_FLAG_PATH : 0;

    if (UCS_BIT(from->type) & UCT_CONFIG_NAMED) {
        to->arg = from->values;
    } else if ((UCS_BIT(from->type) & UCT_CONFIG_RANGED) &&
               (from->min != from->max)) {
        range->min = from->min;
        range->max = from->max;
        to->arg    = range;
    }
}

static ucs_status_t uct_config_fields_convert(uct_config_schema_t *schema,
                                              const ucx_config_table_t *table)
{
    const char *cursor = (const char *)table->fields;
    size_t known       = sizeof(ucx_config_field_t);
    ucx_config_field_t field;
    const char *flaw;
    unsigned i;

    if (table->field_size < known) {
        known = table->field_size;
    }

    for (i = 0; i < table->num_fields; ++i, cursor += table->field_size) {
        memset(&field, 0, sizeof(field));
        memcpy(&field, cursor, known);
        flaw = uct_config_field_flaw(&field, table->options_size);
        if (flaw != NULL) {
            ucs_error("%s: variable %u (%s%s) cannot be used: %s",
                      schema->title, i, schema->prefix,
                      (field.name == NULL) ? "?" : field.name, flaw);
            return UCS_ERR_INVALID_PARAM;
        }
        uct_config_field_convert(&field, &schema->ranges[i],
                                 &schema->fields[i]);
    }

    return UCS_OK;
}

/* Parses the plugin's defaults when it is loaded, so that an invalid default is
 * reported then and not when an object is opened. */
static ucs_status_t uct_config_defaults_try(const uct_config_schema_t *schema)
{
    void *options = calloc(1, schema->table.size + 1);
    ucs_status_t status;

    if (options == NULL) {
        return UCS_ERR_NO_MEMORY;
    }

    status = ucs_config_read_defaults(&schema->table, options);
    if (status == UCS_OK) {
        ucs_config_release(&schema->table, options);
    }
    free(options);
    return status;
}

static void uct_config_schema_free(uct_config_schema_t *schema)
{
    free(schema->ranges);
    free(schema->fields);
    free(schema->prefix);
    free(schema->also);
    free(schema->title);
    free(schema);
}

static ucs_status_t uct_config_schema_alloc(const char *title,
                                            const ucx_config_table_t *table,
                                            uct_config_schema_t **schema_p)
{
    uct_config_schema_t *schema = calloc(1, sizeof(*schema));

    if (schema == NULL) {
        return UCS_ERR_NO_MEMORY;
    }

    schema->num_fields = table->num_fields;
    schema->title      = strdup(title);
    schema->prefix     = strdup((table->prefix == NULL) ? "" : table->prefix);
    schema->fields     = calloc((size_t)table->num_fields + 1,
                                sizeof(*schema->fields));
    schema->ranges     = calloc((size_t)table->num_fields + 1,
                                sizeof(*schema->ranges));
    if ((schema->title == NULL) || (schema->prefix == NULL) ||
        (schema->fields == NULL) || (schema->ranges == NULL)) {
        uct_config_schema_free(schema);
        return UCS_ERR_NO_MEMORY;
    }

    *schema_p = schema;
    return UCS_OK;
}

/* Adds the name of the transport as a second prefix, unless the prefix of the
 * table is equal to it. For example, the table of the transport rc_verbs has
 * the prefix RC_: UCX_RC_VERBS_TIMEOUT is read if UCX_RC_TIMEOUT is not set. */
static ucs_status_t uct_config_schema_add_prefix(uct_config_schema_t *schema,
                                                 const char *transport)
{
    size_t size = strlen(transport) + 2;
    size_t i;

    schema->also = malloc(size);
    if (schema->also == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    for (i = 0; transport[i] != '\0'; ++i) {
        schema->also[i] = (char)toupper((unsigned char)transport[i]);
    }
    memcpy(schema->also + i, "_", 2);
    if (strcmp(schema->also, schema->prefix) != 0) {
        schema->prefixes[0]     = schema->also;
        schema->table.fallbacks = schema->prefixes;
    }
    return UCS_OK;
}

ucs_status_t uct_config_schema_create(const char *title, const char *transport,
                                      const ucx_config_table_t *table,
                                      uct_config_schema_t **schema_p)
{
    uct_config_schema_t *schema;
    ucs_status_t status;

    if (!UCX_TABLE_HAS(table, num_fields) ||
        (table->field_size < offsetof(ucx_config_field_t, help)) ||
        (table->num_fields > 4096) || (table->options_size > (1u << 20)) ||
        ((table->fields == NULL) && (table->num_fields > 0))) {
        ucs_error("%s: the table of its variables cannot be used", title);
        return UCS_ERR_INVALID_PARAM;
    }

    status = uct_config_schema_alloc(title, table, &schema);
    if (status != UCS_OK) {
        return status;
    }

    status = uct_config_fields_convert(schema, table);
    if ((status == UCS_OK) && (transport != NULL)) {
        status = uct_config_schema_add_prefix(schema, transport);
    }
    if (status != UCS_OK) {
        goto err;
    }

    schema->table.title  = schema->title;
    schema->table.prefix = schema->prefix;
    schema->table.fields = schema->fields;
    schema->table.size   = table->options_size;
    status               = uct_config_defaults_try(schema);
    if (status != UCS_OK) {
        goto err;
    }

    ucs_config_table_register(&schema->table);
    *schema_p = schema;
    return UCS_OK;

err:
    uct_config_schema_free(schema);
    return status;
}

void uct_config_schema_destroy(uct_config_schema_t *schema)
{
    if (schema == NULL) {
        return;
    }

    ucs_config_table_unregister(&schema->table);
    uct_config_schema_free(schema);
}
