/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sorts the plugins of the registry, and rejects those that another plugin
 * displaces: plugins that another one states to replace, plugins that conflict
 * with an earlier one, and plugins with a component that an earlier one has,
 * too. Of two plugins that exclude each other, the earlier one in the order is
 * kept; but a plugin that is already loaded is always kept.
 */
#include "uct/plugin/registry_priv.h"

#include <stdlib.h>
#include <string.h>

/* For qsort(): higher priority first, then the order of the search. */
static int compare_plugins(const void *a, const void *b)
{
    const uct_plugin_t *x = *(uct_plugin_t *const *)a;
    const uct_plugin_t *y = *(uct_plugin_t *const *)b;

    if (x->info.priority != y->info.priority) {
        return (x->info.priority > y->info.priority) ? -1 : 1;
    }
    return (x->rank > y->rank) - (x->rank < y->rank);
}

/* Returns whether the manifest of `plugin` states that it replaces `other`. */
static int replaces(const uct_plugin_t *plugin, const uct_plugin_t *other)
{
    return (plugin != other) && (plugin->manifest != NULL) &&
           strcmp(plugin->name, other->name) &&
           uct_names_has(&plugin->manifest->replaces, other->name);
}

/* Moves the plugins before position `index` that the plugin at `index` replaces
 * to the positions directly behind it. Then a caller that loads the plugins in
 * order tries the replacing plugin first, and the replaced one only after the
 * first has failed to load. And a replaced plugin that has a component of the
 * same name cannot displace the replacing one by coming earlier. Plugins that
 * replace each other are not moved. */
static void move_replaced(uct_plugin_registry_t *registry, unsigned index)
{
    uct_plugin_t **plugins = registry->plugins;
    uct_plugin_t *moved;
    unsigned i;

    for (i = index; i-- > 0;) {
        if (replaces(plugins[index], plugins[i]) &&
            !replaces(plugins[i], plugins[index])) {
            moved = plugins[i];
            memmove(&plugins[i], &plugins[i + 1],
                    (index - i) * sizeof(*plugins));
            plugins[index--] = moved;
        }
    }
}

void uct_plugin_sort(uct_plugin_registry_t *registry)
{
    unsigned i;

    if (registry->num_plugins == 0) {
        return;
    }
    qsort(registry->plugins, registry->num_plugins, sizeof(*registry->plugins),
          compare_plugins);
    for (i = 1; i < registry->num_plugins; ++i) {
        move_replaced(registry, i);
    }
}

/* Returns whether another plugin may displace this one: it is usable, and
 * neither loaded nor being loaded. */
static int gives_way(const uct_plugin_t *plugin)
{
    return uct_plugin_is_usable(plugin) && (plugin->loaded == NULL) &&
           !plugin->loading;
}

/* Rejects the plugins that `plugin` replaces. */
static void resolve_replaced(uct_plugin_registry_t *registry,
                             uct_plugin_t *plugin)
{
    uct_plugin_t *other;
    unsigned i;

    for (i = 0; i < registry->num_plugins; ++i) {
        other = registry->plugins[i];
        if (gives_way(other) && replaces(plugin, other)) {
            uct_reject(&other->rejection, UCT_REJECT_REPLACED,
                       "%s replaces it (%s)", plugin->name, plugin->path);
        }
    }
}

/* Returns the name of a component that both plugins have, or NULL. */
static const char *common_component(const uct_plugin_t *a,
                                    const uct_plugin_t *b)
{
    unsigned i;

    for (i = 0; i < a->manifest->num_components; ++i) {
        if (uct_manifest_component(b->manifest,
                                   a->manifest->components[i].name) != NULL) {
            return a->manifest->components[i].name;
        }
    }
    return NULL;
}

/* Rejects `plugin` if one of the two manifests states a conflict with the other
 * plugin, or if both have a component of the same name. */
static void resolve_pair(uct_plugin_t *earlier, uct_plugin_t *plugin)
{
    const char *component;

    if (uct_names_has(&earlier->manifest->conflicts, plugin->name) ||
        uct_names_has(&plugin->manifest->conflicts, earlier->name)) {
        uct_reject(&plugin->rejection, UCT_REJECT_CONFLICT,
                   "it conflicts with %s (%s), which comes first",
                   earlier->name, earlier->path);
        return;
    }

    component = common_component(earlier, plugin);
    if (component != NULL) {
        uct_reject(&plugin->rejection, UCT_REJECT_DUPLICATE,
                   "%s (%s), which comes first, has a component %s too",
                   earlier->name, earlier->path, component);
    }
}

/* Rejects the plugin at position `index` if a usable plugin before it displaces
 * it. */
static void resolve_earlier(uct_plugin_registry_t *registry, unsigned index)
{
    uct_plugin_t *plugin = registry->plugins[index], *earlier;
    unsigned i;

    /* A usable plugin that does not give way is loaded, or being loaded. It
     * counts as earlier at any position. */
    for (i = 0; gives_way(plugin) && (i < registry->num_plugins); ++i) {
        earlier = registry->plugins[i];
        if ((earlier != plugin) && uct_plugin_is_usable(earlier) &&
            ((i < index) || !gives_way(earlier))) {
            resolve_pair(earlier, plugin);
        }
    }
}

void uct_plugin_resolve(uct_plugin_registry_t *registry)
{
    uct_plugin_t *plugin;
    unsigned i;

    for (i = 0; i < registry->num_plugins; ++i) {
        plugin = registry->plugins[i];
        if ((plugin->rejection.code == UCT_REJECT_REPLACED) ||
            (plugin->rejection.code == UCT_REJECT_CONFLICT) ||
            (plugin->rejection.code == UCT_REJECT_DUPLICATE)) {
            plugin->rejection.code = UCT_REJECT_NONE;
        }
    }
    for (i = 0; i < registry->num_plugins; ++i) {
        /* This comes first, because a plugin that an earlier one displaces must
         * not replace others. */
        resolve_earlier(registry, i);
        if (uct_plugin_is_usable(registry->plugins[i])) {
            resolve_replaced(registry, registry->plugins[i]);
        }
    }
}
