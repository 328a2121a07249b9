/* SPDX-License-Identifier: BSD-3-Clause */
/* The entry point: describes the plugin. It opens nothing, starts nothing and
 * prints nothing; the core does that later through the tables. */
#include "template.h"

static const ucx_transport_t *const transports[] = {&template_transport};

static ucx_instances_t instances = UCX_INSTANCES_INIT;

static void fini(void)
{
    ucx_instances_close(&instances, NULL);
}

static ucs_status_t describe(ucx_instance_t *super)
{
    template_instance_t *instance = (template_instance_t *)super;

    instance->component = (ucx_component_t){
        .size               = sizeof(instance->component),
        .name               = TEMPLATE_NAME,
        .query_md_resources = template_query_mds,
        .md_open            = template_md_open,
        .md_ops             = &template_md_ops,
        .transports         = transports,
        .num_transports     = 1
    };
    instance->components[0] = &instance->component;
    super->plugin           = (ucx_plugin_t){
        .size           = sizeof(super->plugin),
        .abi            = UCX_PLUGIN_ABI_VERSION,
        .name           = TEMPLATE_NAME,
        .version        = TEMPLATE_VERSION,
        .components     = instance->components,
        .num_components = 1,
        .fini           = fini
    };
    return UCS_OK;
}

ucs_status_t
ucx_plugin_entry(const ucx_plugin_args_t *args, const ucx_plugin_t **plugin_p)
{
    return ucx_instances_open(&instances, args, sizeof(template_instance_t),
                              describe, plugin_p);
}
