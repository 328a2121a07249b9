/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fills the list of components: converts the manifests that core/uct/plugin
 * has read to declarations, and finds the plugin that belongs to a declaration
 * when its code is needed.
 */
#include "uct/base/component_list.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "ucs/debug/log.h"
#include "uct/base/decl.h"
#include "uct/base/self_decl.h"
#include "uct/base/state.h"
#include "uct/plugin/registry.h"

_Static_assert(((int)UCT_TL_REACH_SELF == (int)UCT_REACH_SELF) &&
                   ((int)UCT_TL_REACH_NODE == (int)UCT_REACH_NODE) &&
                   ((int)UCT_TL_REACH_NETWORK == (int)UCT_REACH_NETWORK),
               "one set of bits for the reach of a transport");

/* Finds a component in the descriptor of a plugin. */
static ucs_status_t uct_plugin_component(const ucx_plugin_t *plugin,
                                         const char *name,
                                         const ucx_component_t **desc_p)
{
    unsigned i;

    for (i = 0; i < plugin->num_components; ++i) {
        if (strcmp(plugin->components[i]->name, name) == 0) {
            *desc_p = plugin->components[i];
            return UCS_OK;
        }
    }
    return UCS_ERR_NO_ELEM;
}

static ucs_status_t uct_builtin_load(void *arg,
                                     const uct_component_decl_t *decl,
                                     const ucx_component_t **desc_p)
{
    char reason[128]       = "";
    ucx_plugin_args_t args = {
        .size        = sizeof(args),
        .abi_min     = UCX_PLUGIN_ABI(UCX_PLUGIN_ABI_MAJOR, 0),
        .abi_max     = UCX_PLUGIN_ABI_VERSION,
        .host        = &uct_host,
        .directory   = "",
        .reason      = reason,
        .reason_size = sizeof(reason),
    };
    const ucx_plugin_t *plugin;
    ucs_status_t status;

    status = uct_self_plugin_entry(&args, &plugin);
    if (status != UCS_OK) {
        return status;
    }
    return uct_plugin_component(plugin, decl->name, desc_p);
}

/* Loads the plugin of a declaration and returns the component's descriptor.
 * Finds the plugin by name, because the registry has a new object for the
 * plugin if it was scanned again since the declaration was made. */
static ucs_status_t uct_plugin_component_load(void *arg,
                                              const uct_component_decl_t *decl,
                                              const ucx_component_t **desc_p)
{
    uct_plugin_registry_t *registry;
    const ucx_plugin_t *descriptor;
    uct_plugin_t *plugin;
    ucs_status_t status;

    status = uct_plugin_registry_get(&registry);
    if (status != UCS_OK) {
        return status;
    }

    plugin = uct_plugin_find(registry, decl->plugin);
    if (plugin == NULL) {
        return UCS_ERR_NO_ELEM;
    }

    /* The reference to the plugin is kept, because the code of the component is
     * used until this library is unloaded. release_plugin() releases it
     * then, or at once if the core cannot use the code. */
    status = uct_plugin_load(plugin, &uct_host, &descriptor, NULL);
    if (status != UCS_OK) {
        return status;
    }

    status = uct_plugin_component(descriptor, decl->name, desc_p);
    if (status != UCS_OK) {
        uct_plugin_release(plugin);
    }
    return status;
}

/* Releases the reference to the plugin. While there is one, the registry is not
 * scanned again, so that the plugin found by its name is the same object. */
static void release_plugin(const uct_component_decl_t *decl)
{
    uct_plugin_registry_t *registry;
    uct_plugin_t *plugin;

    if (uct_plugin_registry_get(&registry) == UCS_OK) {
        plugin = uct_plugin_find(registry, decl->plugin);
        if (plugin != NULL) {
            uct_plugin_release(plugin);
        }
    }
}

/* Returns the UCT_IFACE_FEATURE_* bits for the operations that a transport
 * declares. */
static uint64_t uct_features_of(const uct_manifest_transport_t *tl)
{
    static const struct {
        const char *operation;
        uint64_t feature;
    } features[] = {
        {"am_short", UCT_IFACE_FEATURE_AM},
        {"am_bcopy", UCT_IFACE_FEATURE_AM},
        {"am_zcopy", UCT_IFACE_FEATURE_AM},
        {"put_short", UCT_IFACE_FEATURE_PUT},
        {"put_bcopy", UCT_IFACE_FEATURE_PUT},
        {"put_zcopy", UCT_IFACE_FEATURE_PUT},
        {"get_short", UCT_IFACE_FEATURE_GET},
        {"get_bcopy", UCT_IFACE_FEATURE_GET},
        {"get_zcopy", UCT_IFACE_FEATURE_GET},
        {"atomic32_post", UCT_IFACE_FEATURE_AMO32},
        {"atomic32_fetch", UCT_IFACE_FEATURE_AMO32},
        {"atomic64_post", UCT_IFACE_FEATURE_AMO64},
        {"atomic64_fetch", UCT_IFACE_FEATURE_AMO64},
        {"tag_eager_short", UCT_IFACE_FEATURE_TAG},
        {"tag_eager_bcopy", UCT_IFACE_FEATURE_TAG},
        {"tag_eager_zcopy", UCT_IFACE_FEATURE_TAG},
        {"tag_rndv_zcopy", UCT_IFACE_FEATURE_TAG},
    };
    uint64_t result = 0;
    unsigned i;

    for (i = 0; i < ucs_static_array_size(features); ++i) {
        if (tl->operations & uct_manifest_word_bit(uct_manifest_operations,
                                                   features[i].operation)) {
            result |= features[i].feature;
        }
    }
    return result;
}

static void uct_tl_decl_fill(uct_tl_decl_t *to,
                             const uct_manifest_transport_t *tl)
{
    to->name        = tl->name;
    to->aliases     = tl->aliases.name;
    to->num_aliases = tl->aliases.count;
    to->cap_flags   = uct_manifest_iface_flags(tl);
    to->event_flags = uct_manifest_event_flags(tl);
    to->features    = uct_features_of(tl);
    to->reach       = tl->reach;
    to->dev_type    = uct_manifest_device_type(tl);
    to->latency     = tl->latency_ns * 1e-9;
    to->bandwidth   = tl->bandwidth_mbps * 1e6;
}

static ucs_status_t
uct_manifest_component_add(const uct_plugin_info_t *info,
                           const uct_manifest_component_t *component,
                           uct_component_h *component_p)
{
    uct_component_decl_t decl = {
        .name           = component->name,
        .plugin         = info->name,
        .md_flags       = uct_manifest_md_flags(component),
        .mem_types      = component->memory_types,
        .priority       = info->priority,
        .by_name_only   = !info->manifest->by_default,
        .num_transports = component->num_transports,
    };
    uct_tl_decl_t *tls;
    ucs_status_t status;
    unsigned i;

    tls = calloc((size_t)component->num_transports + 1, sizeof(*tls));
    if (tls == NULL) {
        return UCS_ERR_NO_MEMORY;
    }

    decl.transports = tls;
    for (i = 0; i < component->num_transports; ++i) {
        uct_tl_decl_fill(&tls[i], &component->transports[i]);
    }

    if (component->cms.count > 0) {
        decl.flags |= UCT_COMPONENT_FLAG_CM;
    }
    if (decl.md_flags & UCT_MD_FLAG_RKEY_PTR) {
        decl.flags |= UCT_COMPONENT_FLAG_RKEY_PTR;
    }

    status = uct_component_add(&decl, uct_plugin_component_load, release_plugin,
                               NULL, component_p);
    free(tls);
    return status;
}

/* Returns handles of the components that usable plugins declare, in the order
 * of the plugins in the registry. The caller frees the array. */
static ucs_status_t uct_components_collect(uct_plugin_registry_t *registry,
                                           uct_component_h **components_p,
                                           unsigned *count_p)
{
    uct_component_h *components = NULL;
    uct_plugin_t *plugin        = NULL;
    unsigned count              = 0;
    const uct_plugin_info_t *info;
    uct_component_h *larger;
    ucs_status_t status;
    unsigned i;

    while ((plugin = uct_plugin_next(registry, plugin)) != NULL) {
        info   = uct_plugin_info(plugin);
        larger = realloc(components, (count + info->manifest->num_components) *
                                         sizeof(*components));
        if (larger == NULL) {
            status = UCS_ERR_NO_MEMORY;
            goto err;
        }

        components = larger;
        for (i = 0; i < info->manifest->num_components; ++i) {
            status = uct_manifest_component_add(info,
                                                &info->manifest->components[i],
                                                &components[count]);
            if (status != UCS_OK) {
                goto err;
            }
            ++count;
        }
    }

    *components_p = components;
    *count_p      = count;
    return UCS_OK;

err:
    free(components);
    return status;
}

/* Frees all components when this library is unloaded, since a process may load
 * and unload it repeatedly (dlopen, dlclose). */
static void UCS_F_DTOR release_at_unload(void)
{
    uct_component_free_all();
    (void)uct_plugin_registry_reset();
}

ucs_status_t uct_component_list_update(void)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    uct_plugin_registry_t *registry;
    uct_component_h *components;
    uct_component_h builtin;
    ucs_status_t status;
    unsigned count;

    status = uct_component_add(&uct_self_decl, uct_builtin_load, NULL, NULL,
                               &builtin);
    if (status != UCS_OK) {
        return status;
    }

    status = uct_plugin_registry_get(&registry);
    if (status != UCS_OK) {
        return status;
    }

    /* One update at a time: otherwise a slow thread could replace a newer list
     * by an older one. */
    pthread_mutex_lock(&lock);
    status = uct_components_collect(registry, &components, &count);
    if (status == UCS_OK) {
        uct_component_list_set(components, count);
        free(components);
    }
    pthread_mutex_unlock(&lock);
    return status;
}
