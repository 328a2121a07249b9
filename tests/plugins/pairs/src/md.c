/* SPDX-License-Identifier: BSD-3-Clause */
/* Registered memory: a list of ranges with random numbers as keys. Any thread
 * may register memory. */
#include "pairs.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

static const uint64_t CHECK = 0x7061697273u;

static const ucx_config_field_t fields[] = {
    {
        .name   = "ZCOPY",
        .type   = UCX_CONFIG_BOOL,
        .offset = offsetof(pairs_md_config_t, zcopy),
        .dflt   = "n",
        .help   = "y: put and get also read and write registered memory.",
    },
};

const ucx_config_table_t pairs_md_config = {
    .size         = sizeof(pairs_md_config),
    .prefix       = "PAIRS_",
    .options_size = sizeof(pairs_md_config_t),
    .field_size   = sizeof(ucx_config_field_t),
    .fields       = fields,
    .num_fields   = sizeof(fields) / sizeof(fields[0]),
};

ucs_status_t pairs_md_open(const ucx_component_t *component,
                           const ucx_md_open_args_t *args, uct_md_h *md_p)
{
    const pairs_md_config_t *config = args->config;
    pairs_md_t *md                  = calloc(1, sizeof(*md));

    (void)component;
    if (md == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    ucx_md_init(&md->super, args);
    md->zcopy = (config != NULL) && config->zcopy;
    pthread_mutex_init(&md->lock, NULL);
    *md_p = &md->super;
    return UCS_OK;
}

static void md_close(uct_md_h super)
{
    pairs_md_t *md = (pairs_md_t *)super;

    pthread_mutex_destroy(&md->lock);
    free(md);
}

static ucs_status_t md_query(uct_md_h md, ucx_md_attr_t *attr)
{
    attr->flags = UCT_MD_FLAG_REG | UCT_MD_FLAG_NEED_RKEY |
                  UCT_MD_FLAG_REG_DMABUF;
    if (((pairs_md_t *)md)->zcopy) {
        attr->flags |= UCT_MD_FLAG_NEED_MEMH;
    }
    attr->max_reg          = UINT64_MAX;
    attr->reg_mem_types    = 1u << UCS_MEMORY_TYPE_HOST;
    attr->access_mem_types = 1u << UCS_MEMORY_TYPE_HOST;
    attr->rkey_packed_size = sizeof(pairs_rkey_t);
    return UCS_OK;
}

static void region_free(pairs_region_t *region)
{
    if (region->map != NULL) {
        munmap(region->map, region->map_length);
    }
    free(region);
}

/* Maps the dmabuf of memory of an emulated device (tests/emulated). Its
 * descriptor is that of a memory file; the position of the file is the start of
 * the exported pages. */
static int map_dmabuf(pairs_region_t *region,
                      const ucx_mem_reg_params_t *params)
{
    off_t position = lseek(params->dmabuf_fd, 0, SEEK_CUR);

    region->map_length = params->dmabuf_offset + region->length;
    region->map        = mmap(NULL, region->map_length, PROT_READ | PROT_WRITE,
                              MAP_SHARED, params->dmabuf_fd, position);
    if (region->map == MAP_FAILED) {
        return 0;
    }
    region->bytes = (char *)region->map + params->dmabuf_offset;
    return 1;
}

static ucs_status_t mem_reg(uct_md_h super, void *address, size_t length,
                            const ucx_mem_reg_params_t *params,
                            uct_mem_h *memh_p)
{
    pairs_md_t *md         = (pairs_md_t *)super;
    pairs_region_t *region = malloc(sizeof(*region));

    if (region == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    region->start  = address;
    region->bytes  = address;
    region->length = length;
    region->map    = NULL;
    if ((params->dmabuf_fd != UCT_DMABUF_FD_INVALID) &&
        !map_dmabuf(region, params)) {
        free(region);
        return UCS_ERR_IO_ERROR;
    }
    if (getrandom(&region->key, sizeof(region->key), 0) !=
        (ssize_t)sizeof(region->key)) {
        region_free(region);
        return UCS_ERR_IO_ERROR;
    }
    pthread_mutex_lock(&md->lock);
    region->next = md->regions;
    md->regions  = region;
    pthread_mutex_unlock(&md->lock);
    *memh_p = region;
    return UCS_OK;
}

static ucs_status_t mem_dereg(uct_md_h super, uct_mem_h memh,
                              const ucx_mem_dereg_params_t *params)
{
    pairs_md_t *md        = (pairs_md_t *)super;
    pairs_region_t **link = &md->regions;

    (void)params;
    pthread_mutex_lock(&md->lock);
    while (*link != memh) {
        link = &(*link)->next;
    }
    *link = (*link)->next;
    pthread_mutex_unlock(&md->lock);
    region_free(memh);
    return UCS_OK;
}

static ucs_status_t mkey_pack(uct_md_h md, uct_mem_h memh, void *address,
                              size_t length, unsigned flags, void *buffer)
{
    const pairs_region_t *region = memh;
    pairs_rkey_t rkey            = {region->key, region->key ^ CHECK};

    (void)md;
    (void)address;
    (void)length;
    if (flags != 0) {
        return UCS_ERR_UNSUPPORTED;
    }
    memcpy(buffer, &rkey, sizeof(rkey));
    return UCS_OK;
}

ucs_status_t pairs_rkey_unpack(const ucx_component_t *component,
                               const void *buffer, size_t length,
                               ucs_sys_device_t sys_dev, uct_rkey_t *rkey_p,
                               void **handle_p)
{
    pairs_rkey_t rkey;

    (void)component;
    (void)sys_dev;
    if (length < sizeof(rkey)) {
        return UCS_ERR_INVALID_PARAM;
    }
    memcpy(&rkey, buffer, sizeof(rkey));
    if (rkey.check != (rkey.key ^ CHECK)) {
        return UCS_ERR_INVALID_PARAM;
    }
    *rkey_p   = (uct_rkey_t)rkey.key;
    *handle_p = NULL;
    return UCS_OK;
}

/* See pairs.h. Copies with the lock held, so that the memory is not
 * deregistered during the copy. */
int pairs_md_copy(pairs_md_t *md, uint64_t key, uint64_t address, void *data,
                  size_t length, int is_put)
{
    pairs_region_t *region;
    uint64_t offset;
    int found = 0;

    pthread_mutex_lock(&md->lock);
    for (region = md->regions; region != NULL; region = region->next) {
        offset = address - (uintptr_t)region->start;
        if ((region->key != key) || (length > region->length) ||
            (offset > region->length - length)) {
            continue;
        }
        found = 1;
        if (is_put) {
            memcpy(region->bytes + offset, data, length);
        } else {
            memcpy(data, region->bytes + offset, length);
        }
        break;
    }
    pthread_mutex_unlock(&md->lock);
    return found;
}

const ucx_md_ops_t pairs_md_ops = {
    .size      = sizeof(pairs_md_ops),
    .close     = md_close,
    .query     = md_query,
    .mem_reg   = mem_reg,
    .mem_dereg = mem_dereg,
    .mkey_pack = mkey_pack,
};
