/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Checks the requirements that a plugin's manifest states: device nodes, kernel
 * modules, shared libraries. The checks open no device and run no library's
 * code.
 */
#ifndef UCT_PLUGIN_REQUIRES_H
#define UCT_PLUGIN_REQUIRES_H

#include "uct/plugin/manifest.h"

/* Where the requirements of all plugins of one scan are looked for. */
typedef struct uct_requires_env uct_requires_env_t;

/*
 * `root` is prepended to the absolute paths that are looked up (in /dev, /proc,
 * /sys, /lib/modules and /etc): "" for the machine itself; tests pass folders
 * of their own. `library_path` is the value of LD_LIBRARY_PATH, or NULL if it
 * must not be used. The dynamic loader's cache (ldcache.h) is read at the first
 * check of a library; later checks use the copy.
 */
ucs_status_t uct_requires_env_create(const char *root, const char *library_path,
                                     uct_requires_env_t **env_p);
void uct_requires_env_destroy(uct_requires_env_t *env);

/*
 * Checks the requirements of one plugin. `runpath` is the run path of the
 * plugin's library, and `folder`, that of the library, replaces $ORIGIN in it;
 * both may be "". If a requirement is missing, `rejection` (may be NULL) names
 * it and the manifest's hint.
 */
ucs_status_t uct_requires_check(uct_requires_env_t *env,
                                const uct_requires_t *requires,
                                const char *folder, const char *runpath,
                                uct_rejection_t *rejection);

#endif
