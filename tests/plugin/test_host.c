/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs that load the UCT library with local symbols, that unload it and
 * load it again, and that load several copies of it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "suites.h"
#include "tree.h"

static tree_t tree;

static void set_up(void)
{
    tree_create(&tree);
    tree_plugin(&tree, "env", "alpha", "none", NULL);
    tree_plugin(&tree, "env", "beta", "reject", NULL);
}

static void tear_down(void)
{
    tree_destroy(&tree);
}

/* Runs the program fake/host.c, which prints the name of each component whose
 * code it has called. Returns how often "alpha" was printed. */
static unsigned run_host(const char *mode)
{
    char command[4 * PATH_MAX], line[256];
    unsigned count = 0;
    int status;
    FILE *pipe;

    /* Disable the leak sanitizer: handles of components are valid until the end
     * of the process, so the library does not free them when it is unloaded */
    snprintf(command, sizeof(command),
             "UCX_PLUGIN_PATH='%s/env' ASAN_OPTIONS=detect_leaks=0 "
             "'%s' '%s' %s 2>&1",
             tree.path, tree_product("FAKE_HOST"),
             tree_product("UCT_CORE_LIBRARY"), mode);
    pipe = popen(command, "re");
    ck_assert_ptr_nonnull(pipe);
    while (fgets(line, sizeof(line), pipe) != NULL) {
        ck_assert_msg(strcmp(line, "beta\n") != 0, "beta was not rejected");
        count += !strcmp(line, "alpha\n");
    }
    status = pclose(pipe);
    ck_assert_msg(WIFEXITED(status) && (WEXITSTATUS(status) == 0),
                  "%s: status %#x", command, (unsigned)status);
    return count;
}

/* host: a program that hides the library's symbols can load plugins */
START_TEST(local_library_loads_plugins)
{
    ck_assert_uint_eq(run_host("once"), 1);
}
END_TEST

/* host: the library can be unloaded and loaded again */
START_TEST(library_can_be_loaded_again)
{
    ck_assert_uint_eq(run_host("again"), 2);
}
END_TEST

/* host: two copies of the library do not affect each other */
START_TEST(copies_do_not_disturb)
{
    ck_assert_uint_eq(run_host("copies"), 4);
}
END_TEST

Suite *suite_host(void)
{
    Suite *suite = suite_create("plugin: hosts");
    TCase *tcase = tcase_create("host");

    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, local_library_loads_plugins);
    tcase_add_test(tcase, library_can_be_loaded_again);
    /* The runtime of a sanitizer cannot be loaded twice. */
    if (getenv("UCX_TEST_SANITIZED") == NULL) {
        tcase_add_test(tcase, copies_do_not_disturb);
    }
    suite_add_tcase(suite, tcase);
    return suite;
}
