/* SPDX-License-Identifier: BSD-3-Clause */
/* Manifests: the contents of valid ones, and many invalid texts. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "suites.h"
#include "tree.h"

static uct_manifest_t *parse(const char *text)
{
    uct_rejection_t rejection = {UCT_REJECT_NONE, ""};
    uct_manifest_t *manifest;

    ck_assert_msg(uct_manifest_parse(text, strlen(text), &manifest,
                                     &rejection) == UCS_OK,
                  "%s %s", uct_rejection_info(rejection.code)->id,
                  rejection.reason);
    return manifest;
}

/* Parses a good manifest to which a JSON merge patch is applied. */
static uct_manifest_t *parse_patched(const char *patch)
{
    char *text               = tree_manifest("alpha", patch);
    uct_manifest_t *manifest = parse(text);

    free(text);
    return manifest;
}

/* manifest: the members of a simple manifest are read; those that it does not
 * contain have their defaults */
START_TEST(plain_manifest_is_read)
{
    uct_manifest_t *manifest = parse_patched(NULL);
    const uct_manifest_transport_t *transport;

    ck_assert_int_eq(manifest->kind, UCT_MANIFEST_PLUGIN);
    ck_assert_str_eq(manifest->name, "alpha");
    ck_assert_str_eq(manifest->version, "1.0.0");
    ck_assert_uint_eq(manifest->abi, UCX_PLUGIN_ABI(1, 0));
    ck_assert_uint_eq(manifest->abi_min, UCX_PLUGIN_ABI(1, 0));
    ck_assert_int_eq(manifest->priority, 0);
    ck_assert(!manifest->has_priority);
    ck_assert(manifest->by_default);
    ck_assert_uint_eq(manifest->num_components, 1);
    ck_assert_uint_eq(manifest->components[0].memory_types, 1);
    transport = uct_manifest_transport(&manifest->components[0], "fake");
    ck_assert_ptr_nonnull(transport);
    ck_assert(uct_names_has(&transport->aliases, "pretence"));
    ck_assert_uint_eq(transport->reach, UCT_REACH_NODE | UCT_REACH_NETWORK);
    ck_assert_uint_eq(uct_manifest_iface_flags(transport),
                      UCT_IFACE_FLAG_AM_SHORT | UCT_IFACE_FLAG_AM_BCOPY |
                          UCT_IFACE_FLAG_INTER_NODE);
    ck_assert_int_eq(uct_manifest_device_type(transport), UCT_DEVICE_TYPE_NET);
    uct_manifest_free(manifest);
}
END_TEST

/* manifest: optional members are parsed */
START_TEST(full_manifest_is_read)
{
    uct_manifest_t *manifest = parse_patched(
        "{\"abi\":\"1.0\",\"abi_min\":\"1.0\",\"priority\":-7,"
        "\"default\":false,\"conflicts\":[\"beta\"],"
        "\"replaces\":[\"gamma\",\"delta\"],\"x-note\":{\"any\":[1]},"
        "\"requires\":{\"device_nodes\":[\"/dev/a*\","
        "{\"name\":\"/dev/b\",\"hint\":\"buy b\"}],"
        "\"kernel_modules\":[\"mod-a\"],\"hint\":\"ask Ada\","
        "\"any_of\":[{\"libraries\":[\"libx.so.1\"]},{}]},"
        "\"components\":[{\"name\":\"alpha\",\"cm\":[\"alpha\"],"
        "\"capabilities\":[\"reg\",\"sockaddr\"],\"transports\":"
        "[{\"name\":\"al\",\"operations\":[],\"reach\":[\"self\"],"
        "\"capabilities\":[\"event_fd\",\"pending\"],"
        "\"latency_ns\":120.5,\"bandwidth_mbps\":12000,"
        "\"device_class\":\"acc\",\"device_globs\":[\"al*\"]}]}]}");
    const uct_manifest_component_t *component = &manifest->components[0];
    const uct_requires_t *requires            = &manifest->requires;

    ck_assert_int_eq(manifest->priority, -7);
    ck_assert(!manifest->by_default);
    ck_assert(uct_names_has(&manifest->conflicts, "beta"));
    ck_assert_uint_eq(manifest->replaces.count, 2);
    ck_assert_uint_eq(requires->all.count[UCT_NEED_DEVICE], 2);
    ck_assert_ptr_null(requires->all.list[UCT_NEED_DEVICE][0].hint);
    ck_assert_str_eq(requires->all.list[UCT_NEED_DEVICE][1].hint, "buy b");
    ck_assert_str_eq(requires->all.list[UCT_NEED_MODULE][0].name, "mod-a");
    ck_assert_str_eq(requires->hint, "ask Ada");
    ck_assert_uint_eq(requires->num_any_of, 2);
    ck_assert_uint_eq(component->cms.count, 1);
    ck_assert_uint_eq(uct_manifest_md_flags(component),
                      UCT_MD_FLAG_REG | UCT_MD_FLAG_SOCKADDR);
    ck_assert_double_eq(component->transports[0].latency_ns, 120.5);
    ck_assert_double_eq(component->transports[0].bandwidth_mbps, 12000);
    ck_assert_uint_eq(uct_manifest_event_flags(&component->transports[0]),
                      UCT_IFACE_FLAG_EVENT_FD);
    ck_assert_uint_eq(uct_manifest_iface_flags(&component->transports[0]),
                      UCT_IFACE_FLAG_PENDING);
    ck_assert_int_eq(uct_manifest_device_type(&component->transports[0]),
                     UCT_DEVICE_TYPE_ACC);
    uct_manifest_free(manifest);
}
END_TEST

/* manifest: a manifest of a newer minor version is accepted; unknown members
 * and words are ignored */
START_TEST(newer_minor_is_read)
{
    uct_manifest_t *manifest = parse_patched(
        "{\"abi\":\"1.7\",\"abi_min\":\"1.0\",\"telepathy\":{\"on\":true},"
        "\"components\":[{\"name\":\"alpha\",\"transports\":"
        "[{\"name\":\"al\",\"operations\":[\"am_short\",\"am_beam\"],"
        "\"reach\":[\"node\",\"orbit\"],\"device_class\":\"dish\"}]}]}");

    ck_assert_uint_eq(manifest->abi, UCX_PLUGIN_ABI(1, 7));
    ck_assert_uint_eq(manifest->components[0].transports[0].reach,
                      UCT_REACH_NODE);
    ck_assert_int_eq(uct_manifest_device_type(
                         &manifest->components[0].transports[0]),
                     UCT_DEVICE_TYPE_NET);
    uct_manifest_free(manifest);
}
END_TEST

/* manifest: an override is distinguished from a plugin */
START_TEST(override_is_read)
{
    uct_manifest_t *manifest = parse(
        "{\"override\":\"alpha\",\"enabled\":false,\"priority\":9,"
        "\"reason\":\"it is Tuesday\"}");

    ck_assert_int_eq(manifest->kind, UCT_MANIFEST_OVERRIDE);
    ck_assert_str_eq(manifest->name, "alpha");
    ck_assert(manifest->has_enabled && !manifest->enabled);
    ck_assert_int_eq(manifest->priority, 9);
    ck_assert_str_eq(manifest->reason, "it is Tuesday");
    uct_manifest_free(manifest);
}
END_TEST

/* Merge patches that make a good manifest invalid. */
static const struct bad_patch {
    const char *patch;
    uct_rejection_code_t code;
    const char *reason; /* part of the reason */
} bad_patches[] = {
    {"{\"name\":null}", UCT_REJECT_SCHEMA, "\"name\" is missing"},
    {"{\"version\":null}", UCT_REJECT_SCHEMA, "\"version\" is missing"},
    {"{\"library\":null}", UCT_REJECT_SCHEMA, "\"library\" is missing"},
    {"{\"components\":null}", UCT_REJECT_SCHEMA, "\"components\""},
    {"{\"abi\":null}", UCT_REJECT_SCHEMA, "\"abi\" is missing"},
    {"{\"name\":7}", UCT_REJECT_SCHEMA, "/name: expected a string"},
    {"{\"name\":\"Alpha\"}", UCT_REJECT_SCHEMA, "/name"},
    {"{\"name\":\"../alpha\"}", UCT_REJECT_SCHEMA, "/name"},
    {"{\"version\":\"1\"}", UCT_REJECT_SCHEMA, "/version"},
    {"{\"version\":1.0}", UCT_REJECT_SCHEMA, "/version: expected a string"},
    {"{\"abi\":1.0}", UCT_REJECT_SCHEMA, "/abi: expected a string"},
    {"{\"abi\":\"one\"}", UCT_REJECT_SCHEMA, "/abi"},
    {"{\"abi\":\"1.0.0\"}", UCT_REJECT_SCHEMA, "/abi"},
    {"{\"abi\":\"0.9\"}", UCT_REJECT_ABI_MAJOR, "ABI 0.9"},
    {"{\"abi\":\"2.0\"}", UCT_REJECT_ABI_MAJOR, "ABI 2.0"},
    {"{\"abi\":\"1.5\",\"abi_min\":\"1.4\"}", UCT_REJECT_ABI_MIN, "ABI 1.4"},
    {"{\"abi\":\"1.5\",\"name\":3}", UCT_REJECT_SCHEMA, "/name"},
    {"{\"priority\":\"high\"}", UCT_REJECT_SCHEMA, "/priority"},
    {"{\"priority\":1.5}", UCT_REJECT_SCHEMA, "/priority"},
    {"{\"priority\":1000000}", UCT_REJECT_SCHEMA, "at most 1000"},
    {"{\"default\":\"no\"}", UCT_REJECT_SCHEMA, "/default"},
    {"{\"colour\":\"red\"}", UCT_REJECT_SCHEMA,
     "/colour: the member \"colour\" is not known here"},
    {"{\"vendor\":\"a\\u001bb\"}", UCT_REJECT_SCHEMA, "/vendor"},
    {"{\"vendor\":\"\"}", UCT_REJECT_SCHEMA, "/vendor"},
    {"{\"library\":\"\"}", UCT_REJECT_SCHEMA, "/library"},
    {"{\"library\":[\"a\"]}", UCT_REJECT_SCHEMA, "/library"},
    {"{\"components\":[]}", UCT_REJECT_SCHEMA, "/components"},
    {"{\"components\":[3]}", UCT_REJECT_SCHEMA, "/components/0"},
    {"{\"components\":[{\"name\":\"a\"}]}", UCT_REJECT_SCHEMA,
     "\"transports\" is missing"},
    {"{\"components\":[{\"name\":\"a_component_of_a_name\","
     "\"transports\":[]}]}",
     UCT_REJECT_SCHEMA, "/components/0/name"},
    {"{\"components\":[{\"name\":\"a\",\"transports\":[]},"
     "{\"name\":\"a\",\"transports\":[]}]}",
     UCT_REJECT_SCHEMA, "/components/1/name"},
    {"{\"components\":[{\"name\":\"a\",\"memory_types\":[\"hose\"],"
     "\"transports\":[]}]}",
     UCT_REJECT_SCHEMA, "/components/0/memory_types/0"},
    {"{\"components\":[{\"name\":\"a\",\"memory_types\":[\"host\",\"host\"],"
     "\"transports\":[]}]}",
     UCT_REJECT_SCHEMA, "are the same"},
    {"{\"components\":[{\"name\":\"a\",\"transports\":[{\"name\":"
     "\"much_too_long\",\"operations\":[],\"reach\":[\"self\"],"
     "\"device_class\":\"acc\"}]}]}",
     UCT_REJECT_SCHEMA, "/components/0/transports/0/name"},
    {"{\"components\":[{\"name\":\"a\",\"transports\":[{\"name\":"
     "\"t\",\"operations\":[],\"reach\":[],\"device_class\":\"acc\"}]}]}",
     UCT_REJECT_SCHEMA, "/components/0/transports/0/reach"},
    {"{\"components\":[{\"name\":\"a\",\"transports\":[{\"name\":"
     "\"t\",\"operations\":[\"fly\"],\"reach\":[\"self\"],"
     "\"device_class\":\"acc\"}]}]}",
     UCT_REJECT_SCHEMA, "/components/0/transports/0/operations/0"},
    {"{\"components\":[{\"name\":\"a\",\"transports\":["
     "{\"name\":\"t\",\"operations\":[],\"reach\":[\"self\"],"
     "\"device_class\":\"acc\"},"
     "{\"name\":\"t\",\"operations\":[],\"reach\":[\"self\"],"
     "\"device_class\":\"acc\"}]}]}",
     UCT_REJECT_SCHEMA, "/components/0/transports/1/name"},
    {"{\"components\":[{\"name\":\"a\",\"transports\":[{\"name\":"
     "\"t\",\"operations\":[],\"reach\":[\"self\"],\"latency_ns\":-1,"
     "\"device_class\":\"acc\"}]}]}",
     UCT_REJECT_SCHEMA, "latency_ns: expected at least 0"},
    {"{\"requires\":[]}", UCT_REJECT_SCHEMA, "/requires"},
    {"{\"requires\":{\"device_nodes\":[\"dev/null\"]}}", UCT_REJECT_SCHEMA,
     "/requires/device_nodes/0"},
    {"{\"requires\":{\"device_nodes\":[{\"hint\":\"x\"}]}}", UCT_REJECT_SCHEMA,
     "\"name\" is missing"},
    {"{\"requires\":{\"kernel_modules\":[\"../x\"]}}", UCT_REJECT_SCHEMA,
     "/requires/kernel_modules/0"},
    {"{\"requires\":{\"libraries\":[\"a/b.so\"]}}", UCT_REJECT_SCHEMA,
     "/requires/libraries/0"},
    {"{\"requires\":{\"any_of\":[]}}", UCT_REJECT_SCHEMA, "/requires/any_of"},
    {"{\"conflicts\":\"beta\"}", UCT_REJECT_SCHEMA, "/conflicts"},
    {"{\"config_prefixes\":[\"tcp\"]}", UCT_REJECT_SCHEMA,
     "/config_prefixes/0"},
};

static void reject(const char *text, size_t length, uct_rejection_code_t code,
                   const char *reason)
{
    uct_rejection_t rejection = {UCT_REJECT_NONE, ""};
    uct_manifest_t *manifest  = NULL;

    ck_assert_int_ne(uct_manifest_parse(text, length, &manifest, &rejection),
                     UCS_OK);
    tree_assert_code(rejection.code, code, &rejection);
    ck_assert_ptr_null(manifest);
    ck_assert_msg(strstr(rejection.reason, reason) != NULL,
                  "'%s' does not say '%s'", rejection.reason, reason);
}

/* manifest: the reason names an invalid member with its location */
START_TEST(bad_member_is_named)
{
    const struct bad_patch *test = &bad_patches[_i];
    char *text                   = tree_manifest("alpha", test->patch);

    reject(text, strlen(text), test->code, test->reason);
    free(text);
}
END_TEST

static const struct bad_text {
    const char *text;
    size_t length; /* Bytes of `text`; 0: up to the terminating NUL */
    uct_rejection_code_t code;
    const char *reason;
} bad_texts[] = {
    {"", 0, UCT_REJECT_NOT_JSON, "line 1"},
    {"{", 0, UCT_REJECT_NOT_JSON, "line 1"},
    {"{\n\n\"name\": \"x\",,}", 0, UCT_REJECT_NOT_JSON, "line 3"},
    {"hello", 0, UCT_REJECT_NOT_JSON, "line 1"},
    {"{} {}", 0, UCT_REJECT_NOT_JSON, "line 1"},
    {"{\"a\":1,\"a\":2}", 0, UCT_REJECT_NOT_JSON, "duplicate"},
    {"{\"a\":\"\xff\"}", 0, UCT_REJECT_NOT_JSON, "line 1"},
    {"{\"a\":\"\\u0000\"}", 0, UCT_REJECT_NOT_JSON, "line 1"},
    {"{}\0{}", 5, UCT_REJECT_NOT_JSON, "line 1"},
    {"{\"a\":1e999}", 0, UCT_REJECT_NOT_JSON, "line 1"},
    {"{\"a\":\"\x1b[2J\"}", 0, UCT_REJECT_NOT_JSON, "line 1"},
    {"[]", 0, UCT_REJECT_SCHEMA, "the document: expected an object"},
    {"{}", 0, UCT_REJECT_SCHEMA, "\"name\" is missing"},
    {"{\"override\":3}", 0, UCT_REJECT_SCHEMA, "/override"},
    {"{\"override\":\"a\",\"enabled\":\"no\"}", 0, UCT_REJECT_SCHEMA,
     "/enabled"},
    {"{\"override\":\"a\",\"library\":\"b\"}", 0, UCT_REJECT_SCHEMA,
     "/library"},
};

/* manifest: an invalid text is rejected, and the reason names the line or the
 * member */
START_TEST(bad_text_is_rejected)
{
    const struct bad_text *test = &bad_texts[_i];

    reject(test->text, (test->length == 0) ? strlen(test->text) : test->length,
           test->code, test->reason);
}
END_TEST

/* manifest: nesting that is too deep is rejected before the text is parsed */
START_TEST(deep_nesting_is_rejected)
{
    static const char *const patterns[] = {"[", "{\"a\":", "[{\"a\":"};
    size_t length, i, j;
    char *text;

    text = malloc(UCT_MANIFEST_SIZE_MAX + 8);
    for (i = 0; i < 3; ++i) {
        length = strlen(patterns[i]);
        for (j = 0; j + length <= UCT_MANIFEST_SIZE_MAX; j += length) {
            memcpy(text + j, patterns[i], length);
        }
        reject(text, j, UCT_REJECT_TOO_DEEP, "levels");
    }
    free(text);
}
END_TEST

/* manifest: brackets inside strings do not count as nesting */
START_TEST(brackets_in_strings_do_not_nest)
{
    uct_manifest_free(parse_patched(
        "{\"x-a\":\"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[\\\"[[\"}"));
}
END_TEST

/* manifest: each truncation of a good manifest is rejected, and none is read
 * beyond its end */
START_TEST(every_cut_is_rejected)
{
    char *text = tree_manifest("alpha", NULL);
    size_t length, full = strlen(text);
    uct_manifest_t *manifest;
    uct_rejection_t rejection;
    char *exact;

    for (length = 0; length < full; ++length) {
        exact = malloc(length + 1); /* Shrunk to the exact size below, so that a
                                     * sanitizer detects reads beyond the end */
        memcpy(exact, text, length);
        exact = realloc(exact, (length == 0) ? 1 : length);
        ck_assert_int_ne(uct_manifest_parse(exact, length, &manifest,
                                            &rejection),
                         UCS_OK);
        free(exact);
    }
    free(text);
}
END_TEST

/* manifest: a text with one changed byte gives a manifest or a reason, and
 * never a crash */
START_TEST(every_changed_byte_is_survived)
{
    static const char bytes[] = "\"{}[]:,0\\\x01\x80\xff";
    char *text                = tree_manifest("alpha", NULL);
    size_t length             = strlen(text), i, j;
    uct_manifest_t *manifest;
    uct_rejection_t rejection;
    char saved;

    for (i = 0; i < length; ++i) {
        saved = text[i];
        for (j = 0; j < sizeof(bytes); ++j) {
            text[i]        = bytes[j];
            rejection.code = UCT_REJECT_NONE;
            if (uct_manifest_parse(text, length, &manifest, &rejection) ==
                UCS_OK) {
                uct_manifest_free(manifest);
            } else {
                ck_assert_int_ne(rejection.code, UCT_REJECT_NONE);
            }
        }
        text[i] = saved;
    }
    free(text);
}
END_TEST

Suite *suite_manifest(void)
{
    Suite *suite = suite_create("plugin: manifest");
    TCase *tcase = tcase_create("manifest");

    tcase_add_test(tcase, plain_manifest_is_read);
    tcase_add_test(tcase, full_manifest_is_read);
    tcase_add_test(tcase, newer_minor_is_read);
    tcase_add_test(tcase, override_is_read);
    tcase_add_loop_test(tcase, bad_member_is_named, 0,
                        sizeof(bad_patches) / sizeof(bad_patches[0]));
    tcase_add_loop_test(tcase, bad_text_is_rejected, 0,
                        sizeof(bad_texts) / sizeof(bad_texts[0]));
    tcase_add_test(tcase, deep_nesting_is_rejected);
    tcase_add_test(tcase, brackets_in_strings_do_not_nest);
    tcase_add_test(tcase, every_cut_is_rejected);
    tcase_add_test(tcase, every_changed_byte_is_survived);
    suite_add_tcase(suite, tcase);
    return suite;
}
