/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Checks JSON documents by a JSON Schema: the subset of draft-07 that
 * sdk/manifest.schema.json uses. A schema is a constant table that embed.py
 * generates when the library is built, so that a program need not parse the
 * schema when it starts.
 */
#ifndef UCT_PLUGIN_SCHEMA_H
#define UCT_PLUGIN_SCHEMA_H

#include <jansson.h>
#include <stddef.h>

#include <ucs/type/status.h>

/* Keywords of JSON Schema. The rules of one schema are checked in this order,
 * and only the first violation is reported. */
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
    UCT_SCHEMA_NO_KEYWORD = UCT_SCHEMA_KEYWORDS, /* a name that the schema
                                                  * defines, of a property or
                                                  * of a definition */
} uct_schema_keyword_t;

/* A JSON value in the schema. The nodes of the values in an object or array
 * follow the node of the object or array. */
typedef struct uct_schema_node {
    unsigned char kind;    /* json_type of the value */
    unsigned char keyword; /* if it is a member of an object: the member's name
                            * as uct_schema_keyword_t */
    unsigned short size;   /* number of nodes: this one and all nested ones */
    unsigned name;         /* if it is a member of an object: offset of the
                            * member's name in `words` */
    int number;            /* value of an integer, or offset of a string in
                            * `words` */
} uct_schema_node_t;

typedef struct uct_schema {
    const uct_schema_node_t *nodes; /* the first is the schema's root */
    const char *words;              /* all strings of the schema, one after
                                     * another, each with a final 0 */
} uct_schema_t;

enum {
    /* The document was written for a newer minor version of the schema: members
     * and words that the schema does not know are accepted. */
    UCT_SCHEMA_LENIENT = 1u << 0,
};

/* Description of the first violation that was found; both texts are "" if the
 * document conforms to the schema. */
typedef struct uct_schema_offence {
    char pointer[256]; /* JSON pointer to the wrong value; "" is the whole
                        * document */
    char what[384];    /* what was expected and what was found */
} uct_schema_offence_t;

/* The schema of manifests, generated from sdk/manifest.schema.json without the
 * descriptions. */
extern const uct_schema_t uct_schema_manifest;

/* Checks the document `instance`. Returns UCS_OK, or UCS_ERR_INVALID_PARAM with
 * the first violation in `offence`. `flags` are UCT_SCHEMA_*. */
ucs_status_t uct_schema_check(const uct_schema_t *schema, json_t *instance,
                              unsigned flags, uct_schema_offence_t *offence);

#endif
