/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Defects that the core detects in a plugin's files without loading the plugin:
 * the plugin "bad" is rejected with a code and a reason and is not loaded, the
 * plugin "good" still works, and the tool ucx-plugins lists both.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

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

static void make_empty(void)
{
    tree_write(&tree, "env/bad.json", "");
}

static void make_broken_json(void)
{
    tree_write(&tree, "env/bad.json", "{\"name\": \"bad\",\n \"version\": }");
}

static void make_array(void)
{
    tree_write(&tree, "env/bad.json", "[1, 2, 3]");
}

static void make_wrong_type(void)
{
    tree_plugin(&tree, "env", "bad", "none", "{\"components\":{}}");
}

static void make_latin1(void)
{
    tree_write(&tree, "env/bad.json", "{\"vendor\": \"M\xfcller\"}");
}

static void make_deep(void)
{
    char text[20001];

    memset(text, '[', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    tree_write(&tree, "env/bad.json", text);
}

static void make_huge(void)
{
    tree_write(&tree, "env/bad.json", "{");
    ck_assert_int_eq(truncate(tree_path(&tree, "env/bad.json"), 100 << 20), 0);
}

static void make_slightly_too_large(void)
{
    tree_write(&tree, "env/bad.json", "{}");
    ck_assert_int_eq(truncate(tree_path(&tree, "env/bad.json"), (1 << 20) + 1),
                     0);
}

static void make_link_loop(void)
{
    tree_link(&tree, "other.json", "env/bad.json");
    tree_link(&tree, "bad.json", "env/other.json");
}

static void make_folder_loop(void)
{
    tree_link(&tree, "bad.json", "env/bad/bad.json");
}

static void make_dangling_link(void)
{
    tree_link(&tree, "nowhere", "env/bad.json");
}

static void make_folder(void)
{
    tree_mkdir(&tree, "env/bad.json");
}

static void make_pipe(void)
{
    ck_assert_int_eq(mkfifo(tree_path(&tree, "env/bad.json"), 0644), 0);
}

static void make_socket(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd                     = socket(AF_UNIX, SOCK_STREAM, 0);
    char here[PATH_MAX];

    /* Bind by a relative name, because the path in a socket address has at most
     * 108 bytes */
    ck_assert_ptr_nonnull(getcwd(here, sizeof(here)));
    ck_assert_int_eq(chdir(tree_path(&tree, "env")), 0);
    strcpy(address.sun_path, "bad.json");
    ck_assert_int_eq(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
    close(fd);
    ck_assert_int_eq(chdir(here), 0);
}

static void make_device(void)
{
    tree_link(&tree, "/dev/zero", "env/bad.json");
}

static void make_other_name(void)
{
    char *text = tree_manifest("somebody", NULL);

    tree_write(&tree, "env/bad.json", text);
    free(text);
}

static void make_abi_major(void)
{
    tree_plugin(&tree, "env", "bad", "none", "{\"abi\":\"7.0\"}");
}

static void make_abi_min(void)
{
    tree_plugin(&tree, "env", "bad", "none",
                "{\"abi\":\"1.9\",\"abi_min\":\"1.9\"}");
}

static void make_library_missing(void)
{
    tree_plugin(&tree, "env", "bad", "none", "{\"library\":\"gone.so\"}");
}

static void make_library_absolute(void)
{
    tree_plugin(&tree, "env", "bad", "none",
                "{\"library\":\"/lib/x86_64-linux-gnu/libc.so.6\"}");
}

static void make_library_outside(void)
{
    tree_plugin(&tree, "env", "bad", "none",
                "{\"library\":\"../good/fake.so\"}");
}

static void make_library_linked_outside(void)
{
    tree_plugin(&tree, "env", "bad", "none", "{\"library\":\"out.so\"}");
    tree_link(&tree, "../good/fake.so", "env/bad/out.so");
}

static void make_library_beside_prefix(void)
{
    /* A plugin's library must be in the plugin's folder, here "bad". The folder
     * "bad-2" only begins with the same letters. */
    tree_plugin(&tree, "env", "bad", "none",
                "{\"library\":\"../bad-2/fake.so\"}");
    tree_copy(&tree, tree_product("FAKE_PLUGIN"), "env/bad-2/fake.so");
}

static void make_library_loop(void)
{
    tree_plugin(&tree, "env", "bad", "none", "{\"library\":\"loop.so\"}");
    tree_link(&tree, "loop.so", "env/bad/loop.so");
}

static void make_library_text(void)
{
    tree_plugin(&tree, "env", "bad", "none", "{\"library\":\"fake.txt\"}");
}

static void make_library_folder(void)
{
    tree_plugin(&tree, "env", "bad", "none", "{\"library\":\"sub\"}");
    tree_mkdir(&tree, "env/bad/sub");
}

static void make_library_pipe(void)
{
    tree_plugin(&tree, "env", "bad", "none", "{\"library\":\"pipe.so\"}");
    ck_assert_int_eq(mkfifo(tree_path(&tree, "env/bad/pipe.so"), 0644), 0);
}

/* Creates the plugin "bad" and overwrites one byte of its library. */
static void spoil_library(off_t offset, unsigned char value)
{
    int fd;

    tree_plugin(&tree, "env", "bad", "none", NULL);
    fd = open(tree_path(&tree, "env/bad/fake.so"), O_WRONLY | O_CLOEXEC);
    ck_assert_int_eq(pwrite(fd, &value, 1, offset), 1);
    close(fd);
}

static void make_library_other_processor(void)
{
    spoil_library(18, 0x2b); /* e_machine: SPARC */
}

static void make_library_other_class(void)
{
    spoil_library(4, 9); /* EI_CLASS */
}

static void make_library_bad_headers(void)
{
    spoil_library(57, 0x7f); /* high byte of e_phnum */
}

static void make_library_cut(void)
{
    tree_plugin(&tree, "env", "bad", "none", NULL);
    ck_assert_int_eq(truncate(tree_path(&tree, "env/bad/fake.so"), 8192), 0);
}

static void make_writable(void)
{
    tree_plugin(&tree, "env", "bad", "none", NULL);
    tree_chmod(&tree, "env/bad/bad.json", 0646);
}

static void make_writable_library(void)
{
    tree_plugin(&tree, "env", "bad", "none", NULL);
    tree_chmod(&tree, "env/bad/fake.so", 0777);
}

static void make_unmet_device(void)
{
    tree_plugin(&tree, "env", "bad", "none",
                "{\"requires\":{\"device_nodes\":[\"/dev/no-such-card*\"]}}");
}

static void make_unmet_module(void)
{
    tree_plugin(&tree, "env", "bad", "none",
                "{\"requires\":{\"kernel_modules\":[\"no_such_module\"]}}");
}

static void make_unmet_library(void)
{
    tree_plugin(&tree, "env", "bad", "none",
                "{\"requires\":{\"libraries\":[{\"name\":\"libnone.so.4\","
                "\"hint\":\"apt install libnone4\"}]}}");
}

static void make_conflict(void)
{
    tree_plugin(&tree, "env", "bad", "none",
                "{\"conflicts\":[\"good\"],\"priority\":-1}");
}

static void make_duplicate(void)
{
    tree_plugin(&tree, "env", "bad", "none",
                "{\"components\":[{\"name\":\"good\",\"transports\":[]}],"
                "\"priority\":-1}");
}

static void make_replaced(void)
{
    tree_plugin(&tree, "env", "bad", "none", NULL);
    tree_plugin(&tree, "env", "zz", "none", "{\"replaces\":[\"bad\"]}");
}

static void make_override(void)
{
    tree_write(&tree, "env/bad.json",
               "{\"override\":\"good\",\"enabled\":false}");
}

static const struct static_case {
    const char *what;
    void (*make)(void);
    uct_rejection_code_t code;
    const char *reason; /* part of the reason */
} static_cases[] = {
    {"an empty file", make_empty, UCT_REJECT_NOT_JSON, "line 1"},
    {"broken JSON", make_broken_json, UCT_REJECT_NOT_JSON, "line 2"},
    {"JSON of another kind", make_array, UCT_REJECT_SCHEMA, "an object"},
    {"a member of a wrong type", make_wrong_type, UCT_REJECT_SCHEMA,
     "/components: expected an array"},
    {"bytes that are no UTF-8", make_latin1, UCT_REJECT_NOT_JSON,
     "decode byte 0xfc"},
    {"deep nesting", make_deep, UCT_REJECT_TOO_DEEP, "20000 levels"},
    {"a file of 100 MiB", make_huge, UCT_REJECT_TOO_LARGE, "104857600"},
    {"a byte too many", make_slightly_too_large, UCT_REJECT_TOO_LARGE,
     "1048577"},
    {"two links that lead to each other", make_link_loop, UCT_REJECT_LINK_LOOP,
     "symbolic links"},
    {"a link in a folder to itself", make_folder_loop, UCT_REJECT_LINK_LOOP,
     "symbolic links"},
    {"a link to nowhere", make_dangling_link, UCT_REJECT_UNREADABLE,
     "No such file"},
    {"a folder by the name of a manifest", make_folder, UCT_REJECT_NOT_REGULAR,
     "folder"},
    {"a pipe", make_pipe, UCT_REJECT_NOT_REGULAR, "pipe"},
    {"a socket", make_socket, UCT_REJECT_NOT_REGULAR, "socket"},
    {"a device without end", make_device, UCT_REJECT_NOT_REGULAR, "device"},
    {"a file of another name", make_other_name, UCT_REJECT_NAME, "somebody"},
    {"another major version of the ABI", make_abi_major, UCT_REJECT_ABI_MAJOR,
     "ABI 7.0"},
    {"a need for a newer core", make_abi_min, UCT_REJECT_ABI_MIN, "1.9"},
    {"no library", make_library_missing, UCT_REJECT_LIBRARY_MISSING, "gone.so"},
    {"a library by an absolute path", make_library_absolute,
     UCT_REJECT_LIBRARY_ESCAPES, "absolute"},
    {"a library in another folder", make_library_outside,
     UCT_REJECT_LIBRARY_ESCAPES, "outside"},
    {"a link to a library in another folder", make_library_linked_outside,
     UCT_REJECT_LIBRARY_ESCAPES, "outside"},
    {"a library in a folder whose name begins alike",
     make_library_beside_prefix, UCT_REJECT_LIBRARY_ESCAPES, "outside"},
    {"a library that is a link to itself", make_library_loop,
     UCT_REJECT_LINK_LOOP, "loop.so"},
    {"a library that is text", make_library_text, UCT_REJECT_LIBRARY_FORMAT,
     "not an ELF file"},
    {"a library that is a folder", make_library_folder,
     UCT_REJECT_LIBRARY_FORMAT, "not a regular file"},
    {"a library that is a pipe", make_library_pipe, UCT_REJECT_LIBRARY_FORMAT,
     "not a regular file"},
    {"a library for another processor", make_library_other_processor,
     UCT_REJECT_LIBRARY_FORMAT, "processor"},
    {"a library of no known class", make_library_other_class,
     UCT_REJECT_LIBRARY_FORMAT, "word size"},
    {"a library with damaged headers", make_library_bad_headers,
     UCT_REJECT_LIBRARY_FORMAT, "damaged"},
    {"a library that is cut off", make_library_cut, UCT_REJECT_LIBRARY_FORMAT,
     "cut off"},
    {"a manifest that everybody may write", make_writable, UCT_REJECT_WRITABLE,
     "everybody"},
    {"a library that everybody may write", make_writable_library,
     UCT_REJECT_WRITABLE, "everybody"},
    {"a device node that is not there", make_unmet_device,
     UCT_REJECT_NEED_DEVICE, "/dev/no-such-card*"},
    {"a kernel module that is not loaded", make_unmet_module,
     UCT_REJECT_NEED_MODULE, "no_such_module"},
    {"a shared library that is not installed", make_unmet_library,
     UCT_REJECT_NEED_LIBRARY, "apt install libnone4"},
    {"a conflict", make_conflict, UCT_REJECT_CONFLICT, "good"},
    {"a component that is there already", make_duplicate, UCT_REJECT_DUPLICATE,
     "component good"},
    {"one that another replaces", make_replaced, UCT_REJECT_REPLACED, "zz"},
    {"an override outside the administrator's folder", make_override,
     UCT_REJECT_OVERRIDE, "good"},
};
#define NUM_STATIC (sizeof(static_cases) / sizeof(static_cases[0]))

/* bad plugins: a plugin that is bad on disk is rejected without being loaded */
START_TEST(bad_on_disk_is_rejected)
{
    const struct static_case *test = &static_cases[_i];
    uct_plugin_registry_t *registry;
    uct_rejection_t rejection;
    uct_rejection_code_t code;

    test->make();
    registry = tree_scan(&tree);
    code     = tree_rejection(registry, "bad", &rejection);
    ck_assert_msg(code == test->code, "%s: found %s, expected %s: %s",
                  test->what, uct_rejection_info(code)->id,
                  uct_rejection_info(test->code)->id, rejection.reason);
    ck_assert_msg(strstr(rejection.reason, test->reason) != NULL,
                  "%s: '%s' does not say '%s'", test->what, rejection.reason,
                  test->reason);

    /* Loading the plugin explicitly fails with the same code, and runs no code
     * of the plugin */
    ck_assert_int_eq(tree_load(registry, "bad", &rejection), test->code);
    ck_assert(!tree_is_mapped("env/bad/"));
    bad_expect_good(registry);
    uct_plugin_registry_destroy(registry);
}
END_TEST

/* bad plugins: the tool lists each bad plugin with code and reason, and the
 * good one */
START_TEST(bad_on_disk_is_listed)
{
    const struct static_case *test = &static_cases[_i];
    char *output;
    int code;

    test->make();
    code = run_tool(&tree, "list --json", &output);
    ck_assert_int_eq(code, uct_rejection_info(test->code)->fault ? 1 : 0);
    bad_expect_listed(output, test->code, test->reason);
    free(output);
}
END_TEST

Suite *suite_bad_plugins(void)
{
    Suite *suite = suite_create("plugin: bad on disk");
    TCase *tcase = tcase_create("bad");

    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_loop_test(tcase, bad_on_disk_is_rejected, 0, NUM_STATIC);
    tcase_add_loop_test(tcase, bad_on_disk_is_listed, 0, NUM_STATIC);
    suite_add_tcase(suite, tcase);
    return suite;
}
