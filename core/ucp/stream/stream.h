/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Streams: bytes in order between a pair of endpoints. Wire format, the side of
 * a stream that an endpoint has, and the rules that pair endpoints. Numbers are
 * bytes:
 *
 *   STREAM        | key 8 | payload |
 *   STREAM_OPEN   | sender's end 16 | name 16 | key 8 |
 *   STREAM_CLOSE  | sender's end 16 | name 16 | key 8 |
 *
 * A side opens the stream at its first use: it sends OPEN with a random key to
 * its peer, and this key identifies its later messages. Messages of an endpoint
 * are in order, so that an OPEN needs no reply. A forced close may cancel a
 * queued OPEN. Therefore CLOSE repeats all fields of OPEN. The name in an OPEN
 * selects the side at the peer:
 *   endpoint created from         its name, at both sides
 *     a worker's address            the worker that opens, and the number of
 *                                   its earlier endpoints to this peer: the
 *                                   n-th endpoints of both sides are paired
 *     the own worker's address      the endpoint itself
 *     the same with NO_LOOPBACK     two consecutive endpoints are paired
 *     a message that needs replies  the endpoint that sent it
 *     a socket address, or a        the endpoint that connected
 *     connection request
 *
 * Data for an endpoint that does not exist yet is stored in an unclaimed side
 * until the endpoint is created.
 *
 *   unclaimed --endpoint created--> open --CLOSE, failure--> ended --freed
 *
 * A side that has ended still returns the data that arrived before; further
 * receives then complete with its status.
 *
 * A sender's end is a ucp_wire_end_t: the UUID of its worker and the id of its
 * endpoint.
 */
#ifndef UCP_STREAM_H
#define UCP_STREAM_H

#include "ucp/base/ep.h"
#include "ucs/datastruct/hash.h"
#include "ucs/datastruct/list.h"
#include <ucs/datastruct/mpool.h>

/** Identifiers of messages. */
enum {
    UCP_AM_ID_STREAM       = 21, /**< Data */
    UCP_AM_ID_STREAM_OPEN  = 22, /**< The key of later messages */
    UCP_AM_ID_STREAM_CLOSE = 23, /**< No more data follows */
};

typedef struct {
    ucp_le64_t key;
} ucp_stream_head_t;

typedef struct {
    ucp_wire_end_t sender; /**< The endpoint that sends the message */
    ucp_wire_end_t name;   /**< Selects the side at the receiver */
    ucp_le64_t key;        /**< Key of the sender's STREAM messages */
} ucp_stream_open_t;

_Static_assert(sizeof(ucp_stream_head_t) == 8, "wire layout");
_Static_assert(sizeof(ucp_stream_open_t) == 40, "wire layout");

/** The protocols of sends: short, buffered copy, zero-copy. */
extern const ucp_proto_t ucp_proto_stream_short;
extern const ucp_proto_t ucp_proto_stream_copy;
extern const ucp_proto_t ucp_proto_stream_place;

/** One side of a stream. */
typedef struct ucp_stream {
    /** Key of messages that this side sends, as it is in the messages; 0 until
     *  this side has sent its OPEN */
    uint64_t key;
    ucp_ep_h ep; /**< NULL if the side is unclaimed */
    /** Key of received messages; 0 until the peer's OPEN arrives */
    uint64_t peer_key;
    ucs_list_link_t posted; /**< Posted receives, linked by
                             *   ucp_request_t::ep_link */
    /** Data without a receive; empty while receives are posted */
    ucs_list_link_t data;
    size_t available;      /**< Bytes in `data` */
    ucs_list_link_t ready; /**< Link in the worker's list `ready`; empty if the
                            *   side is not in it */
    /** UCS_OK, or the status of receives after `data` is empty */
    ucs_status_t status;
    uint8_t closed;           /**< The user has closed the endpoint */
    ucp_wire_end_t name;      /**< Name of this side, which the peer's OPEN
                               *   contains */
    ucp_wire_end_t peer_name; /**< Name of the peer's side, which this side's
                               *   OPEN contains */
    ucp_wire_end_t sender;    /**< Unclaimed side: the endpoint that has sent
                               *   the OPEN */
    /** Link in the worker's list `unclaimed`; empty if the side has an
     *  endpoint */
    ucs_list_link_t link;
    struct ucp_stream *next; /**< Next side whose name has the same hash */
} ucp_stream_t;

/** State of a worker for streams. */
typedef struct ucp_stream_worker {
    ucs_hash_t by_key;  /**< Sides by the peer's key */
    ucs_hash_t by_name; /**< Lists of sides by hash of the name */
    ucs_hash_t numbers; /**< Number of endpoints that the user has created to a
                         *   worker, by the worker's UUID */
    /** Sides with data whose endpoint ucp_stream_worker_poll has not returned
     *  since the data arrived */
    ucs_list_link_t ready;
    ucs_list_link_t unclaimed; /**< Sides without an endpoint */
    ucs_list_link_t held;      /**< Data that the user keeps */
    ucs_mpool_t descs;         /**< For copies of small data */
} ucp_stream_worker_t;

UCP_AREA_ACCESSOR(ucp_worker_stream, struct ucp_worker, areas.stream,
                  ucp_stream_worker_t)

/** State of an endpoint. */
typedef struct ucp_stream_ep {
    ucp_stream_t *stream; /**< The stream to the peer; or NULL */
} ucp_stream_ep_t;

UCP_AREA_ACCESSOR(ucp_ep_stream, struct ucp_ep, areas.stream, ucp_stream_ep_t)

/** State of a posted receive. req->recv.info.length is the number of bytes
 *  that it has received. */
typedef struct ucp_stream_recv {
    ucp_stream_t *stream;
    size_t elem_size; /**< Bytes of an element of the datatype; not 0 */
    uint8_t wait_all; /**< UCP_STREAM_RECV_FLAG_WAITALL is set */
} ucp_stream_recv_t;

UCP_AREA_ACCESSOR(ucp_recv_stream, ucp_request_t, recv.op, ucp_stream_recv_t)

ucs_status_t ucp_stream_worker_init(ucp_stream_worker_t *streams);

/** Frees unclaimed sides and the data that the user keeps. The interfaces must
 *  be open, and the endpoints closed. */
void ucp_stream_worker_release(ucp_worker_h worker);
void ucp_stream_worker_cleanup(ucp_stream_worker_t *streams);

/** Creates the side of an endpoint that the user created, or assigns the
 *  unclaimed side with the data that arrived before. No effect without
 *  UCP_FEATURE_STREAM. */
ucs_status_t ucp_stream_ep_add(ucp_ep_h ep, const ucp_ep_params_t *params);

/** Returns the stream of an endpoint. For an endpoint for replies, the first
 *  call creates it. On failure returns NULL and sets *status_p: without
 *  UCP_FEATURE_STREAM, or if out of memory. */
ucp_stream_t *ucp_stream_of(ucp_ep_h ep, ucs_status_t *status_p);

/** Sends OPEN with the key to the peer, if that has not been done. */
ucs_status_t ucp_stream_open(ucp_stream_t *stream);

/** Called when the user closes the endpoint: completes posted receives with
 *  UCS_ERR_CANCELED, and frees stored data. Sends CLOSE after all earlier
 *  messages or, with `force`, at once if possible. */
void ucp_stream_ep_close(ucp_ep_h ep, int force);

/** Called when the endpoint fails: posted receives complete with `status`. */
void ucp_stream_ep_end(ucp_ep_h ep, ucs_status_t status);

/** Called when the endpoint is freed: frees its side of the stream. */
void ucp_stream_ep_del(ucp_ep_h ep);

/** Cancels a posted receive. The data that it has received returns to the
 *  stream, for later receives. */
void ucp_stream_recv_cancel(ucp_request_t *req);

/** Completes all posted receives with `status`; later receives complete with it
 *  after the stored data is consumed. */
void ucp_stream_end(ucp_stream_t *stream, ucs_status_t status);

/** UCT callbacks for received messages; `arg` is the worker. */
ucs_status_t ucp_stream_handler(void *arg, void *data, size_t length,
                                unsigned flags);
ucs_status_t ucp_stream_open_handler(void *arg, void *data, size_t length,
                                     unsigned flags);
ucs_status_t ucp_stream_close_handler(void *arg, void *data, size_t length,
                                      unsigned flags);

#endif
