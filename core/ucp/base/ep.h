/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Endpoints: each is one side of a connection to a worker, which may also be
 * its own worker. Endpoints with equal lanes share a configuration, which
 * contains limits and selected protocols. A lane is an endpoint of a transport.
 */
#ifndef UCP_EP_H
#define UCP_EP_H

#include <ucx/transport.h>

#include "ucp/base/worker.h"

enum {
    /** New requests are not sent but appended to the queue `waiting`: earlier
     *  requests wait there, or the lanes are not connected yet */
    UCP_EP_FLAG_BLOCKED    = UCS_BIT(0),
    UCP_EP_FLAG_FAILED     = UCS_BIT(1), /**< The endpoint has failed:
                                          *   operations return fail_status */
    /** The peer has this worker's address, so the peer can create an endpoint
     *  for its replies (wireup/introduce.h) */
    UCP_EP_FLAG_INTRODUCED = UCS_BIT(2),
    UCP_EP_FLAG_INTERNAL   = UCS_BIT(3), /**< Created by the library for
                                          *   replies to a peer */
    UCP_EP_FLAG_CLOSING    = UCS_BIT(4), /**< The user has called
                                          *   ucp_ep_close_nbx, or the library
                                          *   closes the endpoint */
    /** An event will continue the queue `waiting`, for example: a transport
     *  calls a member `pending` that is in its pending queue, the lanes are
     *  connected, or a copy of data is complete (order/queue.h) */
    UCP_EP_FLAG_PENDING    = UCS_BIT(5),
    /** The requests in the queue `waiting` are being sent */
    UCP_EP_FLAG_DRAINING   = UCS_BIT(6),
    UCP_EP_FLAG_ERR_MODE   = UCS_BIT(7), /**< Error handling mode is PEER */
    UCP_EP_FLAG_SCHEDULED  = UCS_BIT(8), /**< In worker->scheduled or
                                          *   scheduled_now: progress will
                                          *   handle it */
    /** The close has nothing left to flush: the next progress frees the
     *  endpoint */
    UCP_EP_FLAG_FLUSHED    = UCS_BIT(9),
    /** There was a fence that could not complete at once. A flush in the
     *  background, the request `fence`, implements it: the user's operations
     *  wait in a queue of this request until the flush is complete
     *  (order/fence.c) */
    UCP_EP_FLAG_FENCING    = UCS_BIT(10),
    /** A get for a rendezvous has failed: the data of later rendezvous is
     *  received without get */
    UCP_EP_FLAG_NO_GET     = UCS_BIT(11),
    /** Set in addition to INTERNAL: the user has received the endpoint as
     *  reply_ep of an active message, so it exists until the user closes it */
    UCP_EP_FLAG_EXPOSED    = UCS_BIT(12),
    /** A flush with UCP_OP_ATTR_FLAG_FORCE_IMM_CMPL was not complete at once
     *  and continues in the background */
    UCP_EP_FLAG_TRIAL      = UCS_BIT(14),
    /** There was a fence after puts, gets or atomics that are emulated by
     *  messages and may be incomplete: an access over a lane must wait until
     *  they are complete */
    UCP_EP_FLAG_ORDERED    = UCS_BIT(13),
    /** The user's endpoint to its own worker: the worker's replies to messages
     *  of this endpoint go over this endpoint, too */
    UCP_EP_FLAG_LOOPBACK   = UCS_BIT(15),
};

/** While any of these flags is set, new requests cannot be sent at once. */
#define UCP_EP_FLAGS_BUSY (UCP_EP_FLAG_BLOCKED | UCP_EP_FLAG_FAILED)

/** While any of these flags is set, the user's operations need a request: they
 *  wait, or complete with an error. */
#define UCP_EP_FLAGS_SLOW (UCP_EP_FLAGS_BUSY | UCP_EP_FLAG_FENCING)

/** A lane other than lane 0. */
typedef struct ucp_ep_lane {
    /** The transport's endpoint. NULL if the UCP endpoint has failed. If only
     *  this lane has failed, it is an endpoint that rejects all operations
     *  (wireup/failover.c) */
    uct_ep_h uct;
    ucp_ep_h ep; /**< The UCP endpoint of this lane */
    /** Added to the transport's pending queue when the first request in
     *  `waiting` waits for send resources of this lane. The transport calls
     *  pending.func when the lane has some again */
    uct_pending_req_t pending;
} ucp_ep_lane_t;

/** Members that most endpoints do not need; allocated when the first of them is
 *  set. */
typedef struct ucp_ep_extra {
    ucp_err_handler_cb_t err_cb; /**< The user's error handler, or NULL */
    /** Set by the user in ucp_ep_params_t; NULL if there is none */
    char *name;
    struct ucp_cm_conn *conn; /**< Connection by socket address; or NULL */
    /** NULL if nothing is counted (stats/stats.h) */
    struct ucp_ep_stats *stats;
} ucp_ep_extra_t;

#define UCP_EP_AREA(_name, _worker, _ep, _bits) UCP_AREA(_name, _ep);
#define UCP_EP_BITS(_name, _worker, _ep, _bits) uint8_t _name[_bits];

struct ucp_ep {
    /* Hot path: small messages use the members up to `waiting` */
    ucp_worker_h worker;
    /** The transport's endpoint of lane 0, which carries the active messages;
     *  NULL if the endpoint has failed */
    uct_ep_h am;
    const ucp_ep_config_t *config;
    uint16_t flags; /**< UCP_EP_FLAG_* */
    ucs_status_t fail_status;
    /** Lanes that the user has used for put, get or atomics: a flush of them
     *  has to wait until the data is in the peer's memory */
    ucp_lane_map_t remote_lanes;
    uint32_t id; /**< Identifies the endpoint in worker->ep_ids */
    /** Requests that are not sent yet, in order (UCP_EP_FLAG_BLOCKED) */
    ucs_queue_head_t waiting;
    void *user_data;
    /** Subset of remote_lanes that was used after the last flush started */
    ucp_lane_map_t remote_fresh;
    /** Subset of remote_lanes with puts or atomics that were not flushed. The
     *  user may already see them as complete: if such a lane fails, only a
     *  flush can report it */
    ucp_lane_map_t remote_dirty;
    /** Lanes that have returned an error for an operation: they are not used
     *  any more, and the next progress closes them (wireup/failover.h) */
    ucp_lane_map_t suspects;
    /** Error of puts or atomics that failed, or may have been lost with a lane,
     *  after the user had seen them complete. The next flush returns this
     *  error */
    int8_t lost_status;
    /** If not UCS_OK, the endpoint fails with this status in the next
     *  progress */
    ucs_status_t pending_failure;
    /** A LOOPBACK endpoint is closing, and its last message (FAREWELL), which
     *  it sends to itself, has not arrived yet */
    uint8_t leaving : 1;
    /** When the endpoint failed, all puts, gets and atomics of the user were
     *  complete: a flush of the failed endpoint may then return UCS_OK
     *  (order/flush.c) */
    uint8_t settled : 1;
    /** The handshake that connects lanes is not complete
     *  (wireup/handshake.h) */
    uint8_t connecting : 1;
    struct {
        UCP_CLASSES(UCP_EP_BITS)
    } bits; /**< More state of the classes, without alignment (classes.h) */

    struct {
        UCP_CLASSES(UCP_EP_AREA)
    } areas; /**< State of the classes: a member for each row of classes.h */

    ucs_list_link_t link; /**< In the worker's list of endpoints */
    /** Requests that wait for a message of the peer; a close waits until the
     *  list is empty */
    ucs_list_link_t awaited;
    /** As ucp_ep_lane_t::pending, for lane 0 */
    uct_pending_req_t pending;
    /** The close request, while the close waits for data and replies of the
     *  peer; NULL when the flush of the close has started */
    ucp_request_t *close_req;
    /** Random part of the id by which peers name this endpoint. Only peers that
     *  may reply know it, and their replies repeat it */
    uint32_t secret;
    /** The bandwidths of the lanes are queried again after this many bytes
     *  (proto/measure.h). Each large operation of the user subtracts its
     *  bytes */
    uint32_t unmeasured;
    uint64_t peer_uuid; /**< UUID of the peer's worker */
    /** Id of the peer's endpoint that this one replies to; 0 if none */
    uint64_t peer_ep_id;
    /** The flush in the background that implements a fence; valid while
     *  UCP_EP_FLAG_FENCING is set */
    ucp_request_t *fence;
    /** Number of the user's emulated accesses (put, get, atomic by message)
     *  that have been sent; may wrap around */
    uint32_t rma_issued;
    /** How many of rma_issued the peer has acknowledged (rma/ack.h); may wrap
     *  around */
    uint32_t rma_done;
    /** Value of rma_issued at the last emulated get. The peer may read its
     *  memory for this get after it has received messages that were sent later,
     *  so a fence has to wait until rma_done has reached this value */
    uint32_t rma_fetch;
    /** Number of incomplete flushes that wait until the data of put and atomics
     *  is in the peer's memory */
    uint32_t remote_flushes;
    /** The last of the flushes that wait until rma_done has reached a certain
     *  value. They form a ring, in which the first flush follows the last; NULL
     *  if no flush waits */
    ucs_queue_elem_t *rma_flushes;
    /** Next endpoint with the same hash in the table worker->reply_eps */
    struct ucp_ep *hash_next;
    ucp_ep_extra_t *extra; /**< NULL if no member of it is set */
    /** Next endpoint in worker->scheduled or worker->scheduled_now; used with
     *  UCP_EP_FLAG_SCHEDULED */
    struct ucp_ep *scheduled_next;
    ucp_ep_lane_t more[]; /**< Lanes 1 .. config->num_lanes - 1 */
};
typedef struct ucp_ep ucp_ep_t;

/** Returns ep->extra, which is allocated at the first call. Returns NULL if
 *  out of memory. */
ucp_ep_extra_t *ucp_ep_extra(ucp_ep_h ep);

static inline struct ucp_cm_conn *ucp_ep_conn(ucp_ep_h ep)
{
    return (ep->extra == NULL) ? NULL : ep->extra->conn;
}

static UCS_F_ALWAYS_INLINE struct ucp_ep_stats *ucp_ep_stats(ucp_ep_h ep)
{
    return ucs_likely(ep->extra == NULL) ? NULL : ep->extra->stats;
}

/** Returns the identifier by which the peer names this endpoint. Other
 *  processes than the peer cannot guess it. */
static inline ucp_wire_end_t ucp_ep_wire_end(ucp_ep_h ep)
{
    return (ucp_wire_end_t){ucp_le64(ep->worker->uuid),
                            ucp_le64(((uint64_t)ep->secret << 32) | ep->id)};
}

/** Returns the random part of an ep_id (ucp_ep::secret). */
static inline uint32_t ucp_wire_end_secret(const ucp_wire_end_t *end)
{
    return (uint32_t)(ucp_le64_get(end->ep_id) >> 32);
}

/** Returns the transport's endpoint of lane number `lane`; NULL if `ep` has
 *  failed. */
static UCS_F_ALWAYS_INLINE uct_ep_h ucp_ep_lane(ucp_ep_h ep, unsigned lane)
{
    return (lane == UCP_AM_LANE) ? ep->am : ep->more[lane - 1].uct;
}

#endif
