/* SPDX-License-Identifier: BSD-3-Clause */
/* Trust: plugins are rejected if their files or folders belong to a user other
 * than root and this user, or if other users may write to them. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "suites.h"
#include "tree.h"

static tree_t tree;

static void set_up(void)
{
    tree_create(&tree);
    tree_plugin(&tree, "env", "good", "none", NULL);
    tree_plugin(&tree, "env", "alpha", "none",
                "{\"components\":[{\"name\":\"alpha\",\"transports\":[]}]}");
}

static void tear_down(void)
{
    tree_destroy(&tree);
}

/* Checks that the scan rejects the plugin "alpha" with this code, or accepts it
 * if the code is UCT_REJECT_NONE, and that it accepts the plugin "good". */
static void expect(uct_rejection_code_t code, const char *reason)
{
    uct_plugin_registry_t *registry = tree_scan(&tree);
    uct_rejection_t rejection;
    uct_rejection_code_t found;

    found = tree_rejection(registry, "alpha", &rejection);
    tree_assert_code(found, code, &rejection);
    ck_assert_msg(strstr(rejection.reason, reason) != NULL,
                  "'%s' does not say '%s'", rejection.reason, reason);
    found = tree_rejection(registry, "good", &rejection);
    tree_assert_code(found, UCT_REJECT_NONE, &rejection);
    uct_plugin_registry_destroy(registry);
}

static void chown_to(const char *relative, uid_t uid, gid_t gid)
{
    ck_assert_int_eq(lchown(tree_path(&tree, relative), uid, gid), 0);
}

/* trust: a world-writable manifest is rejected */
START_TEST(writable_manifest_is_rejected)
{
    tree_chmod(&tree, "env/alpha/alpha.json", 0666);
    expect(UCT_REJECT_WRITABLE, "manifest");
}
END_TEST

/* trust: a world-writable library is rejected */
START_TEST(writable_library_is_rejected)
{
    tree_chmod(&tree, "env/alpha/fake.so", 0757);
    expect(UCT_REJECT_WRITABLE, "library");
}
END_TEST

/* trust: a world-writable folder is rejected */
START_TEST(writable_folder_is_rejected)
{
    tree_chmod(&tree, "env/alpha", 0777);
    expect(UCT_REJECT_WRITABLE, "folder");
}
END_TEST

/* trust: a world-writable folder is accepted if it is sticky, because other
 * users cannot replace the plugin's files in it */
START_TEST(sticky_folder_is_accepted)
{
    tree_chmod(&tree, "env/alpha", 01777);
    expect(UCT_REJECT_NONE, "");
}
END_TEST

/* trust: all folders below a folder that other users may write are untrusted */
START_TEST(writable_ancestor_is_rejected)
{
    uct_plugin_registry_t *registry;
    uct_rejection_t rejection;

    tree_chmod(&tree, "env", 0777);
    registry = tree_scan(&tree);
    ck_assert_int_eq(tree_rejection(registry, "alpha", &rejection),
                     UCT_REJECT_WRITABLE);
    ck_assert_int_eq(tree_rejection(registry, "good", &rejection),
                     UCT_REJECT_WRITABLE);
    ck_assert_ptr_nonnull(strstr(rejection.reason, "everybody"));
    ck_assert_ptr_nonnull(strstr(rejection.reason, "mend it by: chmod go-w /"));
    ck_assert_ptr_nonnull(
        strstr(uct_plugin_search(registry)->dirs[0].why, "UCX-P202"));
    uct_plugin_registry_destroy(registry);
}
END_TEST

/* trust: the user's own group may write */
START_TEST(own_group_may_write)
{
    tree_chmod(&tree, "env/alpha/alpha.json", 0664);
    chown_to("env/alpha/alpha.json", -1, getegid());
    expect(UCT_REJECT_NONE, "");
}
END_TEST

/* trust: another group may not write (needs root to set up) */
START_TEST(foreign_group_may_not_write)
{
    tree_chmod(&tree, "env/alpha/alpha.json", 0664);
    chown_to("env/alpha/alpha.json", -1, 12345);
    expect(UCT_REJECT_WRITABLE, "another group");
}
END_TEST

/* trust: a manifest of another user is rejected (needs root) */
START_TEST(foreign_manifest_is_rejected)
{
    chown_to("env/alpha/alpha.json", 12345, 0);
    expect(UCT_REJECT_OWNER, "manifest");
}
END_TEST

/* trust: a library of another user is rejected (needs root) */
START_TEST(foreign_library_is_rejected)
{
    chown_to("env/alpha/fake.so", 12345, 0);
    expect(UCT_REJECT_OWNER, "library");
}
END_TEST

/* trust: a folder of another user is rejected (needs root) */
START_TEST(foreign_folder_is_rejected)
{
    chown_to("env/alpha", 12345, 0);
    expect(UCT_REJECT_OWNER, "folder");
}
END_TEST

/* trust: a manifest link in a folder that other users may write is rejected */
START_TEST(link_in_writable_folder_is_rejected)
{
    tree_mkdir(&tree, "env/beta");
    tree_link(&tree, "../../other/beta.json", "env/beta/beta.json");
    tree_plugin(&tree, "apart", "beta", "none", NULL);
    tree_link(&tree, "apart/beta", "other");
    tree_chmod(&tree, "env/beta", 0777);
    expect(UCT_REJECT_NONE, "");
    {
        uct_plugin_registry_t *registry = tree_scan(&tree);
        uct_rejection_t rejection;

        ck_assert_int_eq(tree_rejection(registry, "beta", &rejection),
                         UCT_REJECT_WRITABLE);
        uct_plugin_registry_destroy(registry);
    }
}
END_TEST

/* trust: an owner whom the user namespace does not map is trusted only with
 * UCT_TRUST_UNMAPPED, which is for the system's folders: in a container, root
 * of the host is not mapped */
START_TEST(unmapped_owner_counts_for_the_system_only)
{
    uct_trust_t trust = {.uid = 1000, .gid = 1000, .unmapped = 65534};
    struct stat st    = {.st_uid = 65534, .st_mode = S_IFREG | 0644};
    uct_rejection_t rejection;

    ck_assert_int_eq(uct_trust_object(&trust, &st, "/f", "manifest",
                                      UCT_TRUST_UNMAPPED, &rejection),
                     UCS_OK);
    ck_assert_int_ne(uct_trust_object(&trust, &st, "/f", "manifest", 0,
                                      &rejection),
                     UCS_OK);
    trust.unmapped = UCT_TRUST_NO_UID;
    ck_assert_int_ne(uct_trust_object(&trust, &st, "/f", "manifest",
                                      UCT_TRUST_UNMAPPED, &rejection),
                     UCS_OK);
    tree_assert_code(rejection.code, UCT_REJECT_OWNER, &rejection);
}
END_TEST

/* Returns whether this process may change the owner of files: it needs root,
 * and a user namespace that maps other users. */
static int can_chown(void)
{
    char path[] = "/tmp/ucx-plugin-chown-XXXXXX";
    int fd      = mkstemp(path);
    int result  = (fd >= 0) && (fchown(fd, 12345, 12345) == 0);

    if (fd >= 0) {
        close(fd);
        unlink(path);
    }
    return result;
}

Suite *suite_trust(void)
{
    Suite *suite = suite_create("plugin: trust");
    TCase *tcase = tcase_create("trust");

    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, writable_manifest_is_rejected);
    tcase_add_test(tcase, writable_library_is_rejected);
    tcase_add_test(tcase, writable_folder_is_rejected);
    tcase_add_test(tcase, sticky_folder_is_accepted);
    tcase_add_test(tcase, writable_ancestor_is_rejected);
    tcase_add_test(tcase, own_group_may_write);
    tcase_add_test(tcase, link_in_writable_folder_is_rejected);
    tcase_add_test(tcase, unmapped_owner_counts_for_the_system_only);
    if (can_chown()) {
        tcase_add_test(tcase, foreign_group_may_not_write);
        tcase_add_test(tcase, foreign_manifest_is_rejected);
        tcase_add_test(tcase, foreign_library_is_rejected);
        tcase_add_test(tcase, foreign_folder_is_rejected);
    }
    suite_add_tcase(suite, tcase);
    return suite;
}
