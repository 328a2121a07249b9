/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Remote keys: how a key looks on a wire, and the segments that unpacked keys
 * have attached. A segment is attached once for all keys of it that the process
 * holds, its own segments among them.
 *
 * Any thread.
 */
#ifndef SHM_KEYS_H
#define SHM_KEYS_H

#include "segment.h"

#include <pthread.h>

/* An attached segment, mapped whole. */
typedef struct shm_attached {
    shm_seg_t           seg;
    char                *mapped;
    unsigned            refcount;
    struct shm_attached *next;
} shm_attached_t;

/* An unpacked remote key: what uct_rkey_t points to. */
typedef struct shm_rkey {
    uint64_t       base;      /* Remote address of the first byte */
    uint64_t       length;
    char           *local;    /* Where that byte is mapped here */
    shm_attached_t *attached;
} shm_rkey_t;

enum { SHM_KEY_BUCKETS = 64 };

/* Of one component, from the plugin's entry to its end. */
typedef struct shm_key_cache {
    const ucx_host_t *host;
    const shm_kind_t *kind;
    pthread_mutex_t  lock;
    int              is_open;   /* `space` is: with the first key */
    shm_space_t      space;
    char             *dir;      /* As the last opened domain has it */
    int              use_proc;
    int              use_socket;
    shm_attached_t   *attached[SHM_KEY_BUCKETS];
} shm_key_cache_t;

ucs_status_t shm_key_cache_create(const ucx_host_t *host,
                                  const shm_kind_t *kind,
                                  shm_key_cache_t **cache_p);
void shm_key_cache_destroy(shm_key_cache_t *cache);

/* From now on segments are looked for as `space` does. */
void shm_key_cache_configure(shm_key_cache_t *cache, const shm_space_t *space);

/* On the wire, little-endian:
 *   0 address of the segment 27 | base 8 | length 8 | offset in the segment 8
 * UCP leaves out what it sends itself: the secret that ends the address, base,
 * length, and zeros behind them, if they follow each other. */
enum { SHM_KEY_LENGTH = SHM_ADDRESS_LENGTH + 24 };

void shm_key_pack(const shm_seg_t *seg, uint64_t base, uint64_t length,
                  uint64_t offset, void *buffer);

/* Checks, attaches and maps. INVALID_PARAM: no key of ours; UNREACHABLE: its
 * memory cannot be shared with this process. Release with shm_key_close. */
ucs_status_t shm_key_open(shm_key_cache_t *cache, const void *buffer,
                          size_t length, shm_rkey_t *rkey);
void shm_key_close(shm_key_cache_t *cache, shm_rkey_t *rkey);

/* Slots of ucx_component_t */
ucs_status_t shm_rkey_unpack(const ucx_component_t *component,
                             const void *buffer, size_t length,
                             ucs_sys_device_t sys_dev, uct_rkey_t *rkey_p,
                             void **handle_p);
ucs_status_t shm_rkey_ptr(const ucx_component_t *component, uct_rkey_t rkey,
                          void *handle, uint64_t remote_address,
                          void **local_address_p);
ucs_status_t shm_rkey_release(const ucx_component_t *component,
                              uct_rkey_t rkey, void *handle);
ucs_status_t shm_rkey_compare(const ucx_component_t *component, uct_rkey_t a,
                              uct_rkey_t b, int *result);

#endif
