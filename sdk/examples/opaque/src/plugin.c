/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The entry point: describes the plugin.
 */
#include "opaque.h"

typedef struct instance {
    ucx_instance_t        super;
    ucx_component_t       component;
    const ucx_component_t *components[1];
} instance_t;

static const ucx_transport_t *const transports[] = {&opaque_transport};

static ucx_instances_t instances = UCX_INSTANCES_INIT;

static void fini(void)
{
    ucx_instances_close(&instances, NULL);
}

static ucs_status_t describe(ucx_instance_t *super)
{
    instance_t *instance = (instance_t *)super;

    instance->component = (ucx_component_t){
        .size               = sizeof(instance->component),
        .name               = OPAQUE_NAME,
        .query_md_resources = opaque_query_mds,
        .md_open            = opaque_md_open,
        .md_ops             = &opaque_md_ops,
        .transports         = transports,
        .num_transports     = 1
    };
    instance->components[0] = &instance->component;
    super->plugin           = (ucx_plugin_t){
        .size           = sizeof(super->plugin),
        .abi            = UCX_PLUGIN_ABI_VERSION,
        .name           = OPAQUE_NAME,
        .version        = OPAQUE_VERSION,
        .components     = instance->components,
        .num_components = 1,
        .fini           = fini
    };
    return UCS_OK;
}

ucs_status_t
ucx_plugin_entry(const ucx_plugin_args_t *args, const ucx_plugin_t **plugin_p)
{
    return ucx_instances_open(&instances, args, sizeof(instance_t),
                              describe, plugin_p);
}
