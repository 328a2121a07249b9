/* SPDX-License-Identifier: BSD-3-Clause */
/* The entry point, and a memory domain that has no operations. */
#include "udp.h"

#include <stdlib.h>

static ucs_status_t query_mds(const ucx_component_t *component,
                              uct_md_resource_desc_t **mds_p, unsigned *num_p)
{
    uct_md_resource_desc_t *md = calloc(1, sizeof(*md));

    (void)component;
    if (md == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    snprintf(md->md_name, sizeof(md->md_name), UDP_NAME);
    *mds_p = md; /* the core frees it */
    *num_p = 1;
    return UCS_OK;
}

static ucs_status_t md_open(const ucx_component_t *component,
                            const ucx_md_open_args_t *args, uct_md_h *md_p)
{
    uct_md_t *md = malloc(sizeof(*md));

    (void)component;
    if (md == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    ucx_md_init(md, args);
    *md_p = md;
    return UCS_OK;
}

static void md_close(uct_md_h md)
{
    free(md);
}

static ucs_status_t md_query(uct_md_h md, ucx_md_attr_t *attr)
{
    (void)md;
    attr->access_mem_types = 1u << UCS_MEMORY_TYPE_HOST;
    return UCS_OK;
}

static const ucx_md_ops_t md_ops = {
    .size  = sizeof(md_ops),
    .close = md_close,
    .query = md_query
};

static const ucx_transport_t *const transports[] = {&udp_transport};

static ucx_instances_t instances = UCX_INSTANCES_INIT;

static void fini(void)
{
    ucx_instances_close(&instances, NULL);
}

static ucs_status_t describe(ucx_instance_t *super)
{
    udp_instance_t *instance = (udp_instance_t *)super;

    instance->component = (ucx_component_t){
        .size               = sizeof(instance->component),
        .name               = UDP_NAME,
        .query_md_resources = query_mds,
        .md_open            = md_open,
        .md_ops             = &md_ops,
        .transports         = transports,
        .num_transports     = 1
    };
    instance->components[0]      = &instance->component;
    super->plugin.name           = UDP_NAME;
    super->plugin.version        = UDP_VERSION;
    super->plugin.components     = instance->components;
    super->plugin.num_components = 1;
    super->plugin.fini           = fini;
    return UCS_OK;
}

ucs_status_t
ucx_plugin_entry(const ucx_plugin_args_t *args, const ucx_plugin_t **plugin_p)
{
    return ucx_instances_open(&instances, args, sizeof(udp_instance_t),
                              describe, plugin_p);
}
