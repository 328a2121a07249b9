/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Open addressing with linear probing. Fewer than three quarters of the slots
 * are used, so that a search always ends at a free slot. Removal moves later
 * entries back into the freed slot, so there are no tombstones.
 */
#include "ucs/datastruct/hash.h"

#include <stdlib.h>
#include <string.h>

#define HASH_MIN_SLOTS 16

void ucs_hash_init(ucs_hash_t *hash)
{
    memset(hash, 0, sizeof(*hash));
}

void ucs_hash_cleanup(ucs_hash_t *hash)
{
    free(hash->slots);
    ucs_hash_init(hash);
}

/* Returns the slot of the key, or the free slot in which the key can be
 * stored. */
static ucs_hash_slot_t *hash_find(const ucs_hash_t *hash, uint64_t key)
{
    uint32_t i = (uint32_t)ucs_hash_mix64(key) & hash->mask;

    while ((hash->slots[i].value != NULL) && (hash->slots[i].key != key)) {
        i = (i + 1) & hash->mask;
    }

    return &hash->slots[i];
}

static ucs_status_t hash_resize(ucs_hash_t *hash, uint32_t num_slots)
{
    ucs_hash_t larger;
    uint32_t i;

    larger.slots = calloc(num_slots, sizeof(*larger.slots));
    if (larger.slots == NULL) {
        return UCS_ERR_NO_MEMORY;
    }

    larger.mask  = num_slots - 1;
    larger.count = hash->count;
    for (i = 0; (hash->slots != NULL) && (i <= hash->mask); ++i) {
        if (hash->slots[i].value != NULL) {
            *hash_find(&larger, hash->slots[i].key) = hash->slots[i];
        }
    }

    free(hash->slots);
    *hash = larger;
    return UCS_OK;
}

ucs_status_t ucs_hash_reserve(ucs_hash_t *hash, size_t count)
{
    uint32_t num_slots = (hash->slots == NULL) ? HASH_MIN_SLOTS :
                                                 hash->mask + 1;

    if (count > (1u << 30)) {
        return UCS_ERR_EXCEEDS_LIMIT;
    }

    while (num_slots - num_slots / 4 <= count) {
        num_slots *= 2;
    }

    if ((hash->slots != NULL) && (num_slots == hash->mask + 1)) {
        return UCS_OK;
    }

    return hash_resize(hash, num_slots);
}

static ucs_status_t hash_store(ucs_hash_t *hash, uint64_t key, void *value,
                               int replace)
{
    ucs_hash_slot_t *slot;
    ucs_status_t status;

    if (value == NULL) {
        return UCS_ERR_INVALID_PARAM;
    }

    if (hash->slots != NULL) {
        slot = hash_find(hash, key);
        if (slot->value != NULL) {
            if (!replace) {
                return UCS_ERR_ALREADY_EXISTS;
            }
            slot->value = value;
            return UCS_OK;
        }
    }

    status = ucs_hash_reserve(hash, (size_t)hash->count + 1);
    if (status != UCS_OK) {
        return status;
    }

    slot        = hash_find(hash, key);
    slot->key   = key;
    slot->value = value;
    ++hash->count;
    return UCS_OK;
}

ucs_status_t ucs_hash_put(ucs_hash_t *hash, uint64_t key, void *value)
{
    return hash_store(hash, key, value, 0);
}

ucs_status_t ucs_hash_set(ucs_hash_t *hash, uint64_t key, void *value)
{
    return hash_store(hash, key, value, 1);
}

void *ucs_hash_del(ucs_hash_t *hash, uint64_t key)
{
    uint32_t hole, i, home;
    void *value;

    if (hash->count == 0) {
        return NULL;
    }

    hole  = (uint32_t)(hash_find(hash, key) - hash->slots);
    value = hash->slots[hole].value;
    if (value == NULL) {
        return NULL;
    }

    /* `hole` is the slot that becomes free, `home` the slot at which the search
     * for entry i starts. Entry i may move into the hole if the hole is on the
     * cyclic path from its home to i: a search would stop at the hole. */
    for (i = (hole + 1) & hash->mask; hash->slots[i].value != NULL;
         i = (i + 1) & hash->mask) {
        home = (uint32_t)ucs_hash_mix64(hash->slots[i].key) & hash->mask;
        if (((i - home) & hash->mask) >= ((i - hole) & hash->mask)) {
            hash->slots[hole] = hash->slots[i];
            hole              = i;
        }
    }

    hash->slots[hole].value = NULL;
    --hash->count;
    return value;
}

uint64_t ucs_hash_bytes(const void *data, size_t length, uint64_t seed)
{
    uint64_t hash    = seed ^ 0xcbf29ce484222325ull;
    const uint8_t *p = data;
    size_t i;

    for (i = 0; i < length; ++i) {
        hash = (hash ^ p[i]) * 0x100000001b3ull;
    }

    return ucs_hash_mix64(hash);
}

uint64_t ucs_hash_string(const char *string)
{
    return ucs_hash_bytes(string, strlen(string), 0);
}
