/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the two halves of the schema interpreter share; for nobody else.
 */
#ifndef UCT_PLUGIN_SCHEMA_RULES_H
#define UCT_PLUGIN_SCHEMA_RULES_H

#include "uct/plugin/schema.h"

struct uct_schema {
    json_t *root;
};

/* One run over one document. */
typedef struct schema_run {
    uct_schema_t *schema;
    unsigned flags;
    uct_schema_offence_t *offence; /* NULL while only a question is asked */
    unsigned depth;
} schema_run_t;

/* `rule` is the keyword's value in `schema`; check returns nonzero if `value`
 * obeys it. NULL: obeyed elsewhere, or a note for people. */
typedef struct uct_schema_keyword {
    const char *name;
    int (*check)(schema_run_t *run, json_t *schema, json_t *rule,
                 json_t *value);
} uct_schema_keyword_t;

enum { UCT_SCHEMA_KEYWORDS_MAX = 32 };

/* In the order in which offences are reported; ends with a NULL name. */
extern const uct_schema_keyword_t uct_schema_keywords[];

/* Its place among them, or -1. */
int uct_schema_keyword_find(const char *name);

/* Nonzero if `value` obeys all of `schema`. */
int uct_schema_walk(schema_run_t *run, json_t *schema, json_t *value);

/* Notes what is wrong at the present place; returns 0. */
int uct_schema_offend(schema_run_t *run, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
