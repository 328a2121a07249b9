/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The core's loopback transport "self" as a plugin, so that the conformance kit
 * (ucx-plugin-check) can test it. Its name is changed to "loop", because a
 * plugin must not have the name of a component of the core.
 */
#include <ucx/plugin.h>

#define NAME "loop"

ucs_status_t uct_self_plugin_entry(const ucx_plugin_args_t *args,
                                   const ucx_plugin_t **plugin_p);

/* Copies of the loopback's tables, with the new name. */
static ucx_transport_t transport;
static const ucx_transport_t *const transports[] = {&transport};
static ucx_component_t component;
static const ucx_component_t *const components[] = {&component};
static ucx_plugin_t plugin;

ucs_status_t ucx_plugin_entry(const ucx_plugin_args_t *args,
                              const ucx_plugin_t **plugin_p)
{
    const ucx_plugin_t *self;
    ucs_status_t status = uct_self_plugin_entry(args, &self);

    if (status != UCS_OK) {
        return status;
    }
    transport            = *self->components[0]->transports[0];
    transport.name       = NAME;
    component            = *self->components[0];
    component.name       = NAME;
    component.transports = transports;
    plugin               = *self;
    plugin.name          = NAME;
    plugin.components    = components;
    *plugin_p            = &plugin;
    return UCS_OK;
}
