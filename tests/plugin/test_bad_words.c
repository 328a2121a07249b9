/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Defects that the core detects only when it loads a plugin: the plugin "bad"
 * is rejected with a code and a reason and unloaded, the plugin "good" still
 * works, and the tool ucx-plugins reports the defect with the option --load.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bad.h"
#include "run_tool.h"
#include "suites.h"

static tree_t tree;

static void set_up(void)
{
    tree_create(&tree);
    tree_plugin(&tree, "env", "good", "none", NULL);
}

static void tear_down(void)
{
    tree_destroy(&tree);
}

static const struct dynamic_case {
    const char *defect; /* Selects the defect of fake/fake.c */
    uct_rejection_code_t code;
    const char *reason; /* Part of the reason */
} dynamic_cases[] = {
    {"reject", UCT_REJECT_INIT, "the firmware ?[31mis too old?"},
    {"reject-unended", UCT_REJECT_INIT, "xxxxxxxx"},
    {"reject-silently", UCT_REJECT_INIT, "gives no reason"},
    {"no-device", UCT_REJECT_NOTHING, "no card in any slot"},
    {"descriptor-null", UCT_REJECT_DESCRIPTOR, "the descriptor is missing"},
    {"plugin-size-short", UCT_REJECT_DESCRIPTOR, "8 bytes"},
    {"plugin-size-absurd", UCT_REJECT_DESCRIPTOR, "1099511627776 bytes"},
    {"plugin-name-null", UCT_REJECT_DESCRIPTOR, "name of a plugin"},
    {"plugin-name-other", UCT_REJECT_UNDECLARED, "somebody"},
    {"plugin-version-null", UCT_REJECT_DESCRIPTOR, "version"},
    {"plugin-version-other", UCT_REJECT_UNDECLARED, "9.9.9"},
    {"plugin-abi-major", UCT_REJECT_ABI_MAJOR, "2.0"},
    {"components-null", UCT_REJECT_DESCRIPTOR, "no table"},
    {"components-none", UCT_REJECT_DESCRIPTOR, "0 components"},
    {"components-absurd", UCT_REJECT_DESCRIPTOR, "4000000000"},
    {"component-null", UCT_REJECT_DESCRIPTOR, "a component is missing"},
    {"component-size-short", UCT_REJECT_DESCRIPTOR, "24 bytes"},
    {"component-name-null", UCT_REJECT_DESCRIPTOR, "name of a component"},
    {"component-name-long", UCT_REJECT_DESCRIPTOR, "name of a component"},
    {"component-undeclared", UCT_REJECT_UNDECLARED, "unasked"},
    {"component-twice", UCT_REJECT_DESCRIPTOR, "two components"},
    {"component-md-open-null", UCT_REJECT_DESCRIPTOR, "md_open"},
    {"md-ops-null", UCT_REJECT_DESCRIPTOR, "md_ops is missing"},
    {"md-ops-size-short", UCT_REJECT_DESCRIPTOR, "md_ops"},
    {"md-query-null", UCT_REJECT_DESCRIPTOR, "query of md_ops"},
    {"transports-null", UCT_REJECT_DESCRIPTOR, "no table"},
    {"transports-absurd", UCT_REJECT_DESCRIPTOR, "2147483648 transports"},
    {"transport-null", UCT_REJECT_DESCRIPTOR, "a transport is missing"},
    {"transport-size-short", UCT_REJECT_DESCRIPTOR, "a transport states"},
    {"transport-name-letters", UCT_REJECT_DESCRIPTOR, "name of a transport"},
    {"transport-undeclared", UCT_REJECT_UNDECLARED, "bad/fake2"},
    {"transport-twice", UCT_REJECT_DESCRIPTOR, "two transports"},
    {"iface-ops-null", UCT_REJECT_DESCRIPTOR, "iface_ops is missing"},
    {"iface-ops-size-absurd", UCT_REJECT_DESCRIPTOR, "iface_ops"},
    {"iface-close-null", UCT_REJECT_DESCRIPTOR, "bad/fake"},
    {"ep-destroy-null", UCT_REJECT_DESCRIPTOR, "destroy of ep_ops"},
    {"cm-flag-without-ops", UCT_REJECT_DESCRIPTOR, "cm_ops"},
    {"cm-undeclared", UCT_REJECT_UNDECLARED, "connection manager"},
    {"config-prefix-undeclared", UCT_REJECT_UNDECLARED, "UCX_OTHER_"},
    {"config-size-short", UCT_REJECT_DESCRIPTOR, "size is impossible"},
    {"config-field-outside", UCT_REJECT_DESCRIPTOR, "UCX_FAKE_WORD"},
    {"config-default-null", UCT_REJECT_DESCRIPTOR, "UCX_FAKE_VALUE"},
    {"config-type-unknown", UCT_REJECT_DESCRIPTOR, "type is unknown"},
    {"config-fields-absurd", UCT_REJECT_DESCRIPTOR, "impossible"},
    {"config-enum-without-values", UCT_REJECT_DESCRIPTOR, "list of values"},
};
#define NUM_DYNAMIC (sizeof(dynamic_cases) / sizeof(dynamic_cases[0]))

/* bad plugins: a plugin with a bad descriptor is rejected and unloaded */
START_TEST(bad_in_its_words_is_rejected)
{
    const struct dynamic_case *test = &dynamic_cases[_i];
    uct_plugin_registry_t *registry;
    uct_rejection_t rejection, again;

    tree_plugin(&tree, "env", "bad", test->defect, NULL);
    registry = tree_scan(&tree);
    ck_assert_int_eq(tree_rejection(registry, "bad", &rejection),
                     UCT_REJECT_NONE);
    tree_assert_code(tree_load(registry, "bad", &rejection), test->code,
                     &rejection);
    ck_assert_msg(strstr(rejection.reason, test->reason) != NULL,
                  "'%s' does not say '%s'", rejection.reason, test->reason);
    ck_assert(!tree_is_mapped("bad/fake.so"));

    /* A second load returns the same rejection, without loading the plugin
     * again. */
    ck_assert_int_eq(tree_load(registry, "bad", &again), test->code);
    ck_assert_str_eq(again.reason, rejection.reason);
    ck_assert_int_eq(tree_rejection(registry, "bad", &again), test->code);
    bad_expect_good(registry);
    uct_plugin_registry_destroy(registry);
}
END_TEST

/* bad plugins: list --load shows defects that only loading can detect */
START_TEST(bad_in_its_words_is_listed)
{
    const struct dynamic_case *test = &dynamic_cases[_i];
    char *output;
    int code;

    tree_plugin(&tree, "env", "bad", test->defect, NULL);
    code = run_tool(&tree, "list --load --json", &output);
    ck_assert_int_eq(code, uct_rejection_info(test->code)->fault ? 1 : 0);
    bad_expect_listed(output, test->code, test->reason);
    free(output);
}
END_TEST

/* Creates the plugin "bad" with another library in place of fake.so; `variable`
 * is the environment variable with the path of the library. */
static void make_with_library(const char *variable)
{
    tree_plugin(&tree, "env", "bad", "none", NULL);
    tree_copy(&tree, tree_product(variable), "env/bad/fake.so");
}

/* Replaces a text in the library by another text of the same length. */
static void patch_library(const char *from, const char *to)
{
    const char *path = tree_path(&tree, "env/bad/fake.so");
    FILE *file       = fopen(path, "r+e");
    size_t size, i, hits = 0;
    char *data;

    fseek(file, 0, SEEK_END);
    size = ftell(file);
    data = malloc(size);
    rewind(file);
    ck_assert_uint_eq(fread(data, 1, size, file), size);
    for (i = 0; i + strlen(from) < size; ++i) {
        if (!strcmp(data + i, from)) {
            memcpy(data + i, to, strlen(to));
            ++hits;
        }
    }
    ck_assert_uint_gt(hits, 0);
    rewind(file);
    fwrite(data, 1, size, file);
    ck_assert_int_eq(fclose(file), 0);
    free(data);
}

static void expect_load(uct_rejection_code_t code, const char *reason)
{
    uct_plugin_registry_t *registry = tree_scan(&tree);
    uct_rejection_t rejection;

    tree_assert_code(tree_load(registry, "bad", &rejection), code, &rejection);
    ck_assert_msg(strstr(rejection.reason, reason) != NULL,
                  "'%s' does not say '%s'", rejection.reason, reason);
    bad_expect_good(registry);
    uct_plugin_registry_destroy(registry);
}

/* bad plugins: a plugin whose manifest states a newer ABI than its library is
 * rejected */
START_TEST(manifest_of_a_newer_abi)
{
    tree_plugin(&tree, "env", "bad", "none",
                "{\"abi\":\"1.7\",\"telepathy\":true}");
    expect_load(UCT_REJECT_UNDECLARED, "states plugin ABI 1.7");
}
END_TEST

/* bad plugins: a shared object without the entry point is no plugin */
START_TEST(no_entry_point)
{
    make_with_library("FAKE_NOENTRY");
    expect_load(UCT_REJECT_ENTRY, "ucx_plugin_entry");
}
END_TEST

/* bad plugins: if a plugin has no entry point, that of a library that it links
 * is not used instead */
START_TEST(borrowed_entry_point)
{
    make_with_library("FAKE_BORROWED");
    expect_load(UCT_REJECT_ENTRY, "ucx_plugin_entry");
}
END_TEST

/* bad plugins: a missing symbol is detected at load, even if the plugin was
 * linked for lazy binding */
START_TEST(missing_symbol_shows_at_once)
{
    uct_plugin_registry_t *registry;

    make_with_library("FAKE_UNBOUND");
    registry = tree_scan(&tree);
    ck_assert(!uct_plugin_info(uct_plugin_find(registry, "bad"))->bind_now);
    ck_assert(uct_plugin_info(uct_plugin_find(registry, "good"))->bind_now);
    uct_plugin_registry_destroy(registry);
    expect_load(UCT_REJECT_SYMBOL, "fake_function_of_nobody");
}
END_TEST

/* bad plugins: a missing symbol is also recognized if the environment selects
 * another language for messages */
START_TEST(missing_symbol_in_another_language)
{
    setenv("LC_ALL", "C.UTF-8", 1);
    setenv("LANGUAGE", "de:fr", 1);
    make_with_library("FAKE_UNBOUND");
    expect_load(UCT_REJECT_SYMBOL, "fake_function_of_nobody");
}
END_TEST

/* bad plugins: a plugin that links a library that is not installed is
 * rejected */
START_TEST(missing_dependency)
{
    make_with_library("FAKE_BORROWED");
    patch_library("libfake-linked.so", "libfake-absent.so");
    expect_load(UCT_REJECT_LOAD, "libfake-absent.so");
}
END_TEST

/* bad plugins: four bad plugins of different kinds do not affect the good
 * one */
START_TEST(several_at_once)
{
    uct_plugin_registry_t *registry;
    uct_plugin_t *plugin = NULL;
    uct_rejection_t rejection;
    unsigned loaded = 0;
    const ucx_plugin_t *descriptor;

    make_with_library("FAKE_UNBOUND");
    tree_link(&tree, "loop.json", "env/loop.json");
    tree_plugin(&tree, "env", "bad2", "components-absurd", "{\"priority\":9}");
    tree_plugin(&tree, "env", "bad3", "reject", "{\"priority\":8}");
    registry = tree_scan(&tree);
    while ((plugin = uct_plugin_next(registry, plugin)) != NULL) {
        if (uct_plugin_load(plugin, tree_host(), &descriptor, &rejection) ==
            UCS_OK) {
            ck_assert_str_eq(descriptor->name, "good");
            uct_plugin_release(plugin);
            ++loaded;
        }
    }
    ck_assert_uint_eq(loaded, 1);
    uct_plugin_registry_destroy(registry);
}
END_TEST

Suite *suite_bad_words(void)
{
    Suite *suite = suite_create("plugin: bad when loaded");
    TCase *tcase = tcase_create("bad");

    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_loop_test(tcase, bad_in_its_words_is_rejected, 0, NUM_DYNAMIC);
    tcase_add_loop_test(tcase, bad_in_its_words_is_listed, 0, NUM_DYNAMIC);
    tcase_add_test(tcase, manifest_of_a_newer_abi);
    tcase_add_test(tcase, no_entry_point);
    tcase_add_test(tcase, borrowed_entry_point);
    tcase_add_test(tcase, missing_symbol_shows_at_once);
    tcase_add_test(tcase, missing_symbol_in_another_language);
    tcase_add_test(tcase, missing_dependency);
    tcase_add_test(tcase, several_at_once);
    suite_add_tcase(suite, tcase);
    return suite;
}
