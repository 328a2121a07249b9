/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The keywords of JSON Schema: a function for each, which checks one value of
 * the document, and the messages about violations. The traversal of schema and
 * document is in schema.c. A keyword accepts values of types to which it does
 * not apply, as JSON Schema demands.
 */
#include "uct/plugin/schema_rules.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "uct/plugin/pattern.h"

#define FOUND_LENGTH_MAX 60 /* bytes of a value that a message quotes */

/* --- Position and description of violations ---------------------------- */

int uct_schema_offend(schema_run_t *run, const char *format, ...)
{
    va_list ap;

    if (run->offence != NULL) {
        va_start(ap, format);
        vsnprintf(run->offence->what, sizeof(run->offence->what), format, ap);
        va_end(ap);
    }
    return 0;
}

/* Called on the way back from a violation inside the member or element `key`:
 * prepends "/key", in the syntax of JSON pointers, to the stored pointer, so
 * that it finally leads from the root to the wrong value. Returns 0. */
static int offend_within(schema_run_t *run, const char *key)
{
    char inner[sizeof(run->offence->pointer)], *pointer;
    size_t length = 0, rest;

    if (run->offence == NULL) {
        return 0;
    }

    pointer = run->offence->pointer;
    rest    = strlen(pointer) + 1;
    memcpy(inner, pointer, rest);
    pointer[length++] = '/';
    for (; (*key != '\0') && (length + 4 < sizeof(inner)); ++key) {
        if ((*key == '~') || (*key == '/')) {
            pointer[length++] = '~';
            pointer[length++] = (*key == '~') ? '0' : '1';
        } else {
            pointer[length++] = *key;
        }
    }
    rest = (rest > sizeof(inner) - length) ? sizeof(inner) - length : rest;
    memcpy(pointer + length, inner, rest);
    pointer[length + rest - 1] = '\0';
    return 0;
}

static const char *type_name(const json_t *value)
{
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        return "object";
    case JSON_ARRAY:
        return "array";
    case JSON_STRING:
        return "string";
    case JSON_INTEGER:
        return "integer";
    case JSON_REAL:
        return "number";
    case JSON_TRUE:
    case JSON_FALSE:
        return "boolean";
    default:
        return "null";
    }
}

/* Writes a description of the value, for messages, to `buffer`, and returns
 * `buffer`: type and content (of a string only the content), or only the type
 * if the value is long, an object or an array. */
static const char *found(const json_t *value, char *buffer, size_t size)
{
    const char *type = type_name(value);
    char text[FOUND_LENGTH_MAX + 1];
    size_t length;

    if (json_is_object(value) || json_is_array(value)) {
        snprintf(buffer, size, "%s %s",
                 json_is_object(value) ? "an object of" : "an array of",
                 (json_object_size(value) + json_array_size(value) == 0) ?
                     "no members" :
                     "some members");
        return buffer;
    }

    length = json_dumpb(value, text, FOUND_LENGTH_MAX,
                        JSON_ENCODE_ANY | JSON_ENSURE_ASCII);
    if (length > FOUND_LENGTH_MAX) {
        snprintf(buffer, size, "a long %s", type);
    } else {
        text[length] = '\0';
        snprintf(buffer, size, "%s%s%s", json_is_string(value) ? "" : type,
                 json_is_string(value) ? "" : " ", text);
    }
    return buffer;
}

/* --- Keywords ---------------------------------------------------------- */

/* Returns whether a number is an integer. floor() is not used, because it would
 * require to link libm. */
static int is_whole(double value)
{
    const double no_fractions = 1e16; /* larger doubles have no fractions */

    return (value >= no_fractions) || (value <= -no_fractions) ||
           (value == (double)(json_int_t)value);
}

static int has_type(const char *name, const json_t *value)
{
    if (!strcmp(name, "number")) {
        return json_is_number(value);
    } else if (!strcmp(name, "integer") && json_is_real(value)) {
        return is_whole(json_real_value(value));
    }
    return !strcmp(name, type_name(value));
}

static int check_type(schema_run_t *run, const schema_members_t members,
                      const uct_schema_node_t *rule, json_t *value)
{
    char expected[64] = "", buffer[96];
    const uct_schema_node_t *alternative;
    const char *name;

    if (rule->kind == JSON_STRING) {
        name = schema_word(run, rule);
        return has_type(name, value) ||
               uct_schema_offend(run, "expected %s %s, found %s",
                                 strchr("aeiou", name[0]) ? "an" : "a", name,
                                 found(value, buffer, sizeof(buffer)));
    }

    uct_schema_each(rule, alternative)
    {
        name = schema_word(run, alternative);
        if (has_type(name, value)) {
            return 1;
        }
        snprintf(expected + strlen(expected),
                 sizeof(expected) - strlen(expected), "%s%s",
                 (alternative == rule + 1) ? "" : " or ", name);
    }
    return uct_schema_offend(run, "expected %s, found %s", expected,
                             found(value, buffer, sizeof(buffer)));
}

static int check_enum(schema_run_t *run, const schema_members_t members,
                      const uct_schema_node_t *rule, json_t *value)
{
    char list[256]   = "", buffer[96];
    const char *text = json_string_value(value);
    const uct_schema_node_t *word;
    size_t length = 0;

    uct_schema_each(rule, word)
    {
        if ((text != NULL) && !strcmp(schema_word(run, word), text)) {
            return 1;
        }
    }
    if (run->flags & UCT_SCHEMA_LENIENT) {
        return 1;
    }

    uct_schema_each(rule, word)
    {
        length += snprintf(list + length, sizeof(list) - length, "%s%s",
                           (word == rule + 1) ? "" : ", ",
                           schema_word(run, word));
        if (length >= sizeof(list)) {
            memcpy(list + sizeof(list) - 4, "...", 4);
            break;
        }
    }
    return uct_schema_offend(run, "expected one of %s; found %s", list,
                             found(value, buffer, sizeof(buffer)));
}

static int check_pattern(schema_run_t *run, const schema_members_t members,
                         const uct_schema_node_t *rule, json_t *value)
{
    char buffer[96];

    return !json_is_string(value) ||
           uct_pattern_matches(schema_word(run, rule),
                               json_string_value(value)) ||
           uct_schema_offend(run, "expected text of the form %s, found %s",
                             schema_word(run, rule),
                             found(value, buffer, sizeof(buffer)));
}

static int check_minimum(schema_run_t *run, const schema_members_t members,
                         const uct_schema_node_t *rule, json_t *value)
{
    return !json_is_number(value) ||
           (json_number_value(value) >= rule->number) ||
           uct_schema_offend(run, "expected at least %d, found %.15g",
                             rule->number, json_number_value(value));
}

static int check_maximum(schema_run_t *run, const schema_members_t members,
                         const uct_schema_node_t *rule, json_t *value)
{
    return !json_is_number(value) ||
           (json_number_value(value) <= rule->number) ||
           uct_schema_offend(run, "expected at most %d, found %.15g",
                             rule->number, json_number_value(value));
}

/* Returns the length of a string in characters of UTF-8, not in bytes. */
static size_t text_length(const json_t *value)
{
    const char *p = json_string_value(value);
    size_t length = 0;

    for (; *p != '\0'; ++p) {
        length += ((unsigned char)*p & 0xc0) != 0x80;
    }
    return length;
}

static int check_min_length(schema_run_t *run, const schema_members_t members,
                            const uct_schema_node_t *rule, json_t *value)
{
    return !json_is_string(value) ||
           (text_length(value) >= (size_t)rule->number) ||
           uct_schema_offend(run, "expected at least %d characters, found %zu",
                             rule->number, text_length(value));
}

static int check_max_length(schema_run_t *run, const schema_members_t members,
                            const uct_schema_node_t *rule, json_t *value)
{
    return !json_is_string(value) ||
           (text_length(value) <= (size_t)rule->number) ||
           uct_schema_offend(run, "expected at most %d characters, found %zu",
                             rule->number, text_length(value));
}

static int check_min_items(schema_run_t *run, const schema_members_t members,
                           const uct_schema_node_t *rule, json_t *value)
{
    return !json_is_array(value) ||
           (json_array_size(value) >= (size_t)rule->number) ||
           uct_schema_offend(run, "expected at least %d elements, found %zu",
                             rule->number, json_array_size(value));
}

static int check_max_items(schema_run_t *run, const schema_members_t members,
                           const uct_schema_node_t *rule, json_t *value)
{
    return !json_is_array(value) ||
           (json_array_size(value) <= (size_t)rule->number) ||
           uct_schema_offend(run, "expected at most %d elements, found %zu",
                             rule->number, json_array_size(value));
}

static int check_unique(schema_run_t *run, const schema_members_t members,
                        const uct_schema_node_t *rule, json_t *value)
{
    char buffer[96];
    size_t i, j;

    if ((rule->kind != JSON_TRUE) || !json_is_array(value)) {
        return 1;
    }
    for (i = 1; i < json_array_size(value); ++i) {
        for (j = 0; j < i; ++j) {
            if (json_equal(json_array_get(value, i),
                           json_array_get(value, j))) {
                return uct_schema_offend(
                    run, "elements %zu and %zu are the same: %s", j, i,
                    found(json_array_get(value, i), buffer, sizeof(buffer)));
            }
        }
    }
    return 1;
}

static int check_items(schema_run_t *run, const schema_members_t members,
                       const uct_schema_node_t *rule, json_t *value)
{
    char index[24];
    json_t *element;
    size_t i;

    if (!json_is_array(value)) {
        return 1;
    }
    json_array_foreach(value, i, element) {
        if (!uct_schema_walk(run, rule, element)) {
            snprintf(index, sizeof(index), "%zu", i);
            return offend_within(run, index);
        }
    }
    return 1;
}

static int check_required(schema_run_t *run, const schema_members_t members,
                          const uct_schema_node_t *rule, json_t *value)
{
    const uct_schema_node_t *name;

    if (!json_is_object(value)) {
        return 1;
    }
    uct_schema_each(rule, name)
    {
        if (json_object_get(value, schema_word(run, name)) == NULL) {
            return uct_schema_offend(run, "the member \"%s\" is missing",
                                     schema_word(run, name));
        }
    }
    return 1;
}

static int check_properties(schema_run_t *run, const schema_members_t members,
                            const uct_schema_node_t *rule, json_t *value)
{
    const uct_schema_node_t *schema;
    const char *name;
    json_t *member;

    json_object_foreach(value, name, member) {
        schema = uct_schema_member(run, rule, name);
        if ((schema != NULL) && !uct_schema_walk(run, schema, member)) {
            return offend_within(run, name);
        }
    }
    return 1;
}

static int check_pattern_properties(schema_run_t *run,
                                    const schema_members_t members,
                                    const uct_schema_node_t *rule,
                                    json_t *value)
{
    const uct_schema_node_t *schema;
    const char *name;
    json_t *member;

    json_object_foreach(value, name, member) {
        uct_schema_each(rule, schema)
        {
            if (uct_pattern_matches(schema_name(run, schema), name) &&
                !uct_schema_walk(run, schema, member)) {
                return offend_within(run, name);
            }
        }
    }
    return 1;
}

/* Returns whether "properties" or "patternProperties" of the schema contains
 * the member. */
static int is_declared(const schema_run_t *run, const schema_members_t members,
                       const char *name)
{
    const uct_schema_node_t *named   = members[UCT_SCHEMA_PROPERTIES];
    const uct_schema_node_t *pattern = members[UCT_SCHEMA_PATTERN_PROPERTIES];
    const uct_schema_node_t *inner;

    if ((named != NULL) && (uct_schema_member(run, named, name) != NULL)) {
        return 1;
    }
    if (pattern == NULL) {
        return 0;
    }
    uct_schema_each(pattern, inner)
    {
        if (uct_pattern_matches(schema_name(run, inner), name)) {
            return 1;
        }
    }
    return 0;
}

/* Members that the schema does not declare are accepted if
 * "additionalProperties" is true, or the document is for a newer version
 * (UCT_SCHEMA_LENIENT). */
static int check_additional(schema_run_t *run, const schema_members_t members,
                            const uct_schema_node_t *rule, json_t *value)
{
    const char *name;
    json_t *member;

    if ((rule->kind == JSON_TRUE) || (run->flags & UCT_SCHEMA_LENIENT)) {
        return 1;
    }
    json_object_foreach(value, name, member) {
        if (!is_declared(run, members, name)) {
            uct_schema_offend(run,
                              "the member \"%.64s\" is not known here (a "
                              "vendor's own begin with \"x-\")",
                              name);
            return offend_within(run, name);
        }
    }
    return 1;
}

/* "if": checks the value by "then" if it conforms to `rule`, otherwise by
 * "else". The test by `rule` uses a copy of `run` that stores no violation,
 * because the document may be valid in either case. */
static int check_if(schema_run_t *run, const schema_members_t members,
                    const uct_schema_node_t *rule, json_t *value)
{
    schema_run_t question = *run;
    const uct_schema_node_t *branch;

    question.offence = NULL;
    branch           = uct_schema_walk(&question, rule, value) ?
                           members[UCT_SCHEMA_THEN] :
                           members[UCT_SCHEMA_ELSE];
    return (branch == NULL) || uct_schema_walk(run, branch, value);
}

const schema_rule_t uct_schema_rules[UCT_SCHEMA_KEYWORDS] = {
    [UCT_SCHEMA_TYPE]                  = check_type,
    [UCT_SCHEMA_ENUM]                  = check_enum,
    [UCT_SCHEMA_MIN_LENGTH]            = check_min_length,
    [UCT_SCHEMA_MAX_LENGTH]            = check_max_length,
    [UCT_SCHEMA_PATTERN]               = check_pattern,
    [UCT_SCHEMA_MINIMUM]               = check_minimum,
    [UCT_SCHEMA_MAXIMUM]               = check_maximum,
    [UCT_SCHEMA_MIN_ITEMS]             = check_min_items,
    [UCT_SCHEMA_MAX_ITEMS]             = check_max_items,
    [UCT_SCHEMA_REQUIRED]              = check_required,
    [UCT_SCHEMA_ADDITIONAL_PROPERTIES] = check_additional,
    [UCT_SCHEMA_PROPERTIES]            = check_properties,
    [UCT_SCHEMA_PATTERN_PROPERTIES]    = check_pattern_properties,
    [UCT_SCHEMA_ITEMS]                 = check_items,
    [UCT_SCHEMA_UNIQUE_ITEMS]          = check_unique,
    [UCT_SCHEMA_IF]                    = check_if,
};
