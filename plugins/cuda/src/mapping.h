/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Mappings of other processes' device memory into this one. Opening one takes
 * up to a millisecond, so that an interface keeps those that it has used last.
 *
 * A mapping keeps the memory alive after its owner has freed it. Therefore it is
 * closed when the owner uses its addresses for other memory, when the last
 * endpoint to the owner is destroyed, and when there are too many. Memory of a
 * pool must be closed before its owner frees it: such a mapping is closed after
 * its last operation. An allocation
 * is identified by its owner, address and id (BUFFER_ID), so that a mapping is
 * never used for a later allocation at the same address.
 *
 *   opened --> kept --> removed from the list --> closed
 *                       as soon as no operation uses it
 */
#ifndef CUDA_MAPPING_H
#define CUDA_MAPPING_H

#include "ipc_key.h"
#include "md.h"

typedef struct cuda_mapping cuda_mapping_t;

/** Mappings of an interface; one thread at a time. */
typedef struct cuda_mappings {
    cuda_md_t      *md;
    cuda_mapping_t *first;   /**< The one used last */
    unsigned       num;
    unsigned       max;      /**< Kept while no operation uses them */
} cuda_mappings_t;

struct cuda_mapping {
    cuda_mapping_t  *next;
    cuda_mappings_t *list;
    cuda_ipc_key_t  key;
    uint64_t        address;   /**< In this process */
    CUmemoryPool    pool;      /**< Imported; with CUDA_IPC_POOL */
    int             device;
    unsigned        users;     /**< Operations */
    int             is_listed;
    int             is_lost;   /**< With its context: nothing is to be closed */
};

/** Finds or opens the mapping of a key, and makes it the first. */
ucs_status_t cuda_mapping_get(cuda_mappings_t *mappings,
                              const cuda_ipc_key_t *key,
                              cuda_mapping_t **mapping_p);

/** An operation uses the mapping until cuda_mapping_put(). */
static inline cuda_mapping_t *cuda_mapping_hold(cuda_mapping_t *mapping)
{
    ++mapping->users;
    return mapping;
}

void cuda_mapping_put(cuda_mapping_t *mapping);

/** Drops the mappings that a device has lost with its context: those of legacy
 * handles. Virtual memory and pools do not belong to a context. */
void cuda_mappings_lost(cuda_mappings_t *mappings, int device);

/** Closes the mappings of a process's memory, or of all if `owner` is NULL. */
void cuda_mappings_close(cuda_mappings_t *mappings,
                         const cuda_process_t *owner);

#endif
