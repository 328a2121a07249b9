/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Eager messages of several fragments, for tagged and active messages: the data
 * is sent at once, for any length, and without a reply by the receiver.
 *
 *   EAGER_FRAGMENT | sender's end 16 | message 4 | kind 1 | 0 3 | position 8 |
 *
 *   kind       position            rest of the fragment
 *   FIRST_TAG  length of the data  | tag 8 | request 4 | payload |
 *   FIRST_AM   length of the data  | head 8 | user's header | payload |
 *   NEXT       offset              | payload |
 *
 * The fragments of a message are in order. The sender sends the address of its
 * worker (INTRODUCE) before its first message of this kind, so that the
 * receiver has an endpoint that fails when the sender fails: that also ends the
 * sender's incomplete messages. A NEXT without payload reports that the sender
 * cannot send the rest.
 *
 *   receiver:  FIRST --> arriving --last byte--> end(UCS_OK)
 *                            |`----its sender's endpoint fails--> end(error)
 *                            `-----a NEXT out of sequence-------> end(error)
 *
 * A sender's end is a ucp_wire_end_t: the UUID of its worker and the id of its
 * endpoint.
 */
#ifndef UCP_MULTI_H
#define UCP_MULTI_H

#include "ucp/proto/ep.h"

/** Identifier of the message: a fragment. */
enum { UCP_AM_ID_EAGER_FRAGMENT = 24 };

enum {
    UCP_MULTI_FIRST_TAG,
    UCP_MULTI_FIRST_AM,
    UCP_MULTI_NEXT,
};

typedef struct ucp_multi_fragment {
    ucp_wire_end_t sender;
    ucp_le32_t message; /**< Number of the message at its sender */
    uint8_t kind;       /**< UCP_MULTI_* */
    uint8_t reserved[3];
    ucp_le64_t position;
} ucp_multi_fragment_t;

_Static_assert(sizeof(ucp_multi_fragment_t) == 32, "wire layout");

/* --------------------------------------------------------------- sending -- */

/** What tagged and active messages define differently for their sends. */
typedef struct ucp_multi_class {
    uint8_t kind; /**< UCP_MULTI_* of the first fragment */
    /** Returns the number of bytes between the fragment's header and the
     *  payload in the first fragment. */
    size_t (*header_size)(const ucp_request_t *req);
    void (*pack_header)(const ucp_request_t *req, void *dest);
    /** Completes a send: all data is sent, or sending has failed. The transport
     *  has released the buffer. */
    void (*end)(ucp_request_t *req, ucs_status_t status);
} ucp_multi_class_t;

/** State of a send. */
typedef struct ucp_multi_send {
    const ucp_multi_class_t *class;
    uint32_t message; /**< Number of the message */
    uint8_t begun;    /**< The first fragment is sent */
    /** All fragments are sent, completion outstanding */
    uint8_t posted;
    uint8_t copy; /**< Non-zero: fragments are sent by buffered copy only */
} ucp_multi_send_t;

UCP_AREA_ACCESSOR(ucp_send_multi, ucp_request_t, send.data, ucp_multi_send_t)

/** Returns the range and the cost of fragments, for the query of a class's
 *  protocol. `max_single`: maximum length of a message that another eager
 *  protocol sends. */
unsigned ucp_multi_query(const ucp_proto_query_t *query, size_t max_single,
                         ucp_proto_range_t *range);

/** The `init` function (ucp_proto_t) of both protocols, for a send whose
 *  endpoint is set: sends this worker's address to the peer, unless it was sent
 *  before (wireup/introduce.h). With UCP_PROTO_ATTR_SOON zero-copy is not used,
 *  so that the buffer is reusable early. */
ucs_status_t ucp_multi_send_init(ucp_request_t *req,
                                 const ucp_multi_class_t *class, uint32_t attr);

/** Progress function of a send: sends the next fragment. */
ucs_status_t ucp_multi_send_progress(ucp_request_t *req);

/** Aborts a send whose endpoint failed. `end` of the class is called when the
 *  transport has released the buffer. Must not be called after `end`. */
void ucp_multi_send_abort(ucp_request_t *req, ucs_status_t status);

/* ------------------------------------------------------------- receiving -- */

typedef struct ucp_multi_recv ucp_multi_recv_t;

typedef struct ucp_multi_recv_ops {
    /** Receives the next bytes of the message, in order. If it returns an
     *  error, the message ends with this error. It must not call user
     *  callbacks. */
    ucs_status_t (*data)(ucp_multi_recv_t *msg, const void *data,
                         size_t length);
    /** The message is complete (UCS_OK), or the rest will not arrive (error).
     *  The function becomes the owner of `msg`. */
    void (*end)(ucp_multi_recv_t *msg, ucs_status_t status);
} ucp_multi_recv_ops_t;

/** A message that is partly received; first member of the class's struct. */
struct ucp_multi_recv {
    struct ucp_multi_recv *next; /**< Next in its endpoint's list */
    const ucp_multi_recv_ops_t *ops;
    ucp_ep_h ep; /**< Endpoint of this worker that replies to the sender's
                  *   endpoint */
    uint32_t message;
    size_t length; /**< Bytes of the whole message */
    size_t received;
    /** Set if the sender cannot send the rest */
    uint8_t is_cut;
};

/** How a class receives messages: a member of its ucp_class_t. */
typedef struct ucp_multi_receiver {
    uint8_t kind; /**< UCP_MULTI_* of the first fragment */
    /** Starts the receive of a message: reads the bytes before the payload and
     *  sets *payload_p. `length` bytes at `data` follow the fragment's header.
     *  Sets `ops`; the caller sets the other members. If it returns NULL, the
     *  fragments are dropped. */
    ucp_multi_recv_t *(*begin)(ucp_ep_h ep,
                               const ucp_multi_fragment_t *fragment,
                               const char *data, size_t length,
                               const char **payload_p);
} ucp_multi_receiver_t;

/** State of an endpoint. */
typedef struct ucp_multi_ep {
    /** Messages of the peer of which fragments are missing, the oldest first */
    ucp_multi_recv_t *arriving;
    uint32_t next_message; /**< Number of the next message to send */
    uint8_t num_arriving;  /**< Number of entries of `arriving` */
} ucp_multi_ep_t;

UCP_AREA_ACCESSOR(ucp_ep_multi, struct ucp_ep, areas.multi, ucp_multi_ep_t)

/** Returns the size of memory for a message of `length` bytes of which `needed`
 *  are received. The peer supplies the length: the size is limited in
 *  proportion to the received bytes. */
size_t ucp_multi_capacity(size_t length, size_t needed);

/** Removes a message from its endpoint's list, without a call of `end`: the
 *  caller completes the receive. Further fragments of the message are
 *  dropped. */
void ucp_multi_recv_remove(ucp_multi_recv_t *msg);

/** Ends the messages with missing fragments that arrive for this endpoint:
 *  calls their `end` with `status`. */
void ucp_multi_recv_abort(ucp_ep_h ep, ucs_status_t status);

/** UCT callback for received fragments; `arg` is the worker. */
ucs_status_t ucp_multi_handler(void *arg, void *data, size_t length,
                               unsigned flags);

#endif
