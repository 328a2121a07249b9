/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of keys: see keys.h. */
#include "keys.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/random.h>

ucs_status_t tcp_keys_init(tcp_keys_t *keys)
{
    /* Only pages that are used are allocated */
    keys->buckets = calloc(TCP_KEYS_BUCKETS, sizeof(*keys->buckets));
    if (keys->buckets == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    pthread_mutex_init(&keys->lock, NULL);
    keys->latest     = NULL;
    keys->num_random = 0;
    return UCS_OK;
}

static tcp_key_t *_Atomic *bucket_of(const tcp_keys_t *keys, uint64_t key)
{
    return &keys->buckets[key % TCP_KEYS_BUCKETS];
}

static tcp_key_t *bucket_first(tcp_key_t *_Atomic *bucket)
{
    return atomic_load_explicit(bucket, memory_order_acquire);
}

void tcp_keys_cleanup(tcp_keys_t *keys)
{
    tcp_key_t *entry;

    /* Do not iterate over the buckets: reading them would map their pages */
    while ((entry = keys->latest) != NULL) {
        keys->latest = entry->older;
        free(entry);
    }
    free(keys->buckets);
    pthread_mutex_destroy(&keys->lock);
}

/* Generates a random number other than 0. Called with the lock held. */
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

static int keys_has(const tcp_keys_t *keys, uint64_t value)
{
    const tcp_key_t *entry = bucket_first(bucket_of(keys, value));

    while ((entry != NULL) &&
           (atomic_load_explicit(&entry->key, memory_order_relaxed) != value)) {
        entry = entry->next;
    }
    return entry != NULL;
}

/* Returns a free entry of the key's bucket, or NULL. Called with the lock
 * held. */
static tcp_key_t *keys_entry(tcp_keys_t *keys, uint64_t value)
{
    tcp_key_t *_Atomic *bucket = bucket_of(keys, value);
    tcp_key_t *entry;

    for (entry = bucket_first(bucket); entry != NULL; entry = entry->next) {
        if (!entry->is_used) {
            return entry;
        }
    }
    entry = calloc(1, sizeof(*entry));
    if (entry != NULL) {
        entry->older = keys->latest;
        keys->latest = entry;
        entry->next  = bucket_first(bucket);
        atomic_store_explicit(bucket, entry, memory_order_release);
    }
    return entry;
}

ucs_status_t tcp_keys_add(tcp_keys_t *keys, void *address, size_t length,
                          unsigned access, uint64_t secret, tcp_key_t **key_p)
{
    ucs_status_t status = UCS_OK;
    uint64_t value      = secret;
    tcp_key_t *entry;

    pthread_mutex_lock(&keys->lock);
    while ((status == UCS_OK) && ((value == 0) || keys_has(keys, value))) {
        status = keys_random(keys, &value);
    }
    if (status == UCS_OK) {
        entry = keys_entry(keys, value);
        if (entry == NULL) {
            status = UCS_ERR_NO_MEMORY;
        } else {
            entry->is_used = 1;
            entry->address = (uintptr_t)address;
            entry->length  = length;
            entry->access  = access;
            atomic_store_explicit(&entry->key, value, memory_order_release);
            *key_p = entry;
        }
    }
    pthread_mutex_unlock(&keys->lock);

    return status;
}

void tcp_keys_remove(tcp_keys_t *keys, tcp_key_t *key)
{
    /* Sequentially consistent, as in tcp_keys_hold(): either the holder sees
     * that the key is removed, or this thread sees the hold. */
    atomic_store(&key->key, 0);
    while (atomic_load(&key->holds) != 0) {
        sched_yield();
    }

    pthread_mutex_lock(&keys->lock);
    key->is_used = 0;
    pthread_mutex_unlock(&keys->lock);
}

tcp_key_t *tcp_keys_hold(tcp_keys_t *keys, uint64_t key, uint64_t address,
                         uint64_t length, unsigned access)
{
    tcp_key_t *entry;

    if (key == 0) {
        return NULL;
    }
    entry = bucket_first(bucket_of(keys, key));
    while ((entry != NULL) &&
           (atomic_load_explicit(&entry->key, memory_order_relaxed) != key)) {
        entry = entry->next;
    }
    if (entry == NULL) {
        return NULL;
    }

    atomic_fetch_add(&entry->holds, 1);
    if ((atomic_load(&entry->key) != key) ||
        ((entry->access & access) != access) || (address < entry->address) ||
        (length > entry->length) ||
        (address - entry->address > entry->length - length)) {
        tcp_keys_release(entry);
        return NULL;
    }

    return entry;
}
