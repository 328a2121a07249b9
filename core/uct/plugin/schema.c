/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The schema interpreter: creation and the walk. A schema that uses a keyword
 * which schema_rules.c does not know is refused when it is created, so that
 * no rule is written down which is then not enforced.
 */
#include "uct/plugin/schema_rules.h"

#include <stdlib.h>
#include <string.h>

#include "uct/plugin/pattern.h"

#define SCHEMA_DEPTH_MAX 64

/* "#/definitions/NAME" only. */
static json_t *resolve(json_t *root, json_t *reference)
{
    static const char prefix[] = "#/definitions/";
    const char *text           = json_string_value(reference);

    if ((text == NULL) || strncmp(text, prefix, sizeof(prefix) - 1)) {
        return NULL;
    }
    return json_object_get(json_object_get(root, "definitions"),
                           text + sizeof(prefix) - 1);
}

int uct_schema_walk(schema_run_t *run, json_t *schema, json_t *value)
{
    json_t *rules[UCT_SCHEMA_KEYWORDS_MAX] = {NULL};
    const char *name;
    json_t *rule;
    int ok = 1, i;

    if (++run->depth > SCHEMA_DEPTH_MAX) {
        return uct_schema_offend(run, "nested too deeply");
    }

    rule = json_object_get(schema, "$ref");
    if (rule != NULL) {
        /* Siblings of a reference count for nothing in draft-07. */
        ok = uct_schema_walk(run, resolve(run->schema->root, rule), value);
        --run->depth;
        return ok;
    }

    /* A schema has a few of the many rules, in any order. */
    json_object_foreach(schema, name, rule) {
        i = uct_schema_keyword_find(name);
        if (i >= 0) {
            rules[i] = rule;
        }
    }
    for (i = 0; ok && (uct_schema_keywords[i].name != NULL); ++i) {
        if ((rules[i] != NULL) && (uct_schema_keywords[i].check != NULL)) {
            ok = uct_schema_keywords[i].check(run, schema, rules[i], value);
        }
    }
    --run->depth;
    return ok;
}

/* --- Creation ---------------------------------------------------------- */

static ucs_status_t lint(json_t *root, json_t *schema, unsigned depth);

/* Every member of an object is a schema. */
static ucs_status_t lint_members(json_t *root, json_t *object, unsigned depth)
{
    const char *name;
    json_t *member;
    ucs_status_t status;

    json_object_foreach(object, name, member) {
        status = lint(root, member, depth);
        if (status != UCS_OK) {
            return status;
        }
    }
    return UCS_OK;
}

static int is_words(const json_t *rule)
{
    json_t *word;
    size_t i;

    json_array_foreach(rule, i, word) {
        if (!json_is_string(word)) {
            return 0;
        }
    }
    return json_is_array(rule);
}

static int has_good_patterns(json_t *object)
{
    const char *pattern;
    json_t *member;

    json_object_foreach(object, pattern, member) {
        if (!uct_pattern_is_good(pattern)) {
            return 0;
        }
    }
    return 1;
}

/* A type of the rule that its function relies on. */
static int is_well_formed(const char *name, json_t *rule)
{
    static const char *const integers[] = {"minLength", "maxLength", "minItems",
                                           "maxItems"};
    size_t i;

    for (i = 0; i < sizeof(integers) / sizeof(integers[0]); ++i) {
        if (!strcmp(integers[i], name)) {
            return json_is_integer(rule);
        }
    }
    if (!strcmp(name, "type")) {
        return json_is_string(rule) || is_words(rule);
    } else if (!strcmp(name, "enum") || !strcmp(name, "required")) {
        return is_words(rule);
    } else if (!strcmp(name, "pattern")) {
        return json_is_string(rule) &&
               uct_pattern_is_good(json_string_value(rule));
    } else if (!strcmp(name, "patternProperties")) {
        return has_good_patterns(rule);
    } else if (!strcmp(name, "minimum") || !strcmp(name, "maximum")) {
        return json_is_number(rule);
    } else if (!strcmp(name, "additionalProperties") ||
               !strcmp(name, "uniqueItems")) {
        return json_is_boolean(rule);
    }
    return 1;
}

static ucs_status_t lint(json_t *root, json_t *schema, unsigned depth)
{
    const char *name;
    json_t *rule;
    ucs_status_t status = UCS_OK;

    if (!json_is_object(schema) || (depth > SCHEMA_DEPTH_MAX)) {
        return UCS_ERR_INVALID_PARAM;
    }

    json_object_foreach(schema, name, rule) {
        if (uct_schema_keyword_find(name) < 0) {
            return UCS_ERR_UNSUPPORTED;
        } else if (!is_well_formed(name, rule)) {
            return UCS_ERR_INVALID_PARAM;
        } else if (!strcmp(name, "properties") ||
                   !strcmp(name, "patternProperties") ||
                   !strcmp(name, "definitions")) {
            status = lint_members(root, rule, depth + 1);
        } else if (!strcmp(name, "items") || !strcmp(name, "if") ||
                   !strcmp(name, "then") || !strcmp(name, "else")) {
            status = lint(root, rule, depth + 1);
        } else if (!strcmp(name, "$ref") && (resolve(root, rule) == NULL)) {
            status = UCS_ERR_INVALID_PARAM;
        }
        if (status != UCS_OK) {
            return status;
        }
    }
    return UCS_OK;
}

ucs_status_t uct_schema_create(const char *text, size_t length,
                               uct_schema_t **schema_p)
{
    uct_schema_t *schema = calloc(1, sizeof(*schema));
    ucs_status_t status;
    json_error_t error;

    if (schema == NULL) {
        return UCS_ERR_NO_MEMORY;
    }

    schema->root = json_loadb(text, length, JSON_REJECT_DUPLICATES, &error);
    status       = lint(schema->root, schema->root, 0);
    if (status != UCS_OK) {
        uct_schema_destroy(schema);
        return status;
    }

    *schema_p = schema;
    return UCS_OK;
}

void uct_schema_destroy(uct_schema_t *schema)
{
    json_decref(schema->root);
    free(schema);
}

ucs_status_t uct_schema_check(uct_schema_t *schema, json_t *instance,
                              unsigned flags, uct_schema_offence_t *offence)
{
    schema_run_t run = {schema, flags, offence, 0};

    offence->pointer[0] = '\0';
    offence->what[0]    = '\0';

    return uct_schema_walk(&run, schema->root, instance)
               ? UCS_OK
               : UCS_ERR_INVALID_PARAM;
}
