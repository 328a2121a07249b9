/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Loads the code of one plugin and calls its entry point. registry.c decides
 * which plugins are loaded, and when.
 */
#ifndef UCT_PLUGIN_LOADER_H
#define UCT_PLUGIN_LOADER_H

#include <ucx/plugin.h>

#include "uct/plugin/manifest.h"

/* The loaded code of one plugin, and the descriptor that it has returned. */
typedef struct uct_loaded uct_loaded_t;

/*
 * Loads a plugin. `library` is the library's path without symbolic links, as
 * uct_plugin_check_library() has returned it; `folder` is the manifest's
 * folder. The plugin's entry point receives `folder` and `host`, the table of
 * the core's functions for plugins. Loading fails if a symbol cannot be bound.
 * On failure `rejection`, which must not be NULL, receives the reason. Any
 * thread may call this function.
 */
ucs_status_t uct_loader_open(const uct_manifest_t *manifest,
                             const char *library, const char *folder,
                             const ucx_host_t *host, uct_loaded_t **loaded_p,
                             uct_rejection_t *rejection);

/* Returns the checked descriptor; valid until uct_loader_close(). */
const ucx_plugin_t *uct_loader_descriptor(const uct_loaded_t *loaded);

/* Calls the plugin's fini function, if the plugin has one, and unloads its
 * code. Nothing that the plugin has created may be in use. */
void uct_loader_close(uct_loaded_t *loaded);

#endif
