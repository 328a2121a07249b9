/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The memory domain of cma: any memory of the process. Registration only
 * records the range, which goes into the key.
 */
#include "cma.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/stat.h>

/* Lists no domain if the kernel does not permit process_vm_readv. */
static ucs_status_t cma_md_resources(const ucx_component_t *component,
                                     uct_md_resource_desc_t **mds_p,
                                     unsigned *num_p)
{
    const ucx_host_t *host = shm_host(component);
    uct_md_resource_desc_t *md;

    *mds_p = NULL;
    *num_p = 0;
    if (!cma_copy_is_allowed()) {
        ucx_debug("no cma: process_vm_readv is missing, or forbidden");
        return UCS_OK;
    }

    md = calloc(1, sizeof(*md));
    if (md == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    strcpy(md->md_name, CMA_NAME);
    *mds_p = md;
    *num_p = 1;
    return UCS_OK;
}

static ucs_status_t md_make_words(cma_words_t *words)
{
    do {
        if (getrandom(words, sizeof(*words), 0) != (ssize_t)sizeof(*words)) {
            return UCS_ERR_IO_ERROR;
        }
    } while ((words->token == 0) || (words->secret == 0));
    return UCS_OK;
}

static ucs_status_t cma_md_open(const ucx_component_t *component,
                                const ucx_md_open_args_t *args, uct_md_h *md_p)
{
    const ucx_host_t *host = shm_host(component);
    ucs_status_t status;
    struct stat st;
    cma_md_t *md;

    md = calloc(1, sizeof(*md));
    if (md == NULL) {
        return UCS_ERR_NO_MEMORY;
    }

    ucx_md_init(&md->super, args);
    md->host = host;
    status   = md_make_words(&md->words);
    if (status != UCS_OK) {
        ucx_error("cma: the system provides no random numbers: %s",
                  strerror(errno));
        free(md);
        return status;
    }
    if (stat("/proc/self/ns/pid", &st) == 0) {
        md->pid_ns = st.st_ino;
    }

    /* A failure is no error: without a space there are no inboxes, and no
     * copies are shared */
    md->has_space = (shm_space_open(&md->space, host, &shm_kind_posix) ==
                     UCS_OK);
    if (md->has_space) {
        md->space.use_names  = UCS_NO;
        md->space.use_socket = UCS_NO;
    }
    *md_p = &md->super;
    return UCS_OK;
}

static void cma_md_close(uct_md_h uct_md)
{
    cma_md_t *md = (cma_md_t *)uct_md;

    if (md->has_space) {
        shm_space_close(&md->space);
    }
    free(md);
}

static ucs_status_t cma_md_query(uct_md_h md, ucx_md_attr_t *attr)
{
    const uint64_t host_memory = UCS_BIT(UCS_MEMORY_TYPE_HOST);

    attr->flags                  = UCT_MD_FLAG_REG | UCT_MD_FLAG_NEED_RKEY;
    attr->max_reg                = SIZE_MAX;
    attr->reg_mem_types          = host_memory;
    attr->reg_nonblock_mem_types = host_memory;
    attr->access_mem_types       = host_memory;
    attr->reg_cost               = ucs_linear_func_make(20e-9, 0);
    attr->rkey_packed_size       = sizeof(cma_wire_key_t);
    attr->reg_alignment          = 1;
    if (UCX_TABLE_HAS(attr, process_key_packed_size)) {
        attr->process_key_packed_size = sizeof(cma_wire_process_key_t);
    }
    return UCS_OK;
}

static ucs_status_t cma_md_mem_reg(uct_md_h uct_md, void *address,
                                   size_t length,
                                   const ucx_mem_reg_params_t *params,
                                   uct_mem_h *memh_p)
{
    cma_md_t *md = (cma_md_t *)uct_md;
    cma_region_t *region;

    if ((uintptr_t)address > UINTPTR_MAX - length) {
        return UCS_ERR_INVALID_ADDR;
    }
    if (UCX_TABLE_HAS(params, dmabuf_fd) && (params->dmabuf_fd != -1)) {
        return UCS_ERR_UNSUPPORTED;
    }

    region = malloc(sizeof(*region));
    if (region == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    *region = (cma_region_t){(uint32_t)md->words.token, (uintptr_t)address,
                             length};
    *memh_p = region;
    return UCS_OK;
}

static ucs_status_t cma_md_mem_dereg(uct_md_h md, uct_mem_h memh,
                                     const ucx_mem_dereg_params_t *params)
{
    /* Invalidation is impossible: the kernel does not check keys */
    if ((params != NULL) && (params->flags & UCX_MEM_DEREG_INVALIDATE)) {
        return UCS_ERR_UNSUPPORTED;
    }
    free(memh);
    return UCS_OK;
}

/* --- Keys ---------------------------------------------------------------- */

static ucs_status_t pack_process_key(const cma_md_t *md, void *buffer)
{
    cma_wire_process_key_t key = {htole32((uint32_t)md->words.token)};

    memcpy(buffer, &key, sizeof(key));
    return UCS_OK;
}

static ucs_status_t cma_md_mkey_pack(uct_md_h md, uct_mem_h memh, void *address,
                                     size_t length, unsigned flags,
                                     void *buffer)
{
    const cma_region_t *region = memh;
    uint64_t start             = (uintptr_t)address;
    cma_wire_key_t key;

    if (flags & UCX_MKEY_PACK_PROCESS) {
        return pack_process_key((cma_md_t *)md, buffer);
    }
    if (flags & (UCX_MKEY_PACK_EXPORT | UCX_MKEY_PACK_INVALIDATE)) {
        return UCS_ERR_UNSUPPORTED;
    }
    if (address == NULL) {
        start  = region->address;
        length = region->length;
    } else if ((start < region->address) || (length > region->length) ||
               (start - region->address > region->length - length)) {
        return UCS_ERR_INVALID_PARAM;
    }

    key.token   = htole32(region->token);
    key.address = htole64(start);
    key.length  = htole64(length);
    memcpy(buffer, &key, sizeof(key));
    return UCS_OK;
}

static ucs_status_t unpack_process_key(const void *buffer, uct_rkey_t *rkey_p)
{
    cma_wire_process_key_t key;

    memcpy(&key, buffer, sizeof(key));
    if (key.token == 0) {
        return UCS_ERR_INVALID_PARAM;
    }
    *rkey_p = cma_process_rkey(le32toh(key.token));
    return UCS_OK;
}

static ucs_status_t cma_rkey_unpack(const ucx_component_t *component,
                                    const void *buffer, size_t length,
                                    ucs_sys_device_t sys_dev,
                                    uct_rkey_t *rkey_p, void **handle_p)
{
    cma_region_t *region;
    cma_wire_key_t key;

    *handle_p = NULL;
    if (length == sizeof(cma_wire_process_key_t)) {
        return unpack_process_key(buffer, rkey_p);
    }
    if (length < sizeof(key)) {
        return UCS_ERR_INVALID_PARAM;
    }
    memcpy(&key, buffer, sizeof(key));
    if ((key.token == 0) ||
        (le64toh(key.address) > UINT64_MAX - le64toh(key.length))) {
        return UCS_ERR_INVALID_PARAM;
    }

    region = malloc(sizeof(*region));
    if (region == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    *region = (cma_region_t){le32toh(key.token), le64toh(key.address),
                             le64toh(key.length)};
    *rkey_p = (uct_rkey_t)region;
    return UCS_OK;
}

static ucs_status_t cma_rkey_release(const ucx_component_t *component,
                                     uct_rkey_t rkey, void *handle)
{
    if (!cma_rkey_is_process(rkey)) {
        free((void *)rkey);
    }
    return UCS_OK;
}

static ucs_status_t cma_rkey_compare(const ucx_component_t *component,
                                     uct_rkey_t a, uct_rkey_t b, int *result)
{
    const cma_region_t *x = (const cma_region_t *)a;
    const cma_region_t *y = (const cma_region_t *)b;

    if (cma_rkey_is_process(a) || cma_rkey_is_process(b)) {
        *result = (a < b) ? -1 : (a > b);
        return UCS_OK;
    }
    *result = (x->token != y->token) ? ((x->token < y->token) ? -1 : 1) :
              (x->address != y->address) ?
                                       ((x->address < y->address) ? -1 : 1) :
              (x->length != y->length) ? ((x->length < y->length) ? -1 : 1) :
                                         0;
    return UCS_OK;
}

/* ------------------------------------------------------------------------- */

ucs_status_t cma_md_query_devices(uct_md_h md, ucx_device_desc_t **devices_p,
                                  unsigned *num_p)
{
    ucx_device_desc_t *device = calloc(1, sizeof(*device));

    if (device == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    strcpy(device->name, "memory");
    device->type    = UCT_DEVICE_TYPE_SHM;
    device->sys_dev = UCS_SYS_DEVICE_ID_UNKNOWN;
    *devices_p      = device;
    *num_p          = 1;
    return UCS_OK;
}

static const ucx_md_ops_t md_ops = {
    .size      = sizeof(md_ops),
    .close     = cma_md_close,
    .query     = cma_md_query,
    .mem_reg   = cma_md_mem_reg,
    .mem_dereg = cma_md_mem_dereg,
    .mkey_pack = cma_md_mkey_pack,
};

static const ucx_transport_t *const transports[] = {&shm_cma_transport};

void shm_cma_component_init(ucx_component_t *component)
{
    component->name               = CMA_NAME;
    component->query_md_resources = cma_md_resources;
    component->md_open            = cma_md_open;
    component->md_ops             = &md_ops;
    component->rkey_unpack        = cma_rkey_unpack;
    component->rkey_release       = cma_rkey_release;
    component->rkey_compare       = cma_rkey_compare;
    component->transports         = transports;
    component->num_transports     = 1;
}
