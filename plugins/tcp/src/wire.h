/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Layout of the data on a connection (greeting and frames), and of the
 * addresses and keys that peers receive by other means. conn.h describes the
 * protocol.
 *
 * All numbers are little-endian. Everything read here comes from a peer and
 * must be validated.
 */
#ifndef TCP_WIRE_H
#define TCP_WIRE_H

#include <endian.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/*
 * The greeting: the first bytes in both directions of a connection.
 *
 *  0       4   5   6   7   8               16              24  26  28      32
 *  +-------+---+---+---+---+---------------+---------------+---+---+-------+
 *  | magic |maj|min|knd|pth| sender's id   | receiver's id |rsn| 0 | epoch |
 *  +-------+---+---+---+---+---------------+---------------+---+---+-------+
 *
 *  knd    HELLO from the side that connected, ACK or NACK as the answer
 *  pth    which of several connections between the same two interfaces
 *  rsn    reason of a NACK
 *  epoch  in HELLO and ACK: a counter of the sending interface, which grows
 *         before each HELLO. If a connection with the sender of a HELLO is
 *         established, and the epoch is not later than that of the sender's
 *         previous HELLO or ACK, the HELLO is a late message of an abandoned
 *         attempt.
 */
#define TCP_WIRE_MAGIC 0x54584355u /* "UCXT" */
#define TCP_WIRE_MAJOR 1
#define TCP_WIRE_MINOR 0

enum tcp_wire_hello_kind {
    TCP_WIRE_HELLO = 1,
    TCP_WIRE_HELLO_ACK,
    TCP_WIRE_HELLO_NACK,
};

enum tcp_wire_nack_reason {
    TCP_WIRE_NACK_VERSION = 1, /* The sender of the NACK has another major
                                * version */
    TCP_WIRE_NACK_TARGET,      /* The receiver's id in the HELLO is not that of
                                * the sender of the NACK */
};

typedef struct tcp_wire_hello {
    uint32_t magic;
    uint8_t major;
    uint8_t minor;
    uint8_t kind;
    uint8_t path;
    uint64_t src_id;
    uint64_t dst_id;
    uint16_t reason;
    uint16_t zero16;
    uint32_t epoch;
} tcp_wire_hello_t;

_Static_assert(sizeof(tcp_wire_hello_t) == 32, "greeting");
_Static_assert(offsetof(tcp_wire_hello_t, src_id) == 8, "greeting");
_Static_assert(offsetof(tcp_wire_hello_t, reason) == 24, "greeting");
_Static_assert(offsetof(tcp_wire_hello_t, epoch) == 28, "greeting");

/*
 * A frame. It begins at a multiple of 8 bytes of the stream, so that payload
 * is aligned when it is read in place.
 *
 *  0    1    2         4                   8            8 + length
 *  +----+----+---------+-------------------+---------- ... -+-------------+
 *  |type| id |    0    |      length       | payload        | 0 to 7 of 0 |
 *  +----+----+---------+-------------------+---------- ... -+-------------+
 *
 *  id      active message id; 0 in other frames
 *  length  of the payload, without the padding after it
 */
#define TCP_WIRE_HDR 8u

enum tcp_wire_type {
    TCP_WIRE_AM = 1,    /* payload: the message */
    TCP_WIRE_PUT,       /* payload: tcp_wire_put_t, data */
    TCP_WIRE_GET,       /* payload: tcp_wire_get_t */
    TCP_WIRE_DATA,      /* payload: the next bytes of the oldest GET */
    TCP_WIRE_PUT_ACK,   /* payload: 8 bytes, the number of PUTs on this stream
                         * whose data is written so far */
    TCP_WIRE_CLOSE,     /* the sender has no endpoint any more */
    TCP_WIRE_CLOSE_YES, /* answer to CLOSE: agreed, the connection ends */
    TCP_WIRE_CLOSE_NO,  /* answer to CLOSE: refused, the connection stays
                         * open */
};

/* Maximum payload of an AM: the receiver's buffer holds a whole message. */
#define TCP_WIRE_AM_MAX (1u << 20)
/* Maximum data of one PUT or DATA; longer transfers are several frames. */
#define TCP_WIRE_SEG_MAX (4u << 20)
/* Maximum number of outstanding GETs on a connection. */
#define TCP_WIRE_GETS_MAX 128u

static inline uint64_t tcp_wire_frame(enum tcp_wire_type type, uint8_t id,
                                      uint32_t length)
{
    return htole64((uint64_t)type | ((uint64_t)id << 8) |
                   ((uint64_t)length << 32));
}

static inline uint64_t tcp_wire_load(const void *p)
{
    uint64_t word;

    memcpy(&word, p, sizeof(word));
    return le64toh(word);
}

static inline uint32_t tcp_wire_pad(size_t length)
{
    return (uint32_t)(-length & 7);
}

/* Returns the size of a frame with this much payload. */
static inline size_t tcp_wire_frame_size(size_t length)
{
    return TCP_WIRE_HDR + ((length + 7) & ~(size_t)7);
}

/* Header of a PUT's payload: the destination of the data. */
typedef struct tcp_wire_put {
    uint64_t key;
    uint64_t address;
} tcp_wire_put_t;

_Static_assert(sizeof(tcp_wire_put_t) == 16, "put");

/* Payload of a GET: the requested range. */
typedef struct tcp_wire_get {
    uint64_t key;
    uint64_t address;
    uint64_t length;
} tcp_wire_get_t;

_Static_assert(sizeof(tcp_wire_get_t) == 24, "get");

/*
 * Device address: 14 or 26 bytes.
 *
 *  0        1       2                10              14              26
 *  +--------+-------+----------------+---------------+---------------+
 *  | 4 or 6 | flags | host           | IPv4 address  | rest of IPv6  |
 *  +--------+-------+----------------+---------------+---------------+
 *
 *  host  equal for processes that share a kernel and a network namespace:
 *        these reach each other by any local address
 */
enum {
    TCP_WIRE_DEV_LOOPBACK = 1u << 0, /* valid within the host only */
};

#define TCP_WIRE_DEV_HEAD   10
#define TCP_WIRE_DEV_LEN_V4 (TCP_WIRE_DEV_HEAD + 4)
#define TCP_WIRE_DEV_LEN_V6 (TCP_WIRE_DEV_HEAD + 16)

/* Interface address: the interface's listening port and its id; then up to
 * TCP_WIRE_OTHERS_MAX listeners of other interfaces of the same worker:
 *
 *  +---------------+--------+------+
 *  | IP 4 or 16    | port 2 | id 8 |
 *  +---------------+--------+------+
 *
 * The family is that of the device address. These are the last bytes of the
 * other interface's device address, followed by its interface address. A
 * worker's address contains the same bytes for the other interface itself, so
 * it can be compressed. An entry with the id 0 is unused. */
typedef struct tcp_wire_iface_addr {
    uint8_t port[2];
    uint8_t id[8];
} tcp_wire_iface_addr_t;

_Static_assert(sizeof(tcp_wire_iface_addr_t) == 10, "interface address");

#define TCP_WIRE_OTHERS_MAX 4u

static inline void tcp_wire_iface_set(tcp_wire_iface_addr_t *addr,
                                      uint16_t port, uint64_t id)
{
    id            = htole64(id);
    addr->port[0] = (uint8_t)port;
    addr->port[1] = (uint8_t)(port >> 8);
    memcpy(addr->id, &id, sizeof(id));
}

static inline uint16_t tcp_wire_iface_port(const tcp_wire_iface_addr_t *addr)
{
    return (uint16_t)(addr->port[0] | (addr->port[1] << 8));
}

/* A packed remote key: a random number other than 0. */
typedef struct tcp_wire_rkey {
    uint64_t key;
} tcp_wire_rkey_t;

_Static_assert(sizeof(tcp_wire_rkey_t) == 8, "remote key");

/*
 * The connection manager's messages, on separate connections: a header, the
 * sender's device address of `dal` bytes, and its private data of `length`
 * bytes. Only REQUEST and ACCEPT have an address and private data.
 *
 *   0       4   5   6   7   8       12      16
 *   +-------+---+---+---+---+-------+-------+------------+--------------+
 *   | magic |maj|min|knd|dal|   0   | length| dal bytes  | length bytes |
 *   +-------+---+---+---+---+-------+-------+------------+--------------+
 */
#define TCP_WIRE_CM_MAGIC 0x43584355u /* "UCXC" */

enum tcp_wire_cm_kind {
    TCP_WIRE_CM_REQUEST = 1, /* from the client: requests a connection */
    TCP_WIRE_CM_ACCEPT,      /* from the server: accepts the request */
    TCP_WIRE_CM_REJECT,      /* from the server: rejects the request */
    TCP_WIRE_CM_NOTIFY,      /* from the client: its user has confirmed the
                              * connection */
    TCP_WIRE_CM_DISCONNECT,  /* from either side: disconnects */
    TCP_WIRE_CM_LEFT,        /* answer to DISCONNECT: this side has notified its
                              * user */
};

#define TCP_WIRE_CM_PRIV_MAX 16384u

typedef struct tcp_wire_cm {
    uint32_t magic;
    uint8_t major;
    uint8_t minor;
    uint8_t kind;
    uint8_t dev_addr_length;
    uint32_t zero;
    uint32_t length;
} tcp_wire_cm_t;

_Static_assert(sizeof(tcp_wire_cm_t) == 16, "connection manager");
_Static_assert(offsetof(tcp_wire_cm_t, length) == 12, "connection manager");

#endif
