/* SPDX-License-Identifier: BSD-3-Clause */
/* Test data that depends on a seed and the position, so that misplaced bytes
 * are detected. */
#ifndef TCP_TEST_PATTERN_H
#define TCP_TEST_PATTERN_H

#include <stddef.h>
#include <stdint.h>

static inline uint8_t pattern_byte(uint64_t seed, size_t pos)
{
    uint64_t x = (seed + 1) * 0x9e3779b97f4a7c15ull + pos * 0x2545f491ull;

    return (uint8_t)(x >> 29) ^ (uint8_t)pos;
}

static inline void pattern_fill(void *buffer, uint64_t seed, size_t length)
{
    for (size_t i = 0; i < length; ++i) {
        ((uint8_t *)buffer)[i] = pattern_byte(seed, i);
    }
}

/* Returns the position of the first wrong byte, or -1. */
static inline long long pattern_check(const void *buffer, uint64_t seed,
                                      size_t length)
{
    for (size_t i = 0; i < length; ++i) {
        if (((const uint8_t *)buffer)[i] != pattern_byte(seed, i)) {
            return (long long)i;
        }
    }
    return -1;
}

#endif
