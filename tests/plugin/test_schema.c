/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the interpreter of JSON schemas, keyword by keyword, the built-in
 * schema of manifests, and the words for memory types. */
#include <stdio.h>
#include <string.h>

#include "schema_text.h"
#include "suites.h"
#include "ucs/type/memory_type.h"
#include "uct/plugin/manifest.h"
#include "uct/plugin/pattern.h"
#include "uct/plugin/schema_rules.h"

static const struct keyword_case {
    const char *schema;
    const char *good;    /* A document that conforms to the schema */
    const char *bad;     /* One that does not; NULL: not tested */
    const char *pointer; /* JSON pointer to the violation in `bad` */
    const char *what;    /* Part of the message for `bad` */
} keyword_cases[] = {
    {"{\"type\":\"object\"}", "{}", "[]", "",
     "expected an object, found an array"},
    {"{\"type\":\"integer\"}", "3", "3.5", "", "expected an integer"},
    {"{\"type\":\"integer\"}", "3.0", "\"3\"", "", "found \"3\""},
    {"{\"type\":\"number\"}", "3", "true", "", "found boolean true"},
    {"{\"type\":\"boolean\"}", "false", "null", "", "found null"},
    {"{\"type\":[\"string\",\"object\"]}", "{}", "1", "",
     "expected string or object"},
    {"{\"enum\":[\"a\",\"b\"]}", "\"b\"", "\"c\"", "", "one of a, b"},
    {"{\"pattern\":\"^[a-z]+$\"}", "\"abc\"", "\"aBc\"", "", "of the form"},
    {"{\"pattern\":\"^[a-z]+$\"}", "17", "\"\"", "", "of the form"},
    {"{\"minimum\":-2}", "-2", "-3", "", "at least -2"},
    {"{\"maximum\":1}", "1.0", "1.5", "", "at most 1, found 1.5"},
    {"{\"minLength\":2}", "\"ab\"", "\"a\"", "", "at least 2 characters"},
    {"{\"maxLength\":2}", "\"\xc3\xa9\xc3\xa9\"", "\"abc\"", "",
     "at most 2 characters, found 3"},
    {"{\"minItems\":1}", "[0]", "[]", "", "at least 1 elements"},
    {"{\"maxItems\":1}", "[0]", "[0,1]", "", "at most 1 elements"},
    {"{\"uniqueItems\":true}", "[1,2]", "[1,2,1]", "", "0 and 2 are the same"},
    {"{\"uniqueItems\":false}", "[1,1]", NULL, NULL, NULL},
    {"{\"items\":{\"type\":\"string\"}}", "[\"a\"]", "[\"a\",1]", "/1",
     "expected a string"},
    {"{\"required\":[\"a\"]}", "{\"a\":1}", "{\"b\":1}", "",
     "member \"a\" is missing"},
    {"{\"properties\":{\"a\":{\"type\":\"string\"}}}", "{\"b\":1}", "{\"a\":1}",
     "/a", "expected a string"},
    {"{\"properties\":{\"a/b~c\":{\"type\":\"string\"}}}", "{}",
     "{\"a/b~c\":1}", "/a~1b~0c", "expected a string"},
    {"{\"properties\":{\"a\":{}},\"additionalProperties\":false}", "{\"a\":1}",
     "{\"a\":1,\"z\":2}", "/z", "the member \"z\" is not known"},
    {"{\"patternProperties\":{\"^x-\":{\"type\":\"integer\"}},"
     "\"additionalProperties\":false}",
     "{\"x-a\":1}", "{\"x-a\":\"b\"}", "/x-a", "expected an integer"},
    {"{\"patternProperties\":{\"^x-\":{}},\"additionalProperties\":false}",
     "{\"x-a\":1}", "{\"y-a\":1}", "/y-a", "\"y-a\" is not known"},
    {"{\"definitions\":{\"d\":{\"type\":\"string\"}},"
     "\"items\":{\"$ref\":\"#/definitions/d\"}}",
     "[\"a\"]", "[[]]", "/0", "expected a string, found an array"},
    {"{\"if\":{\"required\":[\"a\"]},\"then\":{\"required\":[\"b\"]},"
     "\"else\":{\"required\":[\"c\"]}}",
     "{\"a\":1,\"b\":1}", "{\"a\":1,\"c\":1}", "", "\"b\" is missing"},
    {"{\"if\":{\"required\":[\"a\"]},\"then\":{\"required\":[\"b\"]},"
     "\"else\":{\"required\":[\"c\"]}}",
     "{\"c\":1}", "{\"b\":1}", "", "\"c\" is missing"},
    {"{\"if\":{\"required\":[\"a\"]},\"then\":{\"required\":[\"b\"]}}", "{}",
     "{\"a\":1}", "", "\"b\" is missing"},
};

static ucs_status_t run(const uct_schema_t *schema, const char *document,
                        unsigned flags, uct_schema_offence_t *offence)
{
    json_t *instance = json_loads(document, JSON_DECODE_ANY, NULL);
    ucs_status_t status;

    ck_assert_msg(instance != NULL, "%s", document);
    status = uct_schema_check(schema, instance, flags, offence);
    json_decref(instance);
    return status;
}

/* schema: each keyword accepts a valid value and locates an invalid one */
START_TEST(keyword_is_obeyed)
{
    const struct keyword_case *test = &keyword_cases[_i];
    const uct_schema_t *schema      = schema_text_read(test->schema);
    uct_schema_offence_t offence;

    ck_assert_msg(run(schema, test->good, 0, &offence) == UCS_OK,
                  "%s rejects %s: %s %s", test->schema, test->good,
                  offence.pointer, offence.what);
    if (test->bad != NULL) {
        ck_assert_msg(run(schema, test->bad, 0, &offence) ==
                          UCS_ERR_INVALID_PARAM,
                      "%s accepts %s", test->schema, test->bad);
        ck_assert_str_eq(offence.pointer, test->pointer);
        ck_assert_msg(strstr(offence.what, test->what) != NULL,
                      "'%s' does not say '%s'", offence.what, test->what);
    }
    schema_text_free(schema);
}
END_TEST

/* schema: a self-reference ends with a violation, not with a stack overflow */
START_TEST(endless_reference_ends)
{
    static const char text[]   = "{\"definitions\":{\"d\":{\"$ref\":"
                                 "\"#/definitions/d\"}},"
                                 "\"$ref\":\"#/definitions/d\"}";
    const uct_schema_t *schema = schema_text_read(text);
    uct_schema_offence_t offence;

    ck_assert_int_eq(run(schema, "{}", 0, &offence), UCS_ERR_INVALID_PARAM);
    schema_text_free(schema);
}
END_TEST

/* schema: UCT_SCHEMA_LENIENT, for manifests of newer versions, permits unknown
 * members and words, but no other violation */
START_TEST(leniency_covers_the_unknown_only)
{
    static const char text[] =
        "{\"properties\":{\"a\":{\"enum\":[\"x\"]},"
        "\"b\":{\"type\":\"string\"}},\"additionalProperties\":false}";
    const uct_schema_t *schema = schema_text_read(text);
    uct_schema_offence_t offence;

    ck_assert_int_eq(run(schema, "{\"a\":\"new\",\"c\":1}", UCT_SCHEMA_LENIENT,
                         &offence),
                     UCS_OK);
    ck_assert_int_eq(run(schema, "{\"b\":1}", UCT_SCHEMA_LENIENT, &offence),
                     UCS_ERR_INVALID_PARAM);
    schema_text_free(schema);
}
END_TEST

/* schema: a pointer that is too long is truncated and terminated */
START_TEST(long_pointer_is_cut)
{
    const uct_schema_t *schema = schema_text_read(
        "{\"patternProperties\":{\"^a\":{\"$ref\":\"#/definitions/d\"}},"
        "\"definitions\":{\"d\":{\"properties\":{\"b\":{\"type\":\"null\"}}}}}");
    char name[600], document[sizeof(name) + 16];
    uct_schema_offence_t offence;
    size_t length;

    for (length = 1; length < sizeof(name); ++length) {
        memset(name, 'a', length);
        name[length] = '\0';
        snprintf(document, sizeof(document), "{\"%s\":{\"b\":1}}", name);
        ck_assert_int_eq(run(schema, document, 0, &offence),
                         UCS_ERR_INVALID_PARAM);
        snprintf(document, sizeof(document), "/%s/b", name);
        ck_assert_uint_lt(strlen(offence.pointer), sizeof(offence.pointer));
        if (strlen(document) < sizeof(offence.pointer) - 3) {
            ck_assert_str_eq(offence.pointer, document);
        } else {
            ck_assert_int_eq(strncmp(offence.pointer, document,
                                     sizeof(offence.pointer) - 4),
                             0);
        }
    }
    schema_text_free(schema);
}
END_TEST

/* Returns the node at a path of member names, separated by slashes. */
static const uct_schema_node_t *
inside(const schema_run_t *run, const uct_schema_node_t *node, const char *path)
{
    char name[32];

    while (*path != '\0') {
        snprintf(name, sizeof(name), "%.*s", (int)strcspn(path, "/"), path);
        path += strlen(name) + (path[strlen(name)] == '/');
        node = uct_schema_member(run, node, name);
        ck_assert_msg(node != NULL, "no %s before %s", name, path);
    }
    return node;
}

/* Checks that the "enum" at `path` in the built-in schema contains the same
 * words as `words`, an array that ends with NULL. */
static void compare_words(const char *path, const char *const *words)
{
    schema_run_t run = {.schema = &uct_schema_manifest};
    const uct_schema_node_t *list, *word;
    size_t count = 0, i;

    list = inside(&run, run.schema->nodes, path);
    uct_schema_each(list, word)
    {
        ck_assert_msg(uct_manifest_word_bit(words, schema_word(&run, word)),
                      "the code does not know %s", schema_word(&run, word));
        ++count;
    }
    for (i = 0; words[i] != NULL; ++i) {
    }
    ck_assert_uint_eq(count, i);
}

/* schema: the manifest schema has the same words as the code */
START_TEST(manifest_schema_fits_the_code)
{
    compare_words("definitions/transport/properties/operations/items/enum",
                  uct_manifest_operations);
    compare_words("definitions/transport/properties/capabilities/items/enum",
                  uct_manifest_tl_capabilities);
    compare_words("definitions/transport/properties/reach/items/enum",
                  uct_manifest_reaches);
    compare_words("definitions/component/properties/capabilities/items/enum",
                  uct_manifest_md_capabilities);
    compare_words("definitions/component/properties/memory_types/items/enum",
                  ucs_memory_type_words);
}
END_TEST

/* schema: uct_pattern_matches() supports all patterns of the manifest schema */
START_TEST(manifest_schema_has_good_patterns)
{
    const schema_run_t run         = {.schema = &uct_schema_manifest};
    const uct_schema_node_t *nodes = run.schema->nodes, *inner;
    unsigned i, count = 0;

    for (i = 0; i < nodes->size; ++i) {
        if (nodes[i].keyword == UCT_SCHEMA_PATTERN) {
            ++count;
            ck_assert_msg(uct_pattern_is_good(schema_word(&run, &nodes[i])),
                          "%s", schema_word(&run, &nodes[i]));
        } else if (nodes[i].keyword == UCT_SCHEMA_PATTERN_PROPERTIES) {
            uct_schema_each(&nodes[i], inner)
            {
                ck_assert_msg(uct_pattern_is_good(schema_name(&run, inner)),
                              "%s", schema_name(&run, inner));
            }
        }
    }
    ck_assert_uint_gt(count, 0);
}
END_TEST

START_TEST(every_memory_type_has_one_word)
{
    unsigned type;

    for (type = 0; type < UCS_MEMORY_TYPE_LAST; ++type) {
        const char *word = ucs_memory_type_name((ucs_memory_type_t)type);

        ck_assert_int_eq(ucs_memory_type_find(word, strlen(word)), type);
    }
    ck_assert_str_eq(ucs_memory_type_name(UCS_MEMORY_TYPE_LAST), "unknown");
    ck_assert_int_eq(ucs_memory_type_find("unknown", 7), UCS_MEMORY_TYPE_LAST);
}
END_TEST

Suite *suite_schema(void)
{
    Suite *suite = suite_create("plugin: schema");
    TCase *tcase = tcase_create("schema");

    tcase_add_loop_test(tcase, keyword_is_obeyed, 0,
                        sizeof(keyword_cases) / sizeof(keyword_cases[0]));
    tcase_add_test(tcase, endless_reference_ends);
    tcase_add_test(tcase, leniency_covers_the_unknown_only);
    tcase_add_test(tcase, long_pointer_is_cut);
    tcase_add_test(tcase, manifest_schema_fits_the_code);
    tcase_add_test(tcase, manifest_schema_has_good_patterns);
    tcase_add_test(tcase, every_memory_type_has_one_word);
    suite_add_tcase(suite, tcase);
    return suite;
}
