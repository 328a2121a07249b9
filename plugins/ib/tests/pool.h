/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory pools (mpool_* of ucx_host_t) for tests. Each element is in a chunk of
 * its own, so that a memory checker detects accesses beyond the element. */
#ifndef IB_TEST_POOL_H
#define IB_TEST_POOL_H

#include "../src/plugin.h"

#include <check.h>
#include <stdlib.h>

typedef struct pool {
    ucx_mpool_t super;
    ucx_mpool_params_t params;
    void **chunks; /* All chunks, to free them with the pool */
    unsigned num_chunks;
} pool_t;

static inline ucs_status_t pool_create(const ucx_mpool_params_t *params,
                                       ucx_mpool_t **mpool_p)
{
    pool_t *pool = calloc(1, sizeof(*pool));

    pool->params = *params;
    *mpool_p     = &pool->super;
    return UCS_OK;
}

static inline void *pool_grow(ucx_mpool_t *mpool)
{
    pool_t *pool                 = (pool_t *)mpool;
    const ucx_mpool_params_t *of = &pool->params;
    size_t offset = (of->alignment - (of->align_offset % of->alignment)) %
                    of->alignment;
    size_t size = offset + of->elem_size;
    void *chunk = NULL;

    pool->chunks = realloc(pool->chunks,
                           (pool->num_chunks + 1) * sizeof(*pool->chunks));
    if (of->chunk_alloc != NULL) {
        ck_assert_int_eq(of->chunk_alloc(of->arg, &size, &chunk), UCS_OK);
    } else {
        chunk = malloc(size);
    }
    pool->chunks[pool->num_chunks++] = chunk;
    if (of->elem_init != NULL) {
        of->elem_init(of->arg, (char *)chunk + offset, chunk);
    }
    return (char *)chunk + offset;
}

static inline void pool_destroy(ucx_mpool_t *mpool)
{
    pool_t *pool = (pool_t *)mpool;

    for (unsigned i = 0; i < pool->num_chunks; ++i) {
        if (pool->params.chunk_free != NULL) {
            pool->params.chunk_free(pool->params.arg, pool->chunks[i]);
        } else {
            free(pool->chunks[i]);
        }
    }
    free(pool->chunks);
    free(pool);
}

#endif
