/* SPDX-License-Identifier: BSD-3-Clause */
/* The tool ucx-plugins: its output and its exit codes. */
#include <pty.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "run_tool.h"
#include "suites.h"

static tree_t tree;
static char *output;

static void set_up(void)
{
    tree_create(&tree);
    tree_plugin(&tree, "env", "good", "none", NULL);
    output = NULL;
}

static void tear_down(void)
{
    free(output);
    tree_destroy(&tree);
}

/* Runs the tool and checks its exit code and its output, including stderr. */
static void expect(const char *arguments, int code, const char *text)
{
    char line[3 * PATH_MAX + 16];
    int found;

    free(output);
    snprintf(line, sizeof(line), "%s 2>&1", arguments);
    found = run_tool(&tree, line, &output);
    ck_assert_msg(found == code, "%s: exit code %d, expected %d: %s", arguments,
                  found, code, output);
    ck_assert_msg(strstr(output, text) != NULL, "%s: no '%s' in: %s", arguments,
                  text, output);
}

static void make_bad(void)
{
    tree_write(&tree, "env/bad.json", "{ \"name\": ");
}

static void make_absent(void)
{
    tree_plugin(&tree, "env", "absent", "none",
                "{\"requires\":{\"device_nodes\":[\"/dev/no-such-card\"],"
                "\"hint\":\"apt install no-such-driver\"}}");
}

/* tool: list shows a table and succeeds if there is no fault */
START_TEST(list_shows_a_table)
{
    expect("list", 0, "NAME");
    ck_assert_ptr_nonnull(strstr(output, "good  1.0.0    1.0  available"));
    ck_assert_ptr_nonnull(strstr(output, "fake"));
    ck_assert_ptr_nonnull(strstr(output, "host"));
    ck_assert_ptr_nonnull(strstr(output, "env/good/good.json"));
}
END_TEST

/* tool: list fails if a plugin is present but has a fault */
START_TEST(list_fails_for_a_fault)
{
    make_bad();
    expect("list", 1, "bad: UCX-P105");
    ck_assert_ptr_nonnull(strstr(output, "line 1"));
    ck_assert_ptr_null(strstr(output, "What to do"));
    expect("list --all", 1, "What to do");
}
END_TEST

/* tool: list does not fail for absent hardware, but shows it */
START_TEST(list_tolerates_absence)
{
    make_absent();
    expect("list", 0, "absent: UCX-P401");
    ck_assert_ptr_nonnull(strstr(output, "apt install no-such-driver"));
}
END_TEST

/* tool: list shows plugins that are not used because another plugin has the
 * same name */
START_TEST(list_shows_shadows)
{
    char *text = tree_manifest("good", "{\"library\":\"good/fake.so\"}");

    tree_write(&tree, "env/good.json", text);
    free(text);
    expect("list", 0, "shadowed");
    expect("list --all", 0, "UCX-P501");
}
END_TEST

/* tool: an empty list names the command that shows where plugins are
 * searched */
START_TEST(list_of_nothing_helps)
{
    tree_destroy(&tree);
    tree_create(&tree);
    expect("list --json", 0, "\"plugins\": [");
    ck_assert_ptr_null(strstr(output, tree.path));
    /* Skip this if plugins are installed on this machine: then the list is not
     * empty */
    if (strstr(output, "\"plugins\": []") != NULL) {
        expect("list", 0, "ucx-plugins path");
    }
}
END_TEST

/* tool: the JSON output of list has the version of its format, the version of
 * the plugin ABI, and the members of a plugin that can be used */
START_TEST(list_json_is_complete)
{
    static const char *const members[] = {
        "name", "state", "priority", "path", "origin", "library", "manifest",
    };
    json_t *root, *plugin;
    size_t i;

    expect("list --json", 0, "");
    root = json_loads(output, 0, NULL);
    ck_assert_ptr_nonnull(root);
    ck_assert_int_eq(json_integer_value(json_object_get(root, "format")), 1);
    ck_assert_str_eq(json_string_value(json_object_get(root, "abi")), "1.2");
    plugin = json_array_get(json_object_get(root, "plugins"), 0);
    for (i = 0; i < sizeof(members) / sizeof(members[0]); ++i) {
        ck_assert_msg(json_object_get(plugin, members[i]) != NULL, "%s",
                      members[i]);
    }
    json_decref(root);
}
END_TEST

/* tool: why explains a good plugin, a bad one, a transport, an unknown name */
START_TEST(why_explains)
{
    make_bad();
    make_absent();
    expect("why good", 0, "can be used");
    expect("why bad", 1, "UCX-P105");
    ck_assert_ptr_nonnull(strstr(output, "What to do"));
    expect("why absent", 1, "apt install no-such-driver");
    expect("why pretence", 0, "The plugin good");
    tree_plugin(&tree, "env", "idle", "without-device", NULL);
    expect("why idle", 1, "it finds no device");
    expect("why goood", 3, "did you mean good?");
    expect("why", 2, "name of one plugin");
}
END_TEST

/* tool: why takes UCX_TLS into account */
START_TEST(why_knows_the_selection)
{
    setenv("UCX_TLS", "other,words", 1);
    expect("why good", 1, "UCX-P506");
    ck_assert_ptr_nonnull(strstr(output, "other,words"));
    setenv("UCX_TLS", "^fake", 1);
    expect("why good", 1, "UCX-P506");
    setenv("UCX_TLS", "^other", 1);
    expect("why good", 0, "can be used");
    setenv("UCX_TLS", "x,pretence:aux", 1);
    expect("why good", 0, "can be used");
    setenv("UCX_TLS", "\\pretence", 1);
    expect("why good", 1, "UCX-P506");
    setenv("UCX_TLS", "all", 1);
    expect("why good", 0, "can be used");
    tree_plugin(&tree, "env", "shy", "none", "{\"default\":false}");
    expect("why shy", 1, "UCX-P507");
    setenv("UCX_TLS", "fake", 1);
    expect("why shy", 0, "can be used");
    expect("why shy --json", 0, "\"selected\": true");
}
END_TEST

/* tool: show prints the contents of the manifest */
START_TEST(show_prints_the_manifest)
{
    expect("show good", 0, "A plugin for tests");
    ck_assert_ptr_nonnull(strstr(output, "am_short, am_bcopy"));
    ck_assert_ptr_nonnull(strstr(output, "node, network"));
    expect("show fake", 0, "A plugin for tests");
    expect("show nothing-like-it", 3, "no plugin nothing-like-it");
    expect("show good --json", 0, "\"manifest\"");
    expect("show a b", 2, "one plugin");
}
END_TEST

/* tool: validate checks files in any folder */
START_TEST(validate_judges_files)
{
    char line[3 * PATH_MAX];

    make_bad();
    snprintf(line, sizeof(line), "validate '%s/env/good/good.json'", tree.path);
    expect(line, 0, "valid (plugin good)");
    snprintf(line, sizeof(line),
             "validate '%s/env/good/good.json' '%s/env/bad.json'", tree.path,
             tree.path);
    expect(line, 1, "UCX-P105");
    ck_assert_ptr_nonnull(strstr(output, "valid (plugin good)"));
    snprintf(line, sizeof(line), "validate '%s/env/none.json'", tree.path);
    expect(line, 3, "UCX-P101");
    tree_chmod(&tree, "env/good/good.json", 0666);
    snprintf(line, sizeof(line), "validate --json '%s/env/good/good.json'",
             tree.path);
    expect(line, 0, "UCX-P202");
    expect("validate", 2, "files");
}
END_TEST

/* tool: path shows each folder of the search, and the reason if it is not
 * used */
START_TEST(path_shows_folders)
{
    expect("path", 0, "environment");
    ck_assert_ptr_nonnull(strstr(output, "administrator"));
    ck_assert_ptr_nonnull(strstr(output, "system"));
    expect("path --json", 0, "\"origin\": \"environment\"");
    tree_chmod(&tree, "env", 0777);
    expect("path", 0, "UCX-P202");
}
END_TEST

/* tool: list and why find a defect that appears only when the plugin is
 * loaded */
START_TEST(load_finds_more)
{
    tree_plugin(&tree, "env", "bad", "reject", NULL);
    expect("list", 0, "available");
    expect("list --load", 1, "UCX-P604");
    ck_assert_ptr_nonnull(strstr(output, "loaded"));
    expect("why bad --load", 1, "the firmware");
    expect("why bad", 1, "UCX-P604");
    ck_assert_ptr_nonnull(strstr(output, "the firmware"));
    ck_assert_ptr_null(strstr(output, "can be used"));
    ck_assert_ptr_null(strchr(output, '\033'));
}
END_TEST

/* tool: probe loads a plugin through the API; a plugin without devices has no
 * fault */
START_TEST(probe_loads)
{
    expect("probe good", 0, "fake0");
    tree_plugin(&tree, "env", "idle", "without-device", NULL);
    expect("probe idle", 0, "finds no device");
    expect("probe --json good", 0, "\"state\": \"loaded\"");
    tree_plugin(&tree, "env", "bad", "components-absurd", NULL);
    expect("probe bad", 1, "UCX-P605");
    expect("probe", 1, "idle: it works");
    expect("probe nothing-like-it", 3, "no plugin");
    expect("probe a b", 2, "one plugin");
    make_absent();
    expect("probe absent", 1, "UCX-P401");
}
END_TEST

/* tool: colours are used on terminals, or on request */
START_TEST(colors_are_for_terminals)
{
    expect("list", 0, "good");
    ck_assert_ptr_null(strchr(output, '\033'));
    expect("list --color=always", 0, "\033[");
    setenv("NO_COLOR", "1", 1);
    expect("list --color=auto", 0, "good");
    ck_assert_ptr_null(strchr(output, '\033'));
    expect("list --color=sometimes", 2, "auto, always or never");
}
END_TEST

/* Runs the tool on a pseudo-terminal and stores its output in `text`. */
static void run_on_terminal(char *text, size_t size)
{
    ssize_t count = 1;
    size_t length = 0;
    int terminal, status;
    pid_t child;

    child = forkpty(&terminal, NULL, NULL, NULL);
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        setenv("UCX_PLUGIN_PATH", tree_path(&tree, "env"), 1);
        execl(tree_product("UCX_PLUGINS_TOOL"), "ucx-plugins", "list", NULL);
        _exit(127);
    }
    /* At the end of the tool's output, read() from the terminal fails with
     * EIO. */
    while ((count > 0) && (length < size - 1)) {
        count = read(terminal, text + length, size - 1 - length);
        length += (count > 0) ? count : 0;
    }
    text[length] = '\0';
    close(terminal);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status) && (WEXITSTATUS(status) == 0));
}

/* tool: the output on a terminal has colours, unless NO_COLOR is set or TERM is
 * "dumb" */
START_TEST(terminal_gets_colors)
{
    char text[8192];

    unsetenv("NO_COLOR");
    setenv("TERM", "xterm", 1);
    run_on_terminal(text, sizeof(text));
    ck_assert_ptr_nonnull(strstr(text, "\033[32mavailable"));
    setenv("TERM", "dumb", 1);
    run_on_terminal(text, sizeof(text));
    ck_assert_ptr_null(strchr(text, '\033'));
    setenv("TERM", "xterm", 1);
    setenv("NO_COLOR", "1", 1);
    run_on_terminal(text, sizeof(text));
    ck_assert_ptr_nonnull(strstr(text, "available"));
    ck_assert_ptr_null(strchr(text, '\033'));
}
END_TEST

/* tool: the command line is checked and help is given */
START_TEST(command_line_is_checked)
{
    expect("", 2, "--help");
    expect("dance", 2, "unknown command 'dance'");
    expect("--polka", 2, "--help");
    expect("list me", 2, "no argument");
    expect("path me", 2, "no argument");
    expect("--help", 0, "Examples:");
    expect("--version", 0, "plugin ABI 1.2");
    free(output);
    ck_assert_int_eq(run_tool(&tree, "list 2>&1 >/dev/full", &output), 4);
    ck_assert_ptr_nonnull(strstr(output, "could not be written"));
}
END_TEST

/* tool: control characters in file names are replaced in the output */
START_TEST(strange_names_are_harmless)
{
    tree_write(&tree, "env/x\033[31m\xff\n.json", "{");
    expect("list", 1, "x?[31m??");
    ck_assert_ptr_null(strchr(output, '\033'));
    expect("list --json", 1, "x?[31m??");
    json_decref(json_loads(output, 0, NULL));
    ck_assert_ptr_null(strchr(output, '\033'));
}
END_TEST

Suite *suite_tool(void)
{
    Suite *suite = suite_create("plugin: tool");
    TCase *tcase = tcase_create("tool");

    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, list_shows_a_table);
    tcase_add_test(tcase, list_fails_for_a_fault);
    tcase_add_test(tcase, list_tolerates_absence);
    tcase_add_test(tcase, list_shows_shadows);
    tcase_add_test(tcase, list_of_nothing_helps);
    tcase_add_test(tcase, list_json_is_complete);
    tcase_add_test(tcase, why_explains);
    tcase_add_test(tcase, why_knows_the_selection);
    tcase_add_test(tcase, show_prints_the_manifest);
    tcase_add_test(tcase, validate_judges_files);
    tcase_add_test(tcase, path_shows_folders);
    tcase_add_test(tcase, load_finds_more);
    tcase_add_test(tcase, probe_loads);
    tcase_add_test(tcase, colors_are_for_terminals);
    tcase_add_test(tcase, terminal_gets_colors);
    tcase_add_test(tcase, command_line_is_checked);
    tcase_add_test(tcase, strange_names_are_harmless);
    suite_add_tcase(suite, tcase);
    return suite;
}
