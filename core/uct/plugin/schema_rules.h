/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Declarations that schema.c (the traversal of schema and document) and
 * schema_rules.c (a function for each keyword of JSON Schema) share.
 */
#ifndef UCT_PLUGIN_SCHEMA_RULES_H
#define UCT_PLUGIN_SCHEMA_RULES_H

#include "uct/plugin/schema.h"

/* State of one check of a document. */
typedef struct schema_run {
    const uct_schema_t *schema;
    unsigned flags;                /* UCT_SCHEMA_LENIENT or 0 */
    uct_schema_offence_t *offence; /* receives the violation; NULL: the caller
                                    * only needs to know whether there is one */
    unsigned depth;                /* nested calls of uct_schema_walk() */
} schema_run_t;

/* The members of one schema object, indexed by uct_schema_keyword_t; NULL if
 * the object has no such member. */
typedef const uct_schema_node_t *schema_members_t[UCT_SCHEMA_KEYWORDS];

/* Returns nonzero if `value` conforms to `rule`, the member of the schema
 * object that has the function's keyword. `members` are all members of that
 * object. */
typedef int (*schema_rule_t)(schema_run_t *run, const schema_members_t members,
                             const uct_schema_node_t *rule, json_t *value);

/* Indexed by uct_schema_keyword_t. NULL if the function of another keyword, or
 * uct_schema_walk(), handles the keyword ("then", "definitions"). */
extern const schema_rule_t uct_schema_rules[UCT_SCHEMA_KEYWORDS];

/* Loops over the elements of the array `_node`, or the members of the object
 * `_node`; values nested in these are skipped. */
#define uct_schema_each(_node, _inner) \
    for ((_inner) = (_node) + 1; (_inner) < (_node) + (_node)->size; \
         (_inner) += (_inner)->size)

/* Returns the name of a member of an object. */
static inline const char *schema_name(const schema_run_t *run,
                                      const uct_schema_node_t *member)
{
    return run->schema->words + member->name;
}

/* Returns the text of a node that is a string. */
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

/* Stores the formatted description of a violation and returns 0. The position
 * of the wrong value is added by the rules that return from nested values. */
int uct_schema_offend(schema_run_t *run, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
