/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The descriptor of the built-in loopback transport (self.h) and the entry
 * point that returns it. Both have the same types as those of a plugin
 * (ucx/plugin.h), but are linked into the core.
 */
#include "self.h"

const ucx_host_t *uct_self_host;

static const ucx_transport_t self_transport = {
    .size          = sizeof(self_transport),
    .name          = SELF_NAME,
    .config        = &uct_self_iface_config,
    .query_devices = self_query_devices,
    .iface_open    = self_iface_open,
    .iface_ops     = &uct_self_iface_ops,
    .ep_ops        = &uct_self_ep_ops,
};

static const ucx_transport_t *const self_transports[] = {&self_transport};

static const ucx_component_t self_component = {
    .size               = sizeof(self_component),
    .name               = SELF_NAME,
    .flags              = UCT_COMPONENT_FLAG_RKEY_PTR,
    .query_md_resources = self_query_md_resources,
    .md_open            = self_md_open,
    .md_ops             = &uct_self_md_ops,
    .rkey_unpack        = self_rkey_unpack,
    .rkey_ptr           = self_rkey_ptr,
    .rkey_release       = self_rkey_release,
    .rkey_compare       = self_rkey_compare,
    .transports         = self_transports,
    .num_transports     = 1,
};

static const ucx_component_t *const self_components[] = {&self_component};

static const ucx_plugin_t self_plugin = {
    .size           = sizeof(self_plugin),
    .abi            = UCX_PLUGIN_ABI_VERSION,
    .name           = SELF_NAME,
    .version        = "1.0.0",
    .components     = self_components,
    .num_components = 1,
};

ucs_status_t uct_self_plugin_entry(const ucx_plugin_args_t *args,
                                   const ucx_plugin_t **plugin_p)
{
    uct_self_host = args->host;
    *plugin_p     = &self_plugin;
    return UCS_OK;
}
