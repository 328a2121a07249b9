/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ucp_context_open_resources(): loads the components of which the user's lists
 * allow a transport, opens their memory domains, and records the resources (a
 * transport on a device) that a worker may use.
 */
#include "ucp/base/context.h"

#include "ucp/core/config.h"
#include "ucp/core/context.h"
#include "ucp/core/tl_select.h"
#include "ucs/debug/log.h"
#include "ucs/memory/memory_type.h"
#include "uct/base/component.h"
#include "uct/base/md.h"

#include <stdlib.h>
#include <string.h>

/* Finds the declaration of a transport in the manifest of the plugin that has
 * the transport. Returns NULL if there is none: the transport is then not
 * used. */
static const uct_tl_decl_t *find_tl(const uct_component_decl_t *decl,
                                    const char *tl_name)
{
    unsigned i;

    for (i = 0; i < decl->num_transports; ++i) {
        if (strcmp(decl->transports[i].name, tl_name) == 0) {
            return &decl->transports[i];
        }
    }
    return NULL;
}

/* True for a transport that reaches only the process itself and carries
 * messages. Endpoints to the worker itself use such a transport even if the
 * user's lists exclude it. */
static int is_loopback(const uct_tl_decl_t *tl)
{
    return (tl->reach == UCT_TL_REACH_SELF) &&
           (tl->cap_flags & UCT_IFACE_FLAG_AM_BCOPY);
}

/* True if the resource is a copier: it copies between host memory and memory
 * that the processor cannot access (stage/stage.h). */
static int is_copier(const uct_tl_resource_desc_t *desc,
                     const ucx_md_attr_t *md_attr)
{
    const uint64_t host = UCS_BIT(UCS_MEMORY_TYPE_HOST);

    return (desc->dev_type == UCT_DEVICE_TYPE_ACC) &&
           (md_attr->access_mem_types & host) &&
           (md_attr->access_mem_types & ~UCS_MEMORY_TYPES_CPU_ACCESSIBLE) &&
           !(md_attr->flags & (UCT_MD_FLAG_NEED_RKEY | UCT_MD_FLAG_NEED_MEMH));
}

static int is_component_wanted(const ucp_tl_select_t *selection,
                               const uct_component_decl_t *decl)
{
    unsigned i;

    for (i = 0; i < decl->num_transports; ++i) {
        if (is_loopback(&decl->transports[i]) ||
            (ucp_tl_select_role(selection, decl, &decl->transports[i]) !=
             UCP_TL_ROLE_NONE)) {
            return 1;
        }
    }
    return 0;
}

static ucs_status_t add_resource(ucp_context_t *context,
                                 const uct_tl_resource_desc_t *desc,
                                 unsigned md_index, ucp_tl_role_t role)
{
    const ucx_md_attr_t *md_attr = uct_md_attr(context->mds[md_index].md);
    ucp_resource_t *resources, *resource;

    if (context->num_resources == UCP_MAX_RESOURCES) {
        ucs_warn("more than %d transports and devices: %s/%s is left out;"
                 " limit them with UCX_TLS and UCX_NET_DEVICES",
                 UCP_MAX_RESOURCES, desc->tl_name, desc->dev_name);
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
    snprintf(resource->tl_name, sizeof(resource->tl_name), "%s", desc->tl_name);
    snprintf(resource->dev_name, sizeof(resource->dev_name), "%s",
             desc->dev_name);
    resource->dev_type      = desc->dev_type;
    resource->sys_dev       = desc->sys_device;
    resource->md_index      = (uint8_t)md_index;
    resource->loopback_only = (role == UCP_TL_ROLE_NONE);
    resource->aux_only      = (role == UCP_TL_ROLE_AUXILIARY);
    resource->is_copier     = (uint8_t)is_copier(desc, md_attr);
    if (resource->is_copier) {
        context->staged_types |= md_attr->access_mem_types;
    }
    return UCS_OK;
}

/* Adds those resources of an opened memory domain that workers may use. Sets
 * *used to 1 if there are any. */
static ucs_status_t add_transports(ucp_context_t *context,
                                   ucp_tl_select_t *selection,
                                   unsigned md_index, int *used)
{
    ucp_md_t *md                     = &context->mds[md_index];
    const uct_component_decl_t *decl = uct_component_decl(md->component);
    uct_tl_resource_desc_t *descs;
    const uct_tl_decl_t *tl;
    ucs_status_t status;
    unsigned num, i;
    ucp_tl_role_t role;

    status = uct_md_query_tl_resources(md->md, &descs, &num);
    if (status != UCS_OK) {
        return status;
    }

    for (i = 0; (i < num) && (status == UCS_OK); ++i) {
        tl = find_tl(decl, descs[i].tl_name);
        if (tl == NULL) {
            continue;
        }
        role = ucp_tl_select_role(selection, decl, tl);
        if ((role != UCP_TL_ROLE_NONE) &&
            !ucp_tl_select_add_device(selection, &descs[i])) {
            role = UCP_TL_ROLE_NONE;
        }
        if (role != UCP_TL_ROLE_NONE) {
            ucp_tl_select_add_tl(selection, tl, role);
        }
        if ((role == UCP_TL_ROLE_AUXILIARY) && is_loopback(tl)) {
            /* A loopback transport does not reach other processes, so it cannot
             * connect lanes to them. */
            role = UCP_TL_ROLE_NONE;
        }
        if ((role != UCP_TL_ROLE_NONE) || is_loopback(tl)) {
            status = add_resource(context, &descs[i], md_index, role);
            *used  = 1;
        }
    }
    uct_release_tl_resource_list(descs);
    return status;
}

static ucs_status_t open_md(ucp_context_t *context, ucp_tl_select_t *selection,
                            uct_component_h component, const char *md_name)
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

    status = uct_md_config_read(component, context->app_prefix,
                                context->config_file, &config);
    if (status != UCS_OK) {
        return status;
    }
    ucp_context_apply_overrides(context, config);
    status = uct_md_open(component, md_name, config, &md->md);
    uct_config_release(config);
    if (status == UCS_ERR_INVALID_PARAM) {
        return status; /* A setting is invalid; uct_md_open() has reported it */
    }
    if (status != UCS_OK) {
        ucs_diag("memory domain %s cannot be opened: %s", md_name,
                 ucs_status_string(status));
        return UCS_OK; /* Continue: other domains may be sufficient */
    }

    ++context->num_mds;
    status = add_transports(context, selection, context->num_mds - 1, &used);
    if (!used) {
        uct_md_close(md->md);
        --context->num_mds;
    } else {
        context->mem_types |= uct_md_attr(md->md)->access_mem_types |
                              uct_md_attr(md->md)->reg_mem_types |
                              uct_md_attr(md->md)->alloc_mem_types;
        context->dmabuf_types |= uct_md_attr(md->md)->dmabuf_mem_types;
    }
    return status;
}

static ucs_status_t open_component(ucp_context_t *context,
                                   ucp_tl_select_t *selection,
                                   uct_component_h component)
{
    uct_component_attr_t attr = {
        .field_mask = UCT_COMPONENT_ATTR_FIELD_MD_RESOURCE_COUNT,
    };
    uct_md_resource_desc_t *descs;
    ucs_status_t status;
    unsigned i;

    status = uct_component_query(component, &attr);
    if ((status != UCS_OK) || (attr.md_resource_count == 0)) {
        /* The error is already reported; other components may be sufficient. */
        return UCS_OK;
    }

    descs = calloc(attr.md_resource_count, sizeof(*descs));
    if (descs == NULL) {
        return UCS_ERR_NO_MEMORY;
    }

    attr.field_mask   = UCT_COMPONENT_ATTR_FIELD_MD_RESOURCES;
    attr.md_resources = descs;
    status            = uct_component_query(component, &attr);
    for (i = 0; (i < attr.md_resource_count) && (status == UCS_OK); ++i) {
        status = open_md(context, selection, component, descs[i].md_name);
    }
    free(descs);
    return status;
}

ucs_status_t ucp_context_open_resources(ucp_context_t *context)
{
    const uct_component_decl_t *decl;
    ucp_tl_select_t selection;
    ucs_status_t status;
    unsigned i;

    status = ucp_config_check(&context->options);
    if (status != UCS_OK) {
        return status;
    }

    context->mem_types = UCS_BIT(UCS_MEMORY_TYPE_HOST);
    status             = ucp_tl_select_init(&selection, &context->options);
    if (status != UCS_OK) {
        return status;
    }

    for (i = 0; (i < selection.num_components) && (status == UCS_OK); ++i) {
        decl = uct_component_decl(selection.components[i]);
        if (is_component_wanted(&selection, decl)) {
            status = open_component(context, &selection,
                                    selection.components[i]);
        }
    }

    if (status == UCS_OK) {
        status = ucp_tl_select_check(&selection);
    }
    ucp_tl_select_cleanup(&selection);
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
