/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finding what a context may use: which components promise a transport that
 * the configuration allows, and, of those alone, the domains and devices.
 */
#include "ucp/core/context.h"

#include "ucs/debug/log.h"
#include "ucs/memory/memory_type.h"
#include "uct/base/component.h"
#include "uct/base/md.h"

#include <stdlib.h>
#include <string.h>

/* Does the list of transports, in the user's words, let this one through? */
static int is_tl_allowed(const ucs_config_allow_list_t *tls,
                         const uct_component_promise_t *promise,
                         const uct_tl_promise_t *tl)
{
    unsigned i;
    int named = 0;

    for (i = 0; i < tls->array.count; ++i) {
        named |= uct_tl_promise_is_called(tl, tls->array.names[i]);
    }

    switch (tls->mode) {
    case UCS_CONFIG_ALLOW_LIST_ALLOW_ALL:
        return !promise->by_name_only;
    case UCS_CONFIG_ALLOW_LIST_ALLOW:
        return named;
    default:
        return !named && !promise->by_name_only;
    }
}

/* The promise of a transport; a plugin may have none for it, which means that
 * the manifest does not advertise it and nobody gets it. */
static const uct_tl_promise_t *
find_tl(const uct_component_promise_t *promise, const char *tl_name)
{
    unsigned i;

    for (i = 0; i < promise->num_transports; ++i) {
        if (strcmp(promise->transports[i].name, tl_name) == 0) {
            return &promise->transports[i];
        }
    }
    return NULL;
}

/* It serves endpoints to the worker itself, whoever asked for it. */
static int is_loopback(const uct_tl_promise_t *tl)
{
    return (tl->reach == UCT_TL_REACH_SELF) &&
           (tl->cap_flags & UCT_IFACE_FLAG_AM_BCOPY);
}

/* It copies to and from memory that the processor may not touch: see
 * stage/stage.h. */
static int is_copier(const uct_tl_resource_desc_t *desc,
                     const ucx_md_attr_t *md_attr)
{
    const uint64_t host = UCS_BIT(UCS_MEMORY_TYPE_HOST);

    return (desc->dev_type == UCT_DEVICE_TYPE_ACC) &&
           (md_attr->access_mem_types & host) &&
           (md_attr->access_mem_types & ~UCS_MEMORY_TYPES_CPU_ACCESSIBLE) &&
           !(md_attr->flags & (UCT_MD_FLAG_NEED_RKEY |
                               UCT_MD_FLAG_NEED_MEMH));
}

static int is_component_wanted(const ucp_context_t *context,
                               const uct_component_promise_t *promise)
{
    unsigned i;

    for (i = 0; i < promise->num_transports; ++i) {
        if (is_loopback(&promise->transports[i]) ||
            is_tl_allowed(&context->options.tls, promise,
                          &promise->transports[i])) {
            return 1;
        }
    }
    return 0;
}

/* Warns of words in the list of transports that mean nothing here. */
static void explain_unknown_tls(const ucp_context_t *context,
                                uct_component_h *components, unsigned num)
{
    const ucs_config_names_array_t *words = &context->options.tls.array;
    const char *candidates[UCP_MAX_RESOURCES + 1];
    const char *nearest;
    unsigned i, j, k, count = 0;

    for (i = 0; i < num; ++i) {
        const uct_component_promise_t *promise =
                uct_component_promise(components[i]);

        for (j = 0; j < promise->num_transports; ++j) {
            const uct_tl_promise_t *tl = &promise->transports[j];

            if (count < UCP_MAX_RESOURCES) {
                candidates[count++] = tl->name;
            }
            for (k = 0; k < tl->num_aliases; ++k) {
                if (count < UCP_MAX_RESOURCES) {
                    candidates[count++] = tl->aliases[k];
                }
            }
        }
    }
    candidates[count] = NULL;

    for (i = 0; i < words->count; ++i) {
        if (uct_component_find_by_tl(words->names[i], NULL) != NULL) {
            continue;
        }
        nearest = ucs_config_nearest(words->names[i], candidates);
        ucs_warn("UCX_TLS names '%s', which no installed plugin provides%s%s%s;"
                 " see `ucx-plugins list`", words->names[i],
                 (nearest != NULL) ? " (did you mean '" : "",
                 (nearest != NULL) ? nearest : "",
                 (nearest != NULL) ? "'?)" : "");
    }
}

static int is_device_allowed(const ucp_context_t *context,
                             const uct_tl_resource_desc_t *desc)
{
    return (desc->dev_type != UCT_DEVICE_TYPE_NET) ||
           ucs_config_allow_list_allows(&context->options.net_devices,
                                        desc->dev_name);
}

static ucs_status_t add_resource(ucp_context_t *context,
                                 const uct_tl_resource_desc_t *desc,
                                 unsigned md_index, int loopback_only)
{
    const ucx_md_attr_t *md_attr = uct_md_attr(context->mds[md_index].md);
    ucp_resource_t *resources, *resource;

    if (context->num_resources == UCP_MAX_RESOURCES) {
        ucs_warn("more than %d transports and devices: %s/%s is left out;"
                 " choose by UCX_TLS and UCX_NET_DEVICES", UCP_MAX_RESOURCES,
                 desc->tl_name, desc->dev_name);
        return UCS_OK;
    }

    resources = realloc(context->resources,
                        (context->num_resources + 1) * sizeof(*resources));
    if (resources == NULL) {
        return UCS_ERR_NO_MEMORY;
    }

    context->resources = resources;
    resource           = &resources[context->num_resources++];
    memset(resource, 0, sizeof(*resource));
    snprintf(resource->tl_name, sizeof(resource->tl_name), "%s",
             desc->tl_name);
    snprintf(resource->dev_name, sizeof(resource->dev_name), "%s",
             desc->dev_name);
    resource->dev_type      = desc->dev_type;
    resource->sys_dev       = desc->sys_device;
    resource->md_index      = (uint8_t)md_index;
    resource->loopback_only = (uint8_t)loopback_only;
    resource->is_copier     = (uint8_t)is_copier(desc, md_attr);
    if (resource->is_copier) {
        context->staged_types |= md_attr->access_mem_types;
    }
    return UCS_OK;
}

/* Adds the transports of an opened domain; *used tells whether any. */
static ucs_status_t add_transports(ucp_context_t *context, unsigned md_index,
                                   int *used)
{
    ucp_md_t *md                           = &context->mds[md_index];
    const uct_component_promise_t *promise =
            uct_component_promise(md->component);
    uct_tl_resource_desc_t *descs;
    const uct_tl_promise_t *tl;
    ucs_status_t status;
    unsigned num, i;
    int allowed;

    status = uct_md_query_tl_resources(md->md, &descs, &num);
    if (status != UCS_OK) {
        return status;
    }

    for (i = 0; (i < num) && (status == UCS_OK); ++i) {
        tl = find_tl(promise, descs[i].tl_name);
        if (tl == NULL) {
            continue;
        }
        allowed = is_tl_allowed(&context->options.tls, promise, tl);
        if ((allowed || is_loopback(tl)) &&
            is_device_allowed(context, &descs[i])) {
            status = add_resource(context, &descs[i], md_index, !allowed);
            *used  = 1;
        }
    }
    uct_release_tl_resource_list(descs);
    return status;
}

static ucs_status_t open_md(ucp_context_t *context, uct_component_h component,
                            const char *md_name)
{
    ucp_md_t *mds, *md;
    uct_md_config_t *config;
    ucs_status_t status;
    int used = 0;

    if (context->num_mds == UCP_MAX_MDS) {
        ucs_warn("more than %d memory domains: %s is left out", UCP_MAX_MDS,
                 md_name);
        return UCS_OK;
    }

    mds = realloc(context->mds, (context->num_mds + 1) * sizeof(*mds));
    if (mds == NULL) {
        return UCS_ERR_NO_MEMORY;
    }

    context->mds  = mds;
    md            = &mds[context->num_mds];
    md->component = component;
    snprintf(md->name, sizeof(md->name), "%s", md_name);

    status = uct_md_config_read(component, context->app_prefix, NULL, &config);
    if (status != UCS_OK) {
        return status;
    }
    ucp_context_apply_overrides(context, config);
    status = uct_md_open(component, md_name, config, &md->md);
    uct_config_release(config);
    if (status != UCS_OK) {
        ucs_diag("memory domain %s cannot be opened: %s", md_name,
                 ucs_status_string(status));
        return UCS_OK; /* another may do */
    }

    ++context->num_mds;
    status = add_transports(context, context->num_mds - 1, &used);
    if (!used) {
        uct_md_close(md->md);
        --context->num_mds;
    } else {
        context->mem_types |= uct_md_attr(md->md)->access_mem_types |
                              uct_md_attr(md->md)->reg_mem_types |
                              uct_md_attr(md->md)->alloc_mem_types;
    }
    return status;
}

static ucs_status_t
open_component(ucp_context_t *context, uct_component_h component)
{
    uct_component_attr_t attr = {
        .field_mask = UCT_COMPONENT_ATTR_FIELD_MD_RESOURCE_COUNT
    };
    uct_md_resource_desc_t *descs;
    ucs_status_t status;
    unsigned i;

    status = uct_component_query(component, &attr);
    if ((status != UCS_OK) || (attr.md_resource_count == 0)) {
        return UCS_OK; /* told by whoever failed; others may do */
    }

    descs = calloc(attr.md_resource_count, sizeof(*descs));
    if (descs == NULL) {
        return UCS_ERR_NO_MEMORY;
    }

    attr.field_mask   = UCT_COMPONENT_ATTR_FIELD_MD_RESOURCES;
    attr.md_resources = descs;
    status            = uct_component_query(component, &attr);
    for (i = 0; (i < attr.md_resource_count) && (status == UCS_OK); ++i) {
        status = open_md(context, component, descs[i].md_name);
    }
    free(descs);
    return status;
}

ucs_status_t ucp_context_open_resources(ucp_context_t *context)
{
    uct_component_h *components;
    ucs_status_t status;
    unsigned num, i;

    context->mem_types = UCS_BIT(UCS_MEMORY_TYPE_HOST);
    status             = uct_query_components(&components, &num);
    if (status != UCS_OK) {
        return status;
    }

    explain_unknown_tls(context, components, num);
    for (i = 0; (i < num) && (status == UCS_OK); ++i) {
        if (is_component_wanted(context,
                                uct_component_promise(components[i]))) {
            status = open_component(context, components[i]);
        }
    }
    uct_release_component_list(components);

    if ((status == UCS_OK) && (context->num_resources == 0)) {
        ucs_error("no transport can be used: see UCX_TLS, UCX_NET_DEVICES and"
                  " `ucx-plugins list`");
        status = UCS_ERR_NO_DEVICE;
    }
    if (status != UCS_OK) {
        ucp_context_close_resources(context);
    }
    return status;
}

void ucp_context_close_resources(ucp_context_t *context)
{
    unsigned i;

    for (i = 0; i < context->num_mds; ++i) {
        uct_md_close(context->mds[i].md);
    }
    free(context->mds);
    free(context->resources);
}
