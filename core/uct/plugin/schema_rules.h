/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Declarations that schema.c (the walk through schema and document) and
 * schema_rules.c (a function for each keyword) share.
 */
#ifndef UCT_PLUGIN_SCHEMA_RULES_H
#define UCT_PLUGIN_SCHEMA_RULES_H

#include "uct/plugin/schema.h"

/* State of one check of a document. */
typedef struct schema_run {
    const uct_schema_t *schema;
    unsigned flags;
    uct_schema_offence_t *offence; /* NULL: only test, without a report */
    unsigned depth;
} schema_run_t;

/* The members of one schema, by keyword; NULL if absent. */
typedef const uct_schema_node_t *schema_members_t[UCT_SCHEMA_KEYWORDS];

/* Returns nonzero if `value` conforms to members[keyword]. An entry of
 * uct_schema_rules is NULL if another rule also checks that keyword. */
typedef int (*schema_rule_t)(schema_run_t *run, const schema_members_t members,
                             const uct_schema_node_t *rule, json_t *value);

extern const schema_rule_t uct_schema_rules[UCT_SCHEMA_KEYWORDS];

/* Visits the direct values in `node`, not those nested in them. */
#define uct_schema_each(_node, _inner) \
    for ((_inner) = (_node) + 1; (_inner) < (_node) + (_node)->size; \
         (_inner) += (_inner)->size)

static inline const char *schema_name(const schema_run_t *run,
                                      const uct_schema_node_t *member)
{
    return run->schema->words + member->name;
}

static inline const char *schema_word(const schema_run_t *run,
                                      const uct_schema_node_t *word)
{
    return run->schema->words + word->number;
}

/* Returns the member of `object` that has this name, or NULL. */
const uct_schema_node_t *uct_schema_member(const schema_run_t *run,
                                           const uct_schema_node_t *object,
                                           const char *name);

/* Returns nonzero if `value` conforms to the schema at `node`. */
int uct_schema_walk(schema_run_t *run, const uct_schema_node_t *node,
                    json_t *value);

/* Records a violation at the current position; returns 0. */
int uct_schema_offend(schema_run_t *run, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
