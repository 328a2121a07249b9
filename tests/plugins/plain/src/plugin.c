/* SPDX-License-Identifier: BSD-3-Clause */
/* The plugin's descriptor, and its memory domain, which registers no memory. */
#include "plain.h"

#include <stdlib.h>

static ucs_status_t md_open(const ucx_component_t *component,
                            const ucx_md_open_args_t *args, uct_md_h *md_p)
{
    uct_md_t *md = malloc(sizeof(*md));

    (void)component;
    if (md == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    ucx_md_init(md, args);
    *md_p = md;
    return UCS_OK;
}

static void md_close(uct_md_h md)
{
    free(md);
}

static ucs_status_t md_query(uct_md_h md, ucx_md_attr_t *attr)
{
    (void)md;
    attr->access_mem_types = 1u << UCS_MEMORY_TYPE_HOST;
    return UCS_OK;
}

static const ucx_md_ops_t md_ops = {
    .size  = sizeof(md_ops),
    .close = md_close,
    .query = md_query,
};

static const ucx_transport_t *const transports[] = {&plain_transport};

static const ucx_component_t component = {
    .size               = sizeof(component),
    .name               = PLAIN_NAME,
    .query_md_resources = local_query_mds,
    .md_open            = md_open,
    .md_ops             = &md_ops,
    .transports         = transports,
    .num_transports     = 1,
};

ucs_status_t ucx_plugin_entry(const ucx_plugin_args_t *args,
                              const ucx_plugin_t **plugin_p)
{
    return local_entry(args, &component, plugin_p);
}
