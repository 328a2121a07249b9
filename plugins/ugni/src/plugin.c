/* SPDX-License-Identifier: BSD-3-Clause */
/* The entry point: describes the plugin. Opens nothing. */
#include "plugin.h"

static ucx_instances_t instances = UCX_INSTANCES_INIT;

static const ucx_transport_t *const transports[] = {
    &ugni_smsg_transport,
    &ugni_rdma_transport,
};

static void plugin_fini(void)
{
    ucx_instances_close(&instances, NULL);
}

static ucs_status_t instance_init(ucx_instance_t *super)
{
    ugni_instance_t *instance  = (ugni_instance_t *)super;
    ucx_component_t *component = &instance->component;
    ucx_plugin_t *plugin       = &super->plugin;

    component->size               = sizeof(*component);
    component->name               = UGNI_NAME;
    component->md_config          = &ugni_md_config_table;
    component->query_md_resources = ugni_md_resources;
    component->md_open            = ugni_md_open;
    component->md_ops             = &ugni_md_ops;
    component->transports         = transports;
    component->num_transports     = 2;
    component->rkey_unpack        = ugni_rkey_unpack;
    component->rkey_release       = ugni_rkey_release;
    component->rkey_compare       = ugni_rkey_compare;

    instance->components[0] = component;
    plugin->name            = UGNI_NAME;
    plugin->version         = UGNI_VERSION;
    plugin->components      = instance->components;
    plugin->num_components  = 1;
    plugin->fini            = plugin_fini;
    return UCS_OK;
}

ucs_status_t ucx_plugin_entry(const ucx_plugin_args_t *args,
                              const ucx_plugin_t **plugin_p)
{
    return ucx_instances_open(&instances, args, sizeof(ugni_instance_t),
                              instance_init, plugin_p);
}
