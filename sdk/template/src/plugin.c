/* SPDX-License-Identifier: BSD-3-Clause */
/* The entry point, which returns a description of the plugin. It must not open,
 * start or print anything; the core opens domains and interfaces later, through
 * the tables. */
#include "template.h"

static const ucx_transport_t *const transports[] = {&template_transport};

static const ucx_component_t component = {
    .size               = sizeof(component),
    .name               = TEMPLATE_NAME,
    .query_md_resources = ucx_simple_query_mds,
    .md_open            = ucx_simple_md_open,
    .md_ops             = &template_md_ops,
    .transports         = transports,
    .num_transports     = 1,
};

static ucx_instances_t instances = UCX_INSTANCES_INIT;

static void fini(void)
{
    ucx_instances_close(&instances, NULL);
}

ucs_status_t ucx_plugin_entry(const ucx_plugin_args_t *args,
                              const ucx_plugin_t **plugin_p)
{
    return ucx_simple_open(&instances, args, &component, TEMPLATE_VERSION, fini,
                           plugin_p);
}
