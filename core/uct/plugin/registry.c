/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The registry of plugins (registry.h): creation and destruction, queries, and
 * loading of a plugin's code. registry_scan.c fills a new registry.
 */
#include "uct/plugin/registry_priv.h"

#include <stdlib.h>
#include <string.h>

#include "ucs/debug/log.h"

/* The registry of the process, or NULL; `default_lock` protects the pointer. */
static pthread_mutex_t default_lock = PTHREAD_MUTEX_INITIALIZER;
static uct_plugin_registry_t *default_registry;

/* --- Creation and destruction ------------------------------------------ */

static void free_plugin(uct_plugin_t *plugin)
{
    if (plugin->loaded != NULL) {
        uct_loader_close(plugin->loaded);
    }
    if (plugin->manifest != NULL) {
        uct_manifest_free(plugin->manifest);
    }
    free(plugin->name);
    free(plugin->path);
    free(plugin->folder);
    free(plugin->library);
    free(plugin->runpath);
    free(plugin);
}

void uct_plugin_registry_destroy(uct_plugin_registry_t *registry)
{
    unsigned i;

    for (i = 0; i < registry->num_plugins; ++i) {
        free_plugin(registry->plugins[i]);
    }
    free(registry->plugins);
    for (i = 0; i < registry->num_overrides; ++i) {
        free((char *)registry->overrides[i].path);
        uct_manifest_free((uct_manifest_t *)registry->overrides[i].manifest);
    }
    free(registry->overrides);
    for (i = 0; (registry->prefixes != NULL) && (registry->prefixes[i] != NULL);
         ++i) {
        free(registry->prefixes[i]);
    }
    free(registry->prefixes);
    uct_search_destroy(&registry->search);
    pthread_mutex_destroy(&registry->lock);
    free(registry);
}

static ucs_status_t init_lock(pthread_mutex_t *lock)
{
    pthread_mutexattr_t attr;
    int ret;

    if (pthread_mutexattr_init(&attr) != 0) {
        return UCS_ERR_NO_MEMORY;
    }
    pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE);
    ret = pthread_mutex_init(lock, &attr);
    pthread_mutexattr_destroy(&attr);
    return (ret == 0) ? UCS_OK : UCS_ERR_NO_MEMORY;
}

ucs_status_t uct_plugin_registry_create(const uct_search_params_t *params,
                                        unsigned flags,
                                        uct_plugin_registry_t **registry_p)
{
    uct_plugin_registry_t *registry;
    uct_search_params_t dflt;
    ucs_status_t status;

    registry = calloc(1, sizeof(*registry));
    if (registry == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    status = init_lock(&registry->lock);
    if (status != UCS_OK) {
        free(registry);
        return status;
    }
    registry->flags = flags;

    if (params == NULL) {
        uct_search_params_default(&dflt);
        params = &dflt;
    }
    status = uct_plugin_scan(registry, params);
    if (status != UCS_OK) {
        uct_plugin_registry_destroy(registry);
        return status;
    }
    *registry_p = registry;
    return UCS_OK;
}

ucs_status_t uct_plugin_registry_get(uct_plugin_registry_t **registry_p)
{
    ucs_status_t status = UCS_OK;

    pthread_mutex_lock(&default_lock);
    if (default_registry == NULL) {
        status = uct_plugin_registry_create(NULL, 0, &default_registry);
    }
    *registry_p = default_registry;
    pthread_mutex_unlock(&default_lock);
    return status;
}

/* Returns whether a plugin is in use or is being loaded. */
static int has_users(uct_plugin_registry_t *registry)
{
    int result = 0;
    unsigned i;

    pthread_mutex_lock(&registry->lock);
    for (i = 0; i < registry->num_plugins; ++i) {
        result |= (registry->plugins[i]->users > 0) ||
                  registry->plugins[i]->loading;
    }
    pthread_mutex_unlock(&registry->lock);
    return result;
}

ucs_status_t uct_plugin_registry_reset(void)
{
    ucs_status_t status = UCS_OK;

    pthread_mutex_lock(&default_lock);
    if (default_registry != NULL) {
        if (has_users(default_registry)) {
            status = UCS_ERR_BUSY;
        } else {
            uct_plugin_registry_destroy(default_registry);
            default_registry = NULL;
        }
    }
    pthread_mutex_unlock(&default_lock);
    return status;
}

/* Frees the registry of the process when this library is unloaded, which may
 * happen (by dlclose()) before the process exits. If a plugin is in use,
 * nothing is freed. */
static void __attribute__((destructor)) forget_default(void)
{
    uct_plugin_registry_reset();
}

/* --- Queries ----------------------------------------------------------- */

uct_plugin_t *uct_plugin_at(uct_plugin_registry_t *registry, unsigned index)
{
    return (index < registry->num_plugins) ? registry->plugins[index] : NULL;
}

uct_plugin_t *uct_plugin_next(uct_plugin_registry_t *registry,
                              const uct_plugin_t *previous)
{
    uct_plugin_t *result = NULL;
    unsigned i           = 0;

    pthread_mutex_lock(&registry->lock);
    if (previous != NULL) {
        while ((i < registry->num_plugins) &&
               (registry->plugins[i++] != previous)) {
        }
    }
    for (; (result == NULL) && (i < registry->num_plugins); ++i) {
        if (uct_plugin_is_usable(registry->plugins[i])) {
            result = registry->plugins[i];
        }
    }
    pthread_mutex_unlock(&registry->lock);
    return result;
}

uct_plugin_t *uct_plugin_find(uct_plugin_registry_t *registry, const char *name)
{
    uct_plugin_t *result = NULL, *plugin;
    unsigned i;

    /* If all plugins of this name are rejected, selects the one whose rejection
     * tells the most: one with a valid manifest is preferred to one without,
     * and any to one that is rejected only as shadowed. */
    pthread_mutex_lock(&registry->lock);
    for (i = 0; i < registry->num_plugins; ++i) {
        plugin = registry->plugins[i];
        if (strcmp(plugin->name, name)) {
            continue;
        }
        if (uct_plugin_is_usable(plugin)) {
            result = plugin;
            break;
        } else if ((result == NULL) ||
                   (result->rejection.code == UCT_REJECT_SHADOWED) ||
                   ((result->manifest == NULL) && (plugin->manifest != NULL) &&
                    (plugin->rejection.code != UCT_REJECT_SHADOWED))) {
            result = plugin;
        }
    }
    pthread_mutex_unlock(&registry->lock);
    return result;
}

const uct_plugin_info_t *uct_plugin_info(const uct_plugin_t *plugin)
{
    return &plugin->info;
}

uct_plugin_state_t uct_plugin_state(uct_plugin_t *plugin,
                                    uct_rejection_t *rejection)
{
    uct_plugin_state_t state;

    pthread_mutex_lock(&plugin->registry->lock);
    switch (plugin->rejection.code) {
    case UCT_REJECT_NONE:
        state = (plugin->loaded != NULL) ? UCT_PLUGIN_LOADED :
                                           UCT_PLUGIN_AVAILABLE;
        break;
    case UCT_REJECT_SHADOWED:
        state = UCT_PLUGIN_SHADOWED;
        break;
    case UCT_REJECT_REPLACED:
        state = UCT_PLUGIN_REPLACED;
        break;
    case UCT_REJECT_DISABLED:
        state = UCT_PLUGIN_DISABLED;
        break;
    default:
        state = UCT_PLUGIN_REJECTED;
        break;
    }
    if (rejection != NULL) {
        *rejection = plugin->rejection;
    }
    pthread_mutex_unlock(&plugin->registry->lock);
    return state;
}

const char *uct_plugin_state_name(uct_plugin_state_t state)
{
    static const char *const names[] = {
        [UCT_PLUGIN_AVAILABLE] = "available",
        [UCT_PLUGIN_LOADED]    = "loaded",
        [UCT_PLUGIN_REJECTED]  = "rejected",
        [UCT_PLUGIN_SHADOWED]  = "shadowed",
        [UCT_PLUGIN_REPLACED]  = "replaced",
        [UCT_PLUGIN_DISABLED]  = "disabled",
    };

    return names[state];
}

const uct_search_t *uct_plugin_search(const uct_plugin_registry_t *registry)
{
    return &registry->search;
}

const uct_plugin_override_t *
uct_plugin_overrides(const uct_plugin_registry_t *registry, unsigned *count_p)
{
    *count_p = registry->num_overrides;
    return registry->overrides;
}

const char *const *
uct_plugin_config_prefixes(const uct_plugin_registry_t *registry)
{
    return (const char *const *)registry->prefixes;
}

/* --- Loading ----------------------------------------------------------- */

/* Loads the code of a usable plugin that is not loaded. The caller holds the
 * registry's lock. Stores the reason of a failure in the plugin, so that it is
 * rejected from then on. A lack of memory or descriptors is not stored, because
 * it is not the plugin's fault, and a later call may succeed. */
static ucs_status_t load(uct_plugin_t *plugin, const ucx_host_t *host,
                         uct_rejection_t *rejection_p)
{
    uct_plugin_registry_t *registry = plugin->registry;
    const uct_rejection_info_t *info;
    uct_rejection_t rejection = {UCT_REJECT_NONE, ""};

    plugin->loading = 1;
    uct_loader_open(plugin->manifest, plugin->library, plugin->folder, host,
                    &plugin->loaded, &rejection);
    plugin->loading = 0;

    if (rejection.code == UCT_REJECT_NONE) {
        ucs_debug("plugin %s %s loaded from %s", plugin->name,
                  plugin->manifest->version, plugin->library);
        return UCS_OK;
    }

    info = uct_rejection_info(rejection.code);
    if (rejection_p != NULL) {
        *rejection_p = rejection;
    }
    if (!(registry->flags & UCT_PLUGIN_SCAN_QUIET)) {
        ucs_log(info->fault ? UCS_LOG_LEVEL_WARN : UCS_LOG_LEVEL_INFO,
                "plugin %s is not used: %s %s: %s; what to do: %s",
                plugin->name, info->id, info->meaning, rejection.reason,
                info->remedy);
    }
    if (rejection.code != UCT_REJECT_RESOURCES) {
        plugin->rejection = rejection;
        /* Plugins that were rejected because this one replaces them, conflicts
         * with them or has a component of the same name may become usable. */
        uct_plugin_resolve(registry);
    }
    return info->status;
}

ucs_status_t uct_plugin_load(uct_plugin_t *plugin, const ucx_host_t *host,
                             const ucx_plugin_t **descriptor_p,
                             uct_rejection_t *rejection)
{
    ucs_status_t status = UCS_OK;

    pthread_mutex_lock(&plugin->registry->lock);
    if (plugin->loading) {
        /* Other threads wait for the lock, so this is the thread that is
         * loading the plugin: the plugin's entry point has called back. */
        status = uct_reject(rejection, UCT_REJECT_RECURSION,
                            "%s is already being loaded by this thread",
                            plugin->name);
        goto out;
    }

    if (!uct_plugin_is_usable(plugin)) {
        status = uct_rejection_info(plugin->rejection.code)->status;
        if (rejection != NULL) {
            *rejection = plugin->rejection;
        }
    } else if (plugin->loaded == NULL) {
        status = load(plugin, host, rejection);
    }
    if (status == UCS_OK) {
        ++plugin->users;
        *descriptor_p = uct_loader_descriptor(plugin->loaded);
    }

out:
    pthread_mutex_unlock(&plugin->registry->lock);
    return status;
}

void uct_plugin_release(uct_plugin_t *plugin)
{
    pthread_mutex_lock(&plugin->registry->lock);
    if (plugin->users > 0) {
        --plugin->users;
    }
    pthread_mutex_unlock(&plugin->registry->lock);
}
