/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sorts the plugins and rejects those that an earlier plugin displaces:
 * replaced plugins, conflicting plugins, and plugins with a component that an
 * earlier plugin has. Each rule visits the plugins in order; of two plugins
 * that exclude each other, the earlier one is kept.
 */
#include "uct/plugin/registry_priv.h"

#include <stdlib.h>
#include <string.h>

static int compare_plugins(const void *a, const void *b)
{
    const uct_plugin_t *x = *(uct_plugin_t *const *)a;
    const uct_plugin_t *y = *(uct_plugin_t *const *)b;

    if (x->info.priority != y->info.priority) {
        return (x->info.priority > y->info.priority) ? -1 : 1;
    }
    return (x->rank > y->rank) - (x->rank < y->rank);
}

static int replaces(const uct_plugin_t *plugin, const uct_plugin_t *other)
{
    return (plugin != other) && (plugin->manifest != NULL) &&
           strcmp(plugin->name, other->name) &&
           uct_names_has(&plugin->manifest->replaces, other->name);
}

/* Moves a replaced plugin behind the plugin that replaces it, so that the
 * replaced plugin is used if the other plugin fails to load. */
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

/* Returns whether another plugin may displace this one. A loaded plugin is
 * never displaced. */
static int gives_way(const uct_plugin_t *plugin)
{
    return uct_plugin_is_usable(plugin) && (plugin->loaded == NULL) &&
           !plugin->loading;
}

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

/* Rejects `plugin` if `earlier` displaces it. */
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

static void resolve_earlier(uct_plugin_registry_t *registry, unsigned index)
{
    uct_plugin_t *plugin = registry->plugins[index], *earlier;
    unsigned i;

    /* a loaded plugin takes precedence at any position */
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
        /* Displaced plugins first, because they do not replace others */
        resolve_earlier(registry, i);
        if (uct_plugin_is_usable(registry->plugins[i])) {
            resolve_replaced(registry, registry->plugins[i]);
        }
    }
}
