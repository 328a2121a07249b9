/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The plugin's state for one core, the UCX library that loads the plugin. No
 * state of a core is in global variables: a process may contain two copies of
 * the core, each with its own instance of the plugin.
 */
#ifndef ACCEL_PLUGIN_H
#define ACCEL_PLUGIN_H

#include "md.h"

#include <ucx/instance.h>

enum { ACCEL_NUM_COMPONENTS = 2 }; /* For copies, and for IPC */

/* A component with the services of its core, and its only transport. */
typedef struct accel_component {
    ucx_component_t super;
    const ucx_host_t *host;
    /* Copy of accel_copy_transport or accel_ipc_transport, with the plugin's
     * names */
    ucx_transport_t transport;
    const ucx_transport_t *transports[1]; /* The array of super.transports */
} accel_component_t;

/* State of the plugin for one core. */
typedef struct accel_instance {
    ucx_instance_t super;
    ucx_config_table_t ipc_config; /* accel_ipc_config with the plugin's
                                    * prefix */
    accel_component_t component[ACCEL_NUM_COMPONENTS];
    /* The array of ucx_plugin_t.components */
    const ucx_component_t *components[ACCEL_NUM_COMPONENTS];
} accel_instance_t;

/* Returns the services of the core that loaded the component. */
static inline const ucx_host_t *accel_host(const ucx_component_t *component)
{
    return accel_container_of(component, accel_component_t, super)->host;
}

#endif
