/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Requests: operations that are under way. The user's pointer is the address
 * behind the structure, both for requests from the worker's pool and for
 * requests in memory that the user allocated.
 *
 *       ucp_request_t                     user's area
 *  | status flags ... union of kinds | request_size bytes |
 *                                    ^ the user's pointer
 */
#ifndef UCP_REQUEST_H
#define UCP_REQUEST_H

#include <uct/api/uct.h>

#include "ucp/base/area.h"
#include "ucp/base/dt_iter.h"
#include "ucp/base/types.h"
#include "ucp/classes.h"
#include "ucs/datastruct/list.h"
#include <ucs/datastruct/mpool.h>
#include "ucs/datastruct/queue.h"

/** Maximum size in bytes of the text of ucp_request_query, with its terminating
 *  zero. */
enum { UCP_REQUEST_INFO_MAX = 256 };

/** Values of `completed`. */
enum {
    UCP_REQUEST_CALLING = 2, /**< The status is final; the callback runs */
    UCP_REQUEST_DONE    = 1, /**< The library does not use the request any
                              *   more */
};

/** Flags with a meaning for all classes of operations; classes.h has the flags
 *  of single classes. */
enum {
    /** The user has released the request, or the library made it for itself: it
     *  is freed when it completes */
    UCP_REQUEST_FLAG_RELEASED = UCS_BIT(1),
    UCP_REQUEST_FLAG_CALLBACK = UCS_BIT(2), /**< The user's callback is set and
                                             *   was not called yet */
    UCP_REQUEST_FLAG_EXTERNAL = UCS_BIT(3), /**< The user allocated it */
    UCP_REQUEST_FLAG_RECV     = UCS_BIT(4), /**< The recv member is in use */
    /** In ucp_ep::awaited, the endpoint's list of requests that await a
     *  reply */
    UCP_REQUEST_FLAG_ON_EP    = UCS_BIT(6),
    /** The library made the request for itself: the user does not see it */
    UCP_REQUEST_FLAG_INTERNAL = UCS_BIT(7),
    /** A flush that implements a fence: it holds back later operations of the
     *  user (order/fence.c) */
    UCP_REQUEST_FLAG_FENCE    = UCS_BIT(12),
    /** The duration is measured: the completion of the request is reported to
     *  ucp_request_timed() */
    UCP_REQUEST_FLAG_TIMED    = UCS_BIT(13),
};

/** Sends as much as possible. UCS_OK: the request is complete, or waits for
 *  something else than send resources. UCS_INPROGRESS: call again.
 *  UCS_ERR_NO_RESOURCE: call again when the lane req->lane has send resources.
 *  If sending fails, the function completes the request itself and returns
 *  UCS_OK. */
typedef ucs_status_t (*ucp_request_progress_t)(ucp_request_t *req);

/** Completes a request that the caller has removed from the endpoint's queue
 *  or list, because the endpoint has failed or the user cancels the request. */
typedef void (*ucp_request_abort_t)(ucp_request_t *req, ucs_status_t status);

/** Sizes in bytes of the parts of a request that belong to a class of
 *  operations (UCP_AREA, see area.h). */
enum {
    /** Sends: state of the operation in its class */
    UCP_REQUEST_OP_SIZE        = 56,
    /** Sends: state of the data transfer */
    UCP_REQUEST_DATA_SIZE      = 200,
    UCP_REQUEST_RECV_SIZE      = 24,
    UCP_REQUEST_RECV_DATA_SIZE = 80,
};

struct ucp_request {
    ucs_status_t status;
    /** UCP_REQUEST_CALLING or UCP_REQUEST_DONE; 0: the operation is under way.
     *  Other threads may read this member */
    uint8_t completed;
    /** Sends: index of the lane whose send resources the request waits for. The
     *  progress function sets it before it returns UCS_ERR_NO_RESOURCE;
     *  UCP_AM_LANE at first. UCP_NULL_LANE: the request waits for another event
     *  (ucp_ep_continue()) */
    uint8_t lane;
    uint16_t flags; /**< UCP_REQUEST_FLAG_* */
    uint32_t id;    /**< Number by which a peer names the request; 0: none */
    /** Sends by rendezvous: UCP_PROTO_FLAG_* of the protocol that must transfer
     *  the data; 0: this protocol is selected by cost */
    uint16_t data_flags;
    /** Tagged sends: the method that the peer shall use, too, as UCP_LEAD_* of
     *  learn/lead.h; 0: it may use any */
    uint16_t lead;
    ucp_worker_h worker;
    void *user_data;
    ucp_dt_iter_t dt;
    /** Link in ep->awaited with FLAG_ON_EP, in a list of a stream with
     *  FLAG_STREAM, or in the list of tag offload with FLAG_OFFLOADED */
    ucs_list_link_t ep_link;

    union {
        struct {
            /** Link in ep->waiting, in the queue of a fence (ep->fence), or in
             *  worker->deferred or worker->leaving */
            ucs_queue_elem_t queue;
            ucp_ep_h ep;
            /** NULL before the operation starts. Always NULL in a request of
             *  ucp_eager_deferred() and in a flush of a whole worker */
            const ucp_proto_t *proto;
            ucp_send_nbx_callback_t cb;
            uct_completion_t comp;
            UCP_AREA(op, UCP_REQUEST_OP_SIZE);
            UCP_AREA(data, UCP_REQUEST_DATA_SIZE);
        } send;

        struct {
            /** Link that the class of the receive uses, for example in a bucket
             *  of tag matching */
            ucs_queue_elem_t queue;
            UCP_AREA(op, UCP_REQUEST_RECV_SIZE);
            union {
                ucp_tag_recv_nbx_callback_t cb;
                ucp_am_recv_data_nbx_callback_t length_cb;
            };
            ucp_tag_recv_info_t info;
            /** Rendezvous: the endpoint by which the receiver replies to the
             *  sender */
            ucp_ep_h ep;
            /** With FLAG_ON_EP: completes the receive when the endpoint `ep`
             *  fails or is closed */
            ucp_request_abort_t abort;
            UCP_AREA(data, UCP_REQUEST_RECV_DATA_SIZE);
        } recv;
    };
};

/** Converts between the user's pointer and the request. */
static UCS_F_ALWAYS_INLINE ucp_request_t *ucp_request_of(void *user_request)
{
    return (ucp_request_t *)user_request - 1;
}

static UCS_F_ALWAYS_INLINE void *ucp_request_user(ucp_request_t *req)
{
    return req + 1;
}

/** Create and destroy the worker's pool of requests. */
ucs_status_t ucp_request_pool_init(ucp_worker_h worker);
void ucp_request_pool_cleanup(ucp_worker_h worker);

/** Returns the request in `param` that the user allocated or, if there is none,
 *  a request from the pool. Returns NULL if out of memory. Stores user_data of
 *  `param` but not the callback. So if the operation completes at once, its
 *  completion calls no callback, see ucp_request_send_result(). */
ucp_request_t *ucp_request_get(ucp_worker_h worker,
                               const ucp_request_param_t *param);

/** Returns a request that the user does not see, or NULL if out of memory. It
 *  is freed when it completes. */
ucp_request_t *ucp_request_get_internal(ucp_worker_h worker);

/** Frees a request whose operation has not started or is complete. No effect on
 *  a request that the user allocated. */
void ucp_request_put(ucp_request_t *req);

/** Releases a request for the user: frees it now, or when it completes. In the
 *  latter case clears the flags `without` (UCP_REQUEST_FLAG_CALLBACK: the
 *  callback is not called). Takes the worker's lock. */
void ucp_request_release_user(ucp_request_t *req, unsigned without);

/** Assign, remove and look up the id by which a peer names the request.
 *  ucp_request_by_id() returns NULL if the id, which a peer sent, is not in
 *  use. */
ucs_status_t ucp_request_id_add(ucp_request_t *req);
void ucp_request_id_del(ucp_request_t *req);
ucp_request_t *ucp_request_by_id(ucp_worker_h worker, uint64_t id);

/** Complete a request: set the status, call the callback, and free the request
 *  if the user has released it. */
void ucp_request_complete_send(ucp_request_t *req, ucs_status_t status);
void ucp_request_complete_recv(ucp_request_t *req, ucs_status_t status);

/** Called when all transport operations of a send are posted. send.comp.count
 *  is then the number of operations in flight plus one; this call subtracts the
 *  one and stores `status` if it is an error. send.comp.func is called when the
 *  count is 0, possibly during this call. */
void ucp_request_posted(ucp_request_t *req, ucs_status_t status);

/** As ucp_request_complete_recv(), for receives of which the callback gets a
 *  length and no tag (recv.length_cb). */
void ucp_request_complete_recv_length(ucp_request_t *req, ucs_status_t status);

/** Adds the request to, and removes it from, the endpoint's list of requests
 *  that await a reply. The removal has no effect if the request is not in the
 *  list; otherwise it continues a close that has waited for the request. */
void ucp_request_ep_add(ucp_request_t *req, ucp_ep_h ep);
void ucp_request_ep_del(ucp_request_t *req);

/** True if the request is complete: its status is final. Its callback, if it
 *  has one, may still run. May be called by any thread. */
static UCS_F_ALWAYS_INLINE int ucp_request_is_done(const ucp_request_t *req)
{
    return __atomic_load_n(&req->completed, __ATOMIC_ACQUIRE);
}

/** Returns the result of the user's call for a send that was started: the
 *  request if the send is incomplete, whose completion calls the user's
 *  callback later; else the status. With UCP_OP_ATTR_FLAG_NO_IMM_CMPL also
 *  returns a complete request, after calling the callback. */
ucs_status_ptr_t ucp_request_send_result(ucp_request_t *req,
                                         const ucp_request_param_t *param);

#endif
