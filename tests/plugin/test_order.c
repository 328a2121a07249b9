/* SPDX-License-Identifier: BSD-3-Clause */
/* The order in which plugins are used, and which of them are not used because
 * of others: priority, shadowing, overrides, replacement, conflict, duplicate
 * components. Also plugins that are used on request only, and prefixes of
 * variables. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "suites.h"
#include "tree.h"

static tree_t tree;
static uct_plugin_registry_t *registry;

static void set_up(void)
{
    registry = NULL;
    tree_create(&tree);
}

static void tear_down(void)
{
    if (registry != NULL) {
        uct_plugin_registry_destroy(registry);
    }
    tree_destroy(&tree);
}

static void scan(void)
{
    if (registry != NULL) {
        uct_plugin_registry_destroy(registry);
    }
    registry = tree_scan(&tree);
}

/* Checks the names of the usable plugins, in order and separated by blanks. */
static void expect_usable(const char *expected)
{
    uct_plugin_t *plugin = NULL;
    char names[512]      = "";

    while ((plugin = uct_plugin_next(registry, plugin)) != NULL) {
        strcat(names, (names[0] == '\0') ? "" : " ");
        strcat(names, uct_plugin_info(plugin)->name);
    }
    ck_assert_str_eq(names, expected);
}

/* Checks the rejection code of a plugin, and that its reason contains
 * `reason`. */
static void expect_code(const char *name, uct_rejection_code_t code,
                        const char *reason)
{
    uct_rejection_t rejection;

    tree_assert_code(tree_rejection(registry, name, &rejection), code,
                     &rejection);
    ck_assert_msg(strstr(rejection.reason, reason) != NULL,
                  "'%s' does not say '%s'", rejection.reason, reason);
}

/* order: by priority, then by folder, then by name */
START_TEST(priority_then_folder_then_name)
{
    tree_plugin(&tree, "system", "aa", "none", NULL);
    tree_plugin(&tree, "system", "bb", "none", "{\"priority\":5}");
    tree_plugin(&tree, "env", "dd", "none", NULL);
    tree_plugin(&tree, "env", "cc", "none", NULL);
    tree_plugin(&tree, "admin", "ee", "none", "{\"priority\":-1}");
    scan();
    expect_usable("bb cc dd aa ee");
}
END_TEST

/* order: of several plugins with one name, the first one is used; the others
 * are shadowed, with a reason that names the file of the first one */
START_TEST(first_of_a_name_shadows)
{
    uct_plugin_t *plugin;
    unsigned shadowed = 0, i;
    uct_rejection_t rejection;

    tree_plugin(&tree, "env", "aa", "none", "{\"version\":\"3.0.0\"}");
    tree_plugin(&tree, "admin", "aa", "none", "{\"version\":\"2.0.0\"}");
    tree_plugin(&tree, "system", "aa", "none", "{\"priority\":99}");
    scan();
    expect_usable("aa");
    ck_assert_str_eq(
        uct_plugin_info(uct_plugin_find(registry, "aa"))->manifest->version,
        "3.0.0");
    for (i = 0; (plugin = uct_plugin_at(registry, i)) != NULL; ++i) {
        if (uct_plugin_state(plugin, &rejection) == UCT_PLUGIN_SHADOWED) {
            ck_assert_int_eq(rejection.code, UCT_REJECT_SHADOWED);
            ck_assert_ptr_nonnull(strstr(rejection.reason, "env/aa/aa.json"));
            ++shadowed;
        }
    }
    ck_assert_uint_eq(shadowed, 2);
}
END_TEST

/* order: a plugin with a broken manifest does not shadow a good one of the same
 * name */
START_TEST(broken_one_does_not_shadow)
{
    tree_write(&tree, "env/aa/aa.json", "{ broken");
    tree_plugin(&tree, "system", "aa", "none", NULL);
    scan();
    expect_usable("aa");
    expect_code("aa", UCT_REJECT_NONE, "");
    ck_assert_ptr_nonnull(uct_plugin_at(registry, 1));
}
END_TEST

/* order: of two plugins with one name in a folder, FOLDER/NAME.json comes
 * before FOLDER/NAME/NAME.json */
START_TEST(same_name_twice_in_a_folder)
{
    char *text = tree_manifest("aa", "{\"library\":\"aa/fake.so\"}");

    tree_plugin(&tree, "env", "aa", "none", NULL);
    tree_write(&tree, "env/aa.json", text);
    free(text);
    scan();
    expect_usable("aa");
    ck_assert_ptr_nonnull(
        strstr(uct_plugin_info(uct_plugin_find(registry, "aa"))->path,
               "/env/aa.json"));
}
END_TEST

/* order: an override of the administrator disables a plugin in any folder */
START_TEST(administrator_disables)
{
    tree_plugin(&tree, "env", "aa", "none", NULL);
    tree_plugin(&tree, "system", "aa", "none", NULL);
    tree_plugin(&tree, "system", "bb", "none", NULL);
    tree_write(&tree, "admin/no-aa.json",
               "{\"override\":\"aa\",\"enabled\":false,"
               "\"reason\":\"see ticket 7\"}");
    scan();
    expect_usable("bb");
    expect_code("aa", UCT_REJECT_DISABLED, "see ticket 7");
    ck_assert_int_eq(uct_plugin_state(uct_plugin_find(registry, "aa"), NULL),
                     UCT_PLUGIN_DISABLED);
}
END_TEST

/* order: an override of the administrator changes a priority; of several
 * overrides the last file has precedence */
START_TEST(administrator_reprioritises)
{
    const uct_plugin_override_t *overrides;
    unsigned count;

    tree_plugin(&tree, "env", "aa", "none", "{\"priority\":9}");
    tree_plugin(&tree, "env", "bb", "none", NULL);
    tree_write(&tree, "admin/10-aa.json",
               "{\"override\":\"aa\",\"enabled\":false}");
    tree_write(&tree, "admin/20-aa.json",
               "{\"override\":\"aa\",\"enabled\":true,\"priority\":-9}");
    tree_write(&tree, "admin/30-cc.json", "{\"override\":\"cc\"}");
    scan();
    expect_usable("bb aa");
    overrides = uct_plugin_overrides(registry, &count);
    ck_assert_uint_eq(count, 3);
    ck_assert(overrides[0].matched && overrides[1].matched);
    ck_assert(!overrides[2].matched);
}
END_TEST

/* order: an override that other users may write is ignored */
START_TEST(writable_override_does_not_count)
{
    tree_plugin(&tree, "env", "aa", "none", NULL);
    tree_write(&tree, "admin/aa.json",
               "{\"override\":\"aa\",\"enabled\":false}");
    tree_chmod(&tree, "admin/aa.json", 0666);
    scan();
    expect_usable("aa");
}
END_TEST

/* order: an override outside the administrator's folder is rejected */
START_TEST(override_elsewhere_is_rejected)
{
    tree_plugin(&tree, "system", "aa", "none", NULL);
    tree_write(&tree, "env/nasty.json",
               "{\"override\":\"aa\",\"enabled\":false}");
    scan();
    expect_usable("aa");
    expect_code("nasty", UCT_REJECT_OVERRIDE, "plugin aa");
}
END_TEST

/* order: of two plugins that conflict the first one is used, whichever of them
 * declares the conflict */
START_TEST(first_of_two_conflicting_plugins_is_used)
{
    tree_plugin(&tree, "env", "aa", "none", "{\"conflicts\":[\"bb\"]}");
    tree_plugin(&tree, "env", "bb", "none", NULL);
    tree_plugin(&tree, "env", "cc", "none",
                "{\"conflicts\":[\"aa\"],\"priority\":1}");
    scan();
    expect_usable("cc bb");
    expect_code("aa", UCT_REJECT_CONFLICT, "conflicts with cc");
}
END_TEST

/* order: of two plugins with a component of the same name the first one is
 * used */
START_TEST(first_of_a_component_stays)
{
    static const char patch[] = "{\"components\":[{\"name\":\"same\","
                                "\"transports\":[]}]}";

    tree_plugin(&tree, "env", "aa", "none", patch);
    tree_plugin(&tree, "env", "bb", "none", patch);
    scan();
    expect_usable("aa");
    expect_code("bb", UCT_REJECT_DUPLICATE, "component same");
}
END_TEST

/* order: a plugin that another one replaces is not used, even if its priority
 * is higher */
START_TEST(replaced_plugin_is_not_used)
{
    tree_plugin(&tree, "env", "old", "none", "{\"priority\":50}");
    tree_plugin(&tree, "env", "new", "none", "{\"replaces\":[\"old\"]}");
    scan();
    expect_usable("new");
    expect_code("old", UCT_REJECT_REPLACED, "new replaces it");
    ck_assert_str_eq(uct_plugin_info(uct_plugin_at(registry, 1))->name, "old");
}
END_TEST

/* order: of two plugins that replace each other the first one is used */
START_TEST(mutual_replacement_ends)
{
    tree_plugin(&tree, "env", "aa", "none", "{\"replaces\":[\"bb\",\"aa\"]}");
    tree_plugin(&tree, "env", "bb", "none", "{\"replaces\":[\"aa\"]}");
    scan();
    expect_usable("aa");
}
END_TEST

/* order: a plugin that is rejected does not replace another plugin */
START_TEST(rejected_plugin_replaces_no_plugin)
{
    tree_plugin(&tree, "env", "old", "none", NULL);
    tree_plugin(&tree, "env", "new", "none",
                "{\"replaces\":[\"old\"],"
                "\"requires\":{\"device_nodes\":[\"/dev/gone\"]}}");
    scan();
    expect_usable("old");
}
END_TEST

/* order: if a plugin that replaces another plugin cannot be loaded, the other
 * plugin is used */
START_TEST(replaced_plugin_is_used_if_the_replacement_fails)
{
    uct_rejection_t rejection;
    uct_plugin_t *failed;

    tree_plugin(&tree, "env", "old", "none", "{\"priority\":50}");
    tree_plugin(&tree, "env", "new", "reject", "{\"replaces\":[\"old\"]}");
    scan();
    expect_usable("new");
    failed = uct_plugin_next(registry, NULL);
    ck_assert_int_eq(tree_load(registry, "new", &rejection), UCT_REJECT_INIT);
    ck_assert_str_eq(uct_plugin_info(uct_plugin_next(registry, failed))->name,
                     "old");
    ck_assert_int_eq(tree_load(registry, "old", &rejection), UCT_REJECT_NONE);
}
END_TEST

/* order: a plugin that is not used by default is usable, and marked as such */
START_TEST(plugin_on_request_is_marked)
{
    tree_plugin(&tree, "env", "aa", "none", "{\"default\":false}");
    scan();
    expect_usable("aa");
    ck_assert(
        !uct_plugin_info(uct_plugin_at(registry, 0))->manifest->by_default);
}
END_TEST

/* order: the prefixes of the plugins' configuration variables are known without
 * loading the plugins */
START_TEST(prefixes_are_collected)
{
    tree_plugin(&tree, "env", "aa", "none",
                "{\"config_prefixes\":[\"AA\",\"BEE\"]}");
    tree_plugin(&tree, "env", "cc", "none", "{\"config_prefixes\":null}");
    scan();
    ck_assert_str_eq(uct_plugin_config_prefixes(registry)[0], "AA_");
    ck_assert_str_eq(uct_plugin_config_prefixes(registry)[1], "BEE_");
    ck_assert_ptr_null(uct_plugin_config_prefixes(registry)[2]);
}
END_TEST

Suite *suite_order(void)
{
    Suite *suite = suite_create("plugin: order");
    TCase *tcase = tcase_create("order");

    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, priority_then_folder_then_name);
    tcase_add_test(tcase, first_of_a_name_shadows);
    tcase_add_test(tcase, broken_one_does_not_shadow);
    tcase_add_test(tcase, same_name_twice_in_a_folder);
    tcase_add_test(tcase, administrator_disables);
    tcase_add_test(tcase, administrator_reprioritises);
    tcase_add_test(tcase, writable_override_does_not_count);
    tcase_add_test(tcase, override_elsewhere_is_rejected);
    tcase_add_test(tcase, first_of_two_conflicting_plugins_is_used);
    tcase_add_test(tcase, first_of_a_component_stays);
    tcase_add_test(tcase, replaced_plugin_is_not_used);
    tcase_add_test(tcase, mutual_replacement_ends);
    tcase_add_test(tcase, rejected_plugin_replaces_no_plugin);
    tcase_add_test(tcase, replaced_plugin_is_used_if_the_replacement_fails);
    tcase_add_test(tcase, plugin_on_request_is_marked);
    tcase_add_test(tcase, prefixes_are_collected);
    suite_add_tcase(suite, tcase);
    return suite;
}
