/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes and checks the contents of messages, eight bytes at a time if
 * possible. */
#include "pattern.h"

#include <endian.h>
#include <string.h>

enum {
    WORD = sizeof(uint64_t),
};

/* Returns word `index` of message `number`. Odd factors spread both numbers
 * over all bytes of the word. */
static uint64_t pattern_word(uint64_t number, uint64_t index)
{
    uint64_t word = (number * UINT64_C(0x9e3779b97f4a7c15)) ^
                    (index * UINT64_C(0xd1342543de82ef95));

    return word ^ (word >> 29);
}

uint8_t pattern_byte(uint64_t number, size_t offset)
{
    return pattern_word(number, offset / WORD) >> (8 * (offset % WORD));
}

void pattern_fill(void *memory, size_t length, uint64_t number, size_t offset)
{
    uint8_t *bytes = memory;
    uint64_t word;
    size_t i = 0;

    for (; (i < length) && ((offset + i) % WORD != 0); ++i) {
        bytes[i] = pattern_byte(number, offset + i);
    }
    for (; i + WORD <= length; i += WORD) {
        word = htole64(pattern_word(number, (offset + i) / WORD));
        memcpy(bytes + i, &word, WORD);
    }
    for (; i < length; ++i) {
        bytes[i] = pattern_byte(number, offset + i);
    }
}

/* Compares bytes up to the first aligned offset, then words, then bytes from
 * the first wrong word on. */
size_t pattern_check(const void *memory, size_t length, uint64_t number,
                     size_t offset)
{
    const uint8_t *bytes = memory;
    uint64_t word, want;
    size_t i = 0;

    for (; (i < length) && ((offset + i) % WORD != 0); ++i) {
        if (bytes[i] != pattern_byte(number, offset + i)) {
            return i;
        }
    }
    for (; i + WORD <= length; i += WORD) {
        want = htole64(pattern_word(number, (offset + i) / WORD));
        memcpy(&word, bytes + i, WORD);
        if (word != want) {
            break;
        }
    }
    for (; (i < length) && (bytes[i] == pattern_byte(number, offset + i));
         ++i) {
    }
    return i;
}
