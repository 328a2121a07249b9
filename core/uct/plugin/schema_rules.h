/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the two halves of the schema interpreter share; for nobody else.
 */
#ifndef UCT_PLUGIN_SCHEMA_RULES_H
#define UCT_PLUGIN_SCHEMA_RULES_H

#include "uct/plugin/schema.h"

/* One run over one document. */
typedef struct schema_run {
    const uct_schema_t *schema;
    unsigned flags;
    uct_schema_offence_t *offence; /* NULL while only a question is asked */
    unsigned depth;
} schema_run_t;

/* The members of one schema, by keyword; NULL where it has none. */
typedef const uct_schema_node_t *schema_members_t[UCT_SCHEMA_KEYWORDS];

/* Nonzero if `value` obeys members[keyword]. NULL: obeyed with another one. */
typedef int (*schema_rule_t)(schema_run_t *run, const schema_members_t members,
                             const uct_schema_node_t *rule, json_t *value);

extern const schema_rule_t uct_schema_rules[UCT_SCHEMA_KEYWORDS];

/* Runs `inner` over the values in `node`, not over those in turn in them. */
#define uct_schema_each(_node, _inner) \
    for ((_inner) = (_node) + 1; (_inner) < (_node) + (_node)->size; \
         (_inner) += (_inner)->size)

static inline const char *
schema_name(const schema_run_t *run, const uct_schema_node_t *member)
{
    return run->schema->words + member->name;
}

static inline const char *
schema_word(const schema_run_t *run, const uct_schema_node_t *word)
{
    return run->schema->words + word->number;
}

/* The member of `object` that has this name, or NULL. */
const uct_schema_node_t *uct_schema_member(const schema_run_t *run,
                                           const uct_schema_node_t *object,
                                           const char *name);

/* Nonzero if `value` obeys all of the schema at `node`. */
int uct_schema_walk(schema_run_t *run, const uct_schema_node_t *node,
                    json_t *value);

/* Notes what is wrong at the present place; returns 0. */
int uct_schema_offend(schema_run_t *run, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
