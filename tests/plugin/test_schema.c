/* SPDX-License-Identifier: BSD-3-Clause */
/* The schema interpreter, keyword by keyword, and the manifest schema. */
#include <string.h>

#include "suites.h"
#include "ucs/type/memory_type.h"
#include "uct/plugin/manifest.h"
#include "uct/plugin/schema_rules.h"

/* Each schema with a document that obeys it and one that does not. */
static const struct keyword_case {
    const char *schema;
    const char *good;
    const char *bad;
    const char *pointer; /* of the offence */
    const char *what;    /* part of its words */
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
    {"{\"maximum\":1.5}", "1.5", "2", "", "at most 1.5"},
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
    {"{\"properties\":{\"a\":{\"type\":\"string\"}}}", "{\"b\":1}",
     "{\"a\":1}", "/a", "expected a string"},
    {"{\"properties\":{\"a/b~c\":{\"type\":\"string\"}}}", "{}",
     "{\"a/b~c\":1}", "/a~1b~0c", "expected a string"},
    {"{\"properties\":{\"a\":{}},\"additionalProperties\":false}",
     "{\"a\":1}", "{\"a\":1,\"z\":2}", "/z", "no such member"},
    {"{\"patternProperties\":{\"^x-\":{\"type\":\"integer\"}},"
     "\"additionalProperties\":false}",
     "{\"x-a\":1}", "{\"x-a\":\"b\"}", "/x-a", "expected an integer"},
    {"{\"patternProperties\":{\"^x-\":{}},\"additionalProperties\":false}",
     "{\"x-a\":1}", "{\"y-a\":1}", "/y-a", "no such member"},
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
     "{\"a\":1}", "", "\"b\" is missing"}
};

static ucs_status_t run(uct_schema_t *schema, const char *document,
                        unsigned flags, uct_schema_offence_t *offence)
{
    json_t *instance = json_loads(document, JSON_DECODE_ANY, NULL);
    ucs_status_t status;

    ck_assert_msg(instance != NULL, "%s", document);
    status = uct_schema_check(schema, instance, flags, offence);
    json_decref(instance);
    return status;
}

/* schema: each keyword lets the good pass and names the place of the bad */
START_TEST(keyword_is_obeyed)
{
    const struct keyword_case *test = &keyword_cases[_i];
    uct_schema_offence_t offence;
    uct_schema_t *schema;

    ck_assert_int_eq(uct_schema_create(test->schema, strlen(test->schema),
                                       &schema),
                     UCS_OK);
    ck_assert_msg(run(schema, test->good, 0, &offence) == UCS_OK,
                  "%s refuses %s: %s %s", test->schema, test->good,
                  offence.pointer, offence.what);
    if (test->bad != NULL) {
        ck_assert_msg(run(schema, test->bad, 0, &offence) ==
                              UCS_ERR_INVALID_PARAM,
                      "%s accepts %s", test->schema, test->bad);
        ck_assert_str_eq(offence.pointer, test->pointer);
        ck_assert_msg(strstr(offence.what, test->what) != NULL,
                      "'%s' does not say '%s'", offence.what, test->what);
    }
    uct_schema_destroy(schema);
}
END_TEST

/* schema: a keyword that would not be obeyed is refused at once */
START_TEST(unknown_keyword_is_refused)
{
    static const char *const texts[] = {
        "{\"oneOf\":[]}", "{\"properties\":{\"a\":{\"format\":\"email\"}}}",
        "{\"items\":{\"const\":1}}", "{\"definitions\":{\"d\":{\"not\":{}}}}"
    };
    uct_schema_t *schema;
    unsigned i;

    for (i = 0; i < 4; ++i) {
        ck_assert_int_eq(uct_schema_create(texts[i], strlen(texts[i]),
                                           &schema),
                         UCS_ERR_UNSUPPORTED);
    }
}
END_TEST

/* schema: one that is malformed is refused at once */
START_TEST(malformed_schema_is_refused)
{
    static const char *const texts[] = {
        "", "[]", "{", "{\"$ref\":\"#/definitions/none\"}",
        "{\"$ref\":\"http://elsewhere\"}", "{\"type\":3}",
        "{\"required\":[1]}", "{\"pattern\":1}", "{\"minLength\":\"2\"}",
        "{\"items\":[]}", "{\"additionalProperties\":{}}"
    };
    uct_schema_t *schema;
    unsigned i;

    for (i = 0; i < sizeof(texts) / sizeof(texts[0]); ++i) {
        ck_assert_msg(uct_schema_create(texts[i], strlen(texts[i]),
                                        &schema) == UCS_ERR_INVALID_PARAM,
                      "%s", texts[i]);
    }
}
END_TEST

/* schema: a reference to itself ends with an offence, not with the stack */
START_TEST(endless_reference_ends)
{
    static const char text[] = "{\"definitions\":{\"d\":{\"$ref\":"
                               "\"#/definitions/d\"}},"
                               "\"$ref\":\"#/definitions/d\"}";
    uct_schema_offence_t offence;
    uct_schema_t *schema;

    ck_assert_int_eq(uct_schema_create(text, strlen(text), &schema), UCS_OK);
    ck_assert_int_eq(run(schema, "{}", 0, &offence), UCS_ERR_INVALID_PARAM);
    uct_schema_destroy(schema);
}
END_TEST

/* schema: leniency passes over unknown members and words, nothing else */
START_TEST(leniency_covers_the_unknown_only)
{
    static const char text[] =
            "{\"properties\":{\"a\":{\"enum\":[\"x\"]},"
            "\"b\":{\"type\":\"string\"}},\"additionalProperties\":false}";
    uct_schema_offence_t offence;
    uct_schema_t *schema;

    ck_assert_int_eq(uct_schema_create(text, strlen(text), &schema), UCS_OK);
    ck_assert_int_eq(run(schema, "{\"a\":\"new\",\"c\":1}",
                         UCT_SCHEMA_LENIENT, &offence),
                     UCS_OK);
    ck_assert_int_eq(run(schema, "{\"b\":1}", UCT_SCHEMA_LENIENT, &offence),
                     UCS_ERR_INVALID_PARAM);
    uct_schema_destroy(schema);
}
END_TEST

/* The words of an "enum" under `path`, in the built-in schema. */
static void compare_words(json_t *definitions, const char *definition,
                          const char *member, const char *const *words)
{
    json_t *list, *word;
    size_t i;

    list = json_object_get(definitions, definition);
    list = json_object_get(json_object_get(list, "properties"), member);
    list = json_object_get(json_object_get(list, "items"), "enum");
    ck_assert_ptr_nonnull(list);
    json_array_foreach(list, i, word) {
        ck_assert_msg(uct_manifest_word_bit(words, json_string_value(word)),
                      "the code does not know %s", json_string_value(word));
    }
    for (i = 0; words[i] != NULL; ++i) {
    }
    ck_assert_uint_eq(json_array_size(list), i);
}

/* schema: the table of the manifest schema says what its text says */
START_TEST(manifest_schema_is_the_same_as_a_table)
{
    json_t *text = json_loads(uct_schema_manifest_text, 0, NULL);
    uct_schema_t *schema;

    ck_assert_int_eq(uct_schema_manifest_create(&schema), UCS_OK);
    ck_assert(json_is_object(text));
    ck_assert(json_equal(schema->root, text));
    uct_schema_destroy(schema);
    json_decref(text);
}
END_TEST

/* schema: the manifest schema is sound, and the code knows all its words */
START_TEST(manifest_schema_fits_the_code)
{
    uct_schema_t *schema;
    json_t *root, *definitions;

    ck_assert_int_eq(uct_schema_create(uct_schema_manifest_text,
                                       uct_schema_manifest_length, &schema),
                     UCS_OK);
    uct_schema_destroy(schema);

    root        = json_loads(uct_schema_manifest_text, 0, NULL);
    definitions = json_object_get(root, "definitions");
    compare_words(definitions, "transport", "operations",
                  uct_manifest_operations);
    compare_words(definitions, "transport", "capabilities",
                  uct_manifest_tl_capabilities);
    compare_words(definitions, "transport", "reach", uct_manifest_reaches);
    compare_words(definitions, "component", "capabilities",
                  uct_manifest_md_capabilities);
    compare_words(definitions, "component", "memory_types",
                  uct_manifest_memory_types);
    json_decref(root);
}
END_TEST

START_TEST(memory_types_are_called_alike_everywhere)
{
    unsigned type;

    for (type = 0; type < UCS_MEMORY_TYPE_LAST; ++type) {
        ck_assert_str_eq(uct_manifest_memory_types[type],
                         ucs_memory_type_name((ucs_memory_type_t)type));
    }
}
END_TEST

Suite *suite_schema(void)
{
    Suite *suite = suite_create("plugin: schema");
    TCase *tcase = tcase_create("schema");

    tcase_add_loop_test(tcase, keyword_is_obeyed, 0,
                        sizeof(keyword_cases) / sizeof(keyword_cases[0]));
    tcase_add_test(tcase, unknown_keyword_is_refused);
    tcase_add_test(tcase, malformed_schema_is_refused);
    tcase_add_test(tcase, endless_reference_ends);
    tcase_add_test(tcase, leniency_covers_the_unknown_only);
    tcase_add_test(tcase, manifest_schema_is_the_same_as_a_table);
    tcase_add_test(tcase, manifest_schema_fits_the_code);
    tcase_add_test(tcase, memory_types_are_called_alike_everywhere);
    suite_add_tcase(suite, tcase);
    return suite;
}
