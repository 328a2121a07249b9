/* SPDX-License-Identifier: BSD-3-Clause */
/* The entry point: describes the plugin. Opens no device. */
#include "plugin.h"
#ifdef IB_HAVE_RDMACM
#include "cm_config.h"
#endif
#include "config.h"
#include "device.h"
#include "md.h"

static ucx_instances_t instances = UCX_INSTANCES_INIT;

static const ucx_transport_t *const transports[] = {
    &ib_rc_transport,
    &ib_ud_transport,
};

static void plugin_fini(void)
{
    ucx_instances_close(&instances, NULL);
}

#ifdef IB_HAVE_RDMACM
/* Lists no memory domain: the component rdmacm has none. */
static ucs_status_t no_md_resources(const ucx_component_t *component,
                                    uct_md_resource_desc_t **mds_p,
                                    unsigned *num_p)
{
    *mds_p = NULL;
    *num_p = 0;
    return UCS_OK;
}

static ucs_status_t no_md_open(const ucx_component_t *component,
                               const ucx_md_open_args_t *args, uct_md_h *md_p)
{
    return UCS_ERR_NO_DEVICE;
}
#endif

/* Adds the component rdmacm, if the plugin is built with librdmacm. It is a
 * component of its own so that UCX_SOCKADDR_TLS_PRIORITY can name it. */
static void cm_init(ib_instance_t *instance)
{
#ifdef IB_HAVE_RDMACM
    ucx_component_t *component = &instance->cm;

    instance->components[instance->super.plugin.num_components++] = component;

    component->size               = sizeof(*component);
    component->name               = "rdmacm";
    component->flags              = UCT_COMPONENT_FLAG_CM;
    component->cm_config          = &ib_cm_config_table;
    component->cm_ops             = &ib_cm_ops;
    component->md_ops             = &ib_md_ops;
    component->md_open            = no_md_open;
    component->query_md_resources = no_md_resources;
#endif
}

static ucs_status_t instance_init(ucx_instance_t *super)
{
    ib_instance_t *instance    = (ib_instance_t *)super;
    ucx_component_t *component = &instance->component;
    ucx_plugin_t *plugin       = &super->plugin;

    instance->components[0] = component;

    component->size               = sizeof(*component);
    component->name               = IB_NAME;
    component->md_config          = &ib_md_config_table;
    component->query_md_resources = ib_md_resources;
    component->md_open            = ib_md_open;
    component->md_ops             = &ib_md_ops;
    component->rkey_unpack        = ib_rkey_unpack;
    component->rkey_release       = ib_rkey_release;
    component->rkey_compare       = ib_rkey_compare;
    component->transports         = transports;
    component->num_transports     = sizeof(transports) / sizeof(transports[0]);

    plugin->name           = IB_NAME;
    plugin->version        = IB_VERSION;
    plugin->components     = instance->components;
    plugin->num_components = 1;
    plugin->fini           = plugin_fini;
    cm_init(instance);
    return UCS_OK;
}

ucs_status_t ucx_plugin_entry(const ucx_plugin_args_t *args,
                              const ucx_plugin_t **plugin_p)
{
    return ucx_instances_open(&instances, args, sizeof(ib_instance_t),
                              instance_init, plugin_p);
}
