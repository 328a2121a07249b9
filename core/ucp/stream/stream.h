/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Streams: bytes in order between a pair of endpoints. Wire format, the end of
 * a stream at an endpoint, and the rules that pair endpoints.
 *
 *   STREAM        | key 8 | payload |
 *   STREAM_OPEN   | sender's end 16 | name 16 | key 8 |
 *   STREAM_CLOSE  | sender's end 16 | name 16 | key 8 |
 *
 * An end opens at its first use: it sends a random key to its peer, and this
 * key identifies its later messages. Messages of an endpoint are in order, so
 * that an opening needs no reply. A forced close may cancel a queued opening,
 * so that CLOSE repeats all of its fields. The name selects the end at the
 * peer:
 *
 *   endpoint created from         its name, at both ends
 *     a worker's address            the worker that opens, and the number of
 *                                   its earlier endpoints to this peer: the
 *                                   n-th endpoints of both sides are paired
 *     the own worker's address      the endpoint itself
 *     the same with NO_LOOPBACK     two consecutive endpoints are paired
 *     a message that needs replies  the endpoint that sent it
 *     a socket address, or such     the endpoint that connected
 *     a connection
 *
 * Data without such an endpoint is stored in an unclaimed end until the
 * endpoint is created.
 *
 *   unclaimed --endpoint created--> open --CLOSE, failure--> ended --freed
 *
 * An end that has ended still returns the data that arrived before; further
 * receives then complete with its status.
 */
#ifndef UCP_STREAM_H
#define UCP_STREAM_H

#include "ucp/base/ep.h"
#include "ucs/datastruct/hash.h"
#include "ucs/datastruct/list.h"
#include <ucs/datastruct/mpool.h>

typedef struct {
    ucp_le64_t key;
} ucp_stream_head_t;

typedef struct {
    ucp_wire_end_t sender;
    ucp_wire_end_t name;
    ucp_le64_t key;
} ucp_stream_open_t;

_Static_assert(sizeof(ucp_stream_head_t) == 8, "wire layout");
_Static_assert(sizeof(ucp_stream_open_t) == 40, "wire layout");

/** The protocols. */
extern const ucp_proto_t ucp_proto_stream_short;
extern const ucp_proto_t ucp_proto_stream_copy;
extern const ucp_proto_t ucp_proto_stream_place;

/** One end of a stream. */
typedef struct ucp_stream {
    /** Key of sent messages, in wire order; 0 until opened */
    uint64_t key;
    ucp_ep_h ep; /**< NULL: unclaimed */
    /** Key of received messages; 0: the peer has not opened */
    uint64_t peer_key;
    ucs_list_link_t posted; /**< Waiting receives, by ep_link */
    /** Data without a receive; empty while receives are posted */
    ucs_list_link_t data;
    size_t available;      /**< Bytes in `data` */
    ucs_list_link_t ready; /**< In the worker's list, or empty */
    /** UCS_OK, or the status of receives after `data` is empty */
    ucs_status_t status;
    uint8_t closed;           /**< By the user */
    ucp_wire_end_t name;      /**< Matched by the peer's opening */
    ucp_wire_end_t peer_name; /**< Sent in the own opening */
    ucp_wire_end_t sender;    /**< Sender of the opening; if unclaimed */
    /** In the worker's list of unclaimed ends */
    ucs_list_link_t link;
    struct ucp_stream *next; /**< With the same hash of the name */
} ucp_stream_t;

/** State of a worker for streams. */
typedef struct ucp_stream_worker {
    ucs_hash_t by_key;  /**< Ends by the peer's key */
    ucs_hash_t by_name; /**< Lists of ends by hash of the name */
    ucs_hash_t numbers; /**< Numbers of created endpoints, by peer */
    /** Ends with data that poll has not returned */
    ucs_list_link_t ready;
    ucs_list_link_t unclaimed; /**< Ends without an endpoint */
    ucs_list_link_t held;      /**< Data that the user keeps */
    ucs_mpool_t descs;         /**< For small data */
} ucp_stream_worker_t;

UCP_AREA_ACCESSOR(ucp_worker_stream, struct ucp_worker, stream,
                  ucp_stream_worker_t)

/** A posted receive; its info.length: bytes so far. */
typedef struct ucp_stream_recv {
    ucp_stream_t *stream;
    size_t elem_size; /**< Not 0 */
    uint8_t wait_all;
} ucp_stream_recv_t;

UCP_AREA_ACCESSOR(ucp_recv_stream, ucp_request_t, recv.op, ucp_stream_recv_t)

ucs_status_t ucp_stream_worker_init(ucp_stream_worker_t *streams);

/** Frees unclaimed ends and the data that the user keeps. The interfaces must
 *  be open, and the endpoints closed. */
void ucp_stream_worker_release(ucp_worker_h worker);
void ucp_stream_worker_cleanup(ucp_stream_worker_t *streams);

/** Creates the end of an endpoint that the user created, with data that arrived
 *  before. No effect without UCP_FEATURE_STREAM. */
ucs_status_t ucp_stream_ep_add(ucp_ep_h ep, const ucp_ep_params_t *params);

/** Returns the stream of an endpoint. Endpoints for replies create it at their
 *  first use. NULL: without UCP_FEATURE_STREAM, or out of memory. */
ucp_stream_t *ucp_stream_of(ucp_ep_h ep, ucs_status_t *status_p);

/** Sends the key to the peer, if this is not done. */
ucs_status_t ucp_stream_open(ucp_stream_t *stream);

/** The user closes the endpoint: completes posted receives and sends CLOSE
 *  after all earlier messages. `force`: sends it at once, if possible. */
void ucp_stream_ep_close(ucp_ep_h ep, int force);

/** The endpoint failed: posted receives complete with `status`. */
void ucp_stream_ep_end(ucp_ep_h ep, ucs_status_t status);

/** The endpoint is being freed. */
void ucp_stream_ep_del(ucp_ep_h ep);

/** Cancels a posted receive; its data can be received again. */
void ucp_stream_recv_cancel(ucp_request_t *req);

/** Completes all posted receives, and further ones after the data is
 *  consumed. */
void ucp_stream_end(ucp_stream_t *stream, ucs_status_t status);

/** Receiver: UCT callbacks, `arg` is the worker. */
ucs_status_t ucp_stream_handler(void *arg, void *data, size_t length,
                                unsigned flags);
ucs_status_t ucp_stream_open_handler(void *arg, void *data, size_t length,
                                     unsigned flags);
ucs_status_t ucp_stream_close_handler(void *arg, void *data, size_t length,
                                      unsigned flags);

#endif
