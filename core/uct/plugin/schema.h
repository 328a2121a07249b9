/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A small interpreter of JSON Schema: the subset of draft-07 that
 * sdk/manifest.schema.json uses, and no more. It knows nothing of plugins.
 * A schema is a constant table: every start of a program needs the manifests'
 * one, and nothing has to be made of it first.
 */
#ifndef UCT_PLUGIN_SCHEMA_H
#define UCT_PLUGIN_SCHEMA_H

#include <jansson.h>
#include <stddef.h>

#include <ucs/type/status.h>

/* What a member of a schema asks, in the order in which offences are told. */
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
    UCT_SCHEMA_NO_KEYWORD = UCT_SCHEMA_KEYWORDS /* a name of the schema's own */
} uct_schema_keyword_t;

/* A value of the schema's text; those inside it follow. */
typedef struct uct_schema_node {
    unsigned char kind;    /* json_type, of what a schema has */
    unsigned char keyword; /* of a member: uct_schema_keyword_t */
    unsigned short size;   /* with all nodes inside */
    unsigned name;         /* of a member: its place in the words */
    int number;            /* of an integer; place of a word */
} uct_schema_node_t;

typedef struct uct_schema {
    const uct_schema_node_t *nodes;
    const char *words;
} uct_schema_t;

enum {
    /* For a document written for a newer minor version: members and words
     * that this schema does not know are passed over, not refused. */
    UCT_SCHEMA_LENIENT = 1u << 0
};

/* The first thing found wrong. */
typedef struct uct_schema_offence {
    char pointer[256]; /* JSON pointer to it; "" is the whole document */
    char what[384];    /* what was expected and what was found */
} uct_schema_offence_t;

/* sdk/manifest.schema.json, without what is said to people alone. */
extern const uct_schema_t uct_schema_manifest;

/* UCS_OK, or UCS_ERR_INVALID_PARAM with the offence. */
ucs_status_t uct_schema_check(const uct_schema_t *schema, json_t *instance,
                              unsigned flags, uct_schema_offence_t *offence);

#endif
