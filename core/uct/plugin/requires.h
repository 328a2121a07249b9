/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Is there what a plugin needs: device nodes, kernel modules, shared
 * libraries? Looks only; opens no device and runs no library's code.
 */
#ifndef UCT_PLUGIN_REQUIRES_H
#define UCT_PLUGIN_REQUIRES_H

#include "uct/plugin/manifest.h"

typedef struct uct_requires_env uct_requires_env_t;

/*
 * What is asked again and again during one scan: the list of modules and the
 * loader's cache. `root` is put before /dev, /proc, /sys and /etc ("" is the
 * machine itself; tests have trees of their own). `library_path` is the value
 * of LD_LIBRARY_PATH, or NULL where that does not count.
 */
ucs_status_t uct_requires_env_create(const char *root, const char *library_path,
                                     uct_requires_env_t **env_p);
void uct_requires_env_destroy(uct_requires_env_t *env);

/*
 * `folder` is where the plugin's library lies (for $ORIGIN) and `runpath` what
 * it was linked with; both may be "". The refusal names the first thing that
 * is missing and what to do.
 */
ucs_status_t uct_requires_check(uct_requires_env_t *env,
                                const uct_requires_t *requires,
                                const char *folder, const char *runpath,
                                uct_refusal_t *refusal);

#endif
