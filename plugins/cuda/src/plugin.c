/* SPDX-License-Identifier: BSD-3-Clause */
/* The entry point: describes the plugin. Opens no device. */
#include "plugin.h"
#include "md.h"

static ucx_instances_t instances = UCX_INSTANCES_INIT;

static const ucx_transport_t *const transports[] = {&cuda_copy_transport};

static void plugin_fini(void)
{
    ucx_instances_close(&instances, NULL);
}

static ucs_status_t instance_init(ucx_instance_t *super)
{
    cuda_instance_t *instance  = (cuda_instance_t *)super;
    ucx_component_t *component = &instance->component;
    ucx_plugin_t *plugin       = &super->plugin;

    instance->components[0] = component;

    component->size               = sizeof(*component);
    component->name               = CUDA_COMPONENT;
    component->query_md_resources = cuda_md_resources;
    component->md_open            = cuda_md_open;
    component->md_ops             = &cuda_md_ops;
    component->transports         = transports;
    component->num_transports     = 1;
    component->inspect            = cuda_inspect;

    plugin->name           = CUDA_NAME;
    plugin->version        = CUDA_PLUGIN_VERSION;
    plugin->components     = instance->components;
    plugin->num_components = 1;
    plugin->fini           = plugin_fini;
    return UCS_OK;
}

ucs_status_t
ucx_plugin_entry(const ucx_plugin_args_t *args, const ucx_plugin_t **plugin_p)
{
    return ucx_instances_open(&instances, args, sizeof(cuda_instance_t),
                              instance_init, plugin_p);
}
