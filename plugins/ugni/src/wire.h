/* SPDX-License-Identifier: BSD-3-Clause */
/* The wire format of messages and addresses. */
#ifndef UGNI_WIRE_H
#define UGNI_WIRE_H

#include <stdint.h>

/* Header of each message; little-endian. */
typedef struct ugni_wire_head {
    uint64_t source; /* Id of the sending interface: `nonce` and `key` of its
                      * address, the key in the lower half */
    uint32_t key;    /* Key of the receiving interface, which drops messages for
                      * other interfaces */
    uint16_t number; /* Number of the message in the sequence from `source` to
                      * `key` */
    uint8_t id;      /* Message id; from UCT_AM_ID_MAX on one of the values
                      * below */
    uint8_t epoch;   /* Changes after a loss of messages, when numbers
                      * restart */
} ugni_wire_head_t;

/* Ids of messages that are not from the user */
enum {
    UGNI_ID_FETCHED =
        0xfc,              /* The data of a tagged rendezvous was read; contains
                            * the number of the operation */
    UGNI_ID_CLOSED = 0xfd, /* The last message of an interface: it closes */
    UGNI_ID_LOST   = 0xfe, /* A message that the receiver of this notice had
                            * sent never arrived */
    UGNI_ID_CHECK  = 0xff, /* Message of ep_check, or one whose completion
                            * confirms injected messages; contains the sender's
                            * address */
};

/* The interface's address; the address of libfabric follows. */
typedef struct ugni_wire_addr {
    uint64_t start; /* Start time of the process, as in /proc */
    uint64_t space; /* Id of kernel and PID namespace */
    uint32_t pid;
    uint32_t key;
    uint32_t device; /* Number of the device in the process, as in packed
                      * keys */
    uint32_t nonce;  /* Random; identifies the interface together with `key` */
} ugni_wire_addr_t;

typedef struct ugni_wire_device {
    uint64_t fabric; /* Hash of the names of provider and fabric */
    uint64_t host;   /* Hash of kernel and network namespace; 0: reachable from
                      * any host */
} ugni_wire_device_t;

_Static_assert(sizeof(ugni_wire_head_t) == 16, "wire format");
_Static_assert(sizeof(ugni_wire_addr_t) == 32, "wire format");
_Static_assert(sizeof(ugni_wire_device_t) == 16, "wire format");

#endif
