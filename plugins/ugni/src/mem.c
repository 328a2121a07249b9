/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Registration of memory, and keys. Memory is registered with all domains of
 * libfabric, because any of them may serve a peer: a packed key has a key of
 * libfabric for each, in the order of the owner's devices, and the address of
 * an interface names its device.
 */
#include "mem.h"

#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>

#include <endian.h>
#include <string.h>
#include <sys/random.h>
#include <sys/uio.h>

typedef struct ugni_mem {
    uint64_t      base;
    unsigned      num;
    struct fid_mr *mrs[];       /* By device */
} ugni_mem_t;

/* Little-endian. The keys of `num` devices follow, 8 bytes each. */
typedef struct ugni_wire_key {
    uint32_t magic;
    uint32_t num;
    uint64_t base;
} ugni_wire_key_t;

_Static_assert(sizeof(ugni_wire_key_t) == 16, "wire format");

enum {
    MAGIC         = 0x494e4755, /* "UGNI" */
    KEY_ATTEMPTS  = 16          /* A random key may be in use */
};

/* Providers that choose keys themselves ignore the requested one. Others accept
 * keys of `mr_key_size` bytes. A random key cannot be guessed by a peer. */
static uint64_t random_key(const struct fi_info *info)
{
    uint64_t key = 0;

    if (getrandom(&key, sizeof(key), GRND_NONBLOCK) != sizeof(key)) {
        return 0;
    }
    return (info->domain_attr->mr_key_size >= sizeof(key)) ? key :
           key & ((1ull << (8 * info->domain_attr->mr_key_size)) - 1);
}

static int register_with(const ugni_device_t *device, void *address,
                         size_t length, struct fid_mr **mr_p)
{
    const uint64_t access = FI_READ | FI_WRITE | FI_REMOTE_READ |
                            FI_REMOTE_WRITE;
    int rc                = -FI_ENOKEY;

    for (int i = 0; (i < KEY_ATTEMPTS) && (rc == -FI_ENOKEY); ++i) {
        rc = fi_mr_reg(device->domain, address, length, access, 0,
                       random_key(device->info), 0, mr_p, NULL);
    }
    return rc;
}

static void mem_free(ugni_mem_t *mem)
{
    while (mem->num > 0) {
        fi_close(&mem->mrs[--mem->num]->fid);
    }
    free(mem);
}

ucs_status_t ugni_mem_reg(uct_md_h uct_md, void *address, size_t length,
                          const ucx_mem_reg_params_t *params,
                          uct_mem_h *memh_p)
{
    ugni_md_t *md          = (ugni_md_t*)uct_md;
    const ucx_host_t *host = md->host;
    ucs_status_t status    = UCS_OK;
    const struct fi_info *info;
    ugni_mem_t *mem;
    int rc;

    if ((params != NULL) && UCX_TABLE_HAS(params, dmabuf_fd) &&
        (params->dmabuf_fd != -1)) {
        return UCS_ERR_UNSUPPORTED;
    }
    mem = calloc(1, sizeof(*mem) + UGNI_MAX_DEVICES * sizeof(mem->mrs[0]));
    if (mem == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    pthread_mutex_lock(&md->lock);
    while ((mem->num < md->num_devices) && (status == UCS_OK)) {
        info   = md->devices[mem->num].info;
        status = ugni_device_open(md, &md->devices[mem->num]);
        if (status != UCS_OK) {
            break;
        }
        if (!(info->domain_attr->mr_mode & FI_MR_VIRT_ADDR)) {
            mem->base = (uintptr_t)address;
        }
        rc = register_with(&md->devices[mem->num], address, length,
                           &mem->mrs[mem->num]);
        if (rc != 0) {
            ucx_debug("ugni: cannot register %zu bytes at %p with %s: %s",
                      length, address, info->domain_attr->name,
                      fi_strerror(-rc));
            status = (rc == -FI_ENOMEM) ? UCS_ERR_NO_MEMORY :
                     ((rc == -FI_EFAULT) || (rc == -FI_EINVAL)) ?
                     UCS_ERR_INVALID_ADDR : UCS_ERR_IO_ERROR;
            break;
        }
        ++mem->num;
    }
    pthread_mutex_unlock(&md->lock);
    if (status != UCS_OK) {
        mem_free(mem);
        return status;
    }
    *memh_p = mem;
    return UCS_OK;
}

ucs_status_t ugni_mem_dereg(uct_md_h md, uct_mem_h memh,
                            const ucx_mem_dereg_params_t *params)
{
    if ((params != NULL) && (params->flags & UCX_MEM_DEREG_INVALIDATE)) {
        return UCS_ERR_UNSUPPORTED; /* the query does not declare it */
    }
    mem_free(memh);
    return UCS_OK;
}

size_t ugni_key_size(ugni_md_t *md)
{
    return sizeof(ugni_wire_key_t) + md->num_devices * sizeof(uint64_t);
}

ucs_status_t ugni_mkey_pack(uct_md_h md, uct_mem_h memh, void *address,
                            size_t length, unsigned flags, void *buffer)
{
    const ugni_mem_t *mem      = memh;
    const ugni_wire_key_t wire = {
        .magic = htole32(MAGIC),
        .num   = htole32(mem->num),
        .base  = htole64(mem->base)
    };
    char *keys = (char*)buffer + sizeof(wire);
    uint64_t key;

    if (flags & (UCX_MKEY_PACK_EXPORT | UCX_MKEY_PACK_INVALIDATE)) {
        return UCS_ERR_UNSUPPORTED;
    }
    memcpy(buffer, &wire, sizeof(wire));
    for (unsigned i = 0; i < mem->num; ++i) {
        key = htole64(fi_mr_key(mem->mrs[i]));
        memcpy(keys + i * sizeof(key), &key, sizeof(key));
    }
    return UCS_OK;
}

/* Untrusted input. Any number may be a key; the owner's provider checks it. */
ucs_status_t ugni_rkey_unpack(const ucx_component_t *component,
                              const void *buffer, size_t length,
                              ucs_sys_device_t sys_dev, uct_rkey_t *rkey_p,
                              void **handle_p)
{
    ugni_wire_key_t wire;
    ugni_rkey_t *rkey;
    uint32_t num;

    if (length < sizeof(wire)) {
        return UCS_ERR_INVALID_PARAM;
    }
    memcpy(&wire, buffer, sizeof(wire));
    num = le32toh(wire.num);
    if ((le32toh(wire.magic) != MAGIC) || (num == 0) ||
        (num > UGNI_MAX_DEVICES) ||
        (length - sizeof(wire) < num * sizeof(rkey->keys[0]))) {
        return UCS_ERR_INVALID_PARAM;
    }
    rkey = calloc(1, sizeof(*rkey) + num * sizeof(rkey->keys[0]));
    if (rkey == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    rkey->base     = le64toh(wire.base);
    rkey->num_keys = num;
    memcpy(rkey->keys, (const char*)buffer + sizeof(wire),
           num * sizeof(rkey->keys[0]));
    for (unsigned i = 0; i < num; ++i) {
        rkey->keys[i] = le64toh(rkey->keys[i]);
    }
    *rkey_p   = (uct_rkey_t)rkey;
    *handle_p = NULL;
    return UCS_OK;
}

ucs_status_t ugni_rkey_release(const ucx_component_t *component,
                               uct_rkey_t rkey, void *handle)
{
    free((void*)rkey);
    return UCS_OK;
}

ucs_status_t ugni_rkey_compare(const ucx_component_t *component, uct_rkey_t a,
                               uct_rkey_t b, int *result)
{
    const ugni_rkey_t *first = (void*)a, *second = (void*)b;
    size_t size;

    if (first->num_keys != second->num_keys) {
        *result = (first->num_keys > second->num_keys) ? 1 : -1;
        return UCS_OK;
    }
    size    = sizeof(*first) + first->num_keys * sizeof(first->keys[0]);
    *result = memcmp(first, second, size);
    return UCS_OK;
}
