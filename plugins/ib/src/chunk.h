/* SPDX-License-Identifier: BSD-3-Clause */
/* Chunks: blocks of memory that are mapped and registered with the device. The
 * caller divides a chunk into send or receive buffers. */
#ifndef IB_CHUNK_H
#define IB_CHUNK_H

#include "md.h"

/* The header at the start of a chunk. The buffers begin IB_CHUNK_HEAD bytes
 * after the start of the header. */
typedef struct ib_chunk {
    struct ib_chunk *next; /* Next chunk in a list of the chunk's user */
    struct ibv_mr *mr;     /* The registration of the whole chunk */
    size_t size;           /* Bytes mapped, with the header */
} ib_chunk_t;

enum { IB_CHUNK_HEAD = 64 };

/* Maps and registers a chunk that has at least `size` bytes for buffers.
 * Returns NULL on failure. */
ib_chunk_t *ib_chunk_map(ib_md_t *md, size_t size);
void ib_chunk_unmap(ib_chunk_t *chunk);

/* The callbacks chunk_alloc and chunk_free of UCX memory pools. `*chunk_p` and
 * `chunk` are the address after the header. `*size` is the number of bytes
 * after the header: on entry the minimum, on return the actual one. */
ucs_status_t ib_chunk_alloc(void *md, size_t *size, void **chunk_p);
void ib_chunk_free(void *md, void *chunk);

/* Returns the local key of a chunk. `chunk` is the address after the header. */
static inline uint32_t ib_chunk_lkey(void *chunk)
{
    return ((ib_chunk_t *)((char *)chunk - IB_CHUNK_HEAD))->mr->lkey;
}

#endif
