/* SPDX-License-Identifier: BSD-3-Clause */
/* Registered memory, and unpacked keys of remote memory. */
#ifndef UGNI_MEM_H
#define UGNI_MEM_H

#include "plugin.h"

struct fid_mr;
struct ugni_port;

/* A registration with a domain or, with FI_MR_ENDPOINT, with a port of it */
typedef struct ugni_region {
    struct ugni_region *next;
    struct ugni_port *port; /* NULL: registered with the domain */
    struct fid_mr *mr;
} ugni_region_t;

/* Registered memory, as one device has it */
typedef struct ugni_part {
    uint64_t key; /* Requested; the same for all ports */
    ugni_region_t *regions;
} ugni_part_t;

typedef struct ugni_mem {
    struct ugni_mem *prev, *next; /* In md->mems */
    void *address;
    size_t length;
    uint64_t base; /* Subtracted from remote addresses */
    unsigned num;
    ugni_part_t parts[]; /* By device */
} ugni_mem_t;

/* A raw key that was mapped for a device of this process */
typedef struct ugni_mapping {
    struct ugni_mapping *next; /* In rkey->mappings */
    struct ugni_mapping *md_prev, *md_next;
    ugni_md_t *md; /* NULL: closed, and the key unmapped */
    const ugni_device_t *device;
    unsigned index; /* Of the owner's device */
    uint64_t key;
} ugni_mapping_t;

typedef struct ugni_rkey {
    uint64_t base;     /* Subtracted from remote addresses */
    unsigned num_keys; /* One for each device of the owner */
    size_t raw_key;    /* Bytes of one; 0: 64-bit keys */
    ugni_mapping_t *mappings;
    uint64_t keys[]; /* Raw: each a base address and the bytes */
} ugni_rkey_t;

/* Registers memory with the device; with FI_MR_ENDPOINT for the port, otherwise
 * `port` is not used. Returns 0 or an error of libfabric. */
int ugni_region_open(const ugni_md_t *md, const ugni_device_t *device,
                     struct ugni_port *port, void *address, size_t length,
                     uint64_t access, uint64_t key, struct fid_mr **mr_p);
/* With FI_MR_ENDPOINT: register all memory with a new port, and end the
 * registrations of a port. The caller holds the lock of the memory domain. */
ucs_status_t ugni_mems_add_port(ugni_md_t *md, struct ugni_port *port);
void ugni_mems_remove_port(ugni_md_t *md, struct ugni_port *port);
/* The descriptor of registered memory for operations of the port. */
void *ugni_mem_desc(ugni_md_t *md, const ugni_mem_t *mem,
                    const struct ugni_port *port);

/* The key of libfabric for the owner's device `index`, for operations of
 * `device`. UCS_ERR_INVALID_PARAM: the key has none. */
ucs_status_t ugni_rkey_get(ugni_md_t *md, const ugni_device_t *device,
                           ugni_rkey_t *rkey, unsigned index, uint64_t *key_p);

#endif
