/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The pieces of which a message is composed: a header and entries of an iov.
 */
#ifndef SHM_PIECES_H
#define SHM_PIECES_H

#include "plugin.h"

typedef struct shm_pieces {
    const void *header;
    size_t header_length; /* 0: no header */
    const uct_iov_t *iov;
    size_t iovcnt;
    int is_short; /* The caller has set neither `count` nor `stride` of the
                   * entries, so each is one block. Else an entry is `count`
                   * blocks that are `stride` bytes apart. */
} shm_pieces_t;

/* Returns the number of bytes of all pieces. */
size_t shm_pieces_length(const shm_pieces_t *pieces);

/* Copies all pieces to `dest`. */
void shm_pieces_copy(void *dest, const shm_pieces_t *pieces);

/* Copies all pieces to `dest`, the start of a cache line, by non-temporal
 * stores (ring_stream.h). Writes the last line up to its end. */
void shm_pieces_stream(void *dest, const shm_pieces_t *pieces);

#endif
