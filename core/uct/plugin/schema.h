/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A small interpreter of JSON Schema: the subset of draft-07 that
 * sdk/manifest.schema.json uses, and no more. It knows nothing of plugins.
 */
#ifndef UCT_PLUGIN_SCHEMA_H
#define UCT_PLUGIN_SCHEMA_H

#include <jansson.h>
#include <stddef.h>

#include <ucs/type/status.h>

typedef struct uct_schema uct_schema_t;

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

/* The text of sdk/manifest.schema.json without what is said to people alone,
 * built into the library. */
extern const char uct_schema_manifest_text[];
extern const size_t uct_schema_manifest_length;

/* The same as a table, of which uct_schema_manifest_create() makes a schema. */
typedef struct uct_schema_node {
    json_type kind;
    unsigned name; /* of a member: its place in the words */
    int number;    /* of an integer; place of a word; how many are inside */
} uct_schema_node_t;

extern const uct_schema_node_t uct_schema_manifest_nodes[];
extern const char uct_schema_manifest_words[];

/*
 * UCS_ERR_INVALID_PARAM: not JSON, a reference that leads nowhere, or a pattern
 * that pattern.h does not know.
 * UCS_ERR_UNSUPPORTED: a keyword that this interpreter would not obey.
 * One schema may be used by one thread at a time.
 */
ucs_status_t uct_schema_create(const char *text, size_t length,
                               uct_schema_t **schema_p);
void uct_schema_destroy(uct_schema_t *schema);

/* The manifest's schema; only memory can be missing. */
ucs_status_t uct_schema_manifest_create(uct_schema_t **schema_p);

/* UCS_OK, or UCS_ERR_INVALID_PARAM with the offence. */
ucs_status_t uct_schema_check(uct_schema_t *schema, json_t *instance,
                              unsigned flags, uct_schema_offence_t *offence);

#endif
