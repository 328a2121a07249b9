/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Contents of messages depend only on their length, so that the receiver can
 * verify each message in any order.
 */
#ifndef CONFORMANCE_PATTERN_H
#define CONFORMANCE_PATTERN_H

#include <stddef.h>
#include <stdint.h>

/* Returns byte `i` of a message of `length` bytes. */
static inline uint8_t pattern_byte(size_t length, size_t i)
{
    return (uint8_t)(i * 131 + (i >> 8) * 7 + length * 17 + 29);
}

/* Writes bytes `start` to `start + size - 1` of a message of `length` bytes to
 * `buffer`. */
static inline void pattern_fill(void *buffer, size_t length, size_t start,
                                size_t size)
{
    uint8_t *byte = (uint8_t *)buffer;
    size_t i;

    for (i = 0; i < size; ++i) {
        byte[i] = pattern_byte(length, start + i);
    }
}

/* Compares `buffer` with the bytes that pattern_fill() would write. Returns the
 * index in `buffer` of the first wrong byte, or `size`. */
static inline size_t pattern_find_bad(const void *buffer, size_t length,
                                      size_t start, size_t size)
{
    const uint8_t *byte = (const uint8_t *)buffer;
    size_t i;

    for (i = 0; (i < size) && (byte[i] == pattern_byte(length, start + i));
         ++i) {
    }
    return i;
}

/* Returns the summand for a message of `length` bytes. The sums of two sets of
 * messages are equal only if both contain the same lengths equally often (with
 * very high probability). */
static inline uint64_t pattern_mix(size_t length)
{
    uint64_t x = (uint64_t)length + 0x9e3779b97f4a7c15ull;

    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
    return x ^ (x >> 31);
}

/* Returns the hash of a sequence of messages, extended by a message of `length`
 * bytes. The hashes of the same messages in two different orders differ (with
 * very high probability). */
static inline uint64_t pattern_extend(uint64_t hash, size_t length)
{
    return (hash * 0xd6e8feb86659fd93ull) ^ pattern_mix(length);
}

#endif
