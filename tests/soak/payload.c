/* SPDX-License-Identifier: BSD-3-Clause */
/* Buffers of every layout, with guards around them, and contents that can be
 * checked without a copy. This file starts no operation of UCP. */
#include "soak.h"

#include <stdlib.h>
#include <string.h>

enum { GUARD = 16, GUARD_BYTE = 0x5a, MAX_PIECES = 24, FLIP = 0xa5 };

uint64_t mix(uint64_t a, uint64_t b)
{
    struct random random = {a * 0x9e3779b97f4a7c15ull ^ b};

    return random_next(&random);
}

/* --- contents ------------------------------------------------------------ */

static uint64_t word_at(uint64_t seed, uint64_t index)
{
    return (seed + index) * 0x9e3779b97f4a7c15ull;
}

void pattern_fill(void *to, uint64_t name, uint64_t offset, size_t length)
{
    uint64_t seed = mix(name, 1), word;
    char *next    = to;
    size_t part, skip;

    for (; length > 0; length -= part, next += part, offset += part) {
        word = word_at(seed, offset / sizeof(word));
        skip = offset % sizeof(word);
        part = sizeof(word) - skip;
        part = (length < part) ? length : part;
        memcpy(next, (char *)&word + skip, part);
    }
}

void pattern_check(const void *from, uint64_t name, uint64_t offset,
                   size_t length, const char *what)
{
    uint64_t seed = mix(name, 1), start = offset, word;
    const char *next = from;
    size_t part, skip, left;

    for (left = length; left > 0; left -= part, next += part, offset += part) {
        word = word_at(seed, offset / sizeof(word));
        skip = offset % sizeof(word);
        part = sizeof(word) - skip;
        part = (left < part) ? left : part;
        if (memcmp(next, (char *)&word + skip, part) != 0) {
            FAIL("%s %llx: %zu bytes from %llu on are damaged at %llu", what,
                 (unsigned long long)name, length, (unsigned long long)start,
                 (unsigned long long)offset);
        }
    }
}

/* --- a generic datatype: packing inverts some bits of every byte --------- */

static void *start_pack(void *context, const void *buffer, size_t count)
{
    (void)context;
    EXPECT_INT(count, ==, 1);
    return (void *)buffer;
}

static void *start_unpack(void *context, void *buffer, size_t count)
{
    return start_pack(context, buffer, count);
}

static size_t packed_size(void *state)
{
    return ((struct payload *)state)->length;
}

static void turn(char *to, const char *from, size_t length)
{
    size_t i;

    for (i = 0; i < length; ++i) {
        to[i] = (char)(from[i] ^ FLIP);
    }
}

static size_t pack(void *state, size_t offset, void *dest, size_t max_length)
{
    struct payload *payload = state;
    size_t left             = payload->length - offset;
    size_t length           = (left < max_length) ? left : max_length;

    turn(dest, payload->memory + offset, length);
    return length;
}

static ucs_status_t unpack(void *state, size_t offset, const void *src,
                           size_t length)
{
    struct payload *payload = state;

    EXPECT_INT(offset + length, <=, payload->length);
    turn(payload->memory + offset, src, length);
    return UCS_OK;
}

static void finish(void *state)
{
    (void)state;
}

ucp_datatype_t payload_generic(void)
{
    static const ucp_generic_dt_ops_t ops = {
        start_pack, start_unpack, packed_size, pack, unpack, finish,
    };
    ucp_datatype_t datatype;

    EXPECT_OK(ucp_dt_create_generic(&ops, NULL, &datatype));
    return datatype;
}

/* --- layouts ------------------------------------------------------------- */

static void set_guard(char *place)
{
    memset(place, GUARD_BYTE, GUARD);
}

static void check_guard(const char *place, const char *what)
{
    int i;

    for (i = 0; i < GUARD; ++i) {
        if (place[i] != GUARD_BYTE) {
            FAIL("%s: bytes beside the buffer were written", what);
        }
    }
}

/* Describes the buffer by IOV entries of random lengths, some of them 0, with
 * guards between them. */
static void cut(struct payload *payload, struct random *random)
{
    size_t count = 1 + random_below(random, MAX_PIECES), left, i, length;
    char *next;

    payload->memory = malloc(payload->length + (count * GUARD));
    payload->iov    = calloc(count, sizeof(*payload->iov));
    EXPECT((payload->memory != NULL) && (payload->iov != NULL));
    next = payload->memory;
    left = payload->length;
    for (i = 0; i < count; ++i) {
        length = (i + 1 == count) ? left : random_below(random, left + 1);
        payload->iov[i] = (ucp_dt_iov_t){(length == 0) ? NULL : next, length};
        set_guard(next + length);
        next += length + GUARD;
        left -= length;
    }
    payload->buffer   = payload->iov;
    payload->count    = count;
    payload->datatype = ucp_dt_make_iov();
}

void payload_open(struct payload *payload, struct soak *soak, size_t length,
                  enum layout layout, struct random *random)
{
    if ((layout == WORDS) && (length % 4 != 0)) {
        layout = CONTIG;
    }
    *payload = (struct payload){.layout = layout, .length = length};
    if (layout == IOV) {
        cut(payload, random);
        return;
    }

    payload->memory = malloc(length + GUARD);
    EXPECT(payload->memory != NULL);
    set_guard(payload->memory + length);
    payload->buffer   = payload->memory;
    payload->count    = length;
    payload->datatype = ucp_dt_make_contig(1);
    if (layout == WORDS) {
        payload->count    = length / 4;
        payload->datatype = ucp_dt_make_contig(4);
    } else if (layout == GENERIC) {
        payload->buffer   = payload;
        payload->count    = 1;
        payload->datatype = soak->generic;
    }
}

void payload_fill(struct payload *payload, uint64_t name)
{
    size_t i, offset = 0;

    if (payload->layout != IOV) {
        pattern_fill(payload->memory, name, 0, payload->length);
        if (payload->layout == GENERIC) {
            turn(payload->memory, payload->memory, payload->length);
        }
        return;
    }
    for (i = 0; i < payload->count; ++i) {
        pattern_fill(payload->iov[i].buffer, name, offset,
                     payload->iov[i].length);
        offset += payload->iov[i].length;
    }
}

static void check_pieces(const struct payload *payload, uint64_t name,
                         size_t length, const char *what)
{
    const char *next = payload->memory;
    size_t i, part, offset = 0;

    for (i = 0; i < payload->count; ++i) {
        part = payload->iov[i].length;
        check_guard(next + part, what);
        pattern_check(next, name, offset,
                      (length - offset < part) ? length - offset : part, what);
        next += part + GUARD;
        offset += (length - offset < part) ? length - offset : part;
    }
}

void payload_check(struct payload *payload, uint64_t name, size_t length,
                   const char *what)
{
    EXPECT_INT(length, <=, payload->length);
    if (payload->layout == IOV) {
        check_pieces(payload, name, length, what);
        return;
    }
    if (payload->layout == GENERIC) {
        turn(payload->memory, payload->memory, length);
    }
    pattern_check(payload->memory, name, 0, length, what);
    check_guard(payload->memory + payload->length, what);
}

/* Copies `length` contiguous bytes into the buffer (`in`) or out of it. */
static void move(struct payload *payload, char *bytes, size_t length, bool in)
{
    size_t i, part;
    char *piece;

    for (i = 0; length > 0; ++i) {
        piece = (payload->layout == IOV) ? payload->iov[i].buffer :
                                           payload->memory;
        part  = (payload->layout == IOV) ? payload->iov[i].length : length;
        part  = (part < length) ? part : length;
        if (part > 0) { /* an empty entry has no address */
            memcpy(in ? piece : bytes, in ? bytes : piece, part);
        }
        bytes += part;
        length -= part;
    }
}

void payload_set(struct payload *payload, char *bytes)
{
    move(payload, bytes, payload->length, true);
    if (payload->layout == GENERIC) {
        turn(payload->memory, payload->memory, payload->length);
    }
}

char *payload_bytes(struct payload *payload, size_t length)
{
    char *bytes = malloc(length + 1);

    EXPECT(bytes != NULL);
    EXPECT_INT(length, <=, payload->length);
    move(payload, bytes, length, false);
    if (payload->layout == GENERIC) {
        turn(bytes, bytes, length);
    }
    return bytes;
}

void payload_close(struct payload *payload)
{
    free(payload->memory);
    free(payload->iov);
}
