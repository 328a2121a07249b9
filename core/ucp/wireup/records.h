/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the two sides of a handshake say to each other: the messages by which
 * lanes are connected endpoint to endpoint. All of it comes from a peer and is
 * checked before it is believed.
 *
 *   REQUEST | asker's end 16 | flags 1 | lanes n 1 | lane * n |
 *           | worker address |
 *   REPLY   | asker's end 16 | answerer's end 16 | status 1 | lanes n 1 |
 *           | lane * n |
 *   ACK     | answerer's end 16 |
 *   lane:   | the asker's lane 1 | the receiver's interface 1 |
 *           | the sender's interface 1 | n 1 | device address |
 *           | n 1 | endpoint address |
 */
#ifndef UCP_WIREUP_RECORDS_H
#define UCP_WIREUP_RECORDS_H

#include "ucp/core/types.h"
#include "ucp/proto/lane.h"

/** One side of a lane; points into the message. */
typedef struct ucp_wireup_record {
    uint8_t       lane;
    uint8_t       receiver_iface;  /**< Of the receiver's worker */
    uint8_t       sender_iface;    /**< Of the sender's */
    const uint8_t *dev_addr;
    uint8_t       dev_addr_length;
    const uint8_t *ep_addr;
    uint8_t       ep_addr_length;
} ucp_wireup_record_t;

typedef struct ucp_wireup_request {
    ucp_wire_end_t      sender;
    uint8_t             flags;     /**< UCP_INTRODUCE_* */
    unsigned            num_lanes; /**< At least one; each has another number */
    ucp_wireup_record_t lanes[UCP_MAX_LANES];
    const void          *address;  /**< The asker's worker's */
    size_t              address_length;
} ucp_wireup_request_t;

typedef struct ucp_wireup_reply {
    ucp_wire_end_t      asker;
    ucp_wire_end_t      sender;
    ucs_status_t        status;
    unsigned            num_lanes;
    ucp_wireup_record_t lanes[UCP_MAX_LANES];
} ucp_wireup_reply_t;

/** Bytes of a packed record, at most; of a message without its address. */
enum {
    UCP_WIREUP_MAX_RECORD = 3 + 2 * (1 + UINT8_MAX),
    UCP_WIREUP_MAX_HEAD   = 2 * sizeof(ucp_wire_end_t) + 2 +
                            UCP_MAX_LANES * UCP_WIREUP_MAX_RECORD
};

/** Packs all but the address behind it, which the caller appends; returns the
 *  number of bytes, at most UCP_WIREUP_MAX_HEAD. */
size_t ucp_wireup_request_pack(const ucp_wireup_request_t *request, void *dest);
size_t ucp_wireup_reply_pack(const ucp_wireup_reply_t *reply, void *dest);

/** Zero: the bytes are no such message. */
int ucp_wireup_request_parse(const void *data, size_t length,
                             ucp_wireup_request_t *request);
int ucp_wireup_reply_parse(const void *data, size_t length,
                           ucp_wireup_reply_t *reply);

/** The record for one of the asker's lanes, or NULL. */
const ucp_wireup_record_t *
ucp_wireup_record_find(const ucp_wireup_record_t *records, unsigned count,
                       unsigned lane);

#endif
