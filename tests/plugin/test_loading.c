/* SPDX-License-Identifier: BSD-3-Clause */
/* Loading of plugins: only on demand, only once, from several threads,
 * recursively, and through symbolic links; unloading. Also plugins of a newer
 * version, and the scope of a plugin's symbols. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "suites.h"
#include "tree.h"

#define NUM_THREADS 8

static tree_t tree;
static uct_plugin_registry_t *registry;

static void set_up(void)
{
    tree_create(&tree);
    registry = NULL;
}

static void tear_down(void)
{
    if (registry != NULL) {
        uct_plugin_registry_destroy(registry);
    }
    tree_destroy(&tree);
}

/* Searches the tree and returns the plugin of this name. */
static uct_plugin_t *scan_for(const char *name)
{
    registry = tree_scan(&tree);
    return uct_plugin_find(registry, name);
}

/* loading: a search of plugins maps no plugin into the process; loading a
 * plugin maps only that plugin */
START_TEST(only_what_is_asked_for_is_loaded)
{
    uct_rejection_t rejection;

    tree_plugin(&tree, "env", "aa", "none", NULL);
    tree_plugin(&tree, "env", "bb", "none", NULL);
    scan_for("aa");
    ck_assert(!tree_is_mapped("fake.so"));
    ck_assert_int_eq(uct_plugin_state(uct_plugin_find(registry, "bb"), NULL),
                     UCT_PLUGIN_AVAILABLE);
    ck_assert_int_eq(tree_load(registry, "bb", &rejection), UCT_REJECT_NONE);
    ck_assert(tree_is_mapped("bb/fake.so"));
    ck_assert(!tree_is_mapped("aa/fake.so"));
    ck_assert_int_eq(uct_plugin_state(uct_plugin_find(registry, "bb"), NULL),
                     UCT_PLUGIN_LOADED);
    ck_assert_int_eq(uct_plugin_state(uct_plugin_find(registry, "aa"), NULL),
                     UCT_PLUGIN_AVAILABLE);
}
END_TEST

/* loading: a load returns the descriptor of the plugin; a second load returns
 * the same descriptor */
START_TEST(second_load_gives_the_same)
{
    const ucx_plugin_t *first, *second;
    uct_plugin_t *plugin;

    tree_plugin(&tree, "env", "aa", "none", NULL);
    plugin = scan_for("aa");
    ck_assert_int_eq(uct_plugin_load(plugin, tree_host(), &first, NULL),
                     UCS_OK);
    ck_assert_str_eq(first->name, "aa");
    ck_assert_str_eq(first->components[0]->transports[0]->name, "fake");
    ck_assert_int_eq(uct_plugin_load(plugin, tree_host(), &second, NULL),
                     UCS_OK);
    ck_assert_ptr_eq(first, second);
    uct_plugin_release(plugin);
    uct_plugin_release(plugin);
}
END_TEST

/* loading: destroying a registry calls fini() of its loaded plugins, which
 * creates the file "fini", and unmaps them */
START_TEST(destroy_unloads)
{
    uct_rejection_t rejection;

    tree_plugin(&tree, "env", "aa", "none", NULL);
    scan_for("aa");
    ck_assert_int_eq(tree_load(registry, "aa", &rejection), UCT_REJECT_NONE);
    ck_assert_int_ne(access(tree_path(&tree, "env/aa/fini"), F_OK), 0);
    uct_plugin_registry_destroy(registry);
    registry = NULL;
    ck_assert_int_eq(access(tree_path(&tree, "env/aa/fini"), F_OK), 0);
    ck_assert(!tree_is_mapped("aa/fake.so"));
}
END_TEST

/* loading: a plugin with a component that its manifest does not declare is
 * rejected, but its fini() is called before it is unloaded */
START_TEST(undeclared_component_is_shut_down)
{
    uct_rejection_t rejection;

    tree_plugin(&tree, "env", "aa", "component-undeclared", NULL);
    scan_for("aa");
    ck_assert_int_eq(tree_load(registry, "aa", &rejection),
                     UCT_REJECT_UNDECLARED);
    ck_assert_int_eq(access(tree_path(&tree, "env/aa/fini"), F_OK), 0);
}
END_TEST

/* loading: a plugin of a newer minor version, with longer tables, can be
 * used */
START_TEST(newer_minor_works)
{
    const ucx_plugin_t *descriptor;
    uct_plugin_t *plugin;

    tree_plugin(&tree, "env", "aa", "newer-minor",
                "{\"abi\":\"1.9\",\"telepathy\":true}");
    plugin = scan_for("aa");
    ck_assert_int_eq(uct_plugin_load(plugin, tree_host(), &descriptor, NULL),
                     UCS_OK);
    ck_assert_uint_eq(UCX_PLUGIN_ABI_MINOR_OF(descriptor->abi), 9);
    uct_plugin_release(plugin);
}
END_TEST

/* loading: a connection manager that is declared and complete is accepted */
START_TEST(connection_manager_is_accepted)
{
    uct_rejection_t rejection;

    tree_plugin(&tree, "env", "aa", "cm-good",
                "{\"components\":[{\"name\":\"aa\",\"cm\":[\"aa\"],"
                "\"transports\":[{\"name\":\"fake\",\"operations\":[],"
                "\"reach\":[\"node\"],\"device_class\":\"shm\"}]}]}");
    scan_for("aa");
    tree_assert_code(tree_load(registry, "aa", &rejection), UCT_REJECT_NONE,
                     &rejection);
}
END_TEST

/* loading: a library in a subfolder is found through a symbolic link with a
 * version */
START_TEST(library_behind_a_link_is_loaded)
{
    uct_rejection_t rejection;

    tree_plugin(&tree, "env", "aa", "none", "{\"library\":\"lib/aa.so\"}");
    tree_link(&tree, "aa.so.1", "env/aa/lib/aa.so");
    tree_copy(&tree, tree_product("FAKE_PLUGIN"), "env/aa/lib/aa.so.1");
    scan_for("aa");
    tree_assert_code(tree_load(registry, "aa", &rejection), UCT_REJECT_NONE,
                     &rejection);
    ck_assert(tree_is_mapped("aa/lib/aa.so.1"));
}
END_TEST

/* loading: a manifest that is a symbolic link finds its library beside the
 * link's target */
START_TEST(manifest_behind_a_link_is_loaded)
{
    uct_rejection_t rejection;

    tree_plugin(&tree, "store", "aa", "none", NULL);
    tree_link(&tree, "../store/aa/aa.json", "env/aa.json");
    scan_for("aa");
    tree_assert_code(tree_load(registry, "aa", &rejection), UCT_REJECT_NONE,
                     &rejection);
    ck_assert(tree_is_mapped("store/aa/fake.so"));
}
END_TEST

/* loading: a plugin's symbols do not become global symbols of the process */
START_TEST(symbols_stay_local)
{
    uct_rejection_t rejection;
    void *self;

    tree_plugin(&tree, "env", "aa", "none", NULL);
    tree_plugin(&tree, "env", "bb", "none", NULL);
    scan_for("aa");
    tree_load(registry, "aa", &rejection);
    tree_load(registry, "bb", &rejection);
    self = tree_global_symbol("fake_entries");
    ck_assert_ptr_null(self);
}
END_TEST

static uct_plugin_t *recursive_plugin;
static uct_rejection_t recursive_rejection;

/* Called by the plugin's entry point, which calls the service machine_guid():
 * loads the same plugin. Returns 1 if that load fails. */
static uint64_t load_again(void)
{
    const ucx_plugin_t *descriptor;

    return uct_plugin_load(recursive_plugin, tree_host(), &descriptor,
                           &recursive_rejection) != UCS_OK;
}

/* loading: a recursive load is rejected */
START_TEST(recursive_load_is_rejected)
{
    ucx_host_t host = *tree_host();
    const ucx_plugin_t *descriptor;
    uct_rejection_t rejection = {UCT_REJECT_NONE, ""};

    host.machine_guid = load_again;
    tree_plugin(&tree, "env", "aa", "recurse", NULL);
    recursive_plugin = scan_for("aa");
    ck_assert_msg(uct_plugin_load(recursive_plugin, &host, &descriptor,
                                  &rejection) == UCS_OK,
                  "%s", rejection.reason);
    ck_assert_int_eq(recursive_rejection.code, UCT_REJECT_RECURSION);
    uct_plugin_release(recursive_plugin);
}
END_TEST

static pthread_barrier_t barrier;

/* A thread that loads all plugins repeatedly; returns the number of
 * failures. */
static void *load_all(void *arg)
{
    const ucx_plugin_t *descriptor;
    uct_plugin_t *plugin;
    uintptr_t failures = 0;
    unsigned round;

    pthread_barrier_wait(&barrier);
    for (round = 0; round < 50; ++round) {
        plugin = NULL;
        while ((plugin = uct_plugin_next(registry, plugin)) != NULL) {
            if (uct_plugin_load(plugin, tree_host(), &descriptor, NULL) !=
                UCS_OK) {
                ++failures;
                continue;
            }
            failures += strcmp(descriptor->name,
                               uct_plugin_info(plugin)->name) != 0;
            uct_plugin_release(plugin);
        }
    }
    return (void *)failures;
}

/* loading: threads that load the same plugin at the same time share one load */
START_TEST(threads_share_one_load)
{
    pthread_t threads[NUM_THREADS];
    const ucx_plugin_t *descriptor;
    uct_plugin_t *plugin;
    void *failures;
    unsigned i;

    tree_plugin(&tree, "env", "aa", "none", NULL);
    tree_plugin(&tree, "env", "bb", "none", NULL);
    tree_plugin(&tree, "env", "cc", "none", NULL);
    plugin = scan_for("aa");
    pthread_barrier_init(&barrier, NULL, NUM_THREADS);
    for (i = 0; i < NUM_THREADS; ++i) {
        ck_assert_int_eq(pthread_create(&threads[i], NULL, load_all, NULL), 0);
    }
    for (i = 0; i < NUM_THREADS; ++i) {
        pthread_join(threads[i], &failures);
        ck_assert_ptr_null(failures);
    }
    pthread_barrier_destroy(&barrier);

    ck_assert_int_eq(uct_plugin_load(plugin, tree_host(), &descriptor, NULL),
                     UCS_OK);
    ck_assert_int_eq(tree_entry_count(tree_path(&tree, "env/aa/fake.so")), 1);
    uct_plugin_release(plugin);
}
END_TEST

/* loading: a hundred searches and loads leak no descriptors and no mappings */
START_TEST(nothing_is_left_behind)
{
    unsigned before, round;
    uct_rejection_t rejection;

    tree_plugin(&tree, "env", "aa", "none", NULL);
    tree_plugin(&tree, "env", "bb", "reject", NULL);
    tree_write(&tree, "env/cc.json", "{");
    before = tree_open_files();
    for (round = 0; round < 100; ++round) {
        registry = tree_scan(&tree);
        ck_assert_int_eq(tree_load(registry, "aa", &rejection),
                         UCT_REJECT_NONE);
        ck_assert_int_eq(tree_load(registry, "bb", &rejection),
                         UCT_REJECT_INIT);
        uct_plugin_registry_destroy(registry);
    }
    registry = NULL;
    ck_assert_uint_eq(tree_open_files(), before);
    ck_assert(!tree_is_mapped("fake.so"));
}
END_TEST

Suite *suite_loading(void)
{
    Suite *suite = suite_create("plugin: loading");
    TCase *tcase = tcase_create("loading");

    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, only_what_is_asked_for_is_loaded);
    tcase_add_test(tcase, second_load_gives_the_same);
    tcase_add_test(tcase, destroy_unloads);
    tcase_add_test(tcase, undeclared_component_is_shut_down);
    tcase_add_test(tcase, newer_minor_works);
    tcase_add_test(tcase, connection_manager_is_accepted);
    tcase_add_test(tcase, library_behind_a_link_is_loaded);
    tcase_add_test(tcase, manifest_behind_a_link_is_loaded);
    tcase_add_test(tcase, symbols_stay_local);
    tcase_add_test(tcase, recursive_load_is_rejected);
    tcase_add_test(tcase, threads_share_one_load);
    tcase_add_test(tcase, nothing_is_left_behind);
    suite_add_tcase(suite, tcase);
    return suite;
}
