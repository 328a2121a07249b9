/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sends of active messages: the state of a send, which all protocols use; the
 * list of the protocols; and the short path, which sends a small message
 * without a request.
 */
#ifndef UCP_AM_EAGER_H
#define UCP_AM_EAGER_H

#include "ucp/am/am.h"
#include "ucp/eager/eager.h"
#include "ucp/proto/ep.h"

/** State of the send of an active message. */
typedef struct ucp_am_send {
    const void *header;
    uint32_t header_length;
    uint16_t id;
    uint8_t wire;       /**< UCP_AM_WIRE_* */
    uint8_t reply : 1;  /**< The receiver's handler gets a reply endpoint */
    uint8_t copied : 1; /**< `header` is a copy, to be freed */
    /** Eager by zero-copy: the transport has not completed the send, and may
     *  still read the buffers */
    uint8_t in_flight : 1;
    /** Used by zero-copy if `reply`: a part of the message. The transport reads
     *  it until the send is complete, so it must not be on the stack */
    ucp_wire_end_t sender;
} ucp_am_send_t;

UCP_AREA_ACCESSOR(ucp_send_am, ucp_request_t, send.op, ucp_am_send_t)

/** The protocols: eager by each of three calls of the transport, eager in
 *  several fragments, rendezvous. */
extern const ucp_proto_t ucp_proto_am_eager_short;
extern const ucp_proto_t ucp_proto_am_eager_bcopy;
extern const ucp_proto_t ucp_proto_am_eager_zcopy;
extern const ucp_proto_t ucp_proto_am_multi;
extern const ucp_proto_t ucp_proto_am_rndv;

/** Operations that the protocols above carry out, as bits of
 *  ucp_proto_t::ops. */
enum {
    UCP_AM_OPS = UCS_BIT(UCP_OP_AM_SEND) | UCS_BIT(UCP_OP_AM_SEND_REPLY),
};

/** Header bytes of an eager message, without the user's header, and the number
 *  of iov entries that zero-copy needs. */
extern const ucp_eager_own_t ucp_am_eager_own;

/** Returns the head of a request's message. */
static inline uint64_t ucp_am_send_word(const ucp_request_t *req)
{
    return ucp_am_word(ucp_send_am(req)->id, ucp_send_am(req)->wire,
                       ucp_send_am(req)->header_length);
}

/** Frees the copy of the user's header, if the send has made one. */
void ucp_am_send_drop_header(ucp_request_t *req);

/** Completes an eager send. */
void ucp_am_eager_end(ucp_request_t *req, ucs_status_t status);

/** As ucp_am_short(), for a message of several parts. Returns
 *  UCS_ERR_UNSUPPORTED if the transport cannot send a short message from
 *  several buffers. */
ucs_status_t ucp_am_short_iov(ucp_ep_h ep, uint64_t word, const void *header,
                              size_t header_length, const void *buffer,
                              size_t length, int reply);

/** Sends a message within the lane's limit of short messages. `word`: the head;
 *  `reply`: append this endpoint's ucp_wire_end_t. Hot path: no allocation. */
static UCS_F_ALWAYS_INLINE ucs_status_t ucp_am_short(ucp_ep_h ep, uint64_t word,
                                                     const void *header,
                                                     size_t header_length,
                                                     const void *buffer,
                                                     size_t length, int reply)
{
    const void *only = (header_length == 0) ? buffer : header;

    if (ucs_unlikely(reply) || ((header_length > 0) && (length > 0))) {
        return ucp_am_short_iov(ep, word, header, header_length, buffer, length,
                                reply);
    }
    return ep->am->ops->am_short(ep->am, UCP_AM_ID_AM, htole64(word), only,
                                 (unsigned)(header_length + length));
}

#endif
