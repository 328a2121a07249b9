/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * uct_schema_check(): checks a JSON document by a JSON Schema. This file
 * traverses the document and the schema together; schema_rules.c has a function
 * for each keyword of the schema.
 */
#include "uct/plugin/schema_rules.h"

#include <string.h>

/* Nested calls of uct_schema_walk(); limits the use of the stack. */
#define SCHEMA_DEPTH_MAX 64

const uct_schema_node_t *uct_schema_member(const schema_run_t *run,
                                           const uct_schema_node_t *object,
                                           const char *name)
{
    const uct_schema_node_t *member;

    uct_schema_each(object, member)
    {
        if (!strcmp(schema_name(run, member), name)) {
            return member;
        }
    }
    return NULL;
}

/* Returns the schema to which "$ref" refers. The only supported form is
 * "#/definitions/NAME", where the definition exists; embed.py, which generates
 * the schema's table, accepts no other. */
static const uct_schema_node_t *resolve(const schema_run_t *run,
                                        const uct_schema_node_t *reference)
{
    static const char prefix[] = "#/definitions/";
    const uct_schema_node_t *definitions;

    definitions = uct_schema_member(run, run->schema->nodes, "definitions");
    return uct_schema_member(run, definitions,
                             schema_word(run, reference) + sizeof(prefix) - 1);
}

int uct_schema_walk(schema_run_t *run, const uct_schema_node_t *node,
                    json_t *value)
{
    schema_members_t members = {NULL};
    const uct_schema_node_t *member;
    int ok = 1, i;

    if (++run->depth > SCHEMA_DEPTH_MAX) {
        return uct_schema_offend(run, "nested too deeply");
    }

    uct_schema_each(node, member)
    {
        members[member->keyword] = member;
    }
    if (members[UCT_SCHEMA_REF] != NULL) {
        /* In draft-07 of JSON Schema, other keywords beside a reference have
         * no effect. */
        ok = uct_schema_walk(run, resolve(run, members[UCT_SCHEMA_REF]), value);
    } else {
        for (i = 0; ok && (i < UCT_SCHEMA_KEYWORDS); ++i) {
            if ((members[i] != NULL) && (uct_schema_rules[i] != NULL)) {
                ok = uct_schema_rules[i](run, members, members[i], value);
            }
        }
    }
    --run->depth;
    return ok;
}

ucs_status_t uct_schema_check(const uct_schema_t *schema, json_t *instance,
                              unsigned flags, uct_schema_offence_t *offence)
{
    schema_run_t run = {schema, flags, offence, 0};

    offence->pointer[0] = '\0';
    offence->what[0]    = '\0';

    return uct_schema_walk(&run, schema->nodes, instance) ?
               UCS_OK :
               UCS_ERR_INVALID_PARAM;
}
