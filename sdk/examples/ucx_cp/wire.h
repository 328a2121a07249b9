/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages of ucx_cp. The functions wire_get_* check all fields of a message
 * from the peer before they return them.
 *
 *   sender                                  receiver
 *   OFFER  size, chunk, mode, name      ->
 *                                       <-  REPLY 0  continue
 *   DATA 0 .. DATA n-1                  ->  several at a time
 *   END    checksum, or the reason      ->
 *                                       <-  REPLY 1  stored; or, at any time,
 *                                                    the reason of a rejection
 *
 * Each message has a tag: its top byte is the kind of the message (enum
 * wire_kind), the rest is the number that follows the kind in the picture, or
 * 0. Integers are little-endian.
 */
#ifndef UCX_CP_WIRE_H
#define UCX_CP_WIRE_H

#include <stddef.h>
#include <stdint.h>

enum wire_kind {
    WIRE_OFFER = 1,
    WIRE_REPLY = 2,
    WIRE_DATA  = 3,
    WIRE_END   = 4,
};

enum {
    /* Bytes */
    WIRE_NAME_MAX  = 255,
    WIRE_TEXT_MAX  = 400,
    WIRE_CHUNK_MIN = 4 * 1024,
    WIRE_CHUNK_MAX = 16 * 1024 * 1024,
    WIRE_MAX       = 512, /* The longest message that is not DATA */
};

struct wire_offer {
    uint64_t size;  /* Bytes of the file */
    uint32_t chunk; /* Bytes of a chunk; the last one may be shorter */
    uint32_t mode;  /* Permission bits of the file only */
    char name[WIRE_NAME_MAX + 1];
};

/* REPLY and END: a non-empty text is the reason of a failure. */
struct wire_note {
    uint64_t hash; /* Checksum of the data so far (hash.h) */
    char text[WIRE_TEXT_MAX + 1];
};

static inline uint64_t wire_tag(enum wire_kind kind, uint64_t index)
{
    return ((uint64_t)kind << 56) | index;
}

/* Encode into a buffer of WIRE_MAX bytes; return the length. */
size_t wire_put_offer(void *buffer, const struct wire_offer *offer);
size_t wire_put_note(void *buffer, const struct wire_note *note);

/* Decode and check a message; return NULL, or a text that says what is wrong
 * with it. */
const char *wire_get_offer(const void *buffer, size_t length,
                           struct wire_offer *offer);
const char *wire_get_note(const void *buffer, size_t length,
                          struct wire_note *note);

/* Returns NULL if name is a valid file name for the receiver's directory,
 * otherwise the reason. */
const char *wire_name_rejected(const char *name, size_t length);

#endif
