/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The plugin's descriptor. No state of a core is in global variables: a process
 * may contain two copies of the core, each with its own instance of the plugin.
 * The log macros use a local variable `host`.
 */
#ifndef ACCEL_PLUGIN_H
#define ACCEL_PLUGIN_H

#include "md.h"

#include <ucx/instance.h>

enum { ACCEL_NUM_COMPONENTS = 2 };

/* A component with the services of its core, and its transport. */
typedef struct accel_component {
    ucx_component_t super;
    const ucx_host_t *host;
    ucx_transport_t transport;
    const ucx_transport_t *transports[1];
} accel_component_t;

/* State of the plugin for one core. */
typedef struct accel_instance {
    ucx_instance_t super;
    ucx_config_table_t ipc_config;
    accel_component_t component[ACCEL_NUM_COMPONENTS];
    const ucx_component_t *components[ACCEL_NUM_COMPONENTS];
} accel_instance_t;

static inline const ucx_host_t *accel_host(const ucx_component_t *component)
{
    return accel_container_of(component, accel_component_t, super)->host;
}

#endif
