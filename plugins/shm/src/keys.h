/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Remote keys: their wire format, and the segments that unpacked keys have
 * attached. A cache attaches a segment, including one of this process, once for
 * all its keys.
 *
 * Any thread may call these functions.
 */
#ifndef SHM_KEYS_H
#define SHM_KEYS_H

#include "segment.h"

#include <pthread.h>

/* An attached segment, of which all bytes are mapped. */
typedef struct shm_attached {
    shm_seg_t seg;
    char *mapped;              /* Address of the mapping */
    unsigned refcount;         /* Number of keys that refer to it */
    struct shm_attached *next; /* Next in the bucket */
} shm_attached_t;

/* An unpacked remote key, to which uct_rkey_t points. */
typedef struct shm_rkey {
    uint64_t base; /* Remote address of the first byte */
    uint64_t length;
    char *local; /* Local address of the same byte */
    shm_attached_t *attached;
} shm_rkey_t;

enum { SHM_KEY_BUCKETS = 64 };

/* The attached segments of one component. Both posix and sysv have one cache in
 * each instance of the plugin. */
typedef struct shm_key_cache {
    const ucx_host_t *host;
    const shm_kind_t *kind;
    pthread_mutex_t lock; /* Protects the members below */
    /* Held for reading while a segment is attached, which uses the settings of
     * `space` and may wait for another process; for writing while they change.
     * Taken before `lock`, and not while holding it. */
    pthread_rwlock_t settings;
    int is_open; /* `space` is open; the first key opens it */
    shm_space_t space;
    char *dir; /* Directory of the domain opened last; NULL: none yet */
    int use_proc;
    int use_socket;
    shm_attached_t *attached[SHM_KEY_BUCKETS];
} shm_key_cache_t;

ucs_status_t shm_key_cache_create(const ucx_host_t *host,
                                  const shm_kind_t *kind,
                                  shm_key_cache_t **cache_p);
void shm_key_cache_destroy(shm_key_cache_t *cache);

/* Makes later attachments use the settings of `space`: directory, use of /proc,
 * use of sockets. */
void shm_key_cache_configure(shm_key_cache_t *cache, const shm_space_t *space);

/*
 * Wire format, little-endian, with the sizes in bytes:
 *   address of the segment 27 | base 8 | length 8 | offset in the segment 8
 * UCP sends a key together with an id of the memory, the base and the length.
 * The id is the secret that UCP has passed to mem_alloc: the random part of the
 * segment's token. UCP compresses the key, and replaces these values, if they
 * are adjacent, by a short reference. Therefore the secret is at the end of the
 * address, before base and length.
 */
enum { SHM_KEY_LENGTH = SHM_ADDRESS_LENGTH + 24 };

void shm_key_pack(const shm_seg_t *seg, uint64_t base, uint64_t length,
                  uint64_t offset, void *buffer);

/* Checks a key, attaches its segment and maps it. UCS_ERR_INVALID_PARAM: the
 * key is not valid. UCS_ERR_UNREACHABLE: its memory cannot be shared with this
 * process. Release it with shm_key_close. */
ucs_status_t shm_key_open(shm_key_cache_t *cache, const void *buffer,
                          size_t length, shm_rkey_t *rkey);
void shm_key_close(shm_key_cache_t *cache, shm_rkey_t *rkey);

/* Functions of ucx_component_t */
ucs_status_t shm_rkey_unpack(const ucx_component_t *component,
                             const void *buffer, size_t length,
                             ucs_sys_device_t sys_dev, uct_rkey_t *rkey_p,
                             void **handle_p);
ucs_status_t shm_rkey_ptr(const ucx_component_t *component, uct_rkey_t rkey,
                          void *handle, uint64_t remote_address,
                          void **local_address_p);
ucs_status_t shm_rkey_release(const ucx_component_t *component, uct_rkey_t rkey,
                              void *handle);
ucs_status_t shm_rkey_compare(const ucx_component_t *component, uct_rkey_t a,
                              uct_rkey_t b, int *result);

#endif
