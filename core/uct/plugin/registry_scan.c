/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * uct_plugin_scan(): reads every manifest in the search folders, and checks
 * each plugin by itself. Then it rejects plugins whose name an earlier plugin
 * has, applies the administrator's overrides, checks requirements, and resolves
 * conflicts. A faulty file does not end the scan: the registry gets an entry
 * with the reason for the rejection. The scan fails only for lack of memory or
 * descriptors.
 */
#include "uct/plugin/registry_priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ucs/debug/log.h"
#include "uct/plugin/library.h"
#include "uct/plugin/requires.h"
#include "uct/plugin/text.h"

static const char suffix[] = ".json";

/* Converts "/a/b/NAME.json" to "NAME". The caller releases the result by
 * free(). */
static char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *name        = strdup((slash == NULL) ? path : slash + 1);
    size_t length;

    if (name != NULL) {
        length = strlen(name);
        if ((length >= sizeof(suffix)) &&
            !strcmp(name + length - (sizeof(suffix) - 1), suffix)) {
            name[length - (sizeof(suffix) - 1)] = '\0';
        }
        uct_text_clean(name);
    }
    return name;
}

/* --- Reading ----------------------------------------------------------- */

/* Appends an entry for the manifest `path` in the search folder `dir`. Returns
 * NULL if memory is exhausted. */
static uct_plugin_t *add_plugin(uct_plugin_registry_t *registry,
                                const uct_search_dir_t *dir, const char *path)
{
    uct_plugin_t **plugins, *plugin;

    plugins = realloc(registry->plugins,
                      (registry->num_plugins + 1) * sizeof(*plugins));
    if (plugins == NULL) {
        return NULL;
    }
    registry->plugins = plugins;

    plugin = calloc(1, sizeof(*plugin));
    if (plugin == NULL) {
        return NULL;
    }
    plugin->name    = base_name(path);
    plugin->path    = strdup(path);
    plugin->folder  = strdup("");
    plugin->library = strdup("");
    plugin->runpath = strdup("");

    plugin->registry                           = registry;
    plugin->rank                               = registry->num_plugins;
    plugin->info.dir                           = dir;
    registry->plugins[registry->num_plugins++] = plugin;

    if ((plugin->name == NULL) || (plugin->path == NULL) ||
        (plugin->folder == NULL) || (plugin->library == NULL) ||
        (plugin->runpath == NULL)) {
        return NULL; /* the registry owns the incomplete entry and frees it */
    }
    return plugin;
}

/* Replaces *text_p, from malloc(), by a copy of `text`. Returns 0 if memory is
 * exhausted. */
static int replace_text(char **text_p, const char *text)
{
    char *copy = strdup(text);

    if (copy == NULL) {
        return 0;
    }
    free(*text_p);
    *text_p = copy;
    return 1;
}

/* Checks the name of the plugin and its library. Stores the path and properties
 * of the library, or the reason if the plugin is rejected. */
static void judge_plugin(uct_plugin_t *plugin)
{
    unsigned flags           = uct_search_trust_flags(plugin->info.dir);
    uct_trust_t *trust       = &plugin->registry->trust;
    uct_manifest_t *manifest = plugin->manifest;
    char library[PATH_MAX];
    uct_elf_t elf;

    if (strcmp(plugin->name, manifest->name)) {
        uct_reject(&plugin->rejection, UCT_REJECT_NAME,
                   "the file is called %s%s, the plugin in it %s", plugin->name,
                   suffix, manifest->name);
        return;
    }
    if (uct_plugin_check_library(plugin->folder, manifest->library, trust,
                                 flags, library, &elf,
                                 &plugin->rejection) != UCS_OK) {
        return;
    }

    plugin->info.bind_now = elf.bind_now;
    if (!replace_text(&plugin->library, library) ||
        !replace_text(&plugin->runpath, elf.runpath)) {
        uct_reject(&plugin->rejection, UCT_REJECT_RESOURCES, "out of memory");
    }
}

/* Appends an override. On success the registry owns `manifest`. */
static ucs_status_t add_override(uct_plugin_registry_t *registry,
                                 const char *path, uct_manifest_t *manifest)
{
    uct_plugin_override_t *overrides;

    overrides = realloc(registry->overrides,
                        (registry->num_overrides + 1) * sizeof(*overrides));
    if (overrides == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    registry->overrides = overrides;

    overrides += registry->num_overrides;
    overrides->path     = strdup(path);
    overrides->manifest = manifest;
    overrides->matched  = 0;
    if (overrides->path == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    ++registry->num_overrides;
    return UCS_OK;
}

/* Reads one file and adds a plugin or an override to the registry. An override
 * outside the administrator's folder becomes a rejected plugin. */
static ucs_status_t scan_file(uct_plugin_registry_t *registry,
                              const uct_search_dir_t *dir, const char *path)
{
    uct_manifest_t *manifest  = NULL;
    char real[PATH_MAX]       = "";
    uct_rejection_t rejection = {UCT_REJECT_NONE, ""};
    ucs_status_t status;
    uct_plugin_t *plugin;

    status = uct_manifest_read(path, dir->real, &registry->trust,
                               uct_search_trust_flags(dir), real, &manifest,
                               &rejection);
    if ((status == UCS_OK) && (manifest->kind == UCT_MANIFEST_OVERRIDE)) {
        if (dir->origin == UCT_SEARCH_ADMIN) {
            status = add_override(registry, path, manifest);
            if (status != UCS_OK) {
                uct_manifest_free(manifest);
            }
            return status;
        }
        uct_reject(&rejection, UCT_REJECT_OVERRIDE,
                   "it overrides the plugin %s but is in %s", manifest->name,
                   dir->real);
        uct_manifest_free(manifest);
        manifest = NULL;
    }
    if (rejection.code == UCT_REJECT_RESOURCES) {
        return UCS_ERR_NO_MEMORY; /* The plugin is not the cause, so the scan
                                   * fails rather than reject it; the next
                                   * scan tries again */
    }

    plugin = add_plugin(registry, dir, path);
    if (plugin == NULL) {
        if (manifest != NULL) {
            uct_manifest_free(manifest);
        }
        return UCS_ERR_NO_MEMORY;
    }
    plugin->rejection = rejection;
    plugin->manifest  = manifest;
    if (manifest != NULL) {
        plugin->info.priority = manifest->priority;
        *strrchr(real, '/')   = '\0';
        if (!replace_text(&plugin->folder, (real[0] == '\0') ? "/" : real)) {
            return UCS_ERR_NO_MEMORY;
        }
        judge_plugin(plugin);
    }
    return (plugin->rejection.code == UCT_REJECT_RESOURCES) ?
               UCS_ERR_NO_MEMORY :
               UCS_OK;
}

/* Reads all files of one folder. If the folder cannot be listed, stores the
 * reason in `dir`. */
static ucs_status_t scan_dir(uct_plugin_registry_t *registry,
                             uct_search_dir_t *dir)
{
    unsigned count = 0, i;
    char **files   = NULL;
    ucs_status_t status;

    if (!dir->counts) {
        return UCS_OK;
    }

    status = uct_search_files(dir, &files, &count);
    if (status != UCS_OK) {
        snprintf(dir->why, sizeof(dir->why), "%s",
                 (status == UCS_ERR_EXCEEDS_LIMIT) ?
                     "too many files for a folder of plugins" :
                     "it cannot be listed");
        dir->counts = 0;
        return (status == UCS_ERR_NO_MEMORY) ? status : UCS_OK;
    }

    for (i = 0; (status == UCS_OK) && (i < count); ++i) {
        status = scan_file(registry, dir, files[i]);
    }
    uct_search_free_files(files, count);
    return status;
}

/* --- Checks among all plugins ------------------------------------------ */

/* Of several usable plugins with one name, keeps the first in the order of the
 * search and rejects the others as shadowed. */
static void mark_shadowed(uct_plugin_registry_t *registry)
{
    uct_plugin_t *plugin, *earlier;
    unsigned i, j;

    for (i = 1; i < registry->num_plugins; ++i) {
        plugin = registry->plugins[i];
        for (j = 0; uct_plugin_is_usable(plugin) && (j < i); ++j) {
            earlier = registry->plugins[j];
            if (uct_plugin_is_usable(earlier) &&
                !strcmp(earlier->name, plugin->name)) {
                uct_reject(&plugin->rejection, UCT_REJECT_SHADOWED,
                           "%s comes first", earlier->path);
            }
        }
    }
}

/* Changes the plugin's priority, disables it, or enables it again after another
 * override has disabled it. */
static void apply_override(uct_plugin_t *plugin,
                           const uct_plugin_override_t *override)
{
    const uct_manifest_t *word = override->manifest;

    if (word->has_priority) {
        plugin->info.priority = word->priority;
    }
    if (!word->has_enabled) {
        return;
    }
    if (word->enabled && (plugin->rejection.code == UCT_REJECT_DISABLED)) {
        plugin->rejection.code = UCT_REJECT_NONE;
    } else if (!word->enabled && uct_plugin_is_usable(plugin)) {
        uct_reject(&plugin->rejection, UCT_REJECT_DISABLED, "by %s%s%s",
                   override->path, (word->reason == NULL) ? "" : ": ",
                   (word->reason == NULL) ? "" : word->reason);
    }
}

/* Applies the overrides in the order of their files, so that of two overrides
 * for one plugin the later one takes effect. */
static void apply_overrides(uct_plugin_registry_t *registry)
{
    uct_plugin_override_t *override;
    unsigned i, j;

    for (i = 0; i < registry->num_overrides; ++i) {
        override = &registry->overrides[i];
        for (j = 0; j < registry->num_plugins; ++j) {
            if (!strcmp(registry->plugins[j]->name, override->manifest->name)) {
                override->matched = 1;
                apply_override(registry->plugins[j], override);
            }
        }
    }
}

/* Checks the requirements of one plugin. The dynamic loader replaces $ORIGIN in
 * the run path by the folder of the library, which may be a subfolder of the
 * manifest's. */
static void check_plugin(uct_requires_env_t *env, uct_plugin_t *plugin)
{
    const char *slash = strrchr(plugin->library, '/');
    size_t length     = (slash == NULL) ? 0 : (size_t)(slash - plugin->library);
    char folder[PATH_MAX];

    snprintf(folder, sizeof(folder), "%.*s", (int)length, plugin->library);
    uct_requires_check(env, &plugin->manifest->requires, folder,
                       plugin->runpath, &plugin->rejection);
}

static ucs_status_t check_requirements(uct_plugin_registry_t *registry,
                                       const uct_search_params_t *params)
{
    uct_requires_env_t *env;
    ucs_status_t status;
    unsigned i;

    status = uct_requires_env_create(params->root, params->library_path, &env);
    if (status != UCS_OK) {
        return status;
    }
    for (i = 0; i < registry->num_plugins; ++i) {
        if (uct_plugin_is_usable(registry->plugins[i])) {
            check_plugin(env, registry->plugins[i]);
        }
    }
    uct_requires_env_destroy(env);
    return UCS_OK;
}

/* Collects the prefixes of configuration variables of all manifests, each with
 * a trailing underscore. */
static ucs_status_t collect_prefixes(uct_plugin_registry_t *registry)
{
    const uct_names_t *names;
    unsigned count = 0, i, j;
    char **prefixes;

    for (i = 0; i < registry->num_plugins; ++i) {
        if (registry->plugins[i]->manifest != NULL) {
            count += registry->plugins[i]->manifest->config_prefixes.count;
        }
    }
    registry->prefixes = prefixes = calloc(count + 1, sizeof(*prefixes));
    if (prefixes == NULL) {
        return UCS_ERR_NO_MEMORY;
    }

    for (i = 0; i < registry->num_plugins; ++i) {
        if (registry->plugins[i]->manifest == NULL) {
            continue;
        }
        names = &registry->plugins[i]->manifest->config_prefixes;
        for (j = 0; j < names->count; ++j) {
            if (asprintf(prefixes, "%s_", names->name[j]) < 0) {
                *prefixes = NULL;
                return UCS_ERR_NO_MEMORY;
            }
            ++prefixes;
        }
    }
    return UCS_OK;
}

/* Copies the pointers to the plugin's information, at the end of the scan: the
 * scan may have replaced the strings before. */
static void publish(uct_plugin_t *plugin)
{
    plugin->info.name     = plugin->name;
    plugin->info.path     = plugin->path;
    plugin->info.folder   = plugin->folder;
    plugin->info.library  = plugin->library;
    plugin->info.manifest = plugin->manifest;
}

/* Logs the rejections: as a warning if the plugin is faulty, as a debug message
 * if only its hardware or software is absent or it is not selected. */
static void log_rejections(uct_plugin_registry_t *registry)
{
    const uct_rejection_info_t *info;
    uct_plugin_t *plugin;
    unsigned i;

    for (i = 0; i < registry->num_plugins; ++i) {
        plugin = registry->plugins[i];
        info   = uct_rejection_info(plugin->rejection.code);
        if (info->fault) {
            ucs_warn("plugin %s is not used: %s %s: %s; `ucx-plugins why %s` "
                     "explains what to do",
                     plugin->name, info->id, info->meaning,
                     plugin->rejection.reason, plugin->name);
        } else if (info->code != UCT_REJECT_NONE) {
            ucs_debug("plugin %s is not used: %s %s: %s", plugin->name,
                      info->id, info->meaning, plugin->rejection.reason);
        }
    }
}

ucs_status_t uct_plugin_scan(uct_plugin_registry_t *registry,
                             const uct_search_params_t *params)
{
    ucs_status_t status;
    unsigned i;

    uct_trust_init(&registry->trust);
    status = uct_search_create(params, &registry->trust, &registry->search);
    if (status != UCS_OK) {
        return status;
    }
    for (i = 0; (status == UCS_OK) && (i < registry->search.num_dirs); ++i) {
        status = scan_dir(registry, &registry->search.dirs[i]);
    }
    if (status != UCS_OK) {
        return status;
    }

    mark_shadowed(registry);
    apply_overrides(registry);
    status = check_requirements(registry, params);
    if (status == UCS_OK) {
        status = collect_prefixes(registry);
    }
    if (status != UCS_OK) {
        return status;
    }

    uct_plugin_sort(registry);
    uct_plugin_resolve(registry);
    for (i = 0; i < registry->num_plugins; ++i) {
        publish(registry->plugins[i]);
    }
    if (!(registry->flags & UCT_PLUGIN_SCAN_QUIET)) {
        log_rejections(registry);
    }
    return UCS_OK;
}
