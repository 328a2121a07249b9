/* SPDX-License-Identifier: BSD-3-Clause */
/* The memory domain: holds the name of the provider. It registers no memory,
 * because providers that require registered send buffers are not used. */
#include "plugin.h"

#include <stdio.h>
#include <string.h>

ucs_status_t ugni_md_resources(const ucx_component_t *component,
                               uct_md_resource_desc_t **mds_p,
                               unsigned *num_p)
{
    uct_md_resource_desc_t *md = calloc(1, sizeof(*md));

    if (md == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    snprintf(md->md_name, sizeof(md->md_name), UGNI_NAME);
    *mds_p = md;
    *num_p = 1;
    return UCS_OK;
}

ucs_status_t ugni_md_open(const ucx_component_t *component,
                          const ucx_md_open_args_t *args, uct_md_h *md_p)
{
    const ugni_md_config_t *config = args->config;
    ugni_md_t *md;

    if (config == NULL) {
        return UCS_ERR_INVALID_PARAM;
    }
    md = calloc(1, sizeof(*md));
    if (md == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    ucx_md_init(&md->super, args);
    md->host     = ugni_host(component);
    md->provider = strdup((config->provider != NULL) ? config->provider : "");
    if (md->provider == NULL) {
        free(md);
        return UCS_ERR_NO_MEMORY;
    }
    *md_p = &md->super;
    return UCS_OK;
}

static void md_close(uct_md_h uct_md)
{
    ugni_md_t *md = (ugni_md_t*)uct_md;

    free(md->provider);
    free(md);
}

static ucs_status_t md_query(uct_md_h md, ucx_md_attr_t *attr)
{
    attr->access_mem_types = UCS_BIT(UCS_MEMORY_TYPE_HOST);
    return UCS_OK;
}

const ucx_md_ops_t ugni_md_ops = {
    .size  = sizeof(ugni_md_ops),
    .close = md_close,
    .query = md_query
};
