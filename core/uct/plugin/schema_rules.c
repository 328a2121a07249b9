/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The keywords of the schema interpreter: one function each, and the words
 * for what was found wrong. Creating a schema and walking it is schema.c.
 */
#include "uct/plugin/schema_rules.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "uct/plugin/pattern.h"

#define FOUND_LENGTH_MAX 60

/* --- Where it is and what is wrong ------------------------------------- */

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

/* Appends "/key" in the syntax of JSON pointers; returns the old length. */
static size_t enter(schema_run_t *run, const char *key)
{
    size_t old, length;
    char *pointer;

    if (run->offence == NULL) {
        return 0;
    }

    pointer = run->offence->pointer;
    old = length = strlen(pointer);
    if (length + 4 < sizeof(run->offence->pointer)) {
        pointer[length++] = '/';
    }
    for (; (*key != '\0') && (length + 4 < sizeof(run->offence->pointer));
         ++key) {
        if ((*key == '~') || (*key == '/')) {
            pointer[length++] = '~';
            pointer[length++] = (*key == '~') ? '0' : '1';
        } else {
            pointer[length++] = *key;
        }
    }
    pointer[length] = '\0';
    return old;
}

/* Only a success leads back: an offence keeps its place. */
static void leave(schema_run_t *run, size_t old)
{
    if (run->offence != NULL) {
        run->offence->pointer[old] = '\0';
    }
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

/* What was found, short enough for a line. */
static const char *found(const json_t *value, char *buffer, size_t size)
{
    const char *type = type_name(value);
    char text[FOUND_LENGTH_MAX + 1];
    size_t length;

    if (json_is_object(value) || json_is_array(value)) {
        snprintf(buffer, size, "%s %s",
                 json_is_object(value) ? "an object of" : "an array of",
                 (json_object_size(value) + json_array_size(value) == 0)
                     ? "no members"
                     : "some members");
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

static int has_type(const char *name, const json_t *value)
{
    if (!strcmp(name, "number")) {
        return json_is_number(value);
    } else if (!strcmp(name, "integer") && json_is_real(value)) {
        return json_real_value(value) == floor(json_real_value(value));
    }
    return !strcmp(name, type_name(value));
}

static int check_type(schema_run_t *run, json_t *schema, json_t *rule,
                      json_t *value)
{
    char expected[64] = "", buffer[96];
    const char *name;
    json_t *alternative;
    size_t i;

    (void)schema;
    if (json_is_string(rule)) {
        name = json_string_value(rule);
        return has_type(name, value) ||
               uct_schema_offend(run, "expected %s %s, found %s",
                                 strchr("aeiou", name[0]) ? "an" : "a", name,
                                 found(value, buffer, sizeof(buffer)));
    }

    json_array_foreach(rule, i, alternative) {
        name = json_string_value(alternative);
        if (has_type(name, value)) {
            return 1;
        }
        snprintf(expected + strlen(expected),
                 sizeof(expected) - strlen(expected), "%s%s",
                 (i == 0) ? "" : " or ", name);
    }
    return uct_schema_offend(run, "expected %s, found %s", expected,
                             found(value, buffer, sizeof(buffer)));
}

static int check_enum(schema_run_t *run, json_t *schema, json_t *rule,
                      json_t *value)
{
    char list[256] = "", buffer[96];
    json_t *word;
    size_t i, length = 0;

    (void)schema;
    json_array_foreach(rule, i, word) {
        if (json_equal(word, value)) {
            return 1;
        }
    }
    if (run->flags & UCT_SCHEMA_LENIENT) {
        return 1;
    }

    json_array_foreach(rule, i, word) {
        length += snprintf(
            list + length, sizeof(list) - length, "%s%s", (i == 0) ? "" : ", ",
            json_is_string(word) ? json_string_value(word) : type_name(word));
        if (length >= sizeof(list)) {
            memcpy(list + sizeof(list) - 4, "...", 4);
            break;
        }
    }
    return uct_schema_offend(run, "expected one of %s; found %s", list,
                             found(value, buffer, sizeof(buffer)));
}

static int check_pattern(schema_run_t *run, json_t *schema, json_t *rule,
                         json_t *value)
{
    char buffer[96];

    (void)schema;
    return !json_is_string(value) ||
           uct_pattern_matches(json_string_value(rule),
                               json_string_value(value)) ||
           uct_schema_offend(run, "expected text of the form %s, found %s",
                             json_string_value(rule),
                             found(value, buffer, sizeof(buffer)));
}

static int check_minimum(schema_run_t *run, json_t *schema, json_t *rule,
                         json_t *value)
{
    (void)schema;
    return !json_is_number(value) ||
           (json_number_value(value) >= json_number_value(rule)) ||
           uct_schema_offend(run, "expected at least %.15g, found %.15g",
                             json_number_value(rule), json_number_value(value));
}

static int check_maximum(schema_run_t *run, json_t *schema, json_t *rule,
                         json_t *value)
{
    (void)schema;
    return !json_is_number(value) ||
           (json_number_value(value) <= json_number_value(rule)) ||
           uct_schema_offend(run, "expected at most %.15g, found %.15g",
                             json_number_value(rule), json_number_value(value));
}

/* Length in characters, not in bytes. */
static size_t text_length(const json_t *value)
{
    const char *p = json_string_value(value);
    size_t length = 0;

    for (; *p != '\0'; ++p) {
        length += ((unsigned char)*p & 0xc0) != 0x80;
    }
    return length;
}

static int check_min_length(schema_run_t *run, json_t *schema, json_t *rule,
                            json_t *value)
{
    (void)schema;
    return !json_is_string(value) ||
           (text_length(value) >= (size_t)json_integer_value(rule)) ||
           uct_schema_offend(
               run, "expected at least %lld characters, found %zu",
               (long long)json_integer_value(rule), text_length(value));
}

static int check_max_length(schema_run_t *run, json_t *schema, json_t *rule,
                            json_t *value)
{
    (void)schema;
    return !json_is_string(value) ||
           (text_length(value) <= (size_t)json_integer_value(rule)) ||
           uct_schema_offend(run, "expected at most %lld characters, found %zu",
                             (long long)json_integer_value(rule),
                             text_length(value));
}

static int check_min_items(schema_run_t *run, json_t *schema, json_t *rule,
                           json_t *value)
{
    (void)schema;
    return !json_is_array(value) ||
           (json_array_size(value) >= (size_t)json_integer_value(rule)) ||
           uct_schema_offend(run, "expected at least %lld elements, found %zu",
                             (long long)json_integer_value(rule),
                             json_array_size(value));
}

static int check_max_items(schema_run_t *run, json_t *schema, json_t *rule,
                           json_t *value)
{
    (void)schema;
    return !json_is_array(value) ||
           (json_array_size(value) <= (size_t)json_integer_value(rule)) ||
           uct_schema_offend(run, "expected at most %lld elements, found %zu",
                             (long long)json_integer_value(rule),
                             json_array_size(value));
}

static int check_unique(schema_run_t *run, json_t *schema, json_t *rule,
                        json_t *value)
{
    char buffer[96];
    size_t i, j;

    (void)schema;
    if (!json_is_true(rule) || !json_is_array(value)) {
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

static int check_items(schema_run_t *run, json_t *schema, json_t *rule,
                       json_t *value)
{
    char index[24];
    json_t *element;
    size_t i, old;

    (void)schema;
    if (!json_is_array(value)) {
        return 1;
    }
    json_array_foreach(value, i, element) {
        snprintf(index, sizeof(index), "%zu", i);
        old = enter(run, index);
        if (!uct_schema_walk(run, rule, element)) {
            return 0;
        }
        leave(run, old);
    }
    return 1;
}

static int check_required(schema_run_t *run, json_t *schema, json_t *rule,
                          json_t *value)
{
    json_t *name;
    size_t i;

    (void)schema;
    if (!json_is_object(value)) {
        return 1;
    }
    json_array_foreach(rule, i, name) {
        if (json_object_get(value, json_string_value(name)) == NULL) {
            return uct_schema_offend(run, "the member \"%s\" is missing",
                                     json_string_value(name));
        }
    }
    return 1;
}

static int check_properties(schema_run_t *run, json_t *schema, json_t *rule,
                            json_t *value)
{
    const char *name;
    json_t *member, *member_schema;
    size_t old;

    (void)schema;
    json_object_foreach(value, name, member) {
        member_schema = json_object_get(rule, name);
        if (member_schema == NULL) {
            continue;
        }
        old = enter(run, name);
        if (!uct_schema_walk(run, member_schema, member)) {
            return 0;
        }
        leave(run, old);
    }
    return 1;
}

static int check_pattern_properties(schema_run_t *run, json_t *schema,
                                    json_t *rule, json_t *value)
{
    const char *name, *pattern;
    json_t *member, *member_schema;
    size_t old;

    (void)schema;
    json_object_foreach(value, name, member) {
        json_object_foreach(rule, pattern, member_schema) {
            if (!uct_pattern_matches(pattern, name)) {
                continue;
            }
            old = enter(run, name);
            if (!uct_schema_walk(run, member_schema, member)) {
                return 0;
            }
            leave(run, old);
        }
    }
    return 1;
}

/* Is the member named in "properties" or "patternProperties" of the schema? */
static int is_declared(json_t *schema, const char *name)
{
    json_t *patterns = json_object_get(schema, "patternProperties");
    const char *pattern;
    json_t *ignored;

    if (json_object_get(json_object_get(schema, "properties"), name) != NULL) {
        return 1;
    }
    json_object_foreach(patterns, pattern, ignored) {
        if (uct_pattern_matches(pattern, name)) {
            return 1;
        }
    }
    return 0;
}

static int check_additional(schema_run_t *run, json_t *schema, json_t *rule,
                            json_t *value)
{
    const char *name;
    json_t *member;

    if (!json_is_false(rule) || (run->flags & UCT_SCHEMA_LENIENT)) {
        return 1;
    }
    json_object_foreach(value, name, member) {
        if (!is_declared(schema, name)) {
            enter(run, name);
            return uct_schema_offend(
                run, "no such member is known here (a vendor's own "
                     "begin with \"x-\")");
        }
    }
    return 1;
}

static int check_if(schema_run_t *run, json_t *schema, json_t *rule,
                    json_t *value)
{
    schema_run_t question = *run;
    json_t *branch;
    int answer;

    question.offence = NULL;
    answer           = uct_schema_walk(&question, rule, value);
    branch           = json_object_get(schema, answer ? "then" : "else");
    return (branch == NULL) || uct_schema_walk(run, branch, value);
}

/* In the order in which offences are reported. A NULL function: obeyed
 * elsewhere, or a note for people. */
const uct_schema_keyword_t uct_schema_keywords[] = {
    {"type", check_type},
    {"enum", check_enum},
    {"minLength", check_min_length},
    {"maxLength", check_max_length},
    {"pattern", check_pattern},
    {"minimum", check_minimum},
    {"maximum", check_maximum},
    {"minItems", check_min_items},
    {"maxItems", check_max_items},
    {"required", check_required},
    {"additionalProperties", check_additional},
    {"properties", check_properties},
    {"patternProperties", check_pattern_properties},
    {"items", check_items},
    {"uniqueItems", check_unique},
    {"if", check_if},
    {"then", NULL},
    {"else", NULL},
    {"definitions", NULL},
    {"$ref", NULL},
    {"$schema", NULL},
    {"title", NULL},
    {"description", NULL},
    {NULL, NULL}};

_Static_assert(sizeof(uct_schema_keywords) / sizeof(uct_schema_keywords[0]) <=
                   UCT_SCHEMA_KEYWORDS_MAX,
               "a walk has room for a rule of each");

int uct_schema_keyword_find(const char *name)
{
    int i;

    for (i = 0; uct_schema_keywords[i].name != NULL; ++i) {
        if (!strcmp(uct_schema_keywords[i].name, name)) {
            return i;
        }
    }
    return -1;
}
