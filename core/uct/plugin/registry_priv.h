/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The structures behind uct_plugin_registry_t and uct_plugin_t. Used by
 * registry*.c only.
 */
#ifndef UCT_PLUGIN_REGISTRY_PRIV_H
#define UCT_PLUGIN_REGISTRY_PRIV_H

#include <pthread.h>

#include "uct/plugin/loader.h"
#include "uct/plugin/registry.h"

struct uct_plugin {
    uct_plugin_registry_t *registry;
    uct_plugin_info_t info;
    unsigned rank; /* position in the search order */

    /* Strings to which `info` refers */
    char *name;
    char *path;
    char *folder;
    char *library;
    uct_manifest_t *manifest;
    char *runpath;

    /* The members below change after the scan; protected by the registry's
     * lock */
    uct_rejection_t rejection; /* the code is NONE if the plugin is usable */
    int loading;               /* the entry point is running */
    unsigned users;
    uct_loaded_t *loaded;
};

struct uct_plugin_registry {
    pthread_mutex_t lock; /* recursive, because a plugin may call the
                           * registry */
    uct_search_t search;
    uct_trust_t trust;
    uct_plugin_t **plugins;
    unsigned num_plugins;
    uct_plugin_override_t *overrides;
    unsigned num_overrides;
    char **prefixes; /* terminated by NULL */
    unsigned flags;
};

/* registry_scan.c: finds the plugins, and reads and checks each. */
ucs_status_t uct_plugin_scan(uct_plugin_registry_t *registry,
                             const uct_search_params_t *params);

/* registry_resolve.c: sorts the plugins, and resolves conflicts.
 * uct_plugin_resolve() may be called again. */
void uct_plugin_sort(uct_plugin_registry_t *registry);
void uct_plugin_resolve(uct_plugin_registry_t *registry);

/* Nonzero if the plugin is not rejected. */
static inline int uct_plugin_is_usable(const uct_plugin_t *plugin)
{
    return plugin->rejection.code == UCT_REJECT_NONE;
}

#endif
