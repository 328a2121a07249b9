/* SPDX-License-Identifier: BSD-3-Clause */
/* Registered memory that is divided into buffers. */
#ifndef IB_CHUNK_H
#define IB_CHUNK_H

#include "md.h"

/* The header of a chunk. The chunk's buffers begin IB_CHUNK_HEAD bytes after
 * the start of the header. */
typedef struct ib_chunk {
    struct ib_chunk *next;
    struct ibv_mr *mr;
    size_t size;
} ib_chunk_t;

enum { IB_CHUNK_HEAD = 64 };

/* Maps and registers a chunk that has at least `size` bytes for buffers. */
ib_chunk_t *ib_chunk_map(ib_md_t *md, size_t size);
void ib_chunk_unmap(ib_chunk_t *chunk);

/* The callbacks chunk_alloc and chunk_free of UCX memory pools. The address and
 * the size that they exchange with a pool exclude the header. */
ucs_status_t ib_chunk_alloc(void *md, size_t *size, void **chunk_p);
void ib_chunk_free(void *md, void *chunk);

static inline uint32_t ib_chunk_lkey(void *chunk)
{
    return ((ib_chunk_t *)((char *)chunk - IB_CHUNK_HEAD))->mr->lkey;
}

#endif
