/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Compression of a few hundred bytes in which parts repeat: addresses and keys,
 * where several transports name the same host, process or memory. Sequences:
 *
 *   | L << 4 | M | more of L | literals | more of M | distance |
 *
 *   L  number of literals; 15: the next byte is added, and further ones while
 *      they are 255
 *   M  0: the data ends behind the literals. Else M + 2 bytes are a copy of what
 *      stands `distance` bytes before them; 15 is continued as L is
 *   distance  d - 1 in one byte below 224, else | 224 + (d - 225) / 256 |
 *      (d - 225) % 256 |
 */
#ifndef UCP_SQUEEZE_H
#define UCP_SQUEEZE_H

#include <stddef.h>
#include <stdint.h>

enum { UCP_SQUEEZE_MAX = 8192 }; /**< Bytes that can be looked back and ahead */

/** Bytes that squeezing so many can give at most. */
static inline size_t ucp_squeeze_bound(size_t length)
{
    return length + length / 15 + 3;
}

/**
 * Compresses buffer[start, end) to `dest`, which has room for the bound; the
 * bytes before `start` are known to the reader, too. `end` is at most
 * UCP_SQUEEZE_MAX. Returns the number of bytes.
 */
size_t ucp_squeeze(const uint8_t *buffer, size_t start, size_t end,
                   uint8_t *dest);

/**
 * Writes what was compressed to buffer[start, max). The bytes are foreign.
 * Returns the end; SIZE_MAX: they are malformed, or there is no room.
 */
size_t ucp_unsqueeze(const uint8_t *src, size_t length, uint8_t *buffer,
                     size_t start, size_t max);

#endif
