/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory of the process itself: registration costs nothing, and a key says
 * only which process made it.
 */
#include "self.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

/* A key on the wire: eight bytes that only this process has. */
typedef struct self_packed_key {
    uint8_t process[8];
} self_packed_key_t;

_Static_assert(sizeof(self_packed_key_t) == 8, "layout of a packed key");

/* Every memory that belongs to the process is already "registered". */
static char self_memh;

ucs_status_t self_random(uint64_t *value_p)
{
    ssize_t ret;

    do {
        ret = getrandom(value_p, sizeof(*value_p), 0);
    } while ((ret < 0) && (errno == EINTR));

    return (ret == (ssize_t)sizeof(*value_p)) ? UCS_OK : UCS_ERR_IO_ERROR;
}

/*
 * The identity of this process. Not the process number, which two containers
 * on one machine may share. A child after fork() is another process: its
 * memory is not its parent's.
 */
static ucs_status_t self_process_identity(self_packed_key_t *key)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static uint64_t identity;
    static pid_t owner;
    ucs_status_t status = UCS_OK;

    pthread_mutex_lock(&lock);
    if (owner != getpid()) {
        status = self_random(&identity);
        owner  = (status == UCS_OK) ? getpid() : 0;
    }
    memcpy(key->process, &identity, sizeof(identity));
    pthread_mutex_unlock(&lock);

    return status;
}

ucs_status_t self_query_md_resources(const ucx_component_t *component,
                                     uct_md_resource_desc_t **mds_p,
                                     unsigned *num_p)
{
    uct_md_resource_desc_t *md = calloc(1, sizeof(*md));

    if (md == NULL) {
        return UCS_ERR_NO_MEMORY;
    }

    strcpy(md->md_name, SELF_NAME);
    *mds_p = md;
    *num_p = 1;
    return UCS_OK;
}

ucs_status_t self_md_open(const ucx_component_t *component,
                          const ucx_md_open_args_t *args, uct_md_h *md_p)
{
    uct_md_t *md = malloc(sizeof(*md));

    if (md == NULL) {
        return UCS_ERR_NO_MEMORY;
    }

    ucx_md_init(md, args);
    *md_p = md;
    return UCS_OK;
}

static void self_md_close(uct_md_h md)
{
    free(md);
}

static ucs_status_t self_md_query(uct_md_h md, ucx_md_attr_t *attr)
{
    const uint64_t host = UCS_BIT(UCS_MEMORY_TYPE_HOST);

    attr->flags                  = UCT_MD_FLAG_REG | UCT_MD_FLAG_RKEY_PTR;
    attr->max_reg                = SIZE_MAX;
    attr->reg_mem_types          = host;
    attr->reg_nonblock_mem_types = host;
    attr->access_mem_types       = host;
    attr->rkey_packed_size       = sizeof(self_packed_key_t);
    attr->reg_alignment          = 1;
    return UCS_OK;
}

static ucs_status_t
self_mem_reg(uct_md_h md, void *address, size_t length,
             const ucx_mem_reg_params_t *params, uct_mem_h *memh_p)
{
    *memh_p = &self_memh;
    return UCS_OK;
}

static ucs_status_t self_mem_dereg(uct_md_h md, uct_mem_h memh,
                                   const ucx_mem_dereg_params_t *params)
{
    if (memh != &self_memh) {
        return UCS_ERR_INVALID_PARAM;
    }

    return (params->flags & UCX_MEM_DEREG_INVALIDATE) ? UCS_ERR_UNSUPPORTED :
                                                        UCS_OK;
}

static ucs_status_t
self_mkey_pack(uct_md_h md, uct_mem_h memh, void *address, size_t length,
               unsigned flags, void *buffer)
{
    if (flags != 0) {
        return UCS_ERR_UNSUPPORTED;
    }

    return self_process_identity(buffer);
}

ucs_status_t self_rkey_unpack(const ucx_component_t *component,
                              const void *buffer, size_t length,
                              ucs_sys_device_t sys_dev, uct_rkey_t *rkey_p,
                              void **handle_p)
{
    self_packed_key_t ours;
    ucs_status_t status;

    if (length < sizeof(ours)) {
        return UCS_ERR_INVALID_PARAM;
    }

    status = self_process_identity(&ours);
    if (status != UCS_OK) {
        return status;
    }

    if (memcmp(buffer, &ours, sizeof(ours)) != 0) {
        return UCS_ERR_UNREACHABLE;
    }

    *rkey_p   = 0;
    *handle_p = NULL;
    return UCS_OK;
}

ucs_status_t self_rkey_ptr(const ucx_component_t *component, uct_rkey_t rkey,
                           void *handle, uint64_t remote_address,
                           void **local_address_p)
{
    *local_address_p = (void *)(uintptr_t)remote_address;
    return UCS_OK;
}

ucs_status_t self_rkey_release(const ucx_component_t *component,
                               uct_rkey_t rkey, void *handle)
{
    return UCS_OK;
}

ucs_status_t self_rkey_compare(const ucx_component_t *component, uct_rkey_t a,
                               uct_rkey_t b, int *result)
{
    *result = (a > b) - (a < b);
    return UCS_OK;
}

const ucx_md_ops_t uct_self_md_ops = {
    .size      = sizeof(uct_self_md_ops),
    .close     = self_md_close,
    .query     = self_md_query,
    .mem_reg   = self_mem_reg,
    .mem_dereg = self_mem_dereg,
    .mkey_pack = self_mkey_pack
};
