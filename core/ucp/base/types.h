/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Small types that all of UCP uses: identifiers of active messages, and
 * little-endian fields of wire formats.
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
 * Identifiers of active messages. They are part of the wire format: a number is
 * never reused for another meaning.
 */
enum {
    /** wireup: id of the sender's endpoint, and its worker's address */
    UCP_AM_ID_INTRODUCE       = 1,
    /** wireup: the sender closed its endpoint */
    UCP_AM_ID_FAREWELL        = 2,
    UCP_AM_ID_EAGER           = 3, /**< tag: a whole message */
    UCP_AM_ID_EAGER_SYNC      = 4, /**< tag: a whole message, which
                                    *   EAGER_SYNC_ACK acknowledges */
    /** tag: a receive has matched an EAGER_SYNC */
    UCP_AM_ID_EAGER_SYNC_ACK  = 5,
    UCP_AM_ID_RNDV_RTS        = 6,  /**< rndv: ready to send */
    UCP_AM_ID_RNDV_RTR        = 7,  /**< rndv: ready to receive */
    UCP_AM_ID_RNDV_DATA       = 8,  /**< rndv: a fragment */
    UCP_AM_ID_RNDV_DONE       = 9,  /**< rndv: the put is complete */
    UCP_AM_ID_RNDV_ATS        = 10, /**< rndv: the get is complete */
    UCP_AM_ID_AM              = 11, /**< am: a whole message */
    /** am: a whole message, with the worker and endpoint of the sender
     *  (ucp_wire_end_t) for replies */
    UCP_AM_ID_AM_REPLY        = 12,
    UCP_AM_ID_AM_RNDV         = 13, /**< am: ready to send */
    UCP_AM_ID_PUT             = 14, /**< rma: data for registered memory */
    /** rma: requests data of registered memory */
    UCP_AM_ID_GET             = 15,
    UCP_AM_ID_GET_REPLY       = 16, /**< rma: the data for a GET */
    UCP_AM_ID_ATOMIC          = 17, /**< amo: an atomic on registered memory */
    UCP_AM_ID_ATOMIC_REPLY    = 18, /**< amo: the previous value */
    /** rma, amo: the number of completed accesses */
    UCP_AM_ID_RMA_ACK         = 19,
    UCP_AM_ID_STREAM          = 21, /**< stream: data */
    UCP_AM_ID_STREAM_OPEN     = 22, /**< stream: the key of later messages */
    UCP_AM_ID_STREAM_CLOSE    = 23, /**< stream: no more data follows */
    UCP_AM_ID_EAGER_FRAGMENT  = 24, /**< tag, am: a fragment of a message */
    UCP_AM_ID_WIREUP_FRAGMENT = 25, /**< wireup: a fragment of a long message */
    /** wireup: requests to connect lanes */
    UCP_AM_ID_WIREUP_REQUEST  = 26,
    /** wireup: the requested lanes are connected at the replying side */
    UCP_AM_ID_WIREUP_REPLY    = 27,
    UCP_AM_ID_WIREUP_ACK      = 28, /**< wireup: and at the requesting side */
    UCP_AM_ID_KEEPALIVE       = 29, /**< keepalive: no contents */
    UCP_AM_ID_LOST            = 30, /**< ep: the receiver will get no replies */
    /** learn: answered in order with the data */
    UCP_AM_ID_PROBE           = 31,
    UCP_AM_ID_LAST,
};

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
 * Copies bytes from the peer that are checked and then used. They may be in
 * memory that the peer can write, so two reads of the original may return
 * different values.
 */
static inline void ucp_wire_take(void *dest, const void *src, size_t size)
{
    __builtin_memcpy(dest, src, size);
    /* keeps the compiler from reading `src` again */
    __asm__ volatile("" : : "r"(dest) : "memory");
}

/**
 * Identifies one side of a connection to the other: a worker and its endpoint.
 * Sent with every message that needs a reply.
 */
typedef struct {
    ucp_le64_t worker_uuid;
    ucp_le64_t ep_id;
} ucp_wire_end_t;

#endif
