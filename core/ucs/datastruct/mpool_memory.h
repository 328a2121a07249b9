/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory for memory pools and their chunks. Used by mpool.c only. */
#ifndef UCS_MPOOL_MEMORY_H
#define UCS_MPOOL_MEMORY_H

#include <stddef.h>
#include <ucs/sys/compiler_def.h>

enum {
    MPOOL_MEMORY_HUGE = UCS_BIT(0), /* use huge pages if the size is at least
                                     * half a huge page and some are free */
    MPOOL_MEMORY_NO_MALLOC = UCS_BIT(1), /* use mmap(), never malloc() */
};

/* Allocates at least *size_p bytes, aligned for any type, and stores the usable
 * size in *size_p. Returns NULL on failure. The memory is not initialized. */
void *mpool_memory_alloc(size_t *size_p, unsigned flags);
void mpool_memory_free(void *memory);

/* Returns the flags for a pool with this value of
 * ucs_mpool_params_t::malloc_safe. */
static inline unsigned mpool_memory_of(int malloc_safe)
{
    return malloc_safe ? MPOOL_MEMORY_NO_MALLOC : 0;
}

#endif
