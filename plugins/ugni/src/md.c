/* SPDX-License-Identifier: BSD-3-Clause */
/* The memory domain: the provider and its devices. */
#include "mem.h"

#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>

#include <stdio.h>
#include <string.h>

ucs_status_t ugni_md_resources(const ucx_component_t *component,
                               uct_md_resource_desc_t **mds_p, unsigned *num_p)
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
    md->host             = ugni_host(component);
    md->wants_rcache     = config->rcache;
    md->wants_multi_recv = config->multi_recv;
    md->wants_hmem       = config->hmem;
    md->wants_tags       = config->tm_enable;
    md->provider = strdup((config->provider != NULL) ? config->provider : "");
    if (md->provider == NULL) {
        free(md);
        return UCS_ERR_NO_MEMORY;
    }
    pthread_mutex_init(&md->lock, NULL);
    *md_p = &md->super;
    return UCS_OK;
}

static void md_close(uct_md_h uct_md)
{
    ugni_md_t *md = (ugni_md_t *)uct_md;

    ugni_cache_destroy(md);
    ugni_devices_close(md);
    pthread_mutex_destroy(&md->lock);
    free(md->provider);
    free(md);
}

static ucs_status_t md_query(uct_md_h uct_md, ucx_md_attr_t *attr)
{
    const uint64_t host = UCS_BIT(UCS_MEMORY_TYPE_HOST);
    ugni_md_t *md       = (ugni_md_t *)uct_md;

    attr->access_mem_types = host;
    pthread_mutex_lock(&md->lock);
    ugni_devices_list(md);
    if ((md->num_devices > 0) && (md->devices[0].info->caps & FI_RMA)) {
        attr->flags = UCT_MD_FLAG_REG | UCT_MD_FLAG_NEED_RKEY;
        if ((md->mr_mode & FI_MR_LOCAL) || (md->hmem != 0)) {
            attr->flags |= UCT_MD_FLAG_NEED_MEMH;
        }
        attr->max_reg         = SIZE_MAX;
        attr->reg_mem_types   = host | md->hmem;
        attr->cache_mem_types = (md->rcache != NULL) ? host : 0;
        attr->reg_cost = ucs_linear_func_make((md->rcache != NULL) ? 1e-7 :
                                                                     1e-6,
                                              0);
        attr->rkey_packed_size = ugni_key_size(md);
        attr->reg_alignment    = 1;
    }
    pthread_mutex_unlock(&md->lock);
    return UCS_OK;
}

const ucx_md_ops_t ugni_md_ops = {
    .size      = sizeof(ugni_md_ops),
    .close     = md_close,
    .query     = md_query,
    .mem_reg   = ugni_mem_reg,
    .mem_dereg = ugni_mem_dereg,
    .mkey_pack = ugni_mkey_pack,
};
