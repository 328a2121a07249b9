/* SPDX-License-Identifier: BSD-3-Clause */
/* The entry point: says what this plugin is. It opens nothing, starts nothing
 * and prints nothing; all that comes later, when somebody wants it. */
#include "template.h"

#include <stdio.h>

const ucx_host_t *template_host;

static const ucx_transport_t *const transports[] = {&template_transport};

static const ucx_component_t component = {
    .size               = sizeof(component),
    .name               = TEMPLATE_NAME,
    .query_md_resources = template_query_mds,
    .md_open            = template_md_open,
    .md_ops             = &template_md_ops,
    .transports         = transports,
    .num_transports     = 1
};

static const ucx_component_t *const components[] = {&component};

static const ucx_plugin_t plugin = {
    .size           = sizeof(plugin),
    .abi            = UCX_PLUGIN_ABI_VERSION,
    .name           = TEMPLATE_NAME,
    .version        = TEMPLATE_VERSION,
    .components     = components,
    .num_components = 1
};

ucs_status_t
ucx_plugin_entry(const ucx_plugin_args_t *args, const ucx_plugin_t **plugin_p)
{
    /* A newer minor on either side works; a plugin that needs services which
     * this host lacks refuses here, with a reason for a person. */
    if (!UCX_TABLE_HAS(args->host, time)) {
        snprintf(args->reason, args->reason_size,
                 "the core lacks services of plugin ABI 1.0");
        return UCS_ERR_UNSUPPORTED;
    }
    template_host = args->host;
    *plugin_p     = &plugin;
    return UCS_OK;
}
