/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions shared by the test plugins: the entry point, and the lists of
 * memory domains and devices, each of which has one entry.
 */
#ifndef LOCAL_ENTRY_H
#define LOCAL_ENTRY_H

#include <ucx/plugin.h>

#define LOCAL_VERSION "1.0.0"

/** The plugin's state for one core (a process may load several copies of the
 * core). The component is the first member, so that a pointer to it can be
 * converted to one to this structure. */
typedef struct local_instance {
    ucx_component_t component; /**< First member */
    ucx_plugin_t plugin;
    const ucx_component_t *components[1];
    const ucx_host_t *host; /**< Services of the core */
    struct local_instance *next;
} local_instance_t;

/** Returns the services of the core that opened the domain. */
static inline const ucx_host_t *local_host_of(uct_md_h md)
{
    return ((const local_instance_t *)md->component)->host;
}

/** The entry point of a plugin with one component, which is a copy of
 *  `pattern`. */
ucs_status_t local_entry(const ucx_plugin_args_t *args,
                         const ucx_component_t *pattern,
                         const ucx_plugin_t **plugin_p);

/** Slot query_md_resources: returns one domain, which has the component's
 * name. */
ucs_status_t local_query_mds(const ucx_component_t *component,
                             uct_md_resource_desc_t **mds_p, unsigned *num_p);

/** Slot query_devices: returns one device, which represents this host. */
ucs_status_t local_query_devices(uct_md_h md, ucx_device_desc_t **devices_p,
                                 unsigned *num_p);

#endif
