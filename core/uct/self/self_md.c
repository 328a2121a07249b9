/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The memory domain of the loopback transport (self.h): memory of this process.
 * A packed remote key contains a random number, the secret of the registration.
 * If a registration of this process has the secret, this process has made the
 * key. A process id would not prove this, because ids are not unique among
 * containers.
 */
#include "self.h"

#include <endian.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

/* A remote key as it is sent to a peer. */
typedef struct self_packed_key {
    uint64_t secret; /* little-endian */
} self_packed_key_t;

_Static_assert(sizeof(self_packed_key_t) == 8, "layout of a packed key");

/* A memory handle: one registration. */
typedef struct self_memh {
    uint64_t secret;               /* a random number, from the caller or from
                                    * self_random() */
    pid_t owner;                   /* process that has registered the memory;
                                    * after fork(), the secret is not valid in
                                    * the child, which has other memory */
    struct self_memh *next_secret; /* next in the bucket of by_secret; or
                                    * NULL */
    struct self_memh *next_handle; /* next in the bucket of by_handle; or
                                    * NULL */
} self_memh_t;

enum { BUCKETS = 4096 }; /* of each hash table */

/* The handles of all memory domains of the process, in two hash tables. */
static struct {
    pthread_mutex_t lock; /* protects both tables and the links */
    self_memh_t *by_secret[BUCKETS];
    self_memh_t *by_handle[BUCKETS]; /* by the handle's address, to check that a
                                      * handle from the user is valid */
} registered = {.lock = PTHREAD_MUTEX_INITIALIZER};

ucs_status_t self_random(uint64_t *value_p)
{
    ssize_t ret;

    do {
        ret = getrandom(value_p, sizeof(*value_p), 0);
    } while ((ret < 0) && (errno == EINTR));

    return (ret == (ssize_t)sizeof(*value_p)) ? UCS_OK : UCS_ERR_IO_ERROR;
}

static self_memh_t **secret_bucket(uint64_t secret)
{
    return &registered.by_secret[secret % BUCKETS];
}

static self_memh_t **handle_bucket(const void *memh)
{
    return &registered.by_handle[((uintptr_t)memh >> 5) % BUCKETS];
}

/* Returns the address of the link (bucket or next_handle) that points to the
 * handle; if the table does not contain it, of the link at the end of the
 * chain, which is NULL. The caller holds the lock. */
static self_memh_t **find_handle(const void *memh)
{
    self_memh_t **link = handle_bucket(memh);

    while ((*link != NULL) && (*link != memh)) {
        link = &(*link)->next_handle;
    }
    return link;
}

/* Returns whether this process has registered memory with this secret. */
static int is_ours(uint64_t secret)
{
    pid_t pid = getpid();
    const self_memh_t *memh;

    pthread_mutex_lock(&registered.lock);
    memh = *secret_bucket(secret);
    while ((memh != NULL) &&
           ((memh->secret != secret) || (memh->owner != pid))) {
        memh = memh->next_secret;
    }
    pthread_mutex_unlock(&registered.lock);
    return memh != NULL;
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

static ucs_status_t self_mem_reg(uct_md_h md, void *address, size_t length,
                                 const ucx_mem_reg_params_t *params,
                                 uct_mem_h *memh_p)
{
    self_memh_t *memh   = malloc(sizeof(*memh));
    ucs_status_t status = UCS_OK;

    if (memh == NULL) {
        return UCS_ERR_NO_MEMORY;
    }

    memh->owner  = getpid();
    memh->secret = UCX_TABLE_HAS(params, secret) ? params->secret : 0;
    if (memh->secret == 0) {
        status = self_random(&memh->secret);
    }
    if (status != UCS_OK) {
        free(memh);
        return status;
    }

    pthread_mutex_lock(&registered.lock);
    memh->next_secret            = *secret_bucket(memh->secret);
    *secret_bucket(memh->secret) = memh;
    memh->next_handle            = *handle_bucket(memh);
    *handle_bucket(memh)         = memh;
    pthread_mutex_unlock(&registered.lock);
    *memh_p = memh;
    return UCS_OK;
}

static ucs_status_t self_mem_dereg(uct_md_h md, uct_mem_h uct_memh,
                                   const ucx_mem_dereg_params_t *params)
{
    self_memh_t **link, *memh;

    pthread_mutex_lock(&registered.lock);
    link = find_handle(uct_memh);
    memh = *link;
    if ((memh != NULL) && !(params->flags & UCX_MEM_DEREG_INVALIDATE)) {
        *link = memh->next_handle;
        for (link = secret_bucket(memh->secret); *link != memh;
             link = &(*link)->next_secret) {
        }
        *link = memh->next_secret;
    }
    pthread_mutex_unlock(&registered.lock);

    if (memh == NULL) {
        return UCS_ERR_INVALID_PARAM;
    }
    if (params->flags & UCX_MEM_DEREG_INVALIDATE) {
        return UCS_ERR_UNSUPPORTED;
    }
    free(memh);
    return UCS_OK;
}

static ucs_status_t self_mkey_pack(uct_md_h md, uct_mem_h memh, void *address,
                                   size_t length, unsigned flags, void *buffer)
{
    self_packed_key_t key = {htole64(((const self_memh_t *)memh)->secret)};

    if (flags != 0) {
        return UCS_ERR_UNSUPPORTED;
    }

    memcpy(buffer, &key, sizeof(key));
    return UCS_OK;
}

ucs_status_t self_rkey_unpack(const ucx_component_t *component,
                              const void *buffer, size_t length,
                              ucs_sys_device_t sys_dev, uct_rkey_t *rkey_p,
                              void **handle_p)
{
    self_packed_key_t key;

    if (length < sizeof(key)) {
        return UCS_ERR_INVALID_PARAM;
    }
    memcpy(&key, buffer, sizeof(key));
    if (!is_ours(le64toh(key.secret))) {
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
    .mkey_pack = self_mkey_pack,
};
