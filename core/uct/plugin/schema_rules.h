/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the two halves of the schema interpreter share; for nobody else.
 */
#ifndef UCT_PLUGIN_SCHEMA_RULES_H
#define UCT_PLUGIN_SCHEMA_RULES_H

#include <locale.h>
#include <regex.h>

#include "uct/plugin/schema.h"

/* A compiled pattern; the text belongs to the schema's own JSON tree. */
typedef struct schema_regex {
    struct schema_regex *next;
    const char *text;
    regex_t re;
} schema_regex_t;

struct uct_schema {
    json_t *root;
    schema_regex_t *regexes;
    locale_t c_locale; /* character ranges mean ASCII everywhere */
};

/* One run over one document. */
typedef struct schema_run {
    uct_schema_t *schema;
    unsigned flags;
    uct_schema_offence_t *offence; /* NULL while only a question is asked */
    unsigned depth;
    ucs_status_t error; /* not the document's fault */
} schema_run_t;

/* `rule` is the keyword's value in `schema`; check returns nonzero if `value`
 * obeys it. NULL: obeyed elsewhere, or a note for people. */
typedef struct uct_schema_keyword {
    const char *name;
    int (*check)(schema_run_t *run, json_t *schema, json_t *rule,
                 json_t *value);
} uct_schema_keyword_t;

/* In the order in which offences are reported; ends with a NULL name. */
extern const uct_schema_keyword_t uct_schema_keywords[];

/* Nonzero if `value` obeys all of `schema`. */
int uct_schema_walk(schema_run_t *run, json_t *schema, json_t *value);

/* Notes what is wrong at the present place; returns 0. */
int uct_schema_offend(schema_run_t *run, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
