/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The memory domain of posix and of sysv: each allocation is a segment, so that
 * peers can map it. Other memory cannot be shared and is not registered.
 */
#ifndef SHM_MD_H
#define SHM_MD_H

#include "keys.h"
#include "plugin.h"
#include "segment.h"

#include <pthread.h>

/* An allocation; it is freed with its last reference. */
typedef struct shm_memory {
    shm_seg_t seg;
    char *address;
    unsigned refcount; /* Number of regions that refer to the allocation;
                        * protected by the domain's lock */
} shm_memory_t;

/* Object behind uct_mem_h: an allocation, a registered part of one, or memory
 * that another process exported. */
typedef struct shm_region {
    shm_memory_t *memory; /* An allocation of this process, or NULL */
    shm_rkey_t attached;  /* Memory of another process; valid if memory ==
                           * NULL */
    const shm_seg_t *seg;
    uint64_t base; /* First address; for exported memory, in the
                    * exporting process */
    uint64_t length;
    uint64_t offset; /* Offset in the segment */
    char *local;     /* Local address */
} shm_region_t;

typedef struct shm_md {
    uct_md_t super;
    const ucx_host_t *host;
    shm_space_t space;
    shm_key_cache_t *keys; /* Of the component */
    char *dir;             /* posix: the string to which space.dir points; sysv:
                            * NULL */

    pthread_mutex_t lock;
    shm_memory_t **memories; /* All allocations, sorted by address */
    unsigned num_memories;
    unsigned max_memories; /* Size of the array `memories` */
} shm_md_t;

#endif
