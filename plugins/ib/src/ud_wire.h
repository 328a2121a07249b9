/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What datagrams of ud_verbs look like. All fields are little-endian. All of
 * this comes from foreign processes: ud_recv.c and ud_connect.c check it.
 *
 *    0      1      2             4          8          12         16
 *   +------+------+-------------+----------+----------+----------+------------
 *   | kind | id   | magic       | conn     | psn      | ack      | message,
 *   |      |      |             |          |          |          | or more
 *   +------+------+-------------+----------+----------+----------+------------
 *
 * conn   the receiver's number of the connection, 0 if it is not known yet
 * psn    of the packet, or of the next one if this one has none
 * ack    the sender has received all packets before it
 */
#ifndef IB_UD_WIRE_H
#define IB_UD_WIRE_H

#include "port.h"

enum {
    UD_MAGIC     = 0x4455,
    UD_KIND_MASK = 0x0f,
    UD_ASK       = 0x80  /* Flag: acknowledge this at once */
};

typedef enum {
    /* Packets with a sequence number */
    UD_MESSAGE = 1,   /* An active message: `id`, then its data */
    UD_NOTHING,       /* Shows that the peer is there */
    UD_FIN,           /* The sender's user has destroyed the endpoint */
    UD_LAST_SEQUENCED = UD_FIN,
    /* Packets without */
    UD_ACK,           /* 8 bytes more: what has arrived out of order */
    UD_CONNECT,       /* ud_wire_control_t follows these, too */
    UD_ACCEPT,        /* Answers UD_CONNECT */
    UD_PROBE,         /* Does this connection exist? UD_ACK or UD_RESET */
    UD_RESET          /* There is no such connection any more */
} ud_kind_t;

typedef struct ud_wire {
    uint8_t  kind;   /* ud_kind_t and UD_ASK */
    uint8_t  id;
    uint16_t magic;
    uint32_t conn;
    uint32_t psn;
    uint32_t ack;
} ud_wire_t;

typedef struct ud_wire_ack {
    ud_wire_t head;
    uint64_t  sack;
} ud_wire_ack_t;

/* The address of an interface. The token tells two processes apart that have
 * used the same queue pair number, one after the other. */
typedef struct ud_wire_iface {
    uint32_t qpn;
    uint32_t token;
} ud_wire_iface_t;

/* Packets about a connection tell who sends them, so that they can be
 * answered. */
typedef struct ud_wire_control {
    ud_wire_t        head;
    uint32_t         from;     /* The sender's number of the connection */
    uint32_t         ordinal;  /* Of the connection among those of the two */
    uint32_t         to_token; /* Of the interface that it is for */
    ud_wire_iface_t  iface;
    ib_wire_device_t device;
} ud_wire_control_t;

_Static_assert(sizeof(ud_wire_t) == 16, "wire format");
_Static_assert(sizeof(ud_wire_ack_t) == 24, "wire format");
_Static_assert(sizeof(ud_wire_control_t) == 56, "wire format");

#endif
