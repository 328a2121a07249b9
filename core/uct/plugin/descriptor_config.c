/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Checks the tables of configuration variables in a plugin's descriptor: their
 * prefixes are declared in the manifest, their types are known, and the
 * members are inside the options structure.
 */
#include "uct/plugin/descriptor_config.h"

#include <string.h>

#include <ucs/config/types.h>

/* Limits; larger values mean that the table is damaged. */
#define FIELDS_MAX       1024       /* variables of a table */
#define FIELD_SIZE_MAX   4096       /* bytes of a field, and of the table */
#define OPTIONS_SIZE_MAX (1u << 20) /* bytes of the options structure */
#define NAME_MAX_LENGTH  64         /* bytes, including the final 0 */

static const char name_letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";

/* Sizes of values in the options structure in bytes, indexed by
 * ucx_config_type_t. */
static const size_t value_sizes[] = {
    [UCX_CONFIG_INT]         = sizeof(int),
    [UCX_CONFIG_UINT]        = sizeof(unsigned),
    [UCX_CONFIG_ULONG]       = sizeof(unsigned long),
    [UCX_CONFIG_DOUBLE]      = sizeof(double),
    [UCX_CONFIG_BOOL]        = sizeof(int),
    [UCX_CONFIG_TERNARY]     = sizeof(int),
    [UCX_CONFIG_ON_OFF_AUTO] = sizeof(int),
    [UCX_CONFIG_STRING]      = sizeof(char *),
    [UCX_CONFIG_ENUM]        = sizeof(unsigned),
    [UCX_CONFIG_BITMAP]      = sizeof(unsigned),
    [UCX_CONFIG_MEMUNITS]    = sizeof(size_t),
    [UCX_CONFIG_TIME]        = sizeof(double),
    [UCX_CONFIG_BANDWIDTH]   = sizeof(double),
    [UCX_CONFIG_STRING_LIST] = sizeof(ucs_config_names_array_t),
    [UCX_CONFIG_ALLOW_LIST]  = sizeof(ucs_config_allow_list_t),
};
#define NUM_TYPES (sizeof(value_sizes) / sizeof(value_sizes[0]))

static int is_name(const char *name)
{
    size_t length = (name == NULL) ? 0 : strnlen(name, NAME_MAX_LENGTH);

    return (length > 0) && (length < NAME_MAX_LENGTH) &&
           (strspn(name, name_letters) == length);
}

/* Returns whether the manifest declares the prefix of a table: the word "TCP"
 * in the manifest allows the prefixes "TCP_" and "TCP_CM_". */
static int is_declared(const uct_manifest_t *manifest, const char *prefix)
{
    const uct_names_t *prefixes = &manifest->config_prefixes;
    size_t length;
    unsigned i;

    for (i = 0; i < prefixes->count; ++i) {
        length = strlen(prefixes->name[i]);
        if (!strncmp(prefixes->name[i], prefix, length) &&
            (prefix[length] == '_')) {
            return 1;
        }
    }
    return 0;
}

/* Returns an error text if the variable is invalid, otherwise NULL. */
static const char *judge_field(const ucx_config_table_t *table,
                               const ucx_config_field_t *field)
{
    if (!is_name(field->name)) {
        return "its name is missing, too long or not of A-Z 0-9 _";
    } else if ((unsigned)field->type >= NUM_TYPES) {
        return "its type is unknown to this core";
    } else if ((field->dflt == NULL) || (field->help == NULL)) {
        return "its default or its help is missing";
    } else if ((field->offset > table->options_size) ||
               (value_sizes[field->type] >
                table->options_size - field->offset)) {
        return "its value lies outside the options structure";
    } else if (((field->type == UCX_CONFIG_ENUM) ||
                (field->type == UCX_CONFIG_BITMAP)) &&
               (field->values == NULL)) {
        return "it has no list of values";
    }
    return NULL;
}

/* Returns an error text if the table is invalid, otherwise NULL. */
static const char *judge_table(const ucx_config_table_t *table)
{
    if ((table->size < offsetof(ucx_config_table_t, num_fields) +
                           sizeof(table->num_fields)) ||
        (table->size > FIELD_SIZE_MAX)) {
        return "its size is impossible";
    } else if (!is_name(table->prefix) ||
               (table->prefix[strlen(table->prefix) - 1] != '_')) {
        return "its prefix is missing, too long or does not end with _";
    } else if ((table->field_size <
                offsetof(ucx_config_field_t, max) + sizeof(double)) ||
               (table->field_size > FIELD_SIZE_MAX)) {
        return "the size of its fields is impossible";
    } else if ((table->options_size > OPTIONS_SIZE_MAX) ||
               (table->num_fields > FIELDS_MAX) ||
               ((table->num_fields > 0) && (table->fields == NULL))) {
        return "the number of its fields or the size of its options is "
               "impossible";
    }
    return NULL;
}

ucs_status_t uct_descriptor_check_config(const ucx_config_table_t *table,
                                         const uct_manifest_t *manifest,
                                         const char *component,
                                         const char *what,
                                         uct_rejection_t *rejection)
{
    const ucx_config_field_t *field;
    const char *wrong;
    unsigned i;

    wrong = judge_table(table);
    if (wrong != NULL) {
        return uct_reject(rejection, UCT_REJECT_DESCRIPTOR,
                          "%s: the table of variables of the %s: %s", component,
                          what, wrong);
    } else if (!is_declared(manifest, table->prefix)) {
        return uct_reject(rejection, UCT_REJECT_UNDECLARED,
                          "%s: the %s reads UCX_%s* variables, whose prefix "
                          "the manifest's config_prefixes do not have",
                          component, what, table->prefix);
    }

    for (i = 0; i < table->num_fields; ++i) {
        /* The distance of two fields is the size that the plugin states: the
         * structure may be larger in a plugin for a newer ABI version. */
        field = (const ucx_config_field_t *)((const char *)table->fields +
                                             i * table->field_size);
        wrong = judge_field(table, field);
        if (wrong != NULL) {
            return uct_reject(rejection, UCT_REJECT_DESCRIPTOR,
                              "%s: variable %u of the %s (UCX_%s%.64s): %s",
                              component, i, what, table->prefix,
                              (field->name == NULL) ? "" : field->name, wrong);
        }
    }
    return UCS_OK;
}
