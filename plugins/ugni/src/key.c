/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Keys of remote memory. A packed key contains a key of libfabric for each
 * device of the owner. The peer uses the key for the device of the interface to
 * which it sends (ugni_wire_addr_t.device). Keys of 64 bits are used directly.
 * Raw keys (FI_MR_RAW), which may have any size, are mapped to 64-bit keys when
 * a device first uses them.
 */
#include "mem.h"

#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>

#include <endian.h>
#include <string.h>

/* Header of a packed key; little-endian. The keys of `num` devices follow, 8
 * bytes each. If raw_key is not 0, each is instead the base address that
 * fi_mr_raw_attr() has returned, 8 bytes, and the raw key. */
typedef struct ugni_wire_key {
    uint32_t magic;
    uint16_t num;     /* Number of devices of the owner */
    uint16_t raw_key; /* Bytes of a raw key; 0: keys have 64 bits */
    uint64_t base;    /* ugni_mem_t.base */
} ugni_wire_key_t;

_Static_assert(sizeof(ugni_wire_key_t) == 16, "wire format");

enum {
    MAGIC       = 0x494e4755, /* "UGNI" */
    MAX_RAW_KEY = 256,        /* Bytes; raw keys of known providers have 32 */
};

/* --- Packing -------------------------------------------------------------- */

static size_t entry_size(size_t raw_key)
{
    return sizeof(uint64_t) + raw_key;
}

size_t ugni_key_size(const ugni_md_t *md)
{
    return sizeof(ugni_wire_key_t) + md->num_devices * entry_size(md->raw_key);
}

/* Writes the raw key of one device, with its base address, to `entry` of the
 * packed key. */
static ucs_status_t pack_raw(const ugni_md_t *md, const ugni_part_t *part,
                             char *entry)
{
    size_t size   = md->raw_key;
    uint64_t base = 0;

    memset(entry, 0, entry_size(size));
    if ((part->remote == NULL) ||
        (fi_mr_raw_attr(part->remote, &base, (uint8_t *)entry + sizeof(base),
                        &size, 0) != 0)) {
        return UCS_ERR_IO_ERROR;
    }
    base = htole64(base);
    memcpy(entry, &base, sizeof(base));
    return UCS_OK;
}

/* Writes the 64-bit key of one device to `entry` of the packed key. If
 * part->remote is NULL, the memory is registered once for each port, and all
 * these registrations have the requested key. */
static void pack_word(const ugni_part_t *part, char *entry)
{
    uint64_t key = htole64((part->remote == NULL) ? part->key :
                                                    fi_mr_key(part->remote));

    memcpy(entry, &key, sizeof(key));
}

ucs_status_t ugni_mkey_pack(uct_md_h uct_md, uct_mem_h memh, void *address,
                            size_t length, unsigned flags, void *buffer)
{
    const ugni_md_t *md        = (ugni_md_t *)uct_md;
    const ugni_mem_t *mem      = memh;
    const ugni_wire_key_t wire = {
        .magic   = htole32(MAGIC),
        .num     = htole16((uint16_t)mem->num),
        .raw_key = htole16((uint16_t)md->raw_key),
        .base    = htole64(mem->base),
    };
    char *entry         = (char *)buffer + sizeof(wire);
    ucs_status_t status = UCS_OK;

    if (flags & (UCX_MKEY_PACK_EXPORT | UCX_MKEY_PACK_INVALIDATE)) {
        return UCS_ERR_UNSUPPORTED;
    }
    memcpy(buffer, &wire, sizeof(wire));
    for (unsigned i = 0; (i < mem->num) && (status == UCS_OK); ++i) {
        if (md->raw_key != 0) {
            status = pack_raw(md, &mem->parts[i], entry);
        } else {
            pack_word(&mem->parts[i], entry);
        }
        entry += entry_size(md->raw_key);
    }
    return status;
}

/* --- Unpacking ------------------------------------------------------------ */

/* Unpacks a key, which is untrusted input. The keys of libfabric are not
 * checked here: the provider of the memory's owner checks them at each
 * access. */
ucs_status_t ugni_rkey_unpack(const ucx_component_t *component,
                              const void *buffer, size_t length,
                              ucs_sys_device_t sys_dev, uct_rkey_t *rkey_p,
                              void **handle_p)
{
    ugni_wire_key_t wire;
    ugni_rkey_t *rkey;
    size_t size;

    if (length < sizeof(wire)) {
        return UCS_ERR_INVALID_PARAM;
    }
    memcpy(&wire, buffer, sizeof(wire));
    wire.num     = le16toh(wire.num);
    wire.raw_key = le16toh(wire.raw_key);
    size         = wire.num * entry_size(wire.raw_key);
    if ((le32toh(wire.magic) != MAGIC) || (wire.num == 0) ||
        (wire.num > UGNI_MAX_DEVICES) || (wire.raw_key > MAX_RAW_KEY) ||
        (length - sizeof(wire) < size)) {
        return UCS_ERR_INVALID_PARAM;
    }
    rkey = calloc(1, sizeof(*rkey) + size);
    if (rkey == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    rkey->base     = le64toh(wire.base);
    rkey->num_keys = wire.num;
    rkey->raw_key  = wire.raw_key;
    memcpy(rkey->keys, (const char *)buffer + sizeof(wire), size);
    for (unsigned i = 0; (i < wire.num) && (wire.raw_key == 0); ++i) {
        rkey->keys[i] = le64toh(rkey->keys[i]);
    }
    *rkey_p   = (uct_rkey_t)rkey;
    *handle_p = NULL;
    return UCS_OK;
}

ucs_status_t ugni_rkey_compare(const ucx_component_t *component, uct_rkey_t a,
                               uct_rkey_t b, int *result)
{
    const ugni_rkey_t *first = (void *)a, *second = (void *)b;

    if ((first->num_keys != second->num_keys) ||
        (first->raw_key != second->raw_key)) {
        *result = ((first->num_keys > second->num_keys) ||
                   (first->raw_key > second->raw_key)) ?
                      1 :
                      -1;
        return UCS_OK;
    }
    if (first->base != second->base) {
        *result = (first->base > second->base) ? 1 : -1;
        return UCS_OK;
    }
    *result = memcmp(first->keys, second->keys,
                     first->num_keys * entry_size(first->raw_key));
    return UCS_OK;
}

/* --- Mapping -------------------------------------------------------------- */

/* Maps the raw key with this index to a 64-bit key for operations of `device`.
 * The caller holds the lock of the memory domain. */
static ucs_status_t map(ugni_md_t *md, const ugni_device_t *device,
                        ugni_rkey_t *rkey, unsigned index, uint64_t *key_p)
{
    char *entry = (char *)rkey->keys + index * entry_size(rkey->raw_key);
    ugni_mapping_t *mapping = calloc(1, sizeof(*mapping));
    uint64_t base;

    if (mapping == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    memcpy(&base, entry, sizeof(base));
    if (fi_mr_map_raw(device->domain, le64toh(base),
                      (uint8_t *)entry + sizeof(base), rkey->raw_key,
                      &mapping->key, 0) != 0) {
        free(mapping);
        return UCS_ERR_INVALID_PARAM;
    }
    mapping->md      = md;
    mapping->device  = device;
    mapping->index   = index;
    mapping->next    = rkey->mappings;
    rkey->mappings   = mapping;
    mapping->md_next = md->mappings;
    if (mapping->md_next != NULL) {
        mapping->md_next->md_prev = mapping;
    }
    md->mappings = mapping;
    *key_p       = mapping->key;
    return UCS_OK;
}

ucs_status_t ugni_rkey_get(ugni_md_t *md, const ugni_device_t *device,
                           ugni_rkey_t *rkey, unsigned index, uint64_t *key_p)
{
    ucs_status_t status = UCS_OK;
    const ugni_mapping_t *mapping;

    if ((index >= rkey->num_keys) || (rkey->raw_key != md->raw_key)) {
        return UCS_ERR_INVALID_PARAM;
    }
    if (rkey->raw_key == 0) {
        *key_p = rkey->keys[index];
        return UCS_OK;
    }
    pthread_mutex_lock(&md->lock);
    for (mapping = rkey->mappings;
         (mapping != NULL) &&
         ((mapping->device != device) || (mapping->index != index));
         mapping = mapping->next) {
    }
    if (mapping != NULL) {
        *key_p = mapping->key;
    } else {
        status = map(md, device, rkey, index, key_p);
    }
    pthread_mutex_unlock(&md->lock);
    return status;
}

/* Unmaps a key. The caller holds the lock of the memory domain. */
static void unmap(ugni_md_t *md, ugni_mapping_t *mapping)
{
    fi_mr_unmap_key(mapping->device->domain, mapping->key);
    *((mapping->md_prev == NULL) ?
          &md->mappings :
          &mapping->md_prev->md_next) = mapping->md_next;
    if (mapping->md_next != NULL) {
        mapping->md_next->md_prev = mapping->md_prev;
    }
    mapping->md = NULL;
}

void ugni_mappings_drop(ugni_md_t *md)
{
    while (md->mappings != NULL) {
        unmap(md, md->mappings);
    }
}

ucs_status_t ugni_rkey_release(const ucx_component_t *component,
                               uct_rkey_t uct_rkey, void *handle)
{
    ugni_rkey_t *rkey = (void *)uct_rkey;
    ugni_mapping_t *mapping;
    ugni_md_t *md;

    while ((mapping = rkey->mappings) != NULL) {
        rkey->mappings = mapping->next;
        md             = mapping->md;
        if (md != NULL) {
            pthread_mutex_lock(&md->lock);
            unmap(md, mapping);
            pthread_mutex_unlock(&md->lock);
        }
        free(mapping);
    }
    free(rkey);
    return UCS_OK;
}
