/* SPDX-License-Identifier: BSD-3-Clause */
/* The memory domain. This one needs no registration; one for a device would
 * implement mem_reg, mem_dereg and mkey_pack. */
#include "template.h"

#include <stdio.h>
#include <stdlib.h>

ucs_status_t template_query_mds(const ucx_component_t *component,
                                uct_md_resource_desc_t **mds_p,
                                unsigned *num_p)
{
    uct_md_resource_desc_t *md = calloc(1, sizeof(*md));

    (void)component;
    if (md == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    snprintf(md->md_name, sizeof(md->md_name), TEMPLATE_NAME);
    *mds_p = md; /* the core frees it */
    *num_p = 1;
    return UCS_OK;
}

ucs_status_t template_md_open(const ucx_component_t *component,
                              const ucx_md_open_args_t *args, uct_md_h *md_p)
{
    template_md_t *md = malloc(sizeof(*md));

    if (md == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    ucx_md_init(&md->super, args);
    md->host = template_host(component);
    *md_p    = &md->super;
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

const ucx_md_ops_t template_md_ops = {
    .size  = sizeof(template_md_ops),
    .close = md_close,
    .query = md_query
};
