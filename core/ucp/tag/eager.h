/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Eager tagged messages: the data is sent at once, without waiting for the
 * receiver. tag/multi.h defines messages of several fragments. Numbers are
 * bytes:
 *
 *   EAGER       | tag 8 | payload |
 *   EAGER_SYNC  | tag 8 | sender's end 16 | request 4 | payload |
 *   SYNC_ACK    | request 4 |
 *
 * A sender's end is a ucp_wire_end_t: the UUID of its worker and the id of its
 * endpoint.
 */
#ifndef UCP_TAG_EAGER_H
#define UCP_TAG_EAGER_H

#include "ucp/eager/eager.h"
#include "ucp/proto/ep.h"

/** Active-message ids of these kinds of messages. */
enum {
    UCP_AM_ID_EAGER          = 3, /**< A whole message */
    /** A whole message of a synchronous send, acknowledged when a receive
     *  matches it */
    UCP_AM_ID_EAGER_SYNC     = 4,
    UCP_AM_ID_EAGER_SYNC_ACK = 5, /**< A receive has matched an EAGER_SYNC */
};

typedef struct {
    ucp_le64_t tag;
} ucp_eager_hdr_t;

typedef struct {
    ucp_le64_t tag;
    ucp_wire_end_t sender;
    ucp_le32_t request; /**< Id of the sender's request */
} ucp_eager_sync_hdr_t;

typedef struct {
    ucp_le32_t request; /**< Copied from the EAGER_SYNC */
} ucp_eager_sync_ack_t;

_Static_assert(sizeof(ucp_eager_hdr_t) == 8, "wire layout");
_Static_assert(sizeof(ucp_eager_sync_hdr_t) == 28, "wire layout");
_Static_assert(sizeof(ucp_eager_sync_ack_t) == 4, "wire layout");

/** State of the send of a tagged message. */
typedef struct ucp_tag_send {
    ucp_tag_t tag;
    /** Synchronous eager send: all data is sent, and the send waits only for
     *  the acknowledgement */
    uint8_t all_sent;
    uint8_t in_flight; /**< Eager zero-copy: the transport uses the buffer */
    uint8_t sync;      /**< Synchronous send */
} ucp_tag_send_t;

UCP_AREA_ACCESSOR(ucp_send_tag, ucp_request_t, send.op, ucp_tag_send_t)

/** The protocols of tagged sends by active messages; offload.h has those of tag
 *  offload. */
extern const ucp_proto_t ucp_proto_tag_eager_short;
extern const ucp_proto_t ucp_proto_tag_eager_bcopy;
extern const ucp_proto_t ucp_proto_tag_eager_zcopy;
extern const ucp_proto_t ucp_proto_tag_multi;
extern const ucp_proto_t ucp_proto_tag_rndv;

/** Sizes of what eager messages contain in addition to the data. */
extern const ucp_eager_own_t ucp_tag_eager_own;

/** UCT callbacks for received messages; `arg` is the worker. */
ucs_status_t ucp_tag_eager_handler(void *arg, void *data, size_t length,
                                   unsigned flags);
ucs_status_t ucp_tag_eager_sync_handler(void *arg, void *data, size_t length,
                                        unsigned flags);
ucs_status_t ucp_tag_eager_sync_ack_handler(void *arg, void *data,
                                            size_t length, unsigned flags);

/** Acknowledges to the sender that a synchronous message is matched. */
void ucp_tag_eager_sync_ack(ucp_worker_h worker, const ucp_wire_end_t *sender,
                            ucp_le32_t request);

/** Called when the transport has sent an eager message, or has failed with
 *  `status`. Completes the send; a synchronous send completes only when it is
 *  acknowledged, too. */
void ucp_tag_eager_sent(ucp_request_t *req, ucs_status_t status);

/** Operations of the protocols that also send synchronous messages. */
enum {
    UCP_TAG_OPS = UCS_BIT(UCP_OP_TAG_SEND) | UCS_BIT(UCP_OP_TAG_SEND_SYNC),
};

#endif
