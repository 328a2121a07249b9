/* SPDX-License-Identifier: BSD-3-Clause */
/* Packs, unpacks and compares remote keys, and keeps the segments that they
 * refer to attached; see keys.h. */
#include "keys.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

typedef struct __attribute__((packed)) wire_key {
    uint8_t address[SHM_ADDRESS_LENGTH];
    uint64_t base;
    uint64_t length;
    uint64_t offset;
} wire_key_t;

_Static_assert(sizeof(wire_key_t) == SHM_KEY_LENGTH, "no padding");

static shm_key_cache_t *cache_of(const ucx_component_t *component)
{
    return shm_container_of(component, shm_component_t, super)->keys;
}

/* --- The cache ------------------------------------------------------------ */

ucs_status_t shm_key_cache_create(const ucx_host_t *host,
                                  const shm_kind_t *kind,
                                  shm_key_cache_t **cache_p)
{
    shm_key_cache_t *cache = calloc(1, sizeof(*cache));

    if (cache == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    cache->host       = host;
    cache->kind       = kind;
    cache->use_proc   = 1;
    cache->use_socket = UCS_AUTO;
    pthread_mutex_init(&cache->lock, NULL);
    pthread_rwlock_init(&cache->settings, NULL);
    *cache_p = cache;
    return UCS_OK;
}

void shm_key_cache_destroy(shm_key_cache_t *cache)
{
    if (cache == NULL) {
        return;
    }
    if (cache->is_open) {
        shm_space_close(&cache->space);
    }
    pthread_rwlock_destroy(&cache->settings);
    pthread_mutex_destroy(&cache->lock);
    free(cache->dir);
    free(cache);
}

/* Applies the settings of shm_key_cache_configure() to the cache's space, if it
 * is open. Called with the lock held. */
static void cache_apply(shm_key_cache_t *cache)
{
    if (cache->is_open) {
        cache->space.use_proc   = cache->use_proc;
        cache->space.use_socket = cache->use_socket;
        if (cache->dir != NULL) {
            cache->space.dir = cache->dir;
        }
    }
}

void shm_key_cache_configure(shm_key_cache_t *cache, const shm_space_t *space)
{
    char *old = NULL, *dir;

    pthread_rwlock_wrlock(&cache->settings);
    pthread_mutex_lock(&cache->lock);
    dir = strdup(space->dir);
    if (dir != NULL) {
        old        = cache->dir;
        cache->dir = dir;
    }
    cache->use_proc   = space->use_proc;
    cache->use_socket = space->use_socket;
    cache_apply(cache);
    pthread_mutex_unlock(&cache->lock);
    pthread_rwlock_unlock(&cache->settings);
    free(old);
}

static shm_attached_t **bucket_of(shm_key_cache_t *cache, const uint8_t *token)
{
    /* The last bytes of a token are random */
    return &cache->attached[token[SHM_TOKEN_LENGTH - 1] % SHM_KEY_BUCKETS];
}

/* Opens the space of the cache, unless it is open. Called with the lock
 * held. */
static ucs_status_t cache_open(shm_key_cache_t *cache)
{
    ucs_status_t status;

    if (cache->is_open) {
        return UCS_OK;
    }
    status = shm_space_open(&cache->space, cache->host, cache->kind);
    if (status == UCS_OK) {
        cache->is_open = 1;
        cache_apply(cache);
    }
    return status;
}

static void attached_free(shm_attached_t *attached)
{
    shm_seg_unmap(&attached->seg, attached->mapped, attached->seg.length);
    shm_seg_close(&attached->seg);
    free(attached);
}

/* Attaches the segment with this address, and maps it. Called without the lock,
 * because it may wait many seconds for the process that has created the
 * segment: other threads must be able to use other keys. */
static ucs_status_t cache_attach(shm_key_cache_t *cache, const void *address,
                                 shm_attached_t **attached_p)
{
    const ucx_host_t *host   = cache->host;
    shm_attached_t *attached = calloc(1, sizeof(*attached));
    ucs_status_t status;
    char reason[256];

    if (attached == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    pthread_rwlock_rdlock(&cache->settings);
    status = shm_seg_attach(&cache->space, address, SHM_ADDRESS_LENGTH,
                            &attached->seg, reason, sizeof(reason));
    pthread_rwlock_unlock(&cache->settings);
    if (status != UCS_OK) {
        ucx_debug("a remote key's memory is not accessible directly: %s",
                  reason);
        goto err_free;
    }
    attached->mapped = shm_seg_map(&attached->seg, 0, attached->seg.length);
    if (attached->mapped == NULL) {
        ucx_error("cannot map %zu bytes of a peer's memory: out of address "
                  "space",
                  attached->seg.length);
        status = UCS_ERR_NO_MEMORY;
        goto err_close;
    }
    *attached_p = attached;
    return UCS_OK;

err_close:
    shm_seg_close(&attached->seg);
err_free:
    free(attached);
    return status;
}

/* Returns the attached segment with this token, which the caller then has to
 * release by cache_put(); NULL if there is none. Called with the lock held. */
static shm_attached_t *cache_find(shm_key_cache_t *cache, const uint8_t *token)
{
    shm_attached_t *attached = *bucket_of(cache, token);

    while ((attached != NULL) &&
           (memcmp(attached->seg.token, token, SHM_TOKEN_LENGTH) != 0)) {
        attached = attached->next;
    }
    if (attached != NULL) {
        ++attached->refcount;
    }
    return attached;
}

static ucs_status_t cache_get(shm_key_cache_t *cache, const void *address,
                              shm_attached_t **attached_p)
{
    const uint8_t *token = shm_seg_address_token(address);
    shm_attached_t *attached, **bucket, *mine;
    ucs_status_t status;

    pthread_mutex_lock(&cache->lock);
    attached = cache_find(cache, token);
    status   = (attached == NULL) ? cache_open(cache) : UCS_OK;
    pthread_mutex_unlock(&cache->lock);
    if ((attached == NULL) && (status == UCS_OK)) {
        status = cache_attach(cache, address, &mine);
        if (status != UCS_OK) {
            return status;
        }

        pthread_mutex_lock(&cache->lock);
        attached = cache_find(cache, token);
        if (attached == NULL) {
            bucket         = bucket_of(cache, token);
            mine->refcount = 1;
            mine->next     = *bucket;
            *bucket        = mine;
        }
        pthread_mutex_unlock(&cache->lock);
        if (attached == NULL) {
            attached = mine;
        } else {
            attached_free(mine); /* Another thread was faster */
        }
    }
    *attached_p = attached;
    return status;
}

static void cache_put(shm_key_cache_t *cache, shm_attached_t *attached)
{
    shm_attached_t **link;

    pthread_mutex_lock(&cache->lock);
    if (--attached->refcount == 0) {
        link = bucket_of(cache, attached->seg.token);
        while (*link != attached) {
            link = &(*link)->next;
        }
        *link = attached->next;
        attached_free(attached);
    }
    pthread_mutex_unlock(&cache->lock);
}

/* --- Keys ----------------------------------------------------------------- */

void shm_key_pack(const shm_seg_t *seg, uint64_t base, uint64_t length,
                  uint64_t offset, void *buffer)
{
    wire_key_t key;

    key.base   = htole64(base);
    key.length = htole64(length);
    key.offset = htole64(offset);
    shm_seg_address(seg, key.address);
    memcpy(buffer, &key, sizeof(key));
}

ucs_status_t shm_key_open(shm_key_cache_t *cache, const void *buffer,
                          size_t length, shm_rkey_t *rkey)
{
    uint64_t offset, size;
    ucs_status_t status;
    wire_key_t key;

    if (length < sizeof(key)) {
        return UCS_ERR_INVALID_PARAM;
    }
    memcpy(&key, buffer, sizeof(key));
    rkey->base   = le64toh(key.base);
    rkey->length = le64toh(key.length);
    offset       = le64toh(key.offset);
    if ((rkey->length == 0) || (rkey->base > UINT64_MAX - rkey->length)) {
        return UCS_ERR_INVALID_PARAM;
    }

    status = cache_get(cache, key.address, &rkey->attached);
    if (status != UCS_OK) {
        return status;
    }
    size = rkey->attached->seg.length;
    if ((offset > size) || (rkey->length > size - offset)) {
        cache_put(cache, rkey->attached);
        return UCS_ERR_INVALID_PARAM;
    }
    rkey->local = rkey->attached->mapped + offset;
    return UCS_OK;
}

void shm_key_close(shm_key_cache_t *cache, shm_rkey_t *rkey)
{
    cache_put(cache, rkey->attached);
}

/* --- The component's slots ------------------------------------------------ */

ucs_status_t shm_rkey_unpack(const ucx_component_t *component,
                             const void *buffer, size_t length,
                             ucs_sys_device_t sys_dev, uct_rkey_t *rkey_p,
                             void **handle_p)
{
    shm_rkey_t *rkey = malloc(sizeof(*rkey));
    ucs_status_t status;

    if (rkey == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    status = shm_key_open(cache_of(component), buffer, length, rkey);
    if (status != UCS_OK) {
        free(rkey);
        return status;
    }
    *rkey_p   = (uct_rkey_t)rkey;
    *handle_p = NULL;
    return UCS_OK;
}

ucs_status_t shm_rkey_ptr(const ucx_component_t *component, uct_rkey_t uct_rkey,
                          void *handle, uint64_t remote_address,
                          void **local_address_p)
{
    const shm_rkey_t *rkey = (const shm_rkey_t *)uct_rkey;
    uint64_t offset        = remote_address - rkey->base;

    if (offset >= rkey->length) {
        return UCS_ERR_INVALID_ADDR;
    }
    *local_address_p = rkey->local + offset;
    return UCS_OK;
}

ucs_status_t shm_rkey_release(const ucx_component_t *component,
                              uct_rkey_t uct_rkey, void *handle)
{
    shm_rkey_t *rkey = (shm_rkey_t *)uct_rkey;

    shm_key_close(cache_of(component), rkey);
    free(rkey);
    return UCS_OK;
}

static int order(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

/* Compares the memory that the keys describe. Two keys that were unpacked from
 * the same bytes are equal, although they are different objects. */
ucs_status_t shm_rkey_compare(const ucx_component_t *component, uct_rkey_t a,
                              uct_rkey_t b, int *result)
{
    const shm_rkey_t *x = (const shm_rkey_t *)a;
    const shm_rkey_t *y = (const shm_rkey_t *)b;

    *result = memcmp(x->attached->seg.token, y->attached->seg.token,
                     SHM_TOKEN_LENGTH);
    if (*result == 0) {
        *result = order(x->base, y->base);
    }
    if (*result == 0) {
        *result = order(x->length, y->length);
    }
    if (*result == 0) {
        *result = order((uintptr_t)x->local, (uintptr_t)y->local);
    }
    return UCS_OK;
}
