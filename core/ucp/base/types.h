/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Small types that all of UCP uses: forward declarations, the range of message
 * identifiers, little-endian fields of wire formats, safe copies of received
 * bytes, and ucp_wire_end_t, by which a message names its sender's endpoint.
 */
#ifndef UCP_TYPES_H
#define UCP_TYPES_H

#include <endian.h>
#include <stddef.h>
#include <stdint.h>
#include <ucp/api/ucp.h>

typedef struct ucp_request ucp_request_t;
typedef struct ucp_ep_config ucp_ep_config_t;
typedef struct ucp_proto ucp_proto_t;

/**
 * Number of identifiers that active messages of the library may have. The
 * header of each class of operations (classes.h) defines the identifiers of its
 * messages, UCP_AM_ID_*. They are part of the wire format: a number is never
 * reused for another meaning. docs/WIRE.md lists all; a test compares the list
 * with the headers, and fails if two classes use the same number.
 */
enum { UCP_AM_ID_LAST = 32 };

/** Fields of messages: little-endian, with any alignment. */
typedef struct {
    uint8_t bytes[8];
} ucp_le64_t;
typedef struct {
    uint8_t bytes[4];
} ucp_le32_t;
typedef struct {
    uint8_t bytes[2];
} ucp_le16_t;

static inline uint64_t ucp_le64_get(ucp_le64_t field)
{
    uint64_t value;

    __builtin_memcpy(&value, field.bytes, sizeof(value));
    return le64toh(value);
}

static inline ucp_le64_t ucp_le64(uint64_t value)
{
    ucp_le64_t field;

    value = htole64(value);
    __builtin_memcpy(field.bytes, &value, sizeof(value));
    return field;
}

static inline uint32_t ucp_le32_get(ucp_le32_t field)
{
    uint32_t value;

    __builtin_memcpy(&value, field.bytes, sizeof(value));
    return le32toh(value);
}

static inline ucp_le32_t ucp_le32(uint32_t value)
{
    ucp_le32_t field;

    value = htole32(value);
    __builtin_memcpy(field.bytes, &value, sizeof(value));
    return field;
}

static inline uint16_t ucp_le16_get(ucp_le16_t field)
{
    return (uint16_t)(field.bytes[0] | (field.bytes[1] << 8));
}

static inline ucp_le16_t ucp_le16(uint16_t value)
{
    ucp_le16_t field = {{(uint8_t)value, (uint8_t)(value >> 8)}};

    return field;
}

/**
 * Copies bytes that a peer has sent, before they are checked and used. The
 * original may be in memory that the peer can still write: the check and the
 * use could otherwise read different values.
 */
static inline void ucp_wire_take(void *dest, const void *src, size_t size)
{
    __builtin_memcpy(dest, src, size);
    /* keeps the compiler from reading `src` again */
    __asm__ volatile("" : : "r"(dest) : "memory");
}

/**
 * Identifies an endpoint to its peer: the UUID of its worker, and its number
 * with a random part (ucp_ep_wire_end()). Every message that needs a reply
 * contains it; the reply repeats all or a part of it.
 */
typedef struct {
    ucp_le64_t worker_uuid;
    ucp_le64_t ep_id;
} ucp_wire_end_t;

#endif
