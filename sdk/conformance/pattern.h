/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The contents of messages: determined by their length alone, so that the
 * receiver can verify each of them whatever order they come in.
 */
#ifndef CONFORMANCE_PATTERN_H
#define CONFORMANCE_PATTERN_H

#include <stddef.h>
#include <stdint.h>

/* Byte `i` of what is `length` bytes long. */
static inline uint8_t pattern_byte(size_t length, size_t i)
{
    return (uint8_t)(i * 131 + (i >> 8) * 7 + length * 17 + 29);
}

/* The part of `size` bytes that begins at byte `start`. */
static inline void pattern_fill(void *buffer, size_t length, size_t start,
                                size_t size)
{
    uint8_t *byte = (uint8_t *)buffer;
    size_t i;

    for (i = 0; i < size; ++i) {
        byte[i] = pattern_byte(length, start + i);
    }
}

/* The first of `size` bytes that is wrong, or `size`. */
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

/* Adds up to the same for two collections of messages only if they hold the
 * same lengths equally often (as good as certain). */
static inline uint64_t pattern_mix(size_t length)
{
    uint64_t x = (uint64_t)length + 0x9e3779b97f4a7c15ull;

    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
    return x ^ (x >> 31);
}

#endif
