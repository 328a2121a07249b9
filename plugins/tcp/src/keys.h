/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The memory that peers may access: a hash table from key to (range, rights). A
 * key is a random 64-bit number.
 *
 * Any thread may add and remove keys; interfaces look up without a lock. An
 * entry is held while its memory is accessed, and removal waits for all holds,
 * so that no memory is accessed after mem_dereg returned. A hold lasts for at
 * most one system call or copy.
 */
#ifndef TCP_KEYS_H
#define TCP_KEYS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <ucs/type/status.h>

#define TCP_KEYS_BUCKETS 65536u

/* Entries stay in their bucket until the table is freed, and are reused for
 * keys of that bucket: a lookup needs no lock. */
typedef struct tcp_key {
    _Atomic uint64_t key;   /* 0: invalid */
    _Atomic uint32_t holds; /* Number of accesses in progress */
    int is_used; /* Non-zero: the entry is not free for another key; protected
                  * by the lock */
    uintptr_t address;
    size_t length;
    unsigned access;       /* UCT_MD_MEM_ACCESS_* */
    struct tcp_key *next;  /* Next in the bucket; constant */
    struct tcp_key *older; /* Next older entry in the list of all entries */
} tcp_key_t;

typedef struct tcp_keys {
    pthread_mutex_t lock;
    tcp_key_t *_Atomic *buckets;
    tcp_key_t *latest;   /* Newest entry of the list of all entries; protected
                          * by the lock */
    uint64_t random[32]; /* Random words; the first num_random of them are not
                          * used yet */
    unsigned num_random;
} tcp_keys_t;

ucs_status_t tcp_keys_init(tcp_keys_t *keys);
void tcp_keys_cleanup(tcp_keys_t *keys);

/* Adds a key with the value `secret`. If that is 0 or in use, a new random
 * number is generated. */
ucs_status_t tcp_keys_add(tcp_keys_t *keys, void *address, size_t length,
                          unsigned access, uint64_t secret, tcp_key_t **key_p);

/* Removes a key. Returns when no thread accesses the memory any more. */
void tcp_keys_remove(tcp_keys_t *keys, tcp_key_t *key);

/* Holds and returns the entry, until tcp_keys_release(), if the key is in the
 * table, grants all of `access`, and covers [address, +length). Otherwise
 * returns NULL. The values come from a peer. */
tcp_key_t *tcp_keys_hold(tcp_keys_t *keys, uint64_t key, uint64_t address,
                         uint64_t length, unsigned access);

static inline void tcp_keys_release(tcp_key_t *key)
{
    atomic_fetch_sub_explicit(&key->holds, 1, memory_order_release);
}

#endif
