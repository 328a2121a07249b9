/* SPDX-License-Identifier: BSD-3-Clause */
/* The plugin's descriptor. */
#include "pairs.h"

static const ucx_transport_t *const transports[] = {&pairs_transport};

static const ucx_component_t component = {
    .size               = sizeof(component),
    .name               = PAIRS_NAME,
    .md_config          = &pairs_md_config,
    .query_md_resources = local_query_mds,
    .md_open            = pairs_md_open,
    .md_ops             = &pairs_md_ops,
    .rkey_unpack        = pairs_rkey_unpack,
    .transports         = transports,
    .num_transports     = 1,
};

ucs_status_t ucx_plugin_entry(const ucx_plugin_args_t *args,
                              const ucx_plugin_t **plugin_p)
{
    return local_entry(args, &component, plugin_p);
}
