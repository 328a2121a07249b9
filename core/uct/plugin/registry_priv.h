/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The members of uct_plugin_registry_t and uct_plugin_t (registry.h). Included
 * by registry*.c only.
 */
#ifndef UCT_PLUGIN_REGISTRY_PRIV_H
#define UCT_PLUGIN_REGISTRY_PRIV_H

#include <pthread.h>

#include "uct/plugin/loader.h"
#include "uct/plugin/registry.h"

struct uct_plugin {
    uct_plugin_registry_t *registry;
    uct_plugin_info_t info;
    unsigned rank; /* number of plugins that the scan found before this one */

    /* Memory that the plugin owns. Except for `runpath`, the scan copies the
     * pointers to members of `info` at its end. */
    char *name;
    char *path;
    char *folder;
    char *library;
    uct_manifest_t *manifest; /* may be NULL */
    char *runpath;            /* run path of the library, "" if none (elf.h) */

    /* The members below may change after the scan; the registry's lock protects
     * them */
    uct_rejection_t rejection; /* the code is UCT_REJECT_NONE if the plugin is
                                * usable */
    int loading;               /* 1 while a thread is loading the plugin */
    unsigned users;            /* successful calls of uct_plugin_load() without
                                * uct_plugin_release() */
    uct_loaded_t *loaded;      /* NULL: the code is not loaded */
};

struct uct_plugin_registry {
    pthread_mutex_t lock;   /* recursive: held while a plugin's entry point
                             * runs, which may call functions that use the
                             * registry */
    uct_search_t search;    /* folders that were searched */
    uct_trust_t trust;      /* whose files are accepted (trust.h) */
    uct_plugin_t **plugins; /* in the order of uct_plugin_at() */
    unsigned num_plugins;
    uct_plugin_override_t *overrides; /* in the order of their files */
    unsigned num_overrides;
    char **prefixes; /* of configuration variables: "TCP_"; terminated by
                      * NULL */
    unsigned flags;  /* UCT_PLUGIN_SCAN_* */
};

/* registry_scan.c: fills the new registry: finds the plugins, and reads and
 * checks each. */
ucs_status_t uct_plugin_scan(uct_plugin_registry_t *registry,
                             const uct_search_params_t *params);

/* registry_resolve.c: sort the plugins, and reject those that another plugin
 * displaces. uct_plugin_resolve() is called again when a plugin fails to load,
 * because those that it displaced may become usable. */
void uct_plugin_sort(uct_plugin_registry_t *registry);
void uct_plugin_resolve(uct_plugin_registry_t *registry);

/* Nonzero if the plugin is not rejected: AVAILABLE or LOADED. The caller holds
 * the registry's lock, except in the scan. */
static inline int uct_plugin_is_usable(const uct_plugin_t *plugin)
{
    return plugin->rejection.code == UCT_REJECT_NONE;
}

#endif
