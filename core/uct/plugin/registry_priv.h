/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Internals of a registry; for registry*.c only.
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

    /* Referenced by `info` */
    char *name;
    char *path;
    char *folder;
    char *library;
    uct_manifest_t *manifest;
    char *runpath;

    /* Protected by the registry's lock after the scan */
    uct_rejection_t rejection; /* code NONE: usable */
    int loading;               /* the entry point is running */
    unsigned users;
    uct_loaded_t *loaded;
};

struct uct_plugin_registry {
    pthread_mutex_t lock; /* recursive: a plugin may call back */
    uct_search_t search;
    uct_trust_t trust;
    uct_plugin_t **plugins;
    unsigned num_plugins;
    uct_plugin_override_t *overrides;
    unsigned num_overrides;
    char **prefixes; /* terminated by NULL */
    unsigned flags;
};

/* registry_scan.c: finds, reads and checks each plugin. */
ucs_status_t uct_plugin_scan(uct_plugin_registry_t *registry,
                             const uct_search_params_t *params);

/* registry_resolve.c: sorts, and resolves conflicts. The second may be called
 * again. */
void uct_plugin_sort(uct_plugin_registry_t *registry);
void uct_plugin_resolve(uct_plugin_registry_t *registry);

/* Nonzero if the plugin is not rejected. */
static inline int uct_plugin_is_usable(const uct_plugin_t *plugin)
{
    return plugin->rejection.code == UCT_REJECT_NONE;
}

#endif
