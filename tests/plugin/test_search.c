/* SPDX-License-Identifier: BSD-3-Clause */
/* The search of plugins: which folders and files are found, and in which
 * order. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "suites.h"
#include "tree.h"

static tree_t tree;

static void set_up(void)
{
    tree_create(&tree);
}

static void tear_down(void)
{
    tree_destroy(&tree);
}

static void search(const char *env, int secure, uct_search_t *result)
{
    uct_search_params_t params = {
        .env_path   = env,
        .admin_dir  = tree_path(&tree, "admin"),
        .system_dir = tree_path(&tree, "system"),
        .secure     = secure,
        .root       = "",
    };
    uct_trust_t trust;

    uct_trust_init(&trust);
    ck_assert_int_eq(uct_search_create(&params, &trust, result), UCS_OK);
}

/* search: the folders of the environment variable come first, then the
 * administrator's folder, then the system's folder */
START_TEST(folders_come_in_order)
{
    uct_search_t result;

    search(tree_path(&tree, "env"), 0, &result);
    ck_assert_uint_eq(result.num_dirs, 3);
    ck_assert_int_eq(result.dirs[0].origin, UCT_SEARCH_ENV);
    ck_assert_int_eq(result.dirs[1].origin, UCT_SEARCH_ADMIN);
    ck_assert_int_eq(result.dirs[2].origin, UCT_SEARCH_SYSTEM);
    ck_assert(result.dirs[0].counts && result.dirs[1].counts &&
              result.dirs[2].counts);
    uct_search_destroy(&result);
}
END_TEST

/* search: a privileged program ignores the environment */
START_TEST(environment_does_not_count_when_secure)
{
    uct_search_t result;

    search(tree_path(&tree, "env"), 1, &result);
    ck_assert_uint_eq(result.num_dirs, 3);
    ck_assert(!result.dirs[0].counts);
    ck_assert_ptr_null(result.dirs[0].real);
    ck_assert_ptr_nonnull(strstr(result.dirs[0].why, "environment"));
    ck_assert(result.dirs[1].counts && result.dirs[2].counts);
    uct_search_destroy(&result);
}
END_TEST

/* search: each folder that is not used has a reason */
START_TEST(folder_that_does_not_count_says_why)
{
    static const char *const why[] = {"not an absolute path", "no such folder",
                                      "not a folder", "same folder",
                                      "symbolic links"};
    char path[5 * PATH_MAX];
    uct_search_t result;
    unsigned i;

    tree_write(&tree, "file", "");
    tree_link(&tree, "loop", "loop");
    snprintf(path, sizeof(path), "relative:%s/none::%s/file:%s/admin/:%s/loop",
             tree.path, tree.path, tree.path, tree.path);
    search(path, 0, &result);
    ck_assert_uint_eq(result.num_dirs, 7);
    for (i = 0; i < 3; ++i) {
        ck_assert(!result.dirs[i].counts);
        ck_assert_msg(strstr(result.dirs[i].why, why[i]) != NULL,
                      "'%s' does not say '%s'", result.dirs[i].why, why[i]);
    }
    ck_assert(result.dirs[3].counts);
    ck_assert(!result.dirs[4].counts);
    ck_assert_ptr_nonnull(strstr(result.dirs[4].why, why[4]));
    ck_assert(!result.dirs[5].counts);
    ck_assert_ptr_nonnull(strstr(result.dirs[5].why, why[3]));
    uct_search_destroy(&result);
}
END_TEST

/* search: the files of a folder are sorted by name, independently of their
 * order in the folder */
START_TEST(files_are_sorted)
{
    static const char *const expected[] = {"a.json",   "a/a.json", "b/b.json",
                                           "b-2.json", "c.json",   "d/d.json"};
    uct_search_t result;
    unsigned count, i;
    char **files;

    tree_write(&tree, "env/d/d.json", "");
    tree_write(&tree, "env/c.json", "");
    tree_write(&tree, "env/b-2.json", "");
    tree_write(&tree, "env/a/a.json", "");
    tree_write(&tree, "env/b/b.json", "");
    tree_write(&tree, "env/a.json", "");
    tree_write(&tree, "env/readme.txt", "");
    tree_write(&tree, "env/.hidden.json", "");
    tree_write(&tree, "env/e/other.json", "");
    tree_write(&tree, "env/.json", "");
    search(tree_path(&tree, "env"), 0, &result);
    ck_assert_int_eq(uct_search_files(&result.dirs[0], &files, &count), UCS_OK);
    ck_assert_uint_eq(count, 6);
    for (i = 0; i < count; ++i) {
        ck_assert_str_eq(files[i] + strlen(result.dirs[0].real) + 1,
                         expected[i]);
    }
    uct_search_free_files(files, count);
    uct_search_destroy(&result);
}
END_TEST

/* search: a folder with too many files is rejected */
START_TEST(flood_of_files_is_rejected)
{
    uct_plugin_registry_t *registry;
    char name[64];
    unsigned i;

    for (i = 0; i < 4100; ++i) {
        snprintf(name, sizeof(name), "system/f%u.json", i);
        tree_write(&tree, name, "");
    }
    tree_plugin(&tree, "env", "good", "none", NULL);
    registry = tree_scan(&tree);
    ck_assert_ptr_nonnull(uct_plugin_next(registry, NULL));
    ck_assert(!uct_plugin_search(registry)->dirs[2].counts);
    ck_assert_ptr_nonnull(
        strstr(uct_plugin_search(registry)->dirs[2].why, "too many"));
    uct_plugin_registry_destroy(registry);
}
END_TEST

/* search: it is no error if no folder exists */
START_TEST(nothing_there_is_no_error)
{
    uct_search_params_t params = {.root = ""};
    uct_plugin_registry_t *registry;

    ck_assert_int_eq(uct_plugin_registry_create(&params, UCT_PLUGIN_SCAN_QUIET,
                                                &registry),
                     UCS_OK);
    ck_assert_ptr_null(uct_plugin_at(registry, 0));
    ck_assert_ptr_null(uct_plugin_next(registry, NULL));
    ck_assert_ptr_null(uct_plugin_find(registry, "tcp"));
    ck_assert_ptr_null(uct_plugin_config_prefixes(registry)[0]);
    uct_plugin_registry_destroy(registry);
}
END_TEST

Suite *suite_search(void)
{
    Suite *suite = suite_create("plugin: search");
    TCase *tcase = tcase_create("search");

    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, folders_come_in_order);
    tcase_add_test(tcase, environment_does_not_count_when_secure);
    tcase_add_test(tcase, folder_that_does_not_count_says_why);
    tcase_add_test(tcase, files_are_sorted);
    tcase_add_test(tcase, flood_of_files_is_rejected);
    tcase_add_test(tcase, nothing_there_is_no_error);
    suite_add_tcase(suite, tcase);
    return suite;
}
