/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory regions. The rules that are checked: with FI_MR_LOCAL, and for
 * accelerator memory, the descriptor of a buffer is that of a region that
 * contains the buffer and permits the operation; with FI_MR_ENDPOINT, a region
 * is bound and enabled before use, serves one endpoint, and is closed before
 * the endpoint if it permits remote access; with FI_MR_RAW, keys have 24 bytes
 * and are mapped before use. domain.c checks that they are unmapped later.
 */
#include "strict.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/uio.h>

typedef struct raw_key {
    uint64_t magic, key, base;
} raw_key_t;

_Static_assert(sizeof(raw_key_t) == STRICT_RAW_KEY, "size of raw keys");

#define RAW_MAGIC 0x7374726963746b65ull
#define REMOTE    (FI_REMOTE_READ | FI_REMOTE_WRITE)

static int demands(uint64_t mode)
{
    return (strict_options.modes & mode) != 0;
}

/* Converts a key of this provider to a key of the provider below (strict.h).
 * With FI_MR_ENDPOINT, the result is different for each endpoint, of whose
 * address `hash` is the hash. */
static uint64_t key_of_ep(uint64_t key, uint64_t hash)
{
    return demands(FI_MR_ENDPOINT) ? (key * 0x9e3779b97f4a7c15ull) ^ hash : key;
}

/* --- Life of a region ----------------------------------------------------- */

/* Enables a region. With virtual addresses, the region of the provider below
 * covers all memory, so that its offsets are addresses. */
static int enable(strict_mr_t *mr)
{
    int is_virtual = demands(FI_MR_VIRT_ADDR);
    int rc         = 0;

    if (mr->is_enabled) {
        strict_die("a memory region is enabled twice");
    }
    if (demands(FI_MR_ENDPOINT) && (mr->ep == NULL)) {
        strict_die("a memory region is enabled before it is bound");
    }
    if (mr->access & REMOTE) {
        rc = fi_mr_reg(mr->domain->real, is_virtual ? NULL : mr->base,
                       is_virtual ? SIZE_MAX : mr->length, mr->access & REMOTE,
                       0, key_of_ep(mr->key, mr->ep ? mr->ep->hash : 0), 0,
                       &mr->real, NULL);
    }
    if (rc == 0) {
        mr->is_enabled = 1;
        mr->fid.key    = demands(FI_MR_RAW) ? FI_KEY_NOTAVAIL : mr->key;
    }
    return rc;
}

static int mr_close(struct fid *fid)
{
    strict_mr_t *mr         = (strict_mr_t *)fid, **link;
    strict_domain_t *domain = mr->domain;

    pthread_mutex_lock(&domain->lock);
    for (link = &domain->mrs; (*link != NULL) && (*link != mr);
         link = &(*link)->next) {
    }
    if (*link == NULL) {
        strict_die("a memory region is closed twice");
    }
    *link = mr->next;
    if ((mr->ep != NULL) && (mr->access & REMOTE)) {
        --mr->ep->num_mrs;
    }
    pthread_mutex_unlock(&domain->lock);
    if (mr->real != NULL) {
        fi_close(&mr->real->fid);
    }
    free(mr);
    return 0;
}

static int mr_bind(struct fid *fid, struct fid *other, uint64_t flags)
{
    strict_mr_t *mr = (strict_mr_t *)fid;

    if (!demands(FI_MR_ENDPOINT) || (other->fclass != FI_CLASS_EP) ||
        (mr->ep != NULL) || mr->is_enabled) {
        return -FI_EINVAL;
    }
    mr->ep = (strict_ep_t *)other;
    pthread_mutex_lock(&mr->domain->lock);
    mr->ep->num_mrs += (mr->access & REMOTE) != 0;
    pthread_mutex_unlock(&mr->domain->lock);
    return 0;
}

static int mr_control(struct fid *fid, int command, void *arg)
{
    strict_mr_t *mr             = (strict_mr_t *)fid;
    struct fi_mr_raw_attr *attr = arg;
    raw_key_t raw               = {RAW_MAGIC, mr->key, (uintptr_t)mr->base};

    if (command == FI_ENABLE) {
        return enable(mr);
    }
    if ((command != FI_GET_RAW_MR) || !demands(FI_MR_RAW) || !mr->is_enabled) {
        return -FI_ENOSYS;
    }
    if (*attr->key_size < sizeof(raw)) {
        *attr->key_size = sizeof(raw);
        return -FI_ETOOSMALL;
    }
    *attr->key_size  = sizeof(raw);
    *attr->base_addr = raw.base;
    memcpy(attr->raw_key, &raw, sizeof(raw));
    return 0;
}

static struct fi_ops mr_fid_ops = {
    .size     = sizeof(mr_fid_ops),
    .close    = mr_close,
    .bind     = mr_bind,
    .control  = mr_control,
    .ops_open = strict_no_ops,
};

static int choose_key(strict_mr_t *mr, uint64_t requested)
{
    if (!demands(FI_MR_PROV_KEY | FI_MR_RAW)) {
        mr->key = requested;
        return (requested >> 32) ? -FI_EKEYREJECTED : 0; /* Keys have 4 bytes */
    }
    return (getrandom(&mr->key, sizeof(mr->key), 0) == sizeof(mr->key)) ?
               0 :
               -FI_EIO;
}

static int new_region(strict_domain_t *domain, const void *buffer,
                      size_t length, uint64_t access, uint64_t requested,
                      enum fi_hmem_iface iface, struct fid_mr **mr_p)
{
    strict_mr_t *mr = calloc(1, sizeof(*mr));
    int rc          = (mr == NULL) ? -FI_ENOMEM : choose_key(mr, requested);

    if (rc != 0) {
        free(mr);
        return rc;
    }
    mr->domain         = domain;
    mr->base           = (char *)buffer;
    mr->length         = length;
    mr->access         = access;
    mr->iface          = iface;
    mr->fid.fid.fclass = FI_CLASS_MR;
    mr->fid.fid.ops    = &mr_fid_ops;
    mr->fid.mem_desc   = mr;
    mr->fid.key        = FI_KEY_NOTAVAIL;
    rc                 = demands(FI_MR_ENDPOINT) ? 0 : enable(mr);
    if (rc != 0) {
        free(mr);
        return rc;
    }
    pthread_mutex_lock(&domain->lock);
    mr->next    = domain->mrs;
    domain->mrs = mr;
    pthread_mutex_unlock(&domain->lock);
    *mr_p = &mr->fid;
    return 0;
}

static int mr_reg(struct fid *fid, const void *buffer, size_t length,
                  uint64_t access, uint64_t offset, uint64_t requested,
                  uint64_t flags, struct fid_mr **mr_p, void *context)
{
    return new_region((strict_domain_t *)fid, buffer, length, access, requested,
                      FI_HMEM_SYSTEM, mr_p);
}

static int mr_regv(struct fid *fid, const struct iovec *iov, size_t count,
                   uint64_t access, uint64_t offset, uint64_t requested,
                   uint64_t flags, struct fid_mr **mr_p, void *context)
{
    return (count != 1) ? -FI_EINVAL :
                          mr_reg(fid, iov->iov_base, iov->iov_len, access,
                                 offset, requested, flags, mr_p, context);
}

static int mr_regattr(struct fid *fid, const struct fi_mr_attr *attr,
                      uint64_t flags, struct fid_mr **mr_p)
{
    if ((attr->iface != FI_HMEM_SYSTEM) &&
        ((attr->iface != FI_HMEM_ROCR) || !strict_options.hmem)) {
        return -FI_ENOSYS;
    }
    return (attr->iov_count != 1) ?
               -FI_EINVAL :
               new_region((strict_domain_t *)fid, attr->mr_iov->iov_base,
                          attr->mr_iov->iov_len, attr->access,
                          attr->requested_key, attr->iface, mr_p);
}

struct fi_ops_mr strict_mr_ops = {
    .size    = sizeof(strict_mr_ops),
    .reg     = mr_reg,
    .regv    = mr_regv,
    .regattr = mr_regattr,
};

/* --- Raw keys ------------------------------------------------------------- */

int strict_map_raw(strict_domain_t *domain, struct fi_mr_map_raw *map)
{
    strict_mapping_t *mapping;
    raw_key_t raw;

    if (map->key_size != sizeof(raw)) {
        return -FI_EINVAL;
    }
    memcpy(&raw, map->raw_key, sizeof(raw));
    if ((raw.magic != RAW_MAGIC) || (raw.base != map->base_addr)) {
        return -FI_EINVAL;
    }
    mapping = calloc(1, sizeof(*mapping));
    if (mapping == NULL) {
        return -FI_ENOMEM;
    }
    pthread_mutex_lock(&domain->lock);
    mapping->mapped  = ++domain->next_mapped;
    mapping->key     = raw.key;
    mapping->next    = domain->mappings;
    domain->mappings = mapping;
    *map->key        = mapping->mapped;
    pthread_mutex_unlock(&domain->lock);
    return 0;
}

int strict_unmap(strict_domain_t *domain, uint64_t mapped)
{
    strict_mapping_t **link, *mapping;

    pthread_mutex_lock(&domain->lock);
    for (link = &domain->mappings;
         (*link != NULL) && ((*link)->mapped != mapped);
         link = &(*link)->next) {
    }
    mapping = *link;
    if (mapping == NULL) {
        strict_die("a raw key is unmapped that is not mapped");
    }
    *link = mapping->next;
    pthread_mutex_unlock(&domain->lock);
    free(mapping);
    return 0;
}

/* --- Checks of operations ------------------------------------------------- */

uint64_t strict_real_key(strict_ep_t *ep, fi_addr_t peer, uint64_t key)
{
    strict_mapping_t *mapping;
    unsigned i;

    if (demands(FI_MR_RAW)) {
        pthread_mutex_lock(&ep->domain->lock);
        for (mapping = ep->domain->mappings;
             (mapping != NULL) && (mapping->mapped != key);
             mapping = mapping->next) {
        }
        if (mapping == NULL) {
            strict_die("an operation uses a raw key that is not mapped");
        }
        key = mapping->key;
        pthread_mutex_unlock(&ep->domain->lock);
    }
    for (i = 0; (i < ep->av->count) && (ep->av->peers[i] != peer); ++i) {
    }
    if (i == ep->av->count) {
        strict_die("an operation goes to an unknown address");
    }
    return key_of_ep(key, ep->av->hashes[i]);
}

/* Returns whether a buffer overlaps memory that is registered as memory of an
 * accelerator. */
static int is_device(strict_domain_t *domain, const char *start, size_t length)
{
    strict_mr_t *mr;

    pthread_mutex_lock(&domain->lock);
    for (mr = domain->mrs; (mr != NULL) && ((mr->iface == FI_HMEM_SYSTEM) ||
                                            (start + length <= mr->base) ||
                                            (start >= mr->base + mr->length));
         mr = mr->next) {
    }
    pthread_mutex_unlock(&domain->lock);
    return mr != NULL;
}

void strict_check_local(strict_ep_t *ep, const void *buffer, size_t length,
                        void *desc, uint64_t access)
{
    const char *start = buffer;
    strict_mr_t *mr;

    if ((length == 0) ||
        (!demands(FI_MR_LOCAL) && !is_device(ep->domain, buffer, length))) {
        return;
    }
    pthread_mutex_lock(&ep->domain->lock);
    for (mr = ep->domain->mrs; (mr != NULL) && (mr != desc); mr = mr->next) {
    }
    if (mr == NULL) {
        strict_die("the descriptor of a buffer is that of no memory region");
    }
    if ((start < mr->base) || (start + length > mr->base + mr->length)) {
        strict_die("a buffer is not in the memory region of its descriptor");
    }
    if (!mr->is_enabled || (demands(FI_MR_ENDPOINT) && (mr->ep != ep))) {
        strict_die("a buffer is in a memory region of another endpoint");
    }
    if ((mr->access & access) != access) {
        strict_die("a buffer is in a memory region without the access %#llx",
                   (unsigned long long)access);
    }
    pthread_mutex_unlock(&ep->domain->lock);
}
