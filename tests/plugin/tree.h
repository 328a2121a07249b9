/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A test tree in a temporary folder, with plugins that have selectable defects.
 *
 *   env/     UCX_PLUGIN_PATH
 *   admin/   the administrator's folder
 *   system/  the core's own
 *   root/    /dev, /proc, /sys and /etc
 */
#ifndef TESTS_PLUGIN_TREE_H
#define TESTS_PLUGIN_TREE_H

#include <limits.h>

#include "uct/plugin/registry.h"

typedef struct tree {
    char path[PATH_MAX]; /* without links */
} tree_t;

/* Tests run in folders of the build; where its products are. */
const char *tree_product(const char *variable);

void tree_create(tree_t *tree);
void tree_destroy(tree_t *tree);

/* "PATH/of/the/tree/RELATIVE"; only the last few results are valid. */
const char *tree_path(const tree_t *tree, const char *relative);

/* All create missing folders. */
void tree_write(const tree_t *tree, const char *relative, const char *text);
void tree_copy(const tree_t *tree, const char *source, const char *relative);
void tree_link(const tree_t *tree, const char *target, const char *relative);
void tree_mkdir(const tree_t *tree, const char *relative);
void tree_chmod(const tree_t *tree, const char *relative, mode_t mode);

/*
 * Creates a plugin FOLDER/NAME/NAME.json with the fake library beside it, which
 * has the defect `defect` when loaded ("none": good). `patch` is a JSON merge
 * patch on a good manifest, or NULL.
 */
void tree_plugin(const tree_t *tree, const char *folder, const char *name,
                 const char *defect, const char *patch);

/* The text of such a manifest; free() it. */
char *tree_manifest(const char *name, const char *patch);

/* Scans env, admin and system of the tree, without log messages. */
uct_plugin_registry_t *tree_scan(const tree_t *tree);

/* Minimal host services. */
const ucx_host_t *tree_host(void);

/* Loads the plugin `name`; returns its rejection code. */
uct_rejection_code_t tree_load(uct_plugin_registry_t *registry,
                               const char *name, uct_rejection_t *rejection);

/* The rejection code of the plugin `name`. */
uct_rejection_code_t tree_rejection(uct_plugin_registry_t *registry,
                                    const char *name,
                                    uct_rejection_t *rejection);

/* Is a file with this part in its path mapped into the process? */
int tree_is_mapped(const char *part);

/* A symbol of the process's global name space, or NULL. */
void *tree_global_symbol(const char *name);

/* Number of calls of the fake library's entry point. */
int tree_entry_count(const char *library);

/* Number of open descriptors of this process. */
unsigned tree_open_files(void);

/* Compares codes and shows both by name, with the reason. */
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
