/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A small interpreter of JSON Schema: the subset of draft-07 that
 * sdk/manifest.schema.json uses. Independent of plugins. A schema is a constant
 * table, so that a program does not parse it when it starts.
 */
#ifndef UCT_PLUGIN_SCHEMA_H
#define UCT_PLUGIN_SCHEMA_H

#include <jansson.h>
#include <stddef.h>

#include <ucs/type/status.h>

/* Keywords of a schema, in the order in which violations are reported. */
typedef enum uct_schema_keyword {
    UCT_SCHEMA_TYPE,
    UCT_SCHEMA_ENUM,
    UCT_SCHEMA_MIN_LENGTH,
    UCT_SCHEMA_MAX_LENGTH,
    UCT_SCHEMA_PATTERN,
    UCT_SCHEMA_MINIMUM,
    UCT_SCHEMA_MAXIMUM,
    UCT_SCHEMA_MIN_ITEMS,
    UCT_SCHEMA_MAX_ITEMS,
    UCT_SCHEMA_REQUIRED,
    UCT_SCHEMA_ADDITIONAL_PROPERTIES,
    UCT_SCHEMA_PROPERTIES,
    UCT_SCHEMA_PATTERN_PROPERTIES,
    UCT_SCHEMA_ITEMS,
    UCT_SCHEMA_UNIQUE_ITEMS,
    UCT_SCHEMA_IF,
    UCT_SCHEMA_THEN,
    UCT_SCHEMA_ELSE,
    UCT_SCHEMA_DEFINITIONS,
    UCT_SCHEMA_REF,
    UCT_SCHEMA_KEYWORDS,
    UCT_SCHEMA_NO_KEYWORD = UCT_SCHEMA_KEYWORDS, /* a name defined by the
                                                  * schema */
} uct_schema_keyword_t;

/* A value in the schema; nested values follow. */
typedef struct uct_schema_node {
    unsigned char kind;    /* json_type of the value */
    unsigned char keyword; /* keyword of a member: uct_schema_keyword_t */
    unsigned short size;   /* number of nodes, including nested ones */
    unsigned name;         /* of a member: offset of its name in the text */
    int number;            /* an integer, or the offset of a string */
} uct_schema_node_t;

typedef struct uct_schema {
    const uct_schema_node_t *nodes;
    const char *words;
} uct_schema_t;

enum {
    /* The document has a newer minor version: ignore unknown members and words
     * instead of rejecting them. */
    UCT_SCHEMA_LENIENT = 1u << 0,
};

/* The first violation that was found. */
typedef struct uct_schema_offence {
    char pointer[256]; /* JSON pointer to the value; "" is the whole document */
    char what[384];    /* what was expected and what was found */
} uct_schema_offence_t;

/* The table of sdk/manifest.schema.json, without the descriptions. */
extern const uct_schema_t uct_schema_manifest;

/* Returns UCS_OK, or UCS_ERR_INVALID_PARAM with the violation. */
ucs_status_t uct_schema_check(const uct_schema_t *schema, json_t *instance,
                              unsigned flags, uct_schema_offence_t *offence);

#endif
