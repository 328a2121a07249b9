/* SPDX-License-Identifier: BSD-3-Clause */
/* Maps and registers memory for buffers. */
#include "chunk.h"

#include <sys/mman.h>

_Static_assert(sizeof(ib_chunk_t) <= IB_CHUNK_HEAD, "the head of a chunk fits");

ib_chunk_t *ib_chunk_map(ib_md_t *md, size_t size)
{
    ib_chunk_t *chunk;

    size  = (size + IB_CHUNK_HEAD + 4095) & ~(size_t)4095;
    chunk = mmap(NULL, size, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (chunk == MAP_FAILED) {
        return NULL;
    }
    chunk->size = size;
    chunk->mr   = ibv_reg_mr(md->pd, chunk, size,
                             IBV_ACCESS_LOCAL_WRITE | md->sink_access);
    if (chunk->mr == NULL) {
        (void)ib_reg_failed(md, UCS_LOG_LEVEL_ERROR, chunk, size);
        munmap(chunk, size);
        return NULL;
    }
    return chunk;
}

void ib_chunk_unmap(ib_chunk_t *chunk)
{
    size_t size = chunk->size;

    ibv_dereg_mr(chunk->mr);
    munmap(chunk, size);
}

ucs_status_t ib_chunk_alloc(void *md, size_t *size, void **chunk_p)
{
    ib_chunk_t *chunk = ib_chunk_map(md, *size);

    if (chunk == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    *size    = chunk->size - IB_CHUNK_HEAD;
    *chunk_p = (char *)chunk + IB_CHUNK_HEAD;
    return UCS_OK;
}

void ib_chunk_free(void *md, void *chunk)
{
    (void)md;
    ib_chunk_unmap((ib_chunk_t *)((char *)chunk - IB_CHUNK_HEAD));
}
