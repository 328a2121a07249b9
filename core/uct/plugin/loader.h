/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Loads the code of one plugin and calls its entry point. registry.c decides
 * which plugins are loaded, and when.
 */
#ifndef UCT_PLUGIN_LOADER_H
#define UCT_PLUGIN_LOADER_H

#include <ucx/plugin.h>

#include "uct/plugin/manifest.h"

typedef struct uct_loaded uct_loaded_t;

/*
 * Loads a plugin. `library` is a checked path without links, `folder` the
 * manifest's folder. All symbols are bound before the return; otherwise loading
 * fails. Any thread.
 */
ucs_status_t uct_loader_open(const uct_manifest_t *manifest,
                             const char *library, const char *folder,
                             const ucx_host_t *host, uct_loaded_t **loaded_p,
                             uct_rejection_t *rejection);

const ucx_plugin_t *uct_loader_descriptor(const uct_loaded_t *loaded);

/* Calls the plugin's fini function and unloads its code. No object of the
 * plugin may be in use. */
void uct_loader_close(uct_loaded_t *loaded);

#endif
