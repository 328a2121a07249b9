/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Endpoints: one end of a connection to another worker. What endpoints alike
 * have in common (limits, chosen protocols) stands in their configuration; an
 * endpoint holds little more than the transports' endpoints, its lanes.
 */
#ifndef UCP_EP_H
#define UCP_EP_H

#include <ucx/transport.h>

#include "ucp/core/worker.h"

enum {
    UCP_EP_FLAG_BLOCKED    = UCS_BIT(0), /**< Requests wait for room */
    UCP_EP_FLAG_FAILED     = UCS_BIT(1), /**< See fail_status */
    UCP_EP_FLAG_INTRODUCED = UCS_BIT(2), /**< The peer can answer */
    UCP_EP_FLAG_INTERNAL   = UCS_BIT(3), /**< Made to answer a peer */
    UCP_EP_FLAG_CLOSING    = UCS_BIT(4), /**< The user has given it up */
    UCP_EP_FLAG_PENDING    = UCS_BIT(5), /**< A `room` is with a transport */
    UCP_EP_FLAG_DRAINING   = UCS_BIT(6), /**< The waiting are being sent */
    UCP_EP_FLAG_ERR_MODE   = UCS_BIT(7), /**< Failures are the user's to know */
    UCP_EP_FLAG_SCHEDULED  = UCS_BIT(8), /**< Has something to do in progress */
    UCP_EP_FLAG_FLUSHED    = UCS_BIT(9), /**< Closed and flushed: free it */
    UCP_EP_FLAG_FENCING    = UCS_BIT(10), /**< `fence` holds back all operations
                                              of the user's */
    UCP_EP_FLAG_NO_GET     = UCS_BIT(11), /**< Fetching for rendezvous was
                                              refused: do not try again */
    UCP_EP_FLAG_EXPOSED    = UCS_BIT(12), /**< INTERNAL, but the user has seen
                                              it: stays until he closes it */
    UCP_EP_FLAG_TRIAL      = UCS_BIT(14), /**< A flush that had to complete at
                                              once, and did not, goes on */
    UCP_EP_FLAG_ORDERED    = UCS_BIT(13), /**< Emulated accesses before a fence
                                              may be under way: what goes over
                                              lanes waits for them */
    UCP_EP_FLAG_LOOPBACK   = UCS_BIT(15) /**< The user's, to its own worker: it
                                              answers itself */
};

/** With any of these nothing can be sent at this moment. */
#define UCP_EP_FLAGS_BUSY (UCP_EP_FLAG_BLOCKED | UCP_EP_FLAG_FAILED)

/** With any of these the user's operations need a request: they wait, or end
 *  with an error. */
#define UCP_EP_FLAGS_SLOW (UCP_EP_FLAGS_BUSY | UCP_EP_FLAG_FENCING)

/** A lane beyond the first. */
typedef struct ucp_ep_lane {
    uct_ep_h              uct;         /**< NULL once the endpoint has failed;
                                            see failover.h for the lane alone */
    ucp_ep_h              ep;          /**< Whose it is */
    uct_pending_req_t     room;        /**< Called when there is room again */
} ucp_ep_lane_t;

struct ucp_ep {
    /* The small-message path: one cache line */
    ucp_worker_h          worker;
    uct_ep_h              am;          /**< The lane of active messages; NULL
                                            once it has failed */
    const ucp_ep_config_t *config;
    uint16_t              flags;       /**< UCP_EP_FLAG_* */
    ucs_status_t          fail_status;
    ucp_lane_map_t        remote_lanes; /**< Had put, get or atomics of the
                                            user's: flush has to reach the
                                            peer's memory */
    uint32_t              id;          /**< Among the worker's endpoints */
    ucs_queue_head_t      waiting;     /**< Requests that found no room */
    void                  *user_data;
    ucp_lane_map_t        remote_fresh; /**< Of remote_lanes, those that no
                                             flush has asked since */
    ucp_lane_map_t        remote_dirty; /**< Of remote_lanes, those that had
                                             more than gets: if one fails, only
                                             a flush can tell the user */

    struct ucp_stream     *stream;     /**< Its end of one; or NULL */
    ucs_list_link_t       link;        /**< In the worker's list */
    ucs_list_link_t       awaited;     /**< Requests that the peer must answer */
    uct_pending_req_t     room;        /**< Called when `am` has room again */
    ucp_err_handler_cb_t  err_cb;
    void                  *err_arg;
    ucs_list_link_t       arriving;    /**< Eager messages of the peer's, of
                                            which fragments are missing */
    unsigned              num_arriving;
    uint32_t              next_message; /**< Number of the next that is sent in
                                             fragments */
    ucp_request_t         *close_req;  /**< Waits for `awaited` to empty; NULL
                                            once it flushes */
    uint32_t              secret;      /**< Known to those that may answer:
                                            part of its name for peers */
    uint64_t              peer_uuid;   /**< The worker it leads to */
    uint64_t              peer_ep_id;  /**< The end it answers; 0: none */
    uint32_t              unmeasured;  /**< Bytes until the transport is asked
                                            again: proto/measure.h */
    ucp_request_t         *fence;      /**< With FLAG_FENCING */
    uint32_t              rma_issued;  /**< Emulated accesses that have left;
                                            may wrap around */
    uint32_t              rma_done;    /**< As many are acknowledged */
    uint32_t              rma_fetch;   /**< rma_issued at the last get: the peer
                                            may read for it after messages that
                                            were sent later */
    ucs_queue_head_t      rma_flushes; /**< Flushes that wait for rma_done */
    uint32_t              rma_handled; /**< Emulated accesses of the peer that
                                            have been carried out; see ack.h */
    uint32_t              rma_acked;   /**< As many are acknowledged */
    ucs_list_link_t       owing;       /**< With rma_owes */
    int8_t                rma_status;  /**< Of the peer's accesses, for the next
                                            ACK */
    uint8_t               rma_owes:1;  /**< In the worker's list of those with
                                            accesses to acknowledge */
    uint8_t               rma_acking:1; /**< An ACK waits in the queue */
    uint8_t               leaving:1;   /**< LOOPBACK, closing: its farewell has
                                            not arrived yet */
    uint8_t               settled:1;   /**< FAILED when all accesses of the
                                            user's were complete */
    int8_t                lost_status; /**< Puts have failed, or may have been
                                            lost with a lane: for the next
                                            flush */
    uint32_t              questions;   /**< Flushes that have asked lanes, and
                                            are not answered */
    ucp_lane_map_t        suspects;    /**< Lanes that have failed, by what they
                                            answer */
    struct ucp_ep         *hash_next;  /**< Of those that answer: same hash */
    struct ucp_cm_conn    *conn;       /**< Made by socket address; or NULL */
    struct ucp_wireup     *wireup;     /**< Of lanes that are not connected yet;
                                            or NULL */
    struct ucp_ep_stats   *stats;      /**< NULL: nothing is counted */
    char                  *name;       /**< NULL: made up from the id */
    uct_oneshot_t         schedule;    /**< With FLAG_SCHEDULED */
    ucs_status_t          doom;        /**< Not UCS_OK: it fails with the next
                                            progress */
    ucp_ep_lane_t         more[];      /**< Lanes 1 .. config->num_lanes - 1 */
};
typedef struct ucp_ep ucp_ep_t;

/** Creates an endpoint to the worker of an unpacked address. */
ucs_status_t ucp_ep_create_to_address(ucp_worker_h worker,
                                      const void *address, size_t length,
                                      uint16_t flags, ucp_ep_h *ep_p);

struct ucp_address_info;
struct ucp_wireup_request;

/** Creates an endpoint to the worker that an unpacked address is of. `request`:
 *  it is the other side of lanes that the peer asks for; NULL: it is not. */
ucs_status_t
ucp_ep_create_to_peer(ucp_worker_h worker, const struct ucp_address_info *peer,
                      uint16_t flags, const struct ucp_wireup_request *request,
                      ucp_ep_h *ep_p);

/** An endpoint that has no lanes yet. What is sent waits in its queue, by
 *  protocols that any lane can carry out. */
ucs_status_t ucp_ep_create_unconnected(ucp_worker_h worker, uint16_t flags,
                                       ucp_ep_h *ep_p);

/** Gives it the lanes to the worker of a packed address. It still holds. */
ucs_status_t ucp_ep_connect(ucp_ep_h ep, const void *address, size_t length);

/** Has everything that is sent wait in the queue; sends what waits. */
void ucp_ep_hold(ucp_ep_h ep);
void ucp_ep_go_on(ucp_ep_h ep);

/** Frees an endpoint that nothing refers to any more, nobody on the stack
 *  either: outside its making that is so in progress alone. */
void ucp_ep_destroy_now(ucp_ep_h ep);

/** Ends everything under way with CANCELED. The endpoint is freed from the next
 *  progress: users do this in callbacks, while somebody below holds it. */
void ucp_ep_discard(ucp_ep_h ep);

/** Ends everything under way with `status`, lets the transport go and schedules
 *  the rest. What the transport still holds completes through its callbacks. */
void ucp_ep_shut(ucp_ep_h ep, ucs_status_t status);

/** The endpoint can do no more: ends what is under way and tells the user. */
void ucp_ep_fail(ucp_ep_h ep, ucs_status_t status);

/** Called when an awaited request is gone: a close may go on. */
static inline void ucp_ep_answered(ucp_ep_h ep);

/** Says something to the peer at once, past whatever waits for room; if the
 *  lane does not take it, by another endpoint, or not at all. */
void ucp_ep_say(ucp_ep_h ep, uint8_t am_id, const void *message,
                size_t length);

/** Tells the peer, as far as that goes at once, that this end is no more: past
 *  all that waits for room, and by another endpoint if need be. */
void ucp_ep_last_word(ucp_ep_h ep);

/** Likewise, that the end which this one answers will get no more answers. */
void ucp_ep_excuse(ucp_ep_h ep);

/** Receive side: a UCT callback, `arg` is the worker. */
ucs_status_t ucp_ep_lost_handler(void *arg, void *data, size_t length,
                                 unsigned flags);

/** Has the endpoint looked after from the next progress. */
void ucp_ep_schedule(ucp_ep_h ep);

/** Lets the endpoint fail with the next progress: something is lost that its
 *  peer waits for. Can be called where requests of it are being handled. */
void ucp_ep_doom(ucp_ep_h ep, ucs_status_t status);

/** Goes on with a close from progress: see ep_close.c. */
void ucp_ep_close_continue(ucp_ep_h ep);

/** Puts a request behind those that wait for room. */
void ucp_ep_wait_for_room(ucp_ep_h ep, ucp_request_t *req);

/** Ends everything of the endpoint that has not completed. */
void ucp_ep_abort_requests(ucp_ep_h ep, ucs_status_t status);

/** Sends a small message of the library's own: now, or from a copy when there
 *  is room. It is ordered with the other messages of the endpoint. */
ucs_status_t ucp_ep_send_control(ucp_ep_h ep, uint8_t am_id,
                                 const void *message, size_t length);

/** Likewise, ordered with the user's operations: it also waits for a fence that
 *  holds those back. */
ucs_status_t ucp_ep_send_in_order(ucp_ep_h ep, uint8_t am_id,
                                  const void *message, size_t length);

/** Lets the transport of a failed or closed endpoint go. */
void ucp_ep_release_lanes(ucp_ep_h ep);

static inline void ucp_ep_answered(ucp_ep_h ep)
{
    if (ucs_unlikely(ep->flags & UCP_EP_FLAG_CLOSING)) {
        ucp_ep_schedule(ep);
    }
}

/** What the peer calls this endpoint. Nobody else can guess it. */
static inline ucp_wire_end_t ucp_ep_wire_end(ucp_ep_h ep)
{
    return (ucp_wire_end_t){ucp_le64(ep->worker->uuid),
                            ucp_le64(((uint64_t)ep->secret << 32) | ep->id)};
}

/** The secret in a name. */
static inline uint32_t ucp_wire_end_secret(const ucp_wire_end_t *end)
{
    return (uint32_t)(ucp_le64_get(end->ep_id) >> 32);
}

/** The transport's endpoint of a lane; NULL once the endpoint has failed. */
static UCS_F_ALWAYS_INLINE uct_ep_h ucp_ep_lane(ucp_ep_h ep, unsigned lane)
{
    return (lane == UCP_AM_LANE) ? ep->am : ep->more[lane - 1].uct;
}

static inline int ucp_ep_has_lane(ucp_ep_h ep, uct_ep_h uct)
{
    unsigned i;

    for (i = 0; i < ep->config->num_lanes; ++i) {
        if (ucp_ep_lane(ep, i) == uct) {
            return 1;
        }
    }
    return 0;
}

/** The number of a lane's domain in the context; what the peer calls its own
 *  domain on the other side of the lane stands in config->lanes[]. */
static inline unsigned ucp_ep_lane_md_index(ucp_ep_h ep, unsigned lane)
{
    return ep->config->lanes[lane].md_index;
}

static inline const ucp_md_t *ucp_ep_lane_domain(ucp_ep_h ep, unsigned lane)
{
    return &ep->worker->context->mds[ucp_ep_lane_md_index(ep, lane)];
}

#endif
