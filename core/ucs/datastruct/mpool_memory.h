/* SPDX-License-Identifier: BSD-3-Clause */
/* Where pools get their memory from; for mpool.c. */
#ifndef UCS_MPOOL_MEMORY_H
#define UCS_MPOOL_MEMORY_H

#include <stddef.h>
#include <ucs/sys/compiler_def.h>

enum {
    MPOOL_MEMORY_HUGE = UCS_BIT(0),  /* huge pages, if half of them is used */
    MPOOL_MEMORY_NO_MALLOC = UCS_BIT(1) /* mappings only */
};

/* Memory of *size_p bytes or more (then *size_p says how many), aligned for any
 * type; NULL if there is none. Content undefined. */
void *mpool_memory_alloc(size_t *size_p, unsigned flags);
void mpool_memory_free(void *memory);

static inline unsigned mpool_memory_of(int malloc_safe)
{
    return malloc_safe ? MPOOL_MEMORY_NO_MALLOC : 0;
}

#endif
