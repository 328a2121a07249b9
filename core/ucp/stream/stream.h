/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Streams: bytes in order between two endpoints that belong together. Here: what
 * travels, an endpoint's end of a stream, and who finds whom.
 *
 *   STREAM        | key 8 | payload |
 *   STREAM_OPEN   | sender's end 16 | name 16 | key 8 |
 *   STREAM_CLOSE  | sender's end 16 | name 16 | key 8 |
 *
 * An end that is used for the first time opens: it tells its peer a random key,
 * by which all that follows is known. Messages of an endpoint are in order, so
 * nobody waits for anybody. A forced close may have taken the opening back, so
 * the end says all of it again. The name says for which end at the peer it is:
 *
 *   endpoint made from            its name, at both ends
 *     a worker's address            the worker of the one that opens, and how
 *                                   many of its endpoints to this peer there
 *                                   were before: the n-th here goes with the
 *                                   n-th there
 *     the own worker's address      the endpoint itself
 *     likewise, NO_LOOPBACK         two that follow each other go together
 *     a peer's wish for replies     the endpoint that asked
 *     a socket address, or such     the endpoint of the one that connected
 *     a connection
 *
 * What arrives before there is such an endpoint waits for it in an end that is
 * nobody's yet.
 *
 *   nobody's --endpoint made--> open --CLOSE, failure--> ended --freed
 *
 * An end that has ended still gives out what had arrived; further receives then
 * end with its status.
 */
#ifndef UCP_STREAM_H
#define UCP_STREAM_H

#include "ucp/core/types.h"
#include "ucp/proto/proto.h"
#include "ucs/datastruct/hash.h"
#include "ucs/datastruct/list.h"
#include <ucs/datastruct/mpool.h>

typedef struct {
    ucp_le64_t key;
} ucp_stream_head_t;

typedef struct {
    ucp_wire_end_t sender;
    ucp_wire_end_t name;
    ucp_le64_t     key;
} ucp_stream_open_t;

_Static_assert(sizeof(ucp_stream_head_t) == 8, "wire layout");
_Static_assert(sizeof(ucp_stream_open_t) == 40, "wire layout");

/** One end of a stream. */
typedef struct ucp_stream {
    uint64_t          key;         /**< Of what we send, as it travels; 0 until
                                        we have opened */
    ucp_ep_h          ep;          /**< NULL: nobody's yet */
    uint64_t          peer_key;    /**< Of what we get; 0: nothing opened */
    ucs_list_link_t   posted;      /**< Receives that wait; their ep_link */
    ucs_list_link_t   data;        /**< What waits for receives; empty while
                                        some are posted */
    size_t            available;   /**< Bytes in `data` */
    ucs_list_link_t   ready;       /**< In the worker's list, or empty */
    ucs_status_t      status;      /**< UCS_OK, or how receives end once
                                        `data` is empty */
    uint8_t           closed;      /**< By the user */
    ucp_wire_end_t    name;        /**< By which the peer's opening finds us */
    ucp_wire_end_t    peer_name;   /**< By which ours finds the peer */
    ucp_wire_end_t    sender;      /**< Who has opened; while nobody's */
    ucs_list_link_t   link;        /**< Among the worker's that are nobody's */
    struct ucp_stream *next;       /**< Same hash of the name */
} ucp_stream_t;

/** A worker's part in streams. */
typedef struct ucp_stream_worker {
    ucs_hash_t      by_key;     /**< Ends by the peer's key */
    ucs_hash_t      by_name;    /**< Chains of ends by mixed name */
    ucs_hash_t      numbers;    /**< Of endpoints made, by peer */
    ucs_list_link_t ready;      /**< Ends with data that polling has not shown */
    ucs_list_link_t unclaimed;  /**< Ends that are nobody's */
    ucs_list_link_t held;       /**< Data that the user has */
    ucs_mpool_t     descs;      /**< For small data */
} ucp_stream_worker_t;

ucs_status_t ucp_stream_worker_init(ucp_stream_worker_t *streams);

/** Frees what is nobody's and what the user still has. The interfaces are still
 *  open, the endpoints are shut. */
void ucp_stream_worker_release(ucp_worker_h worker);
void ucp_stream_worker_cleanup(ucp_stream_worker_t *streams);

/** Gives an endpoint that the user has just made its end, and what has arrived
 *  for it. Nothing happens where streams were not asked for. */
ucs_status_t ucp_stream_ep_add(ucp_ep_h ep, const ucp_ep_params_t *params);

/** The end of any endpoint: those that answer peers get theirs when it is first
 *  asked for. NULL: streams were not asked for, or out of memory. */
ucp_stream_t *ucp_stream_of(ucp_ep_h ep, ucs_status_t *status_p);

/** Tells the peer our key, unless that has been done. */
ucs_status_t ucp_stream_open(ucp_stream_t *stream);

/** The user gives the endpoint up: what is posted ends, and the peer is told:
 *  after all that was sent or, by force, at once as far as that goes. */
void ucp_stream_ep_close(ucp_ep_h ep, int force);

/** The endpoint can do no more: what is posted ends with `status`. */
void ucp_stream_ep_end(ucp_ep_h ep, ucs_status_t status);

/** The endpoint is being freed. */
void ucp_stream_ep_del(ucp_ep_h ep);

/** Ends a posted receive; what it had taken can be received again. */
void ucp_stream_recv_cancel(ucp_request_t *req);

/** Ends all posted receives, and further ones once there is no data. */
void ucp_stream_end(ucp_stream_t *stream, ucs_status_t status);

/** Receive side: UCT callbacks, `arg` is the worker. */
ucs_status_t ucp_stream_handler(void *arg, void *data, size_t length,
                                unsigned flags);
ucs_status_t ucp_stream_open_handler(void *arg, void *data, size_t length,
                                     unsigned flags);
ucs_status_t ucp_stream_close_handler(void *arg, void *data, size_t length,
                                      unsigned flags);

#endif
