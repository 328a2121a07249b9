/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Small types that every folder of UCP needs: the identifiers of its active
 * messages and little-endian fields of what travels.
 */
#ifndef UCP_CORE_TYPES_H
#define UCP_CORE_TYPES_H

#include <endian.h>
#include <stddef.h>
#include <stdint.h>
#include <ucp/api/ucp.h>

typedef struct ucp_request ucp_request_t;

/**
 * Active message identifiers. They are part of the wire format: a number is
 * never reused for another meaning.
 */
enum {
    UCP_AM_ID_INTRODUCE      = 1, /**< wireup: who I am, answer me here */
    UCP_AM_ID_FAREWELL       = 2, /**< wireup: the introduced end has closed */
    UCP_AM_ID_EAGER          = 3, /**< tag: a whole message */
    UCP_AM_ID_EAGER_SYNC     = 4, /**< tag: ... to be acknowledged */
    UCP_AM_ID_EAGER_SYNC_ACK = 5, /**< tag: a receive has taken it */
    UCP_AM_ID_RNDV_RTS       = 6, /**< rndv: ready to send */
    UCP_AM_ID_RNDV_RTR       = 7, /**< rndv: ready to receive */
    UCP_AM_ID_RNDV_DATA      = 8, /**< rndv: a fragment */
    UCP_AM_ID_RNDV_DONE      = 9, /**< rndv: all data has been put */
    UCP_AM_ID_RNDV_ATS       = 10, /**< rndv: all data has been fetched */
    UCP_AM_ID_AM             = 11, /**< am: a whole message */
    UCP_AM_ID_AM_REPLY       = 12, /**< am: ... whose sender can be answered */
    UCP_AM_ID_AM_RNDV        = 13, /**< am: ready to send */
    UCP_AM_ID_PUT            = 14, /**< rma: data for registered memory */
    UCP_AM_ID_GET            = 15, /**< rma: send me registered memory */
    UCP_AM_ID_GET_REPLY      = 16, /**< rma: ... which is this */
    UCP_AM_ID_ATOMIC         = 17, /**< amo: change registered memory */
    UCP_AM_ID_ATOMIC_REPLY   = 18, /**< amo: what was there before */
    UCP_AM_ID_RMA_ACK        = 19, /**< rma, amo: so many have been done */
    UCP_AM_ID_STREAM         = 21, /**< stream: bytes of it */
    UCP_AM_ID_STREAM_OPEN    = 22, /**< stream: what follows is known by this */
    UCP_AM_ID_STREAM_CLOSE   = 23, /**< stream: nothing follows */
    UCP_AM_ID_EAGER_FRAGMENT = 24, /**< tag, am: of a longer message */
    UCP_AM_ID_WIREUP_PIECE   = 25, /**< wireup: of a message that is longer */
    UCP_AM_ID_WIREUP_REQUEST = 26, /**< wireup: connect these lanes to mine */
    UCP_AM_ID_WIREUP_REPLY   = 27, /**< wireup: ... they are */
    UCP_AM_ID_WIREUP_ACK     = 28, /**< wireup: ... so are mine to them */
    UCP_AM_ID_KEEPALIVE      = 29, /**< keepalive: nothing to do */
    UCP_AM_ID_LOST           = 30, /**< ep: nobody answers this end any more */
    UCP_AM_ID_LAST
};

/** Fields of messages: little-endian, any alignment. */
typedef struct { uint8_t bytes[8]; } ucp_le64_t;
typedef struct { uint8_t bytes[4]; } ucp_le32_t;
typedef struct { uint8_t bytes[2]; } ucp_le16_t;

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
 * Copies foreign bytes that are checked and then used. They may lie in memory
 * that the peer can write to: what is looked at twice in place may be two
 * different things.
 */
static inline void ucp_wire_take(void *dest, const void *src, size_t size)
{
    __builtin_memcpy(dest, src, size);
    __asm__ volatile("" : : "r"(dest) : "memory"); /* no second look */
}

/**
 * One end of a connection as the other side names it: the worker and the
 * endpoint inside it. Sent with whatever wants an answer.
 */
typedef struct {
    ucp_le64_t worker_uuid;
    ucp_le64_t ep_id;
} ucp_wire_end_t;

#endif
