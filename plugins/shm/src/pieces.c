/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Copies the pieces of a message: see pieces.h.
 */
#include "pieces.h"

#include "ring_stream.h"

#include <stdatomic.h>
#include <string.h>
#include <ucx/copy.h>

static unsigned num_blocks(const shm_pieces_t *pieces, const uct_iov_t *entry)
{
    return pieces->is_short ? 1 : entry->count;
}

static const char *block(const uct_iov_t *entry, unsigned number)
{
    return (const char *)entry->buffer + number * entry->stride;
}

size_t shm_pieces_length(const shm_pieces_t *pieces)
{
    size_t length = pieces->header_length;
    size_t i;

    for (i = 0; i < pieces->iovcnt; ++i) {
        length += pieces->iov[i].length * num_blocks(pieces, &pieces->iov[i]);
    }
    return length;
}

/* Copies `size` bytes, which are at `offset` in a message, to their place in
 * `dest`; of them only those from `begin` to `end` in the message. */
static void copy_block(char *dest, const char *from, size_t offset, size_t size,
                       size_t begin, size_t end)
{
    size_t first = (offset < begin) ? begin - offset : 0;
    size_t limit = (offset < end) ? end - offset : 0;

    if (limit > size) {
        limit = size;
    }
    if (first < limit) {
        ucx_copy_lines(dest + offset + first, from + first, limit - first);
    }
}

/* Copies the bytes of a message from `begin` to `end`. */
static void copy_range(char *dest, const shm_pieces_t *pieces, size_t begin,
                       size_t end)
{
    size_t offset = pieces->header_length;
    const uct_iov_t *entry;
    size_t i;
    unsigned j;

    if (pieces->header_length > 0) {
        copy_block(dest, pieces->header, 0, pieces->header_length, begin, end);
    }
    for (i = 0; i < pieces->iovcnt; ++i) {
        entry = &pieces->iov[i];
        if (entry->length == 0) {
            continue; /* The buffer may be NULL */
        }
        for (j = 0; j < num_blocks(pieces, entry); ++j) {
            copy_block(dest, block(entry, j), offset, entry->length, begin,
                       end);
            offset += entry->length;
        }
    }
}

void shm_pieces_copy(void *dest, const shm_pieces_t *pieces, size_t length)
{
    if (length < SHM_FIRST_LINE_LAST) {
        copy_range(dest, pieces, 0, length);
    } else {
        copy_range(dest, pieces, SHM_CACHE_LINE, length);
        atomic_signal_fence(memory_order_seq_cst); /* Keep this order */
        copy_range(dest, pieces, 0, SHM_CACHE_LINE);
    }
}

void shm_pieces_stream(void *dest, const shm_pieces_t *pieces)
{
    const uct_iov_t *entry;
    shm_stream_t stream;
    size_t i;
    unsigned j;

    shm_stream_begin(&stream, dest);
    if (pieces->header_length > 0) {
        shm_stream_put(&stream, pieces->header, pieces->header_length);
    }
    for (i = 0; i < pieces->iovcnt; ++i) {
        entry = &pieces->iov[i];
        if (entry->length == 0) {
            continue;
        }
        for (j = 0; j < num_blocks(pieces, entry); ++j) {
            shm_stream_put(&stream, block(entry, j), entry->length);
        }
    }
    shm_stream_end(&stream);
}
