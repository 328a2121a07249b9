/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What travels on a connection: the greeting and the frames behind it, and
 * the addresses and keys that peers get by other ways. Layout only; who sends
 * what when stands in conn.h.
 *
 * All numbers are little-endian. Whatever is read here is foreign.
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
 *  rsn    why not, in a NACK
 *  epoch  number of HELLOs that the sender has sent so far, this one included.
 *         Once an interface has seen an epoch, a HELLO with the same or an
 *         earlier one is what came late of an attempt that was given up.
 */
#define TCP_WIRE_MAGIC      0x54584355u   /* "UCXT" */
#define TCP_WIRE_MAJOR      1
#define TCP_WIRE_MINOR      0

enum tcp_wire_hello_kind {
    TCP_WIRE_HELLO = 1,
    TCP_WIRE_HELLO_ACK,
    TCP_WIRE_HELLO_NACK
};

enum tcp_wire_nack_reason {
    TCP_WIRE_NACK_VERSION = 1,  /* another major version */
    TCP_WIRE_NACK_TARGET        /* the receiver's id is not mine */
};

typedef struct tcp_wire_hello {
    uint32_t magic;
    uint8_t  major;
    uint8_t  minor;
    uint8_t  kind;
    uint8_t  path;
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
 * is aligned for whoever reads it in place.
 *
 *  0    1    2         4                   8            8 + length
 *  +----+----+---------+-------------------+---------- ... -+-------------+
 *  |type| id |    0    |      length       | payload        | 0 to 7 of 0 |
 *  +----+----+---------+-------------------+---------- ... -+-------------+
 *
 *  id      active message id; 0 in other frames
 *  length  of the payload, without the filling behind it
 */
#define TCP_WIRE_HDR        8u

enum tcp_wire_type {
    TCP_WIRE_AM = 1,     /* payload: the message */
    TCP_WIRE_PUT,        /* payload: tcp_wire_put_t, data */
    TCP_WIRE_GET,        /* payload: tcp_wire_get_t */
    TCP_WIRE_DATA,       /* payload: the next bytes of the oldest GET */
    TCP_WIRE_PUT_ACK,    /* payload: 8 bytes, how many PUTs of this connection
                            are in place */
    TCP_WIRE_CLOSE,      /* I have no endpoint any more; you? */
    TCP_WIRE_CLOSE_YES,  /* nor have I; this connection ends here */
    TCP_WIRE_CLOSE_NO    /* I have; it stays */
};

/* Longest payload of an AM: what a receiver must be able to put together. */
#define TCP_WIRE_AM_MAX     (1u << 20)
/* Longest data of one PUT or DATA; longer transfers are several frames. */
#define TCP_WIRE_SEG_MAX    (4u << 20)
/* GETs that may be under way on a connection. */
#define TCP_WIRE_GETS_MAX   128u

static inline uint64_t
tcp_wire_frame(enum tcp_wire_type type, uint8_t id, uint32_t length)
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

/* Bytes that a frame with so much payload takes. */
static inline size_t tcp_wire_frame_size(size_t length)
{
    return TCP_WIRE_HDR + ((length + 7) & ~(size_t)7);
}

/* Head of a PUT's payload: where the data behind it goes. */
typedef struct tcp_wire_put {
    uint64_t key;
    uint64_t address;
} tcp_wire_put_t;

_Static_assert(sizeof(tcp_wire_put_t) == 16, "put");

/* Payload of a GET: what is wanted. */
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
 *        those reach each other by any local address
 */
enum {
    TCP_WIRE_DEV_LOOPBACK = 1u << 0   /* good within the host only */
};

#define TCP_WIRE_DEV_HEAD   10
#define TCP_WIRE_DEV_LEN_V4 (TCP_WIRE_DEV_HEAD + 4)
#define TCP_WIRE_DEV_LEN_V6 (TCP_WIRE_DEV_HEAD + 16)

/* Interface address: the port that it listens on, and who it is; then up to
 * TCP_WIRE_OTHERS_MAX tcp_wire_other_t. */
typedef struct tcp_wire_iface_addr {
    uint8_t port[2];
    uint8_t id[8];
} tcp_wire_iface_addr_t;

_Static_assert(sizeof(tcp_wire_iface_addr_t) == 10, "interface address");

/* Another interface of the same worker, where it listens. The family is that of
 * the device address; an IPv4 address has 12 bytes of 0 behind it. An id of 0:
 * none here. */
typedef struct tcp_wire_other {
    uint8_t               ip[16];
    tcp_wire_iface_addr_t iface;
} tcp_wire_other_t;

_Static_assert(sizeof(tcp_wire_other_t) == 26, "interface address");

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

/* A packed remote key: the random number, which is not 0. */
typedef struct tcp_wire_rkey {
    uint64_t key;
} tcp_wire_rkey_t;

_Static_assert(sizeof(tcp_wire_rkey_t) == 8, "remote key");

/*
 * The connection manager's messages, on connections of their own. Each is
 * this head, the sender's device address and its private data.
 *
 *  0       4   5   6   7   8       12      16
 *  +-------+---+---+---+---+-------+-------+------------+--------------+
 *  | magic |maj|min|knd|dal|   0   | length| dal bytes  | length bytes |
 *  +-------+---+---+---+---+-------+-------+------------+--------------+
 */
#define TCP_WIRE_CM_MAGIC   0x43584355u   /* "UCXC" */

enum tcp_wire_cm_kind {
    TCP_WIRE_CM_REQUEST = 1,   /* client: wants to connect */
    TCP_WIRE_CM_ACCEPT,        /* server: agreed */
    TCP_WIRE_CM_REJECT,        /* server: declined */
    TCP_WIRE_CM_NOTIFY,        /* client: connected, by the user's word */
    TCP_WIRE_CM_DISCONNECT,    /* either: leaves */
    TCP_WIRE_CM_LEFT           /* answer: the user has been told of it */
};

#define TCP_WIRE_CM_PRIV_MAX 16384u

typedef struct tcp_wire_cm {
    uint32_t magic;
    uint8_t  major;
    uint8_t  minor;
    uint8_t  kind;
    uint8_t  dev_addr_length;
    uint32_t zero;
    uint32_t length;
} tcp_wire_cm_t;

_Static_assert(sizeof(tcp_wire_cm_t) == 16, "connection manager");
_Static_assert(offsetof(tcp_wire_cm_t, length) == 12, "connection manager");

#endif
