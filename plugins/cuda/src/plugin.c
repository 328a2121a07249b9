/* SPDX-License-Identifier: BSD-3-Clause */
/* The entry point: describes the plugin. Opens no device. */
#include "plugin.h"
#include "ipc.h"

static ucx_instances_t instances = UCX_INSTANCES_INIT;

static const ucx_transport_t *const copy_transports[] = {&cuda_copy_transport};
static const ucx_transport_t *const ipc_transports[]  = {&cuda_ipc_transport};

static void plugin_fini(void)
{
    ucx_instances_close(&instances, NULL);
}

/* What both components have in common. */
static ucx_component_t *
component_init(cuda_instance_t *instance, unsigned index, const char *name,
               const ucx_transport_t *const *transports)
{
    ucx_component_t *component = &instance->component[index].super;

    instance->component[index].host = instance->super.host;
    instance->components[index]     = component;

    component->size               = sizeof(*component);
    component->name               = name;
    component->query_md_resources = cuda_md_resources;
    component->md_open            = cuda_md_open;
    component->transports         = transports;
    component->num_transports     = 1;
    component->inspect            = cuda_inspect;
    return component;
}

static ucs_status_t instance_init(ucx_instance_t *super)
{
    cuda_instance_t *instance = (cuda_instance_t *)super;
    ucx_plugin_t *plugin      = &super->plugin;
    ucx_component_t *component;

    component = component_init(instance, 0, CUDA_COMPONENT, copy_transports);
    component->md_ops = &cuda_md_ops;
    component = component_init(instance, 1, CUDA_IPC_COMPONENT, ipc_transports);
    cuda_ipc_component_init(component);

    plugin->name           = CUDA_NAME;
    plugin->version        = CUDA_PLUGIN_VERSION;
    plugin->components     = instance->components;
    plugin->num_components = CUDA_NUM_COMPONENTS;
    plugin->fini           = plugin_fini;
    return UCS_OK;
}

ucs_status_t
ucx_plugin_entry(const ucx_plugin_args_t *args, const ucx_plugin_t **plugin_p)
{
    return ucx_instances_open(&instances, args, sizeof(cuda_instance_t),
                              instance_init, plugin_p);
}
