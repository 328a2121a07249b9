/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The messages of the handshake that connects lanes endpoint to endpoint
 * (handshake.h). All of them come from a peer and are checked before use. The
 * requester sends the request; the responder sends the reply. A number after a
 * name is a length in bytes.
 *
 *   REQUEST | requester's end 16 | flags 1 | lanes n 1 | lane * n |
 *           | worker address |
 *   REPLY   | requester's end 16 | responder's end 16 | status 1 | lanes n 1 |
 *           | lane * n |
 *   ACK     | responder's end 16 |
 *   lane:   | the requester's lane 1 | the receiver's interface 1 |
 *           | the sender's interface 1 | n 1 | device address |
 *           | n 1 | endpoint address |
 *
 * An end is a ucp_wire_end_t: the UUID of a worker and the id of its endpoint.
 */
#ifndef UCP_WIREUP_RECORDS_H
#define UCP_WIREUP_RECORDS_H

#include "ucp/base/types.h"
#include "ucp/proto/lane.h"

/** How to connect one lane to the sender of the message. The pointers point
 *  into the message. */
typedef struct ucp_wireup_record {
    uint8_t lane;           /**< Number of the lane at the requester */
    uint8_t receiver_iface; /**< Index among the receiver's interfaces */
    uint8_t sender_iface;   /**< Index among the sender's interfaces */
    const uint8_t *dev_addr;
    uint8_t dev_addr_length;
    const uint8_t *ep_addr;
    uint8_t ep_addr_length;
} ucp_wireup_record_t;

typedef struct ucp_wireup_request {
    ucp_wire_end_t sender; /**< The requester's end */
    uint8_t flags;         /**< UCP_INTRODUCE_* (introduce.h) */
    /** Number of elements of `lanes`; a received request has at least one, and
     *  no two records for the same lane */
    unsigned num_lanes;
    ucp_wireup_record_t lanes[UCP_MAX_LANES];
    const void *address; /**< Address of the requester's worker */
    size_t address_length;
} ucp_wireup_request_t;

typedef struct ucp_wireup_reply {
    ucp_wire_end_t requester; /**< Copied from the request */
    ucp_wire_end_t sender;    /**< The responder's end */
    ucs_status_t status;      /**< UCS_OK, or why the request is rejected */
    unsigned num_lanes;       /**< 0 if the request is rejected */
    ucp_wireup_record_t lanes[UCP_MAX_LANES];
} ucp_wireup_reply_t;

/** Maximum number of bytes of a packed record, and of a message without its
 *  address. */
enum {
    UCP_WIREUP_MAX_RECORD = 3 + 2 * (1 + UINT8_MAX),
    UCP_WIREUP_MAX_HEAD   = 2 * sizeof(ucp_wire_end_t) + 2 +
                          UCP_MAX_LANES * UCP_WIREUP_MAX_RECORD,
};

/** Packs a message into `dest`. The caller appends the worker address to a
 *  request. Returns the number of bytes, at most UCP_WIREUP_MAX_HEAD. */
size_t ucp_wireup_request_pack(const ucp_wireup_request_t *request, void *dest);
size_t ucp_wireup_reply_pack(const ucp_wireup_reply_t *reply, void *dest);

/** Returns zero if the message is malformed. */
int ucp_wireup_request_parse(const void *data, size_t length,
                             ucp_wireup_request_t *request);
int ucp_wireup_reply_parse(const void *data, size_t length,
                           ucp_wireup_reply_t *reply);

/** Returns the record for one of the requester's lanes, or NULL. */
const ucp_wireup_record_t *
ucp_wireup_record_find(const ucp_wireup_record_t *records, unsigned count,
                       unsigned lane);

#endif
