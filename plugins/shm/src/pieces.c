/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Copies the pieces of a message: see pieces.h.
 */
#include "pieces.h"

#include "ring_stream.h"

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

void shm_pieces_copy(void *dest, const shm_pieces_t *pieces)
{
    char *to = dest;
    const uct_iov_t *entry;
    size_t i;
    unsigned j;

    if (pieces->header_length > 0) {
        ucx_copy_lines(to, pieces->header, pieces->header_length);
        to += pieces->header_length;
    }
    for (i = 0; i < pieces->iovcnt; ++i) {
        entry = &pieces->iov[i];
        if (entry->length == 0) {
            continue; /* The buffer may be NULL */
        }
        for (j = 0; j < num_blocks(pieces, entry); ++j) {
            ucx_copy_lines(to, block(entry, j), entry->length);
            to += entry->length;
        }
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
