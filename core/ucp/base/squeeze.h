/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Compression of a few hundred bytes with repetitions: addresses and keys, in
 * which several transports name the same host, process or memory. The
 * compressed data is a row of sequences; each adds literals and then a copy of
 * earlier output:
 *
 *  | L * 16 + M | more of L | literals | more of M | distance |
 *
 * L         number of literals. If it is 15, the next byte is added, and
 *           further bytes while the last one was 255
 * M         0: the data ends after the literals. Otherwise M + 2 bytes are
 *           copied from `distance` bytes before the end of the output. If M
 *           is 15, more bytes are added as to L
 * distance  d; stored as d - 1 in one byte if d is at most 224, else two bytes:
 *           224 + (d - 225) / 256, (d - 225) % 256
 */
#ifndef UCP_SQUEEZE_H
#define UCP_SQUEEZE_H

#include <stddef.h>
#include <stdint.h>

enum { UCP_SQUEEZE_MAX = 8192 }; /**< Longest buffer in bytes */

/** Maximum size of the compressed data for `length` bytes of input. */
static inline size_t ucp_squeeze_bound(size_t length)
{
    return length + length / 15 + 3;
}

/**
 * Compresses buffer[start, end) to `dest`, which holds ucp_squeeze_bound()
 * bytes. The bytes before `start` are not compressed, but the output may refer
 * to them, because the caller of ucp_unsqueeze() has the same bytes there.
 * `end` is at most UCP_SQUEEZE_MAX. Returns the number of bytes in `dest`.
 */
size_t ucp_squeeze(const uint8_t *buffer, size_t start, size_t end,
                   uint8_t *dest);

/**
 * Decompresses src[0, length) to buffer[start, max). The input is from a peer
 * and is checked. Returns the offset in `buffer` behind the output. Returns
 * SIZE_MAX if the input is malformed or the output does not fit.
 */
size_t ucp_unsqueeze(const uint8_t *src, size_t length, uint8_t *buffer,
                     size_t start, size_t max);

#endif
