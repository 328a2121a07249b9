/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory for the chunks of memory pools. Used by mpool.c only. */
#ifndef UCS_MPOOL_MEMORY_H
#define UCS_MPOOL_MEMORY_H

#include <stddef.h>
#include <ucs/sys/compiler_def.h>

enum {
    MPOOL_MEMORY_HUGE = UCS_BIT(0), /* huge pages, if at least half of a huge
                                     * page is used */
    MPOOL_MEMORY_NO_MALLOC = UCS_BIT(1), /* mappings only */
};

/* Allocates at least *size_p bytes, aligned for any type, and stores the size
 * in *size_p. Returns NULL on failure. The memory is not initialized. */
void *mpool_memory_alloc(size_t *size_p, unsigned flags);
void mpool_memory_free(void *memory);

static inline unsigned mpool_memory_of(int malloc_safe)
{
    return malloc_safe ? MPOOL_MEMORY_NO_MALLOC : 0;
}

#endif
