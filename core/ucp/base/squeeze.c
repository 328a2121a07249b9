/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Compression of worker addresses and keys (squeeze.h has the format): greedy
 * search of repetitions by hash chains, and a decoder that checks its input.
 */
#include "ucp/base/squeeze.h"

#include <string.h>

enum {
    MIN_MATCH = 3,
    NIBBLE    = 15,
    NEAR      = 224, /* A distance up to this takes one byte */
    FAR       = NEAR + (256 - NEAR) * 256, /* The longest distance */
    BUCKETS   = 256,
    /* Maximum number of earlier positions that are compared with one
     * position */
    MAX_STEPS = 32,
};

/* --------------------------------------------------------- compression -- */

/* Earlier positions by the hash of the three bytes there. `head` has the latest
 * position with a hash, `next` the one before it. Positions are stored plus
 * one; 0 means that there is none. */
typedef struct {
    uint16_t head[BUCKETS];
    uint16_t next[UCP_SQUEEZE_MAX];
} chains_t;

static unsigned hash_at(const uint8_t *p)
{
    uint32_t value = p[0] | ((uint32_t)p[1] << 8) | ((uint32_t)p[2] << 16);

    return (value * 2654435761u) >> 24;
}

static void chains_add(chains_t *chains, const uint8_t *buffer, size_t end,
                       size_t position)
{
    uint16_t *head;

    if (end - position >= MIN_MATCH) {
        head                   = &chains->head[hash_at(buffer + position)];
        chains->next[position] = *head;
        *head                  = (uint16_t)(position + 1);
    }
}

/* Finds the longest match at `position` with earlier bytes, if a copy of it
 * takes less space than the bytes themselves. Returns its length, or 0 if there
 * is none. */
static size_t find_match(const chains_t *chains, const uint8_t *buffer,
                         size_t end, size_t position, size_t *distance_p)
{
    size_t best    = 0, candidate, distance, length;
    unsigned steps = 0;

    if (end - position < MIN_MATCH) {
        return 0;
    }
    for (candidate = chains->head[hash_at(buffer + position)];
         (candidate != 0) && (steps < MAX_STEPS);
         candidate = chains->next[candidate - 1], ++steps) {
        distance = position - (candidate - 1);
        for (length = 0; (position + length < end) &&
                         (buffer[position + length] ==
                          buffer[position + length - distance]);
             ++length) {
        }
        if ((length > best) && (distance <= FAR) &&
            (length >= MIN_MATCH + (size_t)(distance > NEAR))) {
            best        = length;
            *distance_p = distance;
        }
    }
    return best;
}

/* Writes the part of a number that exceeds what four bits hold. */
static uint8_t *put_more(uint8_t *p, size_t number)
{
    if (number >= NIBBLE) {
        for (number -= NIBBLE; number >= UINT8_MAX; number -= UINT8_MAX) {
            *p++ = UINT8_MAX;
        }
        *p++ = (uint8_t)number;
    }
    return p;
}

static size_t nibble(size_t number)
{
    return (number < NIBBLE) ? number : NIBBLE;
}

static uint8_t *put_sequence(uint8_t *p, const uint8_t *literals, size_t count,
                             size_t length, size_t distance)
{
    size_t code = (length > 0) ? length - (MIN_MATCH - 1) : 0;

    *p++ = (uint8_t)((nibble(count) << 4) | nibble(code));
    p    = put_more(p, count);
    memcpy(p, literals, count);
    p += count;
    if (length == 0) {
        return p;
    }
    p = put_more(p, code);
    if (distance <= NEAR) {
        *p++ = (uint8_t)(distance - 1);
    } else {
        distance -= NEAR + 1;
        *p++ = (uint8_t)(NEAR + distance / 256);
        *p++ = (uint8_t)(distance % 256);
    }
    return p;
}

size_t ucp_squeeze(const uint8_t *buffer, size_t start, size_t end,
                   uint8_t *dest)
{
    size_t literals = start, position, length, distance = 0;
    uint8_t *p = dest;
    chains_t chains;

    memset(chains.head, 0, sizeof(chains.head));
    for (position = 0; position < start; ++position) {
        chains_add(&chains, buffer, end, position);
    }
    while (position < end) {
        length = find_match(&chains, buffer, end, position, &distance);
        if (length > 0) {
            p = put_sequence(p, buffer + literals, position - literals, length,
                             distance);
            literals = position + length;
        } else {
            length = 1;
        }
        for (; length > 0; --length) {
            chains_add(&chains, buffer, end, position++);
        }
    }
    if (literals < end) {
        p = put_sequence(p, buffer + literals, end - literals, 0, 0);
    }
    return (size_t)(p - dest);
}

/* ------------------------------------------------------- decompression -- */

typedef struct {
    const uint8_t *p, *end;
} source_t;

static int take_byte(source_t *source, size_t *byte_p)
{
    if (source->p == source->end) {
        return 0;
    }
    *byte_p = *source->p++;
    return 1;
}

/* *number_p has the four bits of a number. If they are 15, adds the bytes that
 * continue it. */
static int take_more(source_t *source, size_t *number_p)
{
    size_t byte = UINT8_MAX;

    if (*number_p < NIBBLE) {
        return 1;
    }
    while (byte == UINT8_MAX) {
        if (!take_byte(source, &byte)) {
            return 0;
        }
        *number_p += byte;
    }
    return 1;
}

static int take_distance(source_t *source, size_t *distance_p)
{
    size_t high, low;

    if (!take_byte(source, &high)) {
        return 0;
    }
    if (high < NEAR) {
        *distance_p = high + 1;
        return 1;
    }
    if (!take_byte(source, &low)) {
        return 0;
    }
    *distance_p = NEAR + 1 + (high - NEAR) * 256 + low;
    return 1;
}

size_t ucp_unsqueeze(const uint8_t *src, size_t length, uint8_t *buffer,
                     size_t start, size_t max)
{
    source_t source = {src, src + length};
    size_t at       = start;
    size_t token, literals, match, distance;

    while (take_byte(&source, &token)) {
        literals = token >> 4;
        match    = token & NIBBLE;
        if (!take_more(&source, &literals) ||
            (literals > (size_t)(source.end - source.p)) ||
            (literals > max - at)) {
            return SIZE_MAX;
        }
        memcpy(buffer + at, source.p, literals);
        source.p += literals;
        at += literals;
        if (match == 0) {
            break;
        }
        if (!take_more(&source, &match) || !take_distance(&source, &distance)) {
            return SIZE_MAX;
        }
        match += MIN_MATCH - 1;
        if ((distance > at) || (match > max - at)) {
            return SIZE_MAX;
        }
        for (; match > 0; --match, ++at) {
            /* The ranges may overlap, so memcpy() cannot be used */
            buffer[at] = buffer[at - distance];
        }
    }
    return (source.p == source.end) ? at : SIZE_MAX;
}
