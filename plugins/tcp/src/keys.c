/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Implementation of the table of registered memory. Chunks never move and are
 * never freed before the table is, so that a lookup needs no lock.
 */
#include "keys.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/random.h>

ucs_status_t tcp_keys_init(tcp_keys_t *keys)
{
    pthread_mutex_init(&keys->lock, NULL);
    keys->free_list  = NULL;
    keys->num_chunks = 0;
    keys->num_random = 0;
    return UCS_OK;
}

void tcp_keys_cleanup(tcp_keys_t *keys)
{
    for (unsigned i = 0; i < keys->num_chunks; ++i) {
        free(atomic_load_explicit(&keys->chunks[i], memory_order_relaxed));
    }
    pthread_mutex_destroy(&keys->lock);
}

/* With the lock held. */
static ucs_status_t keys_grow(tcp_keys_t *keys)
{
    unsigned n = keys->num_chunks;
    tcp_key_t *chunk;

    if (n == TCP_KEYS_CHUNKS) {
        return UCS_ERR_EXCEEDS_LIMIT;
    }

    chunk = calloc(TCP_KEYS_CHUNK, sizeof(*chunk));
    if (chunk == NULL) {
        return UCS_ERR_NO_MEMORY;
    }

    for (unsigned i = TCP_KEYS_CHUNK; i-- > 0;) {
        chunk[i].index     = n * TCP_KEYS_CHUNK + i;
        chunk[i].next_free = keys->free_list;
        keys->free_list    = &chunk[i];
    }
    atomic_store_explicit(&keys->chunks[n], chunk, memory_order_release);
    keys->num_chunks = n + 1;
    return UCS_OK;
}

/* A random word that is not 0. With the lock held. */
static ucs_status_t keys_random(tcp_keys_t *keys, uint64_t *value_p)
{
    ssize_t n;

    do {
        if (keys->num_random == 0) {
            n = getrandom(keys->random, sizeof(keys->random), 0);
            if (n < (ssize_t)sizeof(keys->random[0])) {
                if ((n < 0) && (errno == EINTR)) {
                    *value_p = 0;
                    continue;
                }
                return UCS_ERR_IO_ERROR;
            }
            keys->num_random = (unsigned)(n / sizeof(keys->random[0]));
        }
        *value_p = keys->random[--keys->num_random];
    } while (*value_p == 0);

    return UCS_OK;
}

ucs_status_t tcp_keys_add(tcp_keys_t *keys, void *address, size_t length,
                          unsigned access, tcp_key_t **key_p)
{
    ucs_status_t status = UCS_OK;
    uint64_t value      = 0;
    tcp_key_t *key;

    pthread_mutex_lock(&keys->lock);
    if (keys->free_list == NULL) {
        status = keys_grow(keys);
    }
    if (status == UCS_OK) {
        status = keys_random(keys, &value);
    }
    if (status == UCS_OK) {
        key             = keys->free_list;
        keys->free_list = key->next_free;
        key->address    = (uintptr_t)address;
        key->length     = length;
        key->access     = access;
        atomic_store_explicit(&key->key, value, memory_order_release);
        *key_p = key;
    }
    pthread_mutex_unlock(&keys->lock);

    return status;
}

void tcp_keys_remove(tcp_keys_t *keys, tcp_key_t *key)
{
    /* Sequentially consistent, as in tcp_keys_hold(): either the holder sees
     * the key gone, or the hold is seen here. */
    atomic_store(&key->key, 0);
    while (atomic_load(&key->holds) != 0) {
        sched_yield();
    }

    pthread_mutex_lock(&keys->lock);
    key->next_free  = keys->free_list;
    keys->free_list = key;
    pthread_mutex_unlock(&keys->lock);
}

tcp_key_t *tcp_keys_hold(tcp_keys_t *keys, uint32_t index, uint64_t key,
                         uint64_t address, uint64_t length, unsigned access)
{
    tcp_key_t *chunk, *entry;

    if ((index >= TCP_KEYS_CHUNK * TCP_KEYS_CHUNKS) || (key == 0)) {
        return NULL;
    }

    chunk = atomic_load_explicit(&keys->chunks[index / TCP_KEYS_CHUNK],
                                 memory_order_acquire);
    if (chunk == NULL) {
        return NULL;
    }

    entry = &chunk[index % TCP_KEYS_CHUNK];
    atomic_fetch_add(&entry->holds, 1);
    if ((atomic_load(&entry->key) != key) ||
        ((entry->access & access) != access) ||
        (address < entry->address) || (length > entry->length) ||
        (address - entry->address > entry->length - length)) {
        tcp_keys_release(entry);
        return NULL;
    }

    return entry;
}
