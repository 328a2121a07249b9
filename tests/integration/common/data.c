/* SPDX-License-Identifier: BSD-3-Clause */
/* See data.h. */
#include "data.h"

#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const uint64_t DEFAULT_SEED = 20240611;

static uint64_t scramble(uint64_t value)
{
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9ull;
    value = (value ^ (value >> 27)) * 0x94d049bb133111ebull;
    return value ^ (value >> 31);
}

uint64_t random_seed(int argc, char **argv)
{
    uint64_t seed = DEFAULT_SEED;
    int i;

    for (i = 1; i + 1 < argc; ++i) {
        if (strcmp(argv[i], "--seed") == 0) {
            seed = strtoull(argv[i + 1], NULL, 0);
        }
    }
    printf("seed %llu\n", (unsigned long long)seed);
    return seed;
}

uint64_t random_next(struct random *random)
{
    random->state += 0x9e3779b97f4a7c15ull;
    return scramble(random->state);
}

uint64_t random_below(struct random *random, uint64_t bound)
{
    return random_next(random) % bound;
}

void random_order(struct random *random, uint32_t *order, uint32_t count)
{
    uint32_t i, other;

    for (i = 0; i < count; ++i) {
        other        = (uint32_t)random_below(random, i + 1);
        order[i]     = order[other];
        order[other] = i;
    }
}

static uint64_t word_of(uint64_t message, uint64_t index)
{
    return (scramble(message) + index) * 0x9e3779b97f4a7c15ull;
}

void data_fill(void *buffer, size_t length, uint64_t message)
{
    char *to = buffer;
    uint64_t word, index = 0;
    size_t part;

    for (; length > 0; length -= part, to += part) {
        word = word_of(message, index++);
        part = (length < sizeof(word)) ? length : sizeof(word);
        memcpy(to, &word, part);
    }
}

void data_verify(const void *buffer, size_t length, uint64_t message)
{
    const char *from = buffer;
    uint64_t word, index = 0;
    size_t part, left;

    for (left = length; left > 0; left -= part, from += part) {
        word = word_of(message, index);
        part = (left < sizeof(word)) ? left : sizeof(word);
        if (memcmp(from, &word, part) != 0) {
            FAIL("message %llu of %zu bytes is damaged at byte %zu",
                 (unsigned long long)message, length,
                 (size_t)index * sizeof(word));
        }
        ++index;
    }
}
