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

/* The receiver prefetches the first line of the next message in each poll. A
 * message of so many bytes does not fit into the processor's store buffer (64 to
 * 112 stores of at most 32 bytes), so it is still being written when the
 * receiver loads that line, and the sender has to fetch lines back. Its first
 * line is therefore written last. */
enum { SHM_FIRST_LINE_LAST = 3072 };

/* Returns the number of bytes of all pieces. */
size_t shm_pieces_length(const shm_pieces_t *pieces);

/* Copies all pieces to `dest`. `length`: the number of their bytes. */
void shm_pieces_copy(void *dest, const shm_pieces_t *pieces, size_t length);

/* Copies all pieces to `dest`, the start of a cache line, by non-temporal
 * stores (ring_stream.h). Writes the last line up to its end. */
void shm_pieces_stream(void *dest, const shm_pieces_t *pieces);

#endif
