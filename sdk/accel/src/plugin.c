/* SPDX-License-Identifier: BSD-3-Clause */
/* Implements the plugin's entry point: describes the plugin and its two
 * components to the core. Opens no device. */
#include "plugin.h"
#include "ipc.h"

#include <stdlib.h>

static ucx_instances_t instances = UCX_INSTANCES_INIT;

ucs_status_t accel_status(int result)
{
    if (result > 0) {
        return accel_driver.status(result);
    }
    return ((result == ACCEL_RESET) || (result == ACCEL_BUSY)) ?
               UCS_ERR_IO_ERROR :
               (ucs_status_t)result;
}

const char *accel_error(int result)
{
    if (result > 0) {
        return accel_driver.error(result);
    }
    switch (result) {
    case ACCEL_RESET:
        return "the device was reset";
    case UCS_ERR_NO_MEMORY:
        return "out of memory";
    case UCS_ERR_NO_DEVICE:
        return "no such device";
    case UCS_ERR_UNSUPPORTED:
        return "the driver does not support it";
    case UCS_ERR_INVALID_ADDR:
        return "the memory is not as the key describes it";
    case UCS_ERR_REJECTED:
        return "its descriptor is not available";
    default:
        return "input/output error";
    }
}

static void plugin_fini(void)
{
    ucx_instances_close(&instances, NULL);
}

/* Initializes the members that both components have, and returns the
 * component. */
static ucx_component_t *component_init(accel_instance_t *instance,
                                       unsigned index, const char *name,
                                       const ucx_transport_t *transport,
                                       const char *transport_name)
{
    accel_component_t *component = &instance->component[index];
    ucx_component_t *super       = &component->super;

    component->host             = instance->super.host;
    component->transport        = *transport;
    component->transports[0]    = &component->transport;
    component->transport.name   = transport_name;
    instance->components[index] = super;

    super->size               = sizeof(*super);
    super->name               = name;
    super->query_md_resources = accel_md_resources;
    super->md_open            = accel_md_open;
    super->transports         = component->transports;
    super->num_transports     = 1;
    super->inspect            = accel_inspect;
    return super;
}

static ucs_status_t instance_init(ucx_instance_t *super)
{
    const accel_names_t *names = &accel_driver.names;
    accel_instance_t *instance = (accel_instance_t *)super;
    ucx_plugin_t *plugin       = &super->plugin;
    ucx_component_t *component;

    component         = component_init(instance, 0, names->copy_component,
                                       &accel_copy_transport, names->copy_transport);
    component->md_ops = &accel_md_ops;

    component = component_init(instance, 1, names->ipc_component,
                               &accel_ipc_transport, names->ipc_transport);
    accel_ipc_component_init(component);
    instance->ipc_config                    = accel_ipc_config;
    instance->ipc_config.prefix             = names->ipc_prefix;
    instance->component[1].transport.config = &instance->ipc_config;

    plugin->name           = names->plugin;
    plugin->version        = names->version;
    plugin->components     = instance->components;
    plugin->num_components = ACCEL_NUM_COMPONENTS;
    plugin->fini           = plugin_fini;
    return UCS_OK;
}

ucs_status_t accel_plugin_open(const ucx_plugin_args_t *args,
                               const ucx_plugin_t **plugin_p)
{
    return ucx_instances_open(&instances, args, sizeof(accel_instance_t),
                              instance_init, plugin_p);
}
