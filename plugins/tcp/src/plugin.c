/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The entry point: returns the description of the plugin (ucx_plugin_t). Opens
 * no device.
 */
#include "plugin.h"
#include "config.h"
#include "md.h"

static ucx_instances_t instances = UCX_INSTANCES_INIT;

static const ucx_transport_t *const transports[] = {&tcp_transport};

static void plugin_fini(void)
{
    ucx_instances_close(&instances, NULL);
}

static ucs_status_t instance_init(ucx_instance_t *super)
{
    tcp_instance_t *instance   = (tcp_instance_t *)super;
    ucx_component_t *component = &instance->component;
    ucx_plugin_t *plugin       = &super->plugin;

    instance->components[0] = component;

    component->size               = sizeof(*component);
    component->name               = TCP_NAME;
    component->flags              = UCT_COMPONENT_FLAG_CM;
    component->md_config          = &tcp_md_config_table;
    component->cm_config          = &tcp_cm_config_table;
    component->query_md_resources = tcp_md_resources;
    component->md_open            = tcp_md_open;
    component->md_ops             = &tcp_md_ops;
    component->rkey_unpack        = tcp_rkey_unpack;
    component->rkey_release       = tcp_rkey_release;
    component->transports         = transports;
    component->num_transports     = 1;
    component->cm_ops             = &tcp_cm_ops;

    plugin->name           = TCP_NAME;
    plugin->version        = TCP_VERSION;
    plugin->components     = instance->components;
    plugin->num_components = 1;
    plugin->fini           = plugin_fini;
    return UCS_OK;
}

ucs_status_t ucx_plugin_entry(const ucx_plugin_args_t *args,
                              const ucx_plugin_t **plugin_p)
{
    return ucx_instances_open(&instances, args, sizeof(tcp_instance_t),
                              instance_init, plugin_p);
}
