/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Requirements of a plugin: device nodes, kernel modules, shared libraries.
 * Opens no device and runs no library's code.
 */
#ifndef UCT_PLUGIN_REQUIRES_H
#define UCT_PLUGIN_REQUIRES_H

#include "uct/plugin/manifest.h"

typedef struct uct_requires_env uct_requires_env_t;

/*
 * Reads the data for one scan: the list of modules and the loader's cache.
 * `root` is prepended to /dev, /proc, /sys and /etc ("" is the machine itself;
 * tests use their own trees). `library_path` is the value of LD_LIBRARY_PATH,
 * or NULL if it must not be used.
 */
ucs_status_t uct_requires_env_create(const char *root, const char *library_path,
                                     uct_requires_env_t **env_p);
void uct_requires_env_destroy(uct_requires_env_t *env);

/*
 * Checks the requirements of one plugin. `folder` is the folder of its library
 * (for $ORIGIN) and `runpath` the run path of the library; both may be "". The
 * rejection names the first missing requirement and the remedy.
 */
ucs_status_t uct_requires_check(uct_requires_env_t *env,
                                const uct_requires_t *requires,
                                const char *folder, const char *runpath,
                                uct_rejection_t *rejection);

#endif
