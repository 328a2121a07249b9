/* SPDX-License-Identifier: BSD-3-Clause */
/* The wire format of messages and addresses. */
#ifndef UGNI_WIRE_H
#define UGNI_WIRE_H

#include <stdint.h>

/* Header of each message; little-endian. */
typedef struct ugni_wire_head {
    uint64_t source; /* Id of the sending interface: `nonce` and `key` of its
                      * address, the key in the lower half */
    uint32_t key;    /* ugni_wire_addr_t.key of the receiving interface, which
                      * drops messages with another key */
    uint16_t number; /* Number of the message in the sequence from `source` to
                      * `key`; 0 in tagged messages */
    uint8_t id;      /* Message id; from UCT_AM_ID_MAX on one of the values
                      * below. In tagged messages UGNI_TAG_* (tag.h) */
    uint8_t epoch;   /* Number that the sender increments when its connection to
                      * the receiver is lost; `number` then restarts at 0. 0 in
                      * tagged messages */
} ugni_wire_head_t;

/* Ids of messages that are not from the user */
enum {
    UGNI_ID_FETCHED = 0xfc, /* The sender of this message does not need the data
                             * of a tagged rendezvous any more; contains a
                             * ugni_wire_fetched_t */
    UGNI_ID_CLOSED  = 0xfd, /* The last message of an interface that closes */
    UGNI_ID_LOST    = 0xfe, /* A message that the receiver of this notice has
                             * sent never arrived */
    UGNI_ID_CHECK = 0xff, /* Sent to check whether the peer is alive. Also sent
                           * after injected messages (ugni_ep_am_confirm()),
                           * which have no completion: a flush waits for that
                           * of this message. Contains the sender's address */
};

/* The content of UGNI_ID_FETCHED; little-endian */
typedef struct ugni_wire_fetched {
    uint64_t op; /* ugni_tag_op_t.id of the sender of the data */
    /* 0: the data was read, or the receive is too short. Otherwise the data
     * cannot be read */
    uint8_t is_failed;
    uint8_t unused[7];
} ugni_wire_fetched_t;

/* The address of an interface; the address of its libfabric endpoint
 * follows. */
typedef struct ugni_wire_addr {
    uint64_t start; /* Start time of the process (peer.c): 2 + the time in
                     * /proc/PID/stat; 1: unknown */
    uint64_t space; /* Id of the kernel and the PID namespace */
    uint32_t pid;
    uint32_t key;    /* Random; messages to the interface contain it */
    uint32_t device; /* Index of the interface's device in md->devices, and of
                      * its key in packed remote keys (key.c) */
    uint32_t nonce;  /* Random; identifies the interface together with `key` */
} ugni_wire_addr_t;

/* The address of a device. Peers are reachable if both members are equal. */
typedef struct ugni_wire_device {
    uint64_t fabric; /* Hash of the names of provider and fabric */
    uint64_t host;   /* For a fabric within one host: hash of the kernel and the
                      * network namespace. 0: a fabric between hosts */
} ugni_wire_device_t;

_Static_assert(sizeof(ugni_wire_head_t) == 16, "wire format");
_Static_assert(sizeof(ugni_wire_fetched_t) == 16, "wire format");
_Static_assert(sizeof(ugni_wire_addr_t) == 32, "wire format");
_Static_assert(sizeof(ugni_wire_device_t) == 16, "wire format");

#endif
