/* SPDX-License-Identifier: BSD-3-Clause */
/* Converts schemas from JSON to the form that the schema interpreter uses, for
 * its tests. The text is not checked: in the build, embed.py converts the
 * manifest schema and rejects invalid schemas. */
#include "schema_text.h"

#include <stdlib.h>
#include <string.h>

#include <check.h>

enum { MAX_NODES = 64, MAX_WORDS = 1024 };

struct schema_text {
    /* Must be the first member: schema_text_free() passes its address to
     * free() */
    uct_schema_t schema;
    uct_schema_node_t nodes[MAX_NODES];
    char words[MAX_WORDS];       /* Words of the nodes, each with a NUL */
    size_t num_nodes, num_words; /* Entries and bytes that are used */
};

static const char *const keywords[UCT_SCHEMA_KEYWORDS] = {
    [UCT_SCHEMA_TYPE]                  = "type",
    [UCT_SCHEMA_ENUM]                  = "enum",
    [UCT_SCHEMA_MIN_LENGTH]            = "minLength",
    [UCT_SCHEMA_MAX_LENGTH]            = "maxLength",
    [UCT_SCHEMA_PATTERN]               = "pattern",
    [UCT_SCHEMA_MINIMUM]               = "minimum",
    [UCT_SCHEMA_MAXIMUM]               = "maximum",
    [UCT_SCHEMA_MIN_ITEMS]             = "minItems",
    [UCT_SCHEMA_MAX_ITEMS]             = "maxItems",
    [UCT_SCHEMA_REQUIRED]              = "required",
    [UCT_SCHEMA_ADDITIONAL_PROPERTIES] = "additionalProperties",
    [UCT_SCHEMA_PROPERTIES]            = "properties",
    [UCT_SCHEMA_PATTERN_PROPERTIES]    = "patternProperties",
    [UCT_SCHEMA_ITEMS]                 = "items",
    [UCT_SCHEMA_UNIQUE_ITEMS]          = "uniqueItems",
    [UCT_SCHEMA_IF]                    = "if",
    [UCT_SCHEMA_THEN]                  = "then",
    [UCT_SCHEMA_ELSE]                  = "else",
    [UCT_SCHEMA_DEFINITIONS]           = "definitions",
    [UCT_SCHEMA_REF]                   = "$ref",
};

/* Returns UCT_SCHEMA_*; UCT_SCHEMA_KEYWORDS if the name is no keyword. */
static unsigned char keyword_of(const char *name)
{
    int i;

    for (i = 0; (i < UCT_SCHEMA_KEYWORDS) && strcmp(keywords[i], name); ++i) {
    }
    return (unsigned char)i;
}

static size_t add_word(struct schema_text *text, const char *word)
{
    size_t place = text->num_words;

    text->num_words += strlen(word) + 1;
    ck_assert_uint_le(text->num_words, MAX_WORDS);
    strcpy(text->words + place, word);
    return place;
}

/* Appends a node, and behind it the nodes of its members or elements. */
static void add(struct schema_text *text, const char *name, json_t *value)
{
    uct_schema_node_t *node = &text->nodes[text->num_nodes++];
    const char *inner_name;
    json_t *inner;
    size_t i;

    ck_assert_uint_le(text->num_nodes, MAX_NODES);
    node->kind    = json_typeof(value);
    node->keyword = keyword_of(name);
    node->name    = add_word(text, name);
    node->number  = json_is_string(value) ?
                        (int)add_word(text, json_string_value(value)) :
                        (int)json_integer_value(value);
    json_object_foreach(value, inner_name, inner) {
        add(text, inner_name, inner);
    }
    json_array_foreach(value, i, inner) {
        add(text, "", inner);
    }
    node->size = (unsigned short)(&text->nodes[text->num_nodes] - node);
}

const uct_schema_t *schema_text_read(const char *source)
{
    struct schema_text *text = calloc(1, sizeof(*text));
    json_t *root             = json_loads(source, 0, NULL);

    ck_assert_msg((text != NULL) && (root != NULL), "%s", source);
    add(text, "", root);
    json_decref(root);
    text->schema.nodes = text->nodes;
    text->schema.words = text->words;
    return &text->schema;
}

void schema_text_free(const uct_schema_t *schema)
{
    free((void *)(uintptr_t)schema);
}
