/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A test tree: a temporary folder with the folders in which the core searches
 * plugins. The plugins in it have selectable defects.
 *
 *   env/     the folder of UCX_PLUGIN_PATH
 *   admin/   the administrator's folder
 *   system/  the folder of the core's own plugins
 *   root/    replaces /: contains the test's dev, proc, sys and etc
 */
#ifndef TESTS_PLUGIN_TREE_H
#define TESTS_PLUGIN_TREE_H

#include <limits.h>

#include "uct/plugin/registry.h"

typedef struct tree {
    char path[PATH_MAX]; /* Absolute path without symbolic links */
} tree_t;

/* Returns the path of a file of the build; `variable` is the environment
 * variable that contains it. */
const char *tree_product(const char *variable);

void tree_create(tree_t *tree);
void tree_destroy(tree_t *tree);

/* Returns the absolute path of `relative`, a path in the tree. A result is
 * valid until the function has been called eight more times. */
const char *tree_path(const tree_t *tree, const char *relative);

/* Create a file with `text`, a copy of the file `source`, a symbolic link to
 * `target`, and a folder, at the path `relative` in the tree. Missing folders
 * are created. */
void tree_write(const tree_t *tree, const char *relative, const char *text);
void tree_copy(const tree_t *tree, const char *source, const char *relative);
void tree_link(const tree_t *tree, const char *target, const char *relative);
void tree_mkdir(const tree_t *tree, const char *relative);
void tree_chmod(const tree_t *tree, const char *relative, mode_t mode);

/*
 * Creates a plugin: the manifest FOLDER/NAME/NAME.json and, beside it, a copy
 * of the library fake.so (fake/fake.c) and fake.txt, which gives it the defect
 * `defect`; "none": no defect. `patch` is a JSON merge patch that is applied to
 * a good manifest, or NULL.
 */
void tree_plugin(const tree_t *tree, const char *folder, const char *name,
                 const char *defect, const char *patch);

/* Returns the text of the manifest that tree_plugin() would create; the caller
 * frees it. */
char *tree_manifest(const char *name, const char *patch);

/* Searches plugins in env, admin and system of the tree, without log
 * messages. */
uct_plugin_registry_t *tree_scan(const tree_t *tree);

/* Returns a minimal table of the core's services, for plugins. */
const ucx_host_t *tree_host(void);

/* Loads the plugin `name`. Returns its rejection code, or UCT_REJECT_NONE;
 * *rejection receives the code and the reason. */
uct_rejection_code_t tree_load(uct_plugin_registry_t *registry,
                               const char *name, uct_rejection_t *rejection);

/* Returns the rejection code of the plugin `name` without loading it. */
uct_rejection_code_t tree_rejection(uct_plugin_registry_t *registry,
                                    const char *name,
                                    uct_rejection_t *rejection);

/* Returns whether a file whose path contains `part` is mapped into the
 * process. */
int tree_is_mapped(const char *part);

/* Returns a global symbol of the process, or NULL. */
void *tree_global_symbol(const char *name);

/* Returns how often the entry point of this copy of fake.so was called. */
int tree_entry_count(const char *library);

/* Returns the number of open descriptors of this process, plus a constant. */
unsigned tree_open_files(void);

/* Fails the test if the codes differ, with the names of both and the reason. */
#define tree_assert_code(_found, _expected, _rejection) \
    do { \
        uct_rejection_code_t _code = (_found); \
\
        ck_assert_msg(_code == (_expected), "found %s, expected %s: %s", \
                      uct_rejection_info(_code)->id, \
                      uct_rejection_info(_expected)->id, \
                      (_rejection)->reason); \
    } while (0)

#endif
