/* SPDX-License-Identifier: BSD-3-Clause */
/* Registered memory, and unpacked keys of remote memory. */
#ifndef UGNI_MEM_H
#define UGNI_MEM_H

#include "plugin.h"

struct fid_mr;
struct ugni_port;

/* A registration with a domain of libfabric or, with FI_MR_ENDPOINT, with one
 * of its endpoints */
typedef struct ugni_region {
    struct ugni_region *next;
    struct ugni_port *port; /* NULL: registered with the domain, or with the
                             * target */
    struct fid_mr *mr;
} ugni_region_t;

/* Registered memory on one device */
typedef struct ugni_part {
    uint64_t key;          /* Requested key; equal for all ports */
    struct fid_mr *remote; /* The registration with the domain or the target,
                            * whose key peers get; NULL: all registrations have
                            * `key` */
    ugni_region_t *regions;
} ugni_part_t;

typedef struct ugni_mem {
    struct ugni_mem *prev, *next; /* Nodes in md->mems */
    ucx_rcache_region_t *cached;  /* NULL: not in the registration cache */
    void *address;
    size_t length;
    ucs_memory_type_t type;
    /* Subtracted from remote addresses before they are passed to libfabric */
    uint64_t base;
    unsigned num;
    ugni_part_t parts[]; /* Indexed by device */
} ugni_mem_t;

/* A raw key that was mapped for a device of this process */
typedef struct ugni_mapping {
    struct ugni_mapping *next; /* Next in rkey->mappings */
    struct ugni_mapping *md_prev, *md_next;
    ugni_md_t *md; /* NULL: the domain was closed, and the key unmapped */
    const ugni_device_t *device;
    unsigned index; /* Index of the owner's device */
    uint64_t key;
} ugni_mapping_t;

typedef struct ugni_rkey {
    /* Subtracted from remote addresses before they are passed to libfabric */
    uint64_t base;
    unsigned num_keys; /* Number of keys: one for each device of the owner */
    size_t raw_key;    /* Bytes of a raw key; 0: keys have 64 bits */
    ugni_mapping_t *mappings;
    uint64_t keys[]; /* 64-bit keys; or for each raw key its base address and
                      * bytes */
} ugni_rkey_t;

/* Registers memory with the device; with FI_MR_ENDPOINT for the endpoint,
 * otherwise `ep` is not used. Returns 0 or an error of libfabric. */
int ugni_region_open(const ugni_md_t *md, const ugni_device_t *device,
                     struct fid_ep *ep, const ugni_mem_t *mem, uint64_t access,
                     uint64_t key, struct fid_mr **mr_p);
/* hmem.c: registers memory of a type with a domain. Returns 0 or an error of
 * libfabric. */
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

/* Used with FI_MR_ENDPOINT: the functions register all memory with a new port,
 * and close the registrations of a port. The caller holds the lock of the
 * memory domain. */
ucs_status_t ugni_mems_add_port(ugni_md_t *md, struct ugni_port *port);
void ugni_mems_remove_port(ugni_md_t *md, struct ugni_port *port);
/* Returns the descriptor of a buffer for operations of the port; NULL if the
 * provider needs none. With FI_MR_LOCAL it needs those of all buffers,
 * otherwise only those of memory of accelerators. */
void *ugni_mem_desc(const struct ugni_port *port, uct_mem_h memh);

/* target.c: An endpoint of the device through which peers access memory. It is
 * used with FI_MR_ENDPOINT if the provider chooses the keys: memory has a key
 * for each endpoint then, and a packed key cannot contain the keys of ports
 * that are opened later. */
typedef struct ugni_target {
    struct fid_ep *ep;
    struct fid_av *av;
    struct fid_cq *cq;
    char *name; /* Its address in libfabric */
    size_t name_length;
} ugni_target_t;

/* Returns 0 or an error of libfabric. */
int ugni_target_open(ugni_device_t *device);
void ugni_target_close(ugni_device_t *device);
/* Polls the completion queue of the target: a provider may execute the accesses
 * of peers only while the queue is polled. */
void ugni_target_progress(const ugni_target_t *target);

/* Returns libfabric's key for the owner's device `index`, for operations of
 * `device`. UCS_ERR_INVALID_PARAM: the packed key has no such key. */
ucs_status_t ugni_rkey_get(ugni_md_t *md, const ugni_device_t *device,
                           ugni_rkey_t *rkey, unsigned index, uint64_t *key_p);

#endif
