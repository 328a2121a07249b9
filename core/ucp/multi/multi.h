/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Eager messages of several fragments, for tagged and active messages: data of
 * any length is sent at once, without waiting for the receiver. Sizes in bytes:
 *
 *  EAGER_FRAGMENT | sender's end 16 | message 4 | kind 1 | lead 1 |
 *                 | reserved 2 | position 8 |
 *
 *   kind       position            rest of the fragment
 *   FIRST_TAG  length of the data  | tag 8 | request 4 | payload |
 *   FIRST_AM   length of the data  | head 8 | user's header | payload |
 *   NEXT       offset              | payload |
 *
 * The fragments of a message arrive in order. The sender sends the address of
 * its worker (message INTRODUCE) before its first message of this kind, so that
 * the receiver has an endpoint to the sender. When the sender fails, this
 * endpoint fails, which also ends the sender's incomplete messages. A NEXT
 * without payload reports that the sender cannot send the rest.
 *
 *   receiver:  FIRST --> arriving --last byte--> end(UCS_OK)
 *                            |`----endpoint to the sender fails--> end(error)
 *                            |`----a NEXT out of sequence--------> end(error)
 *                            `-----a NEXT without payload--------> end(error)
 *
 * A sender's end is a ucp_wire_end_t: the UUID of its worker and the id of its
 * endpoint.
 */
#ifndef UCP_MULTI_H
#define UCP_MULTI_H

#include "ucp/proto/ep.h"

/** Identifier of the message that carries a fragment. */
enum { UCP_AM_ID_EAGER_FRAGMENT = 24 };

enum {
    UCP_MULTI_FIRST_TAG,
    UCP_MULTI_FIRST_AM,
    UCP_MULTI_NEXT,
};

typedef struct ucp_multi_fragment {
    ucp_wire_end_t sender;
    /** Number of the message, counted by the sender's endpoint */
    ucp_le32_t message;
    uint8_t kind; /**< UCP_MULTI_* */
    uint8_t lead; /**< ucp_request::lead; 0 in NEXT */
    uint8_t reserved[2];
    ucp_le64_t position;
} ucp_multi_fragment_t;

_Static_assert(sizeof(ucp_multi_fragment_t) == 32, "wire layout");

/* --------------------------------------------------------------- sending -- */

/** What tagged messages and active messages each define for their sends. */
typedef struct ucp_multi_class {
    uint8_t kind; /**< UCP_MULTI_* of the first fragment */
    /** Returns the number of bytes in the first fragment between the header
     *  ucp_multi_fragment_t and the payload. pack_header() writes these
     *  bytes. */
    size_t (*header_size)(const ucp_request_t *req);
    void (*pack_header)(const ucp_request_t *req, void *dest);
    /** Completes a send: all data is sent, or sending has failed. Called when
     *  the transport has released the buffer. */
    void (*end)(ucp_request_t *req, ucs_status_t status);
} ucp_multi_class_t;

typedef struct ucp_multi_send {
    const ucp_multi_class_t *class;
    uint32_t message;  /**< Value of ucp_multi_fragment_t::message */
    uint32_t fragment; /**< Maximum payload of a fragment, bytes */
    uint8_t begun;     /**< The first fragment was sent */
    /** All fragments were sent, or the send was aborted; the transport may
     *  still use the buffer */
    uint8_t posted;
    uint8_t copy; /**< Fragments are sent by buffered copy only */
} ucp_multi_send_t;

UCP_AREA_ACCESSOR(ucp_send_multi, ucp_request_t, send.data, ucp_multi_send_t)

/** Called by the function ucp_proto_t::query of both protocols: sets the sizes
 *  and the costs of a message in fragments. `max_single`: maximum length of a
 *  message that the class can send eagerly without fragments. */
unsigned ucp_multi_query(const ucp_proto_query_t *query, size_t max_single,
                         ucp_proto_range_t *ranges);

/** Returns `attr` of a user's send, with UCP_OP_ATTR_FLAG_MULTI_SEND if the
 *  last call for this endpoint is so recent that the peer cannot have answered
 *  that message yet: many messages are then in flight. Called once for each
 *  send. */
uint32_t ucp_multi_attr(const ucp_request_t *req, uint32_t attr);

/** The function ucp_proto_t::init of both protocols (tagged and active
 *  messages): prepares the request, and sends this worker's address to the
 *  peer, unless it was sent before (wireup/introduce.h). `attr`: the result of
 *  ucp_multi_attr(). With UCP_PROTO_ATTR_SOON zero-copy is not used, so that
 *  the user can reuse the buffer early. */
ucs_status_t ucp_multi_send_init(ucp_request_t *req,
                                 const ucp_multi_class_t *class, uint32_t attr);

/** The function ucp_proto_t::progress of both protocols: sends the next
 *  fragment. */
ucs_status_t ucp_multi_send_progress(ucp_request_t *req);

/** The function ucp_proto_t::abort of both protocols. `end` of the class is
 *  called when the transport has released the buffer. The caller must not call
 *  this function after `end` was called. */
void ucp_multi_send_abort(ucp_request_t *req, ucs_status_t status);

/* ------------------------------------------------------------- receiving -- */

typedef struct ucp_multi_recv ucp_multi_recv_t;

typedef struct ucp_multi_recv_ops {
    /** Takes the next bytes of the message, in order. If it returns an error,
     *  the message ends with this error. It must not call user callbacks. */
    ucs_status_t (*data)(ucp_multi_recv_t *msg, const void *data,
                         size_t length);
    /** The message is complete (UCS_OK), or the rest will not arrive (error).
     *  The function must free `msg`. */
    void (*end)(ucp_multi_recv_t *msg, ucs_status_t status);
} ucp_multi_recv_ops_t;

/** A message that is partly received. It is the first member of a structure of
 *  the class. */
struct ucp_multi_recv {
    /** Next message in the list ucp_multi_ep_t::arriving */
    struct ucp_multi_recv *next;
    const ucp_multi_recv_ops_t *ops;
    ucp_ep_h ep;      /**< This worker's endpoint to the sender */
    uint32_t message; /**< Value of ucp_multi_fragment_t::message */
    size_t length;    /**< Bytes of data of the whole message */
    size_t received;
    /** The sender has reported that it cannot send the rest */
    uint8_t is_cut;
};

/** How a class of operations receives messages in fragments; ucp_class_t::multi
 *  points to it. */
typedef struct ucp_multi_receiver {
    uint8_t kind; /**< UCP_MULTI_* of the first fragment */
    /** Starts the receive of a message. `data`: the `length` bytes that follow
     *  the header ucp_multi_fragment_t: the header of the class, which this
     *  function reads, and the payload. Sets *payload_p to the payload, and
     *  `ops` of the result; the caller sets the other members. If it returns
     *  NULL, the fragments of the message are dropped. */
    ucp_multi_recv_t *(*begin)(ucp_ep_h ep,
                               const ucp_multi_fragment_t *fragment,
                               const char *data, size_t length,
                               const char **payload_p);
} ucp_multi_receiver_t;

/** The part of an endpoint that belongs to messages in fragments. */
typedef struct ucp_multi_ep {
    /** Messages of the peer that are partly received, the oldest first */
    ucp_multi_recv_t *arriving;
    /** Number of the next message that this endpoint sends in fragments */
    uint32_t next_message;
    uint8_t num_arriving; /**< Number of messages in the list `arriving` */
    uint64_t sent_at; /**< Time of the last ucp_multi_attr(), ucs_cycles() */
} ucp_multi_ep_t;

UCP_AREA_ACCESSOR(ucp_ep_multi, struct ucp_ep, areas.multi, ucp_multi_ep_t)

/** Returns how many bytes of memory to allocate for a message of `length`
 *  bytes, if `needed` bytes of it have arrived. The peer supplies the length,
 *  so above 1 MiB the result is limited in proportion to the bytes that have
 *  arrived. */
size_t ucp_multi_capacity(size_t length, size_t needed);

/** Removes a message from its endpoint's list without calling `end`: the caller
 *  completes the receive. Further fragments of the message are dropped. */
void ucp_multi_recv_remove(ucp_multi_recv_t *msg);

/** Ends the messages of the peer that are partly received: calls their `end`
 *  with `status`, or with UCS_ERR_CANCELED if `status` is UCS_OK. */
void ucp_multi_recv_abort(ucp_ep_h ep, ucs_status_t status);

/** UCT callback for received fragments; `arg` is the worker. */
ucs_status_t ucp_multi_handler(void *arg, void *data, size_t length,
                               unsigned flags);

#endif
