/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Code that most plugins need, as inline functions: one component, a memory
 * domain without operations, one device, the addresses of a peer. Optional.
 */
#ifndef UCX_SIMPLE_H
#define UCX_SIMPLE_H

#include <stdio.h>
#include <stdlib.h>

#include <ucx/instance.h>

UCX_BEGIN_DECLS

/* --- A plugin with one component ------------------------------------------ */

/** State of the plugin for one core. */
typedef struct ucx_simple {
    ucx_instance_t super; /**< First member: descriptor, host */
    ucx_component_t component;
    const ucx_component_t *components[1];
} ucx_simple_t;

/** Returns the services of the core that loaded the plugin. `component` is the
 *  copy that ucx_simple_open() made, which the core passes to the slots of the
 *  component. */
static inline const ucx_host_t *
ucx_simple_host(const ucx_component_t *component)
{
    const char *simple = (const char *)component -
                         offsetof(ucx_simple_t, component);

    return ((const ucx_simple_t *)(const void *)simple)->super.host;
}

/** The init() that ucx_instances_open() requires. Does nothing, because
 *  ucx_simple_open() writes the descriptor. */
static inline ucs_status_t ucx_simple_init(ucx_instance_t *instance)
{
    (void)instance;
    return UCS_OK;
}

/**
 * Implements ucx_plugin_entry() for a plugin with one component. `component` is
 * copied; its name is also the name of the plugin. `fini` must call
 * ucx_instances_close(instances, NULL). Any thread may call this function.
 */
static inline ucs_status_t
ucx_simple_open(ucx_instances_t *instances, const ucx_plugin_args_t *args,
                const ucx_component_t *component, const char *version,
                void (*fini)(void), const ucx_plugin_t **plugin_p)
{
    ucx_simple_t *simple;
    ucs_status_t status;

    status = ucx_instances_open(instances, args, sizeof(*simple),
                                ucx_simple_init, plugin_p);
    if (status == UCS_OK) {
        simple                              = (ucx_simple_t *)(void *)*plugin_p;
        simple->component                   = *component;
        simple->components[0]               = &simple->component;
        simple->super.plugin.name           = component->name;
        simple->super.plugin.version        = version;
        simple->super.plugin.components     = simple->components;
        simple->super.plugin.num_components = 1;
        simple->super.plugin.fini           = fini;
    }
    return status;
}

/* --- Resources ------------------------------------------------------------ */

/** Implements query_md_resources: one domain with the component's name. */
static inline ucs_status_t
ucx_simple_query_mds(const ucx_component_t *component,
                     uct_md_resource_desc_t **mds_p, unsigned *num_p)
{
    uct_md_resource_desc_t *md;

    md = (uct_md_resource_desc_t *)calloc(1, sizeof(*md));
    if (md == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    snprintf(md->md_name, sizeof(md->md_name), "%s", component->name);
    *mds_p = md; /* the core frees it */
    *num_p = 1;
    return UCS_OK;
}

/** Lists one device with this name and type, for query_devices. */
static inline ucs_status_t ucx_simple_device(const char *name,
                                             uct_device_type_t type,
                                             ucx_device_desc_t **devices_p,
                                             unsigned *num_p)
{
    ucx_device_desc_t *device;

    device = (ucx_device_desc_t *)calloc(1, sizeof(*device));
    if (device == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    snprintf(device->name, sizeof(device->name), "%s", name);
    device->type    = type;
    device->sys_dev = UCS_SYS_DEVICE_ID_UNKNOWN;
    *devices_p      = device; /* the core frees it */
    *num_p          = 1;
    return UCS_OK;
}

/* --- A domain without operations ------------------------------------------ */

/** Implements md_open: a domain without state of its own. */
static inline ucs_status_t ucx_simple_md_open(const ucx_component_t *component,
                                              const ucx_md_open_args_t *args,
                                              uct_md_h *md_p)
{
    uct_md_t *md = (uct_md_t *)malloc(sizeof(*md));

    (void)component;
    if (md == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    ucx_md_init(md, args);
    *md_p = md;
    return UCS_OK;
}

/** Implement close and query of a domain whose interfaces access host memory
 *  without registration. */
static inline void ucx_simple_md_close(uct_md_h md)
{
    free(md);
}

static inline ucs_status_t ucx_simple_md_query(uct_md_h md, ucx_md_attr_t *attr)
{
    (void)md;
    attr->access_mem_types = 1u << UCS_MEMORY_TYPE_HOST;
    return UCS_OK;
}

/* --- Addresses ------------------------------------------------------------ */

/**
 * Returns the addresses that ep_create received, in the form that is_reachable
 * expects. dev_addr_length and iface_addr_length are the lengths of the
 * transport's addresses: the API defines that they apply if the caller of
 * uct_ep_create did not state a length. An address that was not passed is NULL.
 */
static inline ucx_reachable_args_t
ucx_simple_peer(const uct_ep_params_t *params, size_t dev_addr_length,
                size_t iface_addr_length)
{
    const uint64_t mask       = params->field_mask;
    ucx_reachable_args_t peer = {0};

    peer.size              = sizeof(peer);
    peer.dev_addr_length   = dev_addr_length;
    peer.iface_addr_length = iface_addr_length;
    if (mask & UCT_EP_PARAM_FIELD_DEV_ADDR) {
        peer.dev_addr = params->dev_addr;
    }
    if (mask & UCT_EP_PARAM_FIELD_IFACE_ADDR) {
        peer.iface_addr = params->iface_addr;
    }
    if (mask & UCT_EP_PARAM_FIELD_DEV_ADDR_LENGTH) {
        peer.dev_addr_length = params->dev_addr_length;
    }
    if (mask & UCT_EP_PARAM_FIELD_IFACE_ADDR_LENGTH) {
        peer.iface_addr_length = params->iface_addr_length;
    }
    return peer;
}

UCX_END_DECLS

#endif
