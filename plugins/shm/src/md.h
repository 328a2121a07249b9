/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The memory domain of posix and of sysv: memory that is allocated in segments,
 * one for each allocation, so that peers can map it. Memory from elsewhere
 * cannot be shared and is not registered.
 */
#ifndef SHM_MD_H
#define SHM_MD_H

#include "keys.h"
#include "plugin.h"
#include "segment.h"

#include <pthread.h>

/* An allocation; it stays as long as something refers to it. */
typedef struct shm_memory {
    shm_seg_t seg;
    char      *address;
    unsigned  refcount;   /* Under the domain's lock */
} shm_memory_t;

/* What uct_mem_h points to: an allocation, a registered part of one, or memory
 * that another process exported. */
typedef struct shm_region {
    shm_memory_t    *memory;    /* Ours, or NULL */
    shm_rkey_t      attached;   /* Another process's; valid if memory == NULL */
    const shm_seg_t *seg;
    uint64_t        base;       /* First address; of the exporting process for
                                   memory that it exported */
    uint64_t        length;
    uint64_t        offset;     /* In the segment */
    char            *local;     /* Where it is mapped here */
} shm_region_t;

typedef struct shm_md {
    uct_md_t         super;
    const ucx_host_t *host;
    shm_space_t      space;
    shm_key_cache_t  *keys;
    char             *dir;

    pthread_mutex_t  lock;
    shm_memory_t     **memories;  /* By address */
    unsigned         num_memories;
    unsigned         max_memories;
} shm_md_t;

#endif
