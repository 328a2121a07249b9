/* SPDX-License-Identifier: BSD-3-Clause */
/* Registered memory, and unpacked keys of remote memory. */
#ifndef UGNI_MEM_H
#define UGNI_MEM_H

#include "plugin.h"

struct fid_mr;
struct ugni_port;

/* A registration of memory by libfabric: with a domain or, if the provider
 * demands FI_MR_ENDPOINT, with one endpoint of the domain */
typedef struct ugni_region {
    struct ugni_region *next; /* Next in ugni_part_t.regions */
    struct ugni_port *port; /* The port whose endpoint the memory is registered
                             * with. NULL: registered with the domain, or with
                             * the device's target (ugni_target_t) */
    struct fid_mr *mr;
} ugni_region_t;

/* The registrations of memory on one device (ugni_device_t) */
typedef struct ugni_part {
    uint64_t key;           /* Requested key; equal for all ports */
    struct fid_mr *remote;  /* The registration with the domain or the target,
                             * whose key peers get; NULL: all registrations have
                             * `key` */
    ugni_region_t *regions; /* List of all registrations on this device */
} ugni_part_t;

/* Registered memory. A memory handle (uct_mem_h) points to this structure. */
typedef struct ugni_mem {
    struct ugni_mem *prev, *next; /* Nodes in md->mems */
    ucx_rcache_region_t *cached;  /* NULL: not in the registration cache */
    void *address;
    size_t length;
    ucs_memory_type_t type;
    /* Peers subtract this from addresses before they pass them to libfabric:
     * `address`, or 0 if the provider uses virtual addresses
     * (FI_MR_VIRT_ADDR) */
    uint64_t base;
    unsigned num;        /* Number of entries of `parts` that are set */
    ugni_part_t parts[]; /* Indexed as md->devices */
} ugni_mem_t;

/* A raw key (FI_MR_RAW) that libfabric has mapped to a 64-bit key, for
 * operations of one device of this process */
typedef struct ugni_mapping {
    struct ugni_mapping *next;              /* Next in rkey->mappings */
    struct ugni_mapping *md_prev, *md_next; /* Nodes in md->mappings */
    ugni_md_t *md; /* NULL: the domain was closed, and the key unmapped */
    const ugni_device_t *device; /* Device of this process */
    unsigned index;              /* Index of the raw key in ugni_rkey_t */
    uint64_t key;                /* The 64-bit key */
} ugni_mapping_t;

/* An unpacked remote key */
typedef struct ugni_rkey {
    /* Subtracted from remote addresses before they are passed to libfabric;
     * ugni_mem_t.base of the owner */
    uint64_t base;
    unsigned num_keys; /* Number of keys: one for each device of the owner */
    size_t raw_key;    /* Bytes of a raw key; 0: keys have 64 bits */
    ugni_mapping_t *mappings; /* Raw keys that were mapped */
    uint64_t keys[]; /* 64-bit keys; or for each raw key its base address, in 8
                      * bytes (little-endian), and its bytes */
} ugni_rkey_t;

/* Registers memory with the device's domain. With FI_MR_ENDPOINT, also binds
 * the registration to `ep`; otherwise `ep` is not used. Returns 0 or an error
 * of libfabric. */
int ugni_region_open(const ugni_md_t *md, const ugni_device_t *device,
                     struct fid_ep *ep, const ugni_mem_t *mem, uint64_t access,
                     uint64_t key, struct fid_mr **mr_p);
/* hmem.c: registers memory of the type mem->type with the device's domain.
 * Returns 0 or an error of libfabric. */
int ugni_hmem_register(const ugni_device_t *device, const ugni_mem_t *mem,
                       uint64_t access, uint64_t key, struct fid_mr **mr_p);
/* ugni_mem_new() registers memory with all devices, without the cache.
 * ugni_mem_delete() deregisters it. */
ucs_status_t ugni_mem_new(ugni_md_t *md, void *address, size_t length,
                          ucs_memory_type_t type, ugni_mem_t **mem_p);
void ugni_mem_delete(ugni_md_t *md, ugni_mem_t *mem);

/* cache.c: creates the cache if the user and the provider allow that. */
void ugni_cache_create(ugni_md_t *md);
/* Deregisters all cached memory, and destroys the cache. */
void ugni_cache_destroy(ugni_md_t *md);
/* Returns a registration from the cache. UCS_ERR_UNSUPPORTED: the cache does
 * not serve this registration. */
ucs_status_t ugni_cache_get(ugni_md_t *md, void *address, size_t length,
                            const ucx_mem_reg_params_t *params,
                            ugni_mem_t **mem_p);

/* With FI_MR_ENDPOINT, ugni_mems_add_port() registers all memory of the domain
 * with a new port, and ugni_mems_remove_port() closes the registrations with a
 * port. The caller holds the lock of the memory domain. */
ucs_status_t ugni_mems_add_port(ugni_md_t *md, struct ugni_port *port);
void ugni_mems_remove_port(ugni_md_t *md, struct ugni_port *port);
/* Returns the descriptor of a registered buffer for operations of the port, or
 * NULL if the provider needs none. With FI_MR_LOCAL, the provider needs the
 * descriptors of all buffers; otherwise, only those of accelerator memory. */
void *ugni_mem_desc(const struct ugni_port *port, uct_mem_h memh);

/* target.c: An endpoint of libfabric, one for each device, through which peers
 * access memory. It is used with FI_MR_ENDPOINT if the provider chooses the
 * keys: memory then has a different key for each endpoint, and a packed key
 * cannot contain the keys for ports that are opened later. */
typedef struct ugni_target {
    struct fid_ep *ep;
    struct fid_av *av;
    struct fid_cq *cq;
    char *name;         /* Address of `ep` in libfabric */
    size_t name_length; /* Bytes of `name` */
} ugni_target_t;

/* Creates device->target. Returns 0 or an error of libfabric. */
int ugni_target_open(ugni_device_t *device);
void ugni_target_close(ugni_device_t *device);
/* Polls the completion queue of the target: a provider may execute the accesses
 * of peers only while the queue is polled. */
void ugni_target_progress(const ugni_target_t *target);

/* Stores libfabric's key for memory on device `index` of the owner, for
 * operations of the local `device`. UCS_ERR_INVALID_PARAM: the packed key
 * contains no key with this index, or a raw key that cannot be mapped. */
ucs_status_t ugni_rkey_get(ugni_md_t *md, const ugni_device_t *device,
                           ugni_rkey_t *rkey, unsigned index, uint64_t *key_p);

#endif
