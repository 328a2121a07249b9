/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The wire format of ud_verbs. All fields are little-endian. Packets are
 * untrusted input: ud_recv.c and ud_connect.c check them.
 *
 *    0      1      2             4          8          12         16
 *   +------+------+-------------+----------+----------+----------+------------
 *   | kind | id   | magic       | conn     | psn      | ack      | message,
 *   |      |      |             |          |          |          | or more
 *   +------+------+-------------+----------+----------+----------+------------
 *
 * kind   ud_kind_t, with the flags UD_ASK and UD_BUSY
 * id     id of the active message, 0 in other packets
 * magic  UD_MAGIC
 * conn   the receiver's id of the connection, 0 if the id is not known yet
 * psn    sequence number of the packet. In UD_ACK and UD_PROBE: number of the
 *        next packet that the sender will send; in UD_CONNECT and UD_ACCEPT:
 *        number of the sender's first unacknowledged packet
 * ack    the sender has received all packets before this sequence number
 */
#ifndef IB_UD_WIRE_H
#define IB_UD_WIRE_H

#include "port.h"

enum {
    UD_MAGIC     = 0x4455,
    UD_MAX_QPN   = 0xffffff,
    UD_KIND_MASK = 0x0f,
    UD_ASK       = 0x80, /* Flag: acknowledge at once */
    /* Flag of UD_ACK: the process that sends the UD_ACK has no buffers for
     * messages at this time. Its peer sends nothing new until a UD_ACK without
     * this flag arrives, and keeps the unacknowledged packets */
    UD_BUSY      = 0x40,
};

typedef enum {
    /* Packets with a sequence number of their own */
    UD_MESSAGE = 1, /* An active message: the data follows ud_wire_t */
    UD_NOTHING,     /* No data: only the acknowledgement is of interest, which
                     * shows that the peer exists */
    UD_FIN,         /* The sender's user has destroyed the endpoint */
    UD_LAST_SEQUENCED = UD_FIN,
    /* Packets without a sequence number of their own */
    UD_ACK,     /* A ud_wire_ack_t */
    UD_CONNECT, /* A ud_wire_control_t, as are the following kinds */
    UD_ACCEPT,  /* Reply to UD_CONNECT */
    /* Asks whether the connection exists. The reply is UD_ACK or UD_RESET */
    UD_PROBE,
    UD_RESET, /* The sender has no such connection, or has closed it */
} ud_kind_t;

/* The header of all packets. The members are described above. */
typedef struct ud_wire {
    uint8_t kind;
    uint8_t id;
    uint16_t magic;
    uint32_t conn;
    uint32_t psn;
    uint32_t ack;
} ud_wire_t;

/* A UD_ACK. Bit i of `sack`: the sender has received packet ack + 1 + i, out of
 * order. */
typedef struct ud_wire_ack {
    ud_wire_t head;
    uint64_t sack;
} ud_wire_ack_t;

/* The address of an interface. The token distinguishes two processes that have
 * used the same queue pair number one after the other. */
typedef struct ud_wire_iface {
    uint32_t qpn;
    uint32_t token;
} ud_wire_iface_t;

/* A control packet of a connection. It contains the sender's address, so that
 * the receiver can reply. */
typedef struct ud_wire_control {
    ud_wire_t head;
    uint32_t from; /* The sender's id of the connection */
    /* Number of the connection among those of these two interfaces; the same at
     * both ends */
    uint32_t ordinal;
    uint32_t to_token;       /* Token of the destination interface */
    ud_wire_iface_t iface;   /* Address of the sender's interface */
    ib_wire_device_t device; /* Address of the sender's port */
} ud_wire_control_t;

_Static_assert(sizeof(ud_wire_t) == 16, "wire format");
_Static_assert(sizeof(ud_wire_ack_t) == 24, "wire format");
_Static_assert(sizeof(ud_wire_control_t) == 56, "wire format");

#endif
