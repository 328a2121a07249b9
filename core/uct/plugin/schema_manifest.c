/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The manifest's schema, put together from the table that the build made of
 * sdk/manifest.schema.json (embed.py). A test compares it with the text.
 */
#include "uct/plugin/schema_rules.h"

#include <stdlib.h>

/* The value at *node_p, which is moved behind it. NULL: out of memory. */
static json_t *build(const uct_schema_node_t **node_p)
{
    const uct_schema_node_t *node = (*node_p)++;
    const char *words             = uct_schema_manifest_words;
    json_t *value, *inner;
    int failed = 0;
    unsigned i;

    switch (node->kind) {
    case JSON_STRING:
        return json_string_nocheck(words + node->number);
    case JSON_INTEGER:
        return json_integer(node->number);
    case JSON_OBJECT:
    case JSON_ARRAY:
        break;
    default:
        return json_boolean(node->kind == JSON_TRUE);
    }

    value = (node->kind == JSON_OBJECT) ? json_object() : json_array();
    for (i = 0; (i < (unsigned)node->number) && !failed; ++i) {
        const char *name = words + (*node_p)->name;

        /* either takes the reference, also when it fails */
        inner  = build(node_p);
        failed = (node->kind == JSON_OBJECT)
                     ? json_object_set_new_nocheck(value, name, inner)
                     : json_array_append_new(value, inner);
    }
    if (failed) {
        json_decref(value);
        return NULL;
    }
    return value;
}

ucs_status_t uct_schema_manifest_create(uct_schema_t **schema_p)
{
    const uct_schema_node_t *node = uct_schema_manifest_nodes;
    uct_schema_t *schema          = malloc(sizeof(*schema));

    if (schema == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    schema->root = build(&node);
    if (schema->root == NULL) {
        free(schema);
        return UCS_ERR_NO_MEMORY;
    }
    *schema_p = schema;
    return UCS_OK;
}
