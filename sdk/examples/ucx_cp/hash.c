/* SPDX-License-Identifier: BSD-3-Clause */
/* XXH64, written from its published description. The data is divided into
 * stripes of 32 bytes; each of four lanes processes eight bytes of a stripe.
 * hash_value() adds the bytes after the last stripe, by words and then by
 * single bytes. */
#include "hash.h"

#include <endian.h>
#include <string.h>

enum { STRIPE = 32 };

static const uint64_t P1 = 0x9e3779b185ebca87ull;
static const uint64_t P2 = 0xc2b2ae3d27d4eb4full;
static const uint64_t P3 = 0x165667b19e3779f9ull;
static const uint64_t P4 = 0x85ebca77c2b2ae63ull;
static const uint64_t P5 = 0x27d4eb2f165667c5ull;

static inline uint64_t rotate(uint64_t value, int bits)
{
    return (value << bits) | (value >> (64 - bits));
}

static inline uint64_t load64(const uint8_t *from)
{
    uint64_t value;

    memcpy(&value, from, sizeof(value));
    return le64toh(value);
}

static inline uint32_t load32(const uint8_t *from)
{
    uint32_t value;

    memcpy(&value, from, sizeof(value));
    return le32toh(value);
}

static inline uint64_t mix(uint64_t lane, uint64_t input)
{
    return rotate(lane + (input * P2), 31) * P1;
}

void hash_begin(struct hash *hash)
{
    *hash = (struct hash){.lane = {P1 + P2, P2, 0, 0 - P1}};
}

/* Processes whole stripes only; returns the number of bytes processed. */
static size_t add_stripes(struct hash *hash, const uint8_t *data, size_t length)
{
    uint64_t a = hash->lane[0], b = hash->lane[1];
    uint64_t c = hash->lane[2], d = hash->lane[3];
    size_t taken;

    for (taken = 0; length - taken >= STRIPE; taken += STRIPE) {
        a = mix(a, load64(data + taken));
        b = mix(b, load64(data + taken + 8));
        c = mix(c, load64(data + taken + 16));
        d = mix(d, load64(data + taken + 24));
    }
    hash->lane[0] = a;
    hash->lane[1] = b;
    hash->lane[2] = c;
    hash->lane[3] = d;
    return taken;
}

void hash_add(struct hash *hash, const void *data, size_t length)
{
    const uint8_t *next = data;
    size_t part;

    hash->total += length;
    if (hash->tail_length > 0) {
        part = STRIPE - hash->tail_length;
        part = (part < length) ? part : length;
        memcpy(hash->tail + hash->tail_length, next, part);
        hash->tail_length += part;
        next += part;
        length -= part;
        if (hash->tail_length < STRIPE) {
            return;
        }
        add_stripes(hash, hash->tail, STRIPE);
        hash->tail_length = 0;
    }
    part = add_stripes(hash, next, length);
    length -= part;
    if (length > 0) {
        memcpy(hash->tail, next + part, length);
    }
    hash->tail_length = length;
}

static uint64_t fold_lanes(const struct hash *hash)
{
    const uint64_t *lane = hash->lane;
    uint64_t value;
    int i;

    value = rotate(lane[0], 1) + rotate(lane[1], 7) + rotate(lane[2], 12) +
            rotate(lane[3], 18);
    for (i = 0; i < 4; ++i) {
        value = ((value ^ mix(0, lane[i])) * P1) + P4;
    }
    return value;
}

uint64_t hash_value(const struct hash *hash)
{
    const uint8_t *next = hash->tail;
    size_t left         = hash->tail_length;
    uint64_t value;

    value = (hash->total >= STRIPE) ? fold_lanes(hash) : P5;
    value += hash->total;
    for (; left >= 8; left -= 8, next += 8) {
        value = (rotate(value ^ mix(0, load64(next)), 27) * P1) + P4;
    }
    if (left >= 4) {
        value = (rotate(value ^ (load32(next) * P1), 23) * P2) + P3;
        left -= 4;
        next += 4;
    }
    for (; left > 0; --left, ++next) {
        value = rotate(value ^ (*next * P5), 11) * P1;
    }
    value = (value ^ (value >> 33)) * P2;
    value = (value ^ (value >> 29)) * P3;
    return value ^ (value >> 32);
}
