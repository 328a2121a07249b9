/* SPDX-License-Identifier: BSD-3-Clause */
/* Requirements in manifests, on device nodes, kernel modules and libraries,
 * that are met or not met in a test tree. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "suites.h"
#include "tree.h"
#include "uct/plugin/ldcache.h"
#include "uct/plugin/requires.h"

static tree_t tree;

static void set_up(void)
{
    struct utsname kernel;
    char path[512];

    tree_create(&tree);
    tree_write(&tree, "root/dev/card0", "");
    tree_write(&tree, "root/dev/bus/port7", "");
    tree_write(&tree, "root/proc/modules",
               "ib_core 400 1 - Live 0x0\nrdma_cm 300 0 - Live 0x0\n");
    tree_mkdir(&tree, "root/sys/module/in_sysfs");
    uname(&kernel);
    snprintf(path, sizeof(path), "root/lib/modules/%s/modules.builtin",
             kernel.release);
    tree_write(&tree, path, "kernel/drivers/x/built-in-one.ko\n");
    tree_write(&tree, "root/opt/lib/libabs.so", "");
    tree_write(&tree, "libs/libpath.so.1", "");
    tree_write(&tree, "env/alpha/deps/liborigin.so.1", "");
}

static void tear_down(void)
{
    tree_destroy(&tree);
}

static const struct requires_case {
    const char *requires; /* Member "requires" of the manifest */
    uct_rejection_code_t code;
    const char *reason; /* Part of the reason */
} cases[] = {
    {"{\"device_nodes\":[\"/dev/card0\"]}", UCT_REJECT_NONE, ""},
    {"{\"device_nodes\":[\"/dev/card*\"]}", UCT_REJECT_NONE, ""},
    {"{\"device_nodes\":[\"/dev/*/port[0-9]\"]}", UCT_REJECT_NONE, ""},
    {"{\"device_nodes\":[\"/dev/card0\",\"/dev/absent*\"]}",
     UCT_REJECT_NEED_DEVICE, "/dev/absent*"},
    {"{\"device_nodes\":[{\"name\":\"/dev/gone\",\"hint\":\"modprobe gone\"}]}",
     UCT_REJECT_NEED_DEVICE, "modprobe gone"},
    {"{\"device_nodes\":[\"/dev/gone\"],\"hint\":\"apt install gone\"}",
     UCT_REJECT_NEED_DEVICE, "apt install gone"},
    {"{\"kernel_modules\":[\"ib_core\",\"rdma-cm\",\"in-sysfs\","
     "\"built_in_one\"]}",
     UCT_REJECT_NONE, ""},
    {"{\"kernel_modules\":[\"ib\"]}", UCT_REJECT_NEED_MODULE,
     "kernel module ib"},
    {"{\"libraries\":[\"libc.so.6\"]}", UCT_REJECT_NONE, ""},
    {"{\"libraries\":[\"libpath.so.1\"]}", UCT_REJECT_NONE, ""},
    {"{\"libraries\":[\"/opt/lib/libabs.so\"]}", UCT_REJECT_NONE, ""},
    {"{\"libraries\":[\"libnowhere-at-all.so.3\"]}", UCT_REJECT_NEED_LIBRARY,
     "libnowhere-at-all.so.3"},
    {"{\"libraries\":[{\"name\":\"libnone.so\",\"hint\":\"apt install "
     "libnone1\"}]}",
     UCT_REJECT_NEED_LIBRARY, "apt install libnone1"},
    {"{\"any_of\":[{\"device_nodes\":[\"/dev/gone\"]},"
     "{\"kernel_modules\":[\"ib_core\"]}]}",
     UCT_REJECT_NONE, ""},
    {"{\"any_of\":[{}]}", UCT_REJECT_NONE, ""},
    {"{\"any_of\":[{\"device_nodes\":[\"/dev/gone\"]},"
     "{\"device_nodes\":[\"/dev/card0\"],\"libraries\":[\"libnone.so\"]}],"
     "\"hint\":\"see the manual\"}",
     UCT_REJECT_NEED_ANY_OF,
     "device node /dev/gone, or shared library libnone.so; see the manual"},
};

/* requires: a requirement that is met is accepted, and one that is not met is
 * named, with its hint if there is one */
START_TEST(requirement_is_judged)
{
    const struct requires_case *test = &cases[_i];
    char patch[1024];
    uct_requires_env_t *env;
    uct_manifest_t *manifest;
    uct_rejection_t rejection = {UCT_REJECT_NONE, ""};
    char *text;

    snprintf(patch, sizeof(patch), "{\"requires\":%s}", test->requires);
    text = tree_manifest("alpha", patch);
    ck_assert_msg(uct_manifest_parse(text, strlen(text), &manifest,
                                     &rejection) == UCS_OK,
                  "%s", rejection.reason);
    ck_assert_int_eq(uct_requires_env_create(tree_path(&tree, "root"),
                                             tree_path(&tree, "libs"), &env),
                     UCS_OK);

    uct_requires_check(env, &manifest->requires, "", "", &rejection);
    tree_assert_code(rejection.code, test->code, &rejection);
    ck_assert_msg(strstr(rejection.reason, test->reason) != NULL,
                  "'%s' does not say '%s'", rejection.reason, test->reason);

    uct_requires_env_destroy(env);
    uct_manifest_free(manifest);
    free(text);
}
END_TEST

/* requires: a library is also found by the run path of the plugin */
START_TEST(run_path_is_followed)
{
    const char *folder = tree_path(&tree, "env/alpha");

    ck_assert(
        uct_ldcache_in_path("/none:$ORIGIN/deps", folder, "liborigin.so.1"));
    ck_assert(uct_ldcache_in_path("${ORIGIN}/deps", folder, "liborigin.so.1"));
    ck_assert(!uct_ldcache_in_path("$ORIGIN", folder, "liborigin.so.1"));
    ck_assert(!uct_ldcache_in_path("", folder, "liborigin.so.1"));
}
END_TEST

/* requires: searching for a library does not load it */
START_TEST(library_is_not_loaded)
{
    uct_ldcache_t cache;

    uct_ldcache_open(&cache, "/etc/ld.so.cache");
    ck_assert(uct_ldcache_has(&cache, "libc.so.6"));
    ck_assert(!uct_ldcache_has(&cache, "libnowhere-at-all.so.3"));
    if (uct_ldcache_has(&cache, "libexpat.so.1")) {
        ck_assert(!tree_is_mapped("libexpat.so.1"));
    }
    uct_ldcache_close(&cache);
}
END_TEST

/* requires: a missing cache of the dynamic loader counts as empty, and a
 * damaged one does no harm */
START_TEST(damaged_cache_is_empty)
{
    uct_ldcache_t cache;
    FILE *from, *to;
    char buffer[4096];
    size_t length, i;

    uct_ldcache_open(&cache, tree_path(&tree, "none"));
    ck_assert(!uct_ldcache_has(&cache, "libc.so.6"));
    uct_ldcache_close(&cache);

    /* The first bytes of this machine's cache, with one byte changed in each
     * round */
    from = fopen("/etc/ld.so.cache", "re");
    ck_assert_ptr_nonnull(from);
    length = fread(buffer, 1, sizeof(buffer), from);
    fclose(from);
    for (i = 0; i < 256; ++i) {
        buffer[i] ^= 0x5a;
        to = fopen(tree_path(&tree, "cache"), "we");
        fwrite(buffer, 1, length, to);
        fclose(to);
        buffer[i] ^= 0x5a;
        uct_ldcache_open(&cache, tree_path(&tree, "cache"));
        uct_ldcache_has(&cache, "libc.so.6");
        ck_assert(!uct_ldcache_has(&cache, "libnowhere-at-all.so.3"));
        uct_ldcache_close(&cache);
    }
}
END_TEST

/* requires: a plugin with an unmet requirement is rejected before it is loaded.
 * It still shadows a plugin of the same name in a later folder. */
START_TEST(unmet_plugin_is_rejected)
{
    uct_plugin_registry_t *registry;
    uct_rejection_t rejection;

    tree_plugin(&tree, "env", "alpha", "none",
                "{\"requires\":{\"device_nodes\":[\"/dev/gone\"]}}");
    tree_plugin(&tree, "system", "alpha", "none", NULL);
    tree_plugin(&tree, "env", "good", "none",
                "{\"requires\":{\"device_nodes\":[\"/dev/card0\"]}}");
    registry = tree_scan(&tree);
    ck_assert_int_eq(tree_rejection(registry, "alpha", &rejection),
                     UCT_REJECT_NEED_DEVICE);
    ck_assert_int_eq(tree_rejection(registry, "good", &rejection),
                     UCT_REJECT_NONE);
    ck_assert_int_eq(tree_load(registry, "alpha", &rejection),
                     UCT_REJECT_NEED_DEVICE);
    ck_assert(!tree_is_mapped("alpha/fake.so"));
    uct_plugin_registry_destroy(registry);
}
END_TEST

/* requires: $ORIGIN in the run path is the folder of the library, also if the
 * manifest is in another one */
START_TEST(run_path_starts_at_the_library)
{
    uct_plugin_registry_t *registry;
    uct_rejection_t rejection;

    /* the run path of this library is $ORIGIN */
    tree_plugin(&tree, "env", "beta", "none",
                "{\"library\":\"lib/fake.so\","
                "\"requires\":{\"libraries\":[\"libbeside.so.1\"]}}");
    tree_copy(&tree, tree_product("FAKE_BORROWED"), "env/beta/lib/fake.so");
    tree_write(&tree, "env/beta/libbeside.so.1", "");
    registry = tree_scan(&tree);
    ck_assert_int_eq(tree_rejection(registry, "beta", &rejection),
                     UCT_REJECT_NEED_LIBRARY);
    uct_plugin_registry_destroy(registry);

    tree_write(&tree, "env/beta/lib/libbeside.so.1", "");
    registry = tree_scan(&tree);
    ck_assert_int_eq(tree_rejection(registry, "beta", &rejection),
                     UCT_REJECT_NONE);
    uct_plugin_registry_destroy(registry);
}
END_TEST

Suite *suite_requires(void)
{
    Suite *suite = suite_create("plugin: requirements");
    TCase *tcase = tcase_create("requires");

    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_loop_test(tcase, requirement_is_judged, 0,
                        sizeof(cases) / sizeof(cases[0]));
    tcase_add_test(tcase, run_path_is_followed);
    tcase_add_test(tcase, run_path_starts_at_the_library);
    tcase_add_test(tcase, library_is_not_loaded);
    tcase_add_test(tcase, damaged_cache_is_empty);
    tcase_add_test(tcase, unmet_plugin_is_rejected);
    suite_add_tcase(suite, tcase);
    return suite;
}
