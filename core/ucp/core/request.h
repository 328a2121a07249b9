/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Requests: operations that are under way. The user holds a pointer to the
 * area behind the request, so a request that the user allocated and one of
 * ours look alike.
 *
 *        ucp_request_t                     user's area
 *   | status flags ... union of kinds | request_size bytes |
 *                                     ^ what the user holds
 */
#ifndef UCP_REQUEST_H
#define UCP_REQUEST_H

#include <uct/api/uct.h>

#include "ucp/core/types.h"
#include "ucp/dt/dt.h"
#include "ucp/proto/rails.h"
#include "ucs/datastruct/list.h"
#include <ucs/datastruct/mpool.h>
#include "ucs/datastruct/queue.h"

/** Room that the description of a request may want, with its zero. */
enum { UCP_REQUEST_INFO_MAX = 256 };

/** How far a request is, in `completed`. */
enum {
    UCP_REQUEST_CALLING = 2, /**< The status is final; the callback runs */
    UCP_REQUEST_DONE    = 1  /**< Nobody here needs it any more */
};

enum {
    UCP_REQUEST_FLAG_RELEASED  = UCS_BIT(1), /**< Freed when it completes */
    UCP_REQUEST_FLAG_CALLBACK  = UCS_BIT(2), /**< The user wants a call */
    UCP_REQUEST_FLAG_EXTERNAL  = UCS_BIT(3), /**< The user's memory */
    UCP_REQUEST_FLAG_RECV      = UCS_BIT(4), /**< The recv member is in use */
    UCP_REQUEST_FLAG_EXPECTED  = UCS_BIT(5), /**< Posted, may be cancelled */
    UCP_REQUEST_FLAG_ON_EP     = UCS_BIT(6), /**< In the endpoint's list of
                                                  what awaits an answer */
    UCP_REQUEST_FLAG_INTERNAL  = UCS_BIT(7), /**< The user never sees it */
    UCP_REQUEST_FLAG_ANNOUNCED = UCS_BIT(8), /**< Rendezvous: the peer may
                                                  answer */
    UCP_REQUEST_FLAG_STREAM    = UCS_BIT(9), /**< Posted on a stream, may be
                                                  cancelled */
    UCP_REQUEST_FLAG_ARRIVING  = UCS_BIT(10), /**< Fragments of its message come
                                                  in, may be cancelled */
    UCP_REQUEST_FLAG_BY_RNDV   = UCS_BIT(11) /**< Receive: matched with an
                                                  announcement */
};

/** Sends what it can. UCS_OK: done for now. UCS_INPROGRESS: call again.
 *  UCS_ERR_NO_RESOURCE: call again when the endpoint has room. Failures are
 *  the function's own to complete with; it answers UCS_OK then. */
typedef ucs_status_t (*ucp_request_progress_t)(ucp_request_t *req);

/** Ends a request whose endpoint has failed. */
typedef void (*ucp_request_abort_t)(ucp_request_t *req, ucs_status_t status);

/** Registrations of one buffer with the domains of several lanes, by slot. */
typedef struct ucp_memhs {
    uct_mem_h memh[UCP_MAX_RAILS];     /**< NULL: none */
    uint8_t   md_index[UCP_MAX_RAILS];
    uint8_t   num;                     /**< Slots that are set */
    uint8_t   borrowed;                /**< By bit: not ours to give back */
} ucp_memhs_t;

struct ucp_request {
    ucs_status_t  status;
    uint8_t       completed;  /**< Not 0: the status is final; other threads
                                   look */
    uint8_t       lane;       /**< Sends: whose room it waits for, set by the
                                   progress function before it answers
                                   UCS_ERR_NO_RESOURCE; 0 at first */
    uint16_t      flags;      /**< UCP_REQUEST_FLAG_* */
    uint32_t      id;         /**< What peers name it by; 0: nothing */
    ucp_worker_h  worker;
    void          *user_data;
    ucp_dt_iter_t dt;
    ucs_list_link_t ep_link;  /**< With UCP_REQUEST_FLAG_ON_EP or _STREAM */

    union {
        struct {
            ucs_queue_elem_t        queue;    /**< Waiting or deferred */
            ucp_ep_h                ep;
            ucp_request_progress_t  progress;
            ucp_request_abort_t     abort;
            ucp_send_nbx_callback_t cb;
            uct_completion_t        comp;
            union {
                struct {
                    union {                          /* By class */
                        struct {
                            ucp_tag_t tag;
                            uint8_t   all_sent;      /**< Eager: it is the
                                                          peer's turn */
                            uint8_t   in_flight;     /**< The transport holds
                                                          `comp` (eager) */
                            uint8_t   sync;          /**< Wants to be
                                                          acknowledged */
                        } tag;
                        struct {
                            const void     *header;
                            uint32_t       header_length;
                            uint16_t       id;
                            uint8_t        wire;       /**< UCP_AM_WIRE_* */
                            uint8_t        reply:1;    /**< Says who sends */
                            uint8_t        copied:1;   /**< `header` is ours */
                            uint8_t        in_flight:1; /**< The transport holds
                                                          `comp` (eager) */
                            ucp_wire_end_t sender;     /**< For the transport
                                                          to read */
                        } am;
                    };
                    union {                          /* By protocol */
                        struct {
                            const struct ucp_multi_class *class;
                            uint32_t          message;   /**< Its number */
                            uint8_t           begun;     /**< The first fragment
                                                              has left */
                            uint8_t           posted;    /**< So have all: waits
                                                              for `comp` */
                            uint8_t           copy;      /**< Never by zero-copy */
                        } multi;                         /**< Eager, in fragments */
                        struct {
                            uint64_t          address;   /**< Of the peer's buffer;
                                                              in fragments: where
                                                              the first byte stands
                                                              in the message */
                            const ucp_rails_t *rails;    /**< The lanes of put and
                                                              get; NULL: none */
                            uct_rkey_bundle_t rkeys[UCP_MAX_RAILS]; /**< The peer's
                                                              keys, by slot */
                            ucp_memhs_t       memhs;     /**< Of our buffer */
                            ucp_request_t     *recv;     /**< Get: for whom */
                            uint32_t          remote_id; /**< The peer's request */
                            ucp_le32_t        secret;    /**< Get: to answer with */
                            uint8_t           scheme;    /**< ucp_rndv_scheme_t */
                            uint8_t           num_keys;  /**< Of rkeys */
                            uint8_t           retries;   /**< Fresh starts so far,
                                                              see retry.c */
                            uint8_t           retrying;  /**< Waits for one */
                            ucp_lane_map_t    lost;      /**< The endpoint's lost
                                                              lanes at the start */
                            uint8_t           step;      /**< Of a put */
                            uint8_t           posted;    /**< Nothing left to post:
                                                              waits for `comp` */
                            uint8_t           detached;  /**< The endpoint may be
                                                              gone */
                            uint8_t           rts_flags; /**< Get: the peer's */
                            uint8_t           withdrawn; /**< The peer was asked
                                                              to forget it */
                        } rndv;
                    };
                };
                struct {
                    void              *message;  /**< Owned, or NULL */
                    size_t            length;
                    uint8_t           am_id;
                } control;
                struct {
                    uint64_t          address;   /**< At the peer, of the first
                                                      byte */
                    ucp_rkey_h        rkey;      /**< NULL: we answer */
                    const struct ucp_rma_config *config; /**< How it goes */
                    uint64_t          key;       /**< The memory's number */
                    union {
                        struct {
                            size_t    received;  /**< Of a get: emulated */
                            const ucp_rails_t *rails; /**< From place: the
                                                      lanes */
                            ucp_memhs_t memhs;   /**< Of the local side */
                            ucp_mem_h local;     /**< The user's, or NULL */
                        };
                        struct {
                            uint64_t operand;
                            void     *result;    /**< NULL: not wanted */
                            uint64_t staged;     /**< The result, on its way to
                                                      staged memory */
                            uint8_t  op, size;
                        } amo;
                    };
                    uint32_t          remote_id; /**< What we answer */
                    uint32_t          secret;    /**< To answer with */
                    uint32_t          number;    /**< Among the endpoint's
                                                      emulated accesses */
                    uint8_t           asked;     /**< All is posted */
                    uint8_t           own_memhs; /**< `memhs` is in use */
                    uint8_t           retries;   /**< Fresh starts, since a lane
                                                      has failed */
                } rma;
                struct {
                    ucs_queue_head_t  held;      /**< Behind a fence */
                    ucs_queue_elem_t  queue;     /**< With `unacked` */
                    uint32_t          rma_issued; /**< Is to be acknowledged */
                    uint8_t           unacked;   /**< Waits for that */
                    uint8_t           fence;     /**< It is one */
                    ucp_request_t     *parent;   /**< A flush of the worker */
                    unsigned          children;  /**< Of a parent: under way */
                    uint8_t           closing;
                    uint32_t          tried;     /**< The endpoint's id, if the
                                                      user got NO_RESOURCE for
                                                      it; or 0 */
                    uint32_t          asked;     /**< The endpoint's id, once a
                                                      lane was asked as far as
                                                      the peer's memory; or 0 */
                } flush;
            };
        } send;

        struct {
            ucs_queue_elem_t           queue;  /**< In the expected queue */
            union {
                struct {
                    uint64_t           sn;     /**< Order of posting */
                    ucp_tag_t          tag;
                    ucp_tag_t          tag_mask;
                };
                struct ucp_tag_multi   *multi; /**< With FLAG_ARRIVING */
                struct {
                    struct ucp_stream  *stream;
                    size_t             elem_size; /**< Not 0 */
                    uint8_t            wait_all;
                } stream;              /**< info.length: bytes so far */
            };
            union {
                ucp_tag_recv_nbx_callback_t     cb;
                ucp_am_recv_data_nbx_callback_t length_cb;
            };
            ucp_tag_recv_info_t        info;
            ucp_ep_h                   ep;        /**< Rendezvous: the reply
                                                       endpoint */
            size_t                     remaining; /**< Rendezvous bytes */
            ucp_memhs_t                memhs;     /**< Of a place to put to */
            void                       (*complete)(ucp_request_t *req,
                                                   ucs_status_t status);
            struct ucp_rndv_gather     *gather;   /**< Rendezvous of generic
                                                       data, or NULL */
            uint8_t                    offered;   /**< A place to put to */
            uint8_t                    way;       /**< With FLAG_BY_RNDV: how
                                                       the data comes, a
                                                       ucp_rndv_scheme_t */
            uint8_t                    iface;     /**< ... and by which of the
                                                       worker's interfaces */
            uint32_t                   copying;   /**< Rendezvous: fragments on
                                                       their way to staged
                                                       memory */
        } recv;
    };
};

/** The request behind what the user holds, and the other way. */
static UCS_F_ALWAYS_INLINE ucp_request_t *ucp_request_of(void *user_request)
{
    return (ucp_request_t *)user_request - 1;
}

static UCS_F_ALWAYS_INLINE void *ucp_request_user(ucp_request_t *req)
{
    return req + 1;
}

/** Sets up the pool of a worker. */
ucs_status_t ucp_request_pool_init(ucp_worker_h worker);
void ucp_request_pool_cleanup(ucp_worker_h worker);

/** Takes a request as `param` says: the user's or one of the pool. NULL: out of
 *  memory. The user's data is noted, nothing else is set: a completion before
 *  UCP_REQUEST_FLAG_CALLBACK is set is told by the return value. */
ucp_request_t *ucp_request_get(ucp_worker_h worker,
                               const ucp_request_param_t *param);

/** Takes one that the user never sees: it frees itself on completion. */
ucp_request_t *ucp_request_get_internal(ucp_worker_h worker);

/** Says that a request of the user's is a flush or (`closing`) a close, which have
 *  no buffer. */
static inline void ucp_request_is_flush(ucp_request_t *req, int closing)
{
    req->dt.length          = 0;
    req->dt.mem_type        = UCS_MEMORY_TYPE_UNKNOWN;
    req->send.flush.closing = (uint8_t)closing;
}

/** Gives back a request that nobody will complete. */
void ucp_request_put(ucp_request_t *req);

/** The user wants it no more: it is freed when it is done, without what the
 *  flags in `without` say of its end. Takes the worker's lock. */
void ucp_request_let_go(ucp_request_t *req, unsigned without);

/** Gives a request a number that a peer can answer to, and takes it back. A
 *  number from a peer that is not in use finds NULL. */
ucs_status_t ucp_request_id_add(ucp_request_t *req);
void ucp_request_id_del(ucp_request_t *req);
ucp_request_t *ucp_request_by_id(ucp_worker_h worker, uint64_t id);

/** Complete: set the status, tell the user, free if already released. */
void ucp_request_complete_send(ucp_request_t *req, ucs_status_t status);
void ucp_request_complete_recv(ucp_request_t *req, ucs_status_t status);

/** As complete_recv, where the user's callback is told a length, no tag. */
void ucp_request_complete_recv_length(ucp_request_t *req, ucs_status_t status);

/** Notes that the endpoint owes the request an answer; forgets it. */
void ucp_request_ep_add(ucp_request_t *req, ucp_ep_h ep);
void ucp_request_ep_del(ucp_request_t *req);

/**
 * Drives a send until it is done or waits for room on its endpoint, after
 * those that wait already.
 */
void ucp_request_start(ucp_request_t *req);

/** True once the status is final. Any thread. */
static UCS_F_ALWAYS_INLINE int ucp_request_is_done(const ucp_request_t *req)
{
    return __atomic_load_n(&req->completed, __ATOMIC_ACQUIRE);
}

/** What a send returns to its caller once it was started; from here on the
 *  user's callback is due. */
ucs_status_ptr_t
ucp_request_send_result(ucp_request_t *req, const ucp_request_param_t *param);

#endif
