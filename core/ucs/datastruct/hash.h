/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hash table from 64-bit keys to pointers other than NULL: open addressing,
 * linear probing, no tombstones. Not thread-safe.
 */
#ifndef UCS_HASH_H
#define UCS_HASH_H

#include <ucs/sys/compiler_def.h>
#include <ucs/type/status.h>

BEGIN_C_DECLS

typedef struct ucs_hash_slot {
    uint64_t key;
    void *value; /* NULL: the slot is free */
} ucs_hash_slot_t;

typedef struct ucs_hash {
    ucs_hash_slot_t *slots;
    uint32_t mask;  /* number of slots minus one */
    uint32_t count; /* number of slots in use. The table grows before it becomes
                     * three quarters of all slots */
} ucs_hash_t;

/** Initializes an empty table. Allocates nothing. */
void ucs_hash_init(ucs_hash_t *hash);

/** Frees the table, not the values. */
void ucs_hash_cleanup(ucs_hash_t *hash);

/** Allocates slots, so that the table can have `count` entries in total without
 *  a further allocation. */
ucs_status_t ucs_hash_reserve(ucs_hash_t *hash, size_t count);

/** Adds a value other than NULL. UCS_ERR_ALREADY_EXISTS if the key exists; the
 *  table is unchanged then. */
ucs_status_t ucs_hash_put(ucs_hash_t *hash, uint64_t key, void *value);

/** Adds a value, or replaces the value of an existing key. */
ucs_status_t ucs_hash_set(ucs_hash_t *hash, uint64_t key, void *value);

/** Removes a key. Returns its value, or NULL if the key does not exist. */
void *ucs_hash_del(ucs_hash_t *hash, uint64_t key);

/* Mixes the bits of a key, so that similar keys are distributed over all
 * slots. */
static UCS_F_ALWAYS_INLINE uint64_t ucs_hash_mix64(uint64_t key)
{
    key ^= key >> 32;
    key *= 0xd6e8feb86659fd93ull;
    key ^= key >> 32;
    key *= 0xd6e8feb86659fd93ull;
    key ^= key >> 32;
    return key;
}

/** Returns the value of a key, or NULL. Hot path. */
static UCS_F_ALWAYS_INLINE void *ucs_hash_get(const ucs_hash_t *hash,
                                              uint64_t key)
{
    const ucs_hash_slot_t *slot;
    uint32_t i;

    if (ucs_unlikely(hash->count == 0)) {
        return NULL;
    }

    for (i = (uint32_t)ucs_hash_mix64(key) & hash->mask;;
         i = (i + 1) & hash->mask) {
        slot = &hash->slots[i];
        if ((slot->value == NULL) || (slot->key == key)) {
            return slot->value;
        }
    }
}

static inline size_t ucs_hash_count(const ucs_hash_t *hash)
{
    return hash->count;
}

/** Iterates in unspecified order: start with *iter = 0. Returns the next value,
 *  and its key in *key_p unless `key_p` is NULL; NULL after the last value. The
 *  table must not change during the iteration. */
static inline void *ucs_hash_next(const ucs_hash_t *hash, uint32_t *iter,
                                  uint64_t *key_p)
{
    while ((hash->slots != NULL) && (*iter <= hash->mask)) {
        const ucs_hash_slot_t *slot = &hash->slots[(*iter)++];

        if (slot->value != NULL) {
            if (key_p != NULL) {
                *key_p = slot->key;
            }
            return slot->value;
        }
    }

    return NULL;
}

#define ucs_hash_for_each(_value, _hash) \
    for (uint32_t _ucs_it_##_value = 0; \
         ((_value) = \
              (__typeof__(_value))ucs_hash_next(_hash, &_ucs_it_##_value, \
                                                NULL)) != NULL;)

/** Returns a hash of bytes (FNV-1a, then ucs_hash_mix64). To hash several
 *  ranges of bytes, pass the hash of each range as the seed for the next one;
 *  the seed for the first one is 0. */
uint64_t ucs_hash_bytes(const void *data, size_t length, uint64_t seed);
uint64_t ucs_hash_string(const char *string);

END_C_DECLS

#endif
