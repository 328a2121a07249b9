/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads the bytes of a message, an address or a key from a peer in sequence,
 * and never beyond their end.
 */
#ifndef UCP_READER_H
#define UCP_READER_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/** Bytes that are not read yet. */
typedef struct ucp_reader {
    const uint8_t *p;
    size_t left;
} ucp_reader_t;

/** Returns the next `length` bytes. If there are fewer, reads nothing and
 *  returns NULL. */
static inline const uint8_t *ucp_reader_take(ucp_reader_t *reader,
                                             size_t length)
{
    const uint8_t *p = reader->p;

    if (length > reader->left) {
        return NULL;
    }
    reader->p += length;
    reader->left -= length;
    return p;
}

/** Copies the next `length` bytes. Returns zero if there are fewer. */
static inline int ucp_reader_copy(ucp_reader_t *reader, void *dest,
                                  size_t length)
{
    const uint8_t *p = ucp_reader_take(reader, length);

    if (p != NULL) {
        memcpy(dest, p, length);
    }
    return p != NULL;
}

#endif
