/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Requests: operations that are under way. The user's pointer refers to the
 * area after the request, so that requests from the pool and requests that the
 * user allocated are used in the same way.
 *
 *       ucp_request_t                     user's area
 *  | status flags ... union of kinds | request_size bytes |
 *                                    ^ the user's pointer
 */
#ifndef UCP_REQUEST_H
#define UCP_REQUEST_H

#include <uct/api/uct.h>

#include "ucp/base/types.h"
#include "ucp/dt/dt.h"
#include "ucp/proto/rails.h"
#include "ucs/datastruct/list.h"
#include <ucs/datastruct/mpool.h>
#include "ucs/datastruct/queue.h"

/** Longest description of a request, with its terminating zero. */
enum { UCP_REQUEST_INFO_MAX = 256 };

/** Values of `completed`. */
enum {
    UCP_REQUEST_CALLING = 2, /**< The status is final; the callback runs */
    UCP_REQUEST_DONE    = 1  /**< The library does not use it any more */
};

enum {
    UCP_REQUEST_FLAG_RELEASED  = UCS_BIT(1), /**< Free it when it completes */
    UCP_REQUEST_FLAG_CALLBACK  = UCS_BIT(2), /**< A callback is set */
    UCP_REQUEST_FLAG_EXTERNAL  = UCS_BIT(3), /**< The user allocated it */
    UCP_REQUEST_FLAG_RECV      = UCS_BIT(4), /**< The recv member is in use */
    UCP_REQUEST_FLAG_EXPECTED  = UCS_BIT(5), /**< Posted, may be cancelled */
    /** In the endpoint's list of requests that await a reply */
    UCP_REQUEST_FLAG_ON_EP     = UCS_BIT(6),
    UCP_REQUEST_FLAG_INTERNAL  = UCS_BIT(7), /**< Not visible to the user */
    /** Rendezvous: the peer may reply */
    UCP_REQUEST_FLAG_ANNOUNCED = UCS_BIT(8),
    /** Posted on a stream, may be cancelled */
    UCP_REQUEST_FLAG_STREAM    = UCS_BIT(9),
    /** Fragments of its message are arriving, may be cancelled */
    UCP_REQUEST_FLAG_ARRIVING  = UCS_BIT(10),
    /** Receive: matched with an announcement */
    UCP_REQUEST_FLAG_BY_RNDV   = UCS_BIT(11)
};

/** Sends as much as possible. UCS_OK: nothing more to do now.
 *  UCS_INPROGRESS: call again. UCS_ERR_NO_RESOURCE: call again when the
 *  endpoint has send resources. If it fails, the function completes the
 *  request itself and returns UCS_OK. */
typedef ucs_status_t (*ucp_request_progress_t)(ucp_request_t *req);

/** Completes a request whose endpoint has failed. */
typedef void (*ucp_request_abort_t)(ucp_request_t *req, ucs_status_t status);

/** Registrations of one buffer with the memory domains of several lanes, by
 *  slot. */
typedef struct ucp_memhs {
    uct_mem_h memh[UCP_MAX_RAILS];     /**< NULL: none */
    uint8_t   md_index[UCP_MAX_RAILS];
    uint8_t   num;                     /**< Slots that are set */
    /** By bit: the user's, not to be deregistered */
    uint8_t   borrowed;
} ucp_memhs_t;

struct ucp_request {
    ucs_status_t  status;
    uint8_t       completed;  /**< Not 0: the status is final. Other threads
                               *   may read it. */
    /** Sends: the lane whose send resources the request waits for. The
     *  progress function sets it before it returns UCS_ERR_NO_RESOURCE; 0 at
     *  first. */
    uint8_t       lane;
    uint16_t      flags;      /**< UCP_REQUEST_FLAG_* */
    uint32_t      id;         /**< Identifier for peers; 0: none */
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
                            /** Eager: all is sent, waits for the peer's
                             *  acknowledgement */
                            uint8_t   all_sent;
                            /** Eager: the transport uses `comp` */
                            uint8_t   in_flight;
                            uint8_t   sync;          /**< To be acknowledged */
                        } tag;
                        struct {
                            const void     *header;
                            uint32_t       header_length;
                            uint16_t       id;
                            uint8_t        wire;       /**< UCP_AM_WIRE_* */
                            /** Sends `sender` for replies */
                            uint8_t        reply:1;
                            /** `header` is a copy that the request owns */
                            uint8_t        copied:1;
                            /** Eager: the transport uses `comp` */
                            uint8_t        in_flight:1;
                            ucp_wire_end_t sender; /**< Read by the transport */
                        } am;
                    };
                    union {                          /* By protocol */
                        struct {
                            const struct ucp_multi_class *class;
                            /** Number of the message */
                            uint32_t          message;
                            /** The first fragment is sent */
                            uint8_t           begun;
                            /** All fragments are sent: waits for `comp` */
                            uint8_t           posted;
                            uint8_t           copy; /**< Never by zero-copy */
                        } multi; /**< Eager, in fragments */
                        struct {
                            /** Address of the peer's buffer. In fragments:
                             *  offset of the first byte in the message. */
                            uint64_t          address;
                            /** Lanes of put and get; NULL: none */
                            const ucp_rails_t *rails;
                            /** The peer's keys, by slot */
                            uct_rkey_bundle_t rkeys[UCP_MAX_RAILS];
                            ucp_memhs_t       memhs; /**< Of the local buffer */
                            ucp_request_t     *recv; /**< Get: the receive */
                            /** The peer's request */
                            uint32_t          remote_id;
                            ucp_le32_t        secret; /**< Get: for the reply */
                            uint8_t           scheme; /**< ucp_rndv_scheme_t */
                            uint8_t           num_keys;  /**< Of rkeys */
                            /** Number of restarts, see retry.c */
                            uint8_t           retries;
                            /** Waits for a restart */
                            uint8_t           retrying;
                            /** Lanes that the endpoint had lost at the start */
                            ucp_lane_map_t    lost;
                            uint8_t           step;      /**< Step of a put */
                            /** All is posted: waits for `comp` */
                            uint8_t           posted;
                            /** The endpoint may not exist any more */
                            uint8_t           detached;
                            /** Get: flags of the peer's RTS */
                            uint8_t           rts_flags;
                            /** The peer was requested to drop the
                             *  announcement */
                            uint8_t           withdrawn;
                        } rndv;
                    };
                };
                struct {
                    void              *message;  /**< Owned, or NULL */
                    size_t            length;
                    uint8_t           am_id;
                } control;
                struct {
                    uint64_t          address;   /**< First byte at the peer */
                    ucp_rkey_h        rkey; /**< NULL: a reply to the peer */
                    /** Lanes and protocols */
                    const struct ucp_rma_config *config;
                    uint64_t          key;       /**< Id of the memory */
                    union {
                        struct {
                            size_t    received;  /**< Of an emulated get */
                            /** Zero-copy: the lanes */
                            const ucp_rails_t *rails;
                            ucp_memhs_t memhs;   /**< Of the local buffer */
                            ucp_mem_h local; /**< The user's handle, or NULL */
                        };
                        struct {
                            uint64_t operand;
                            void     *result;    /**< NULL: no result */
                            /** Result that is yet to be copied to staged
                             *  memory */
                            uint64_t staged;
                            uint8_t  op, size;
                        } amo;
                    };
                    /** The peer's request that this is a reply to */
                    uint32_t          remote_id;
                    uint32_t          secret;    /**< For the reply */
                    /** Sequence number among the endpoint's emulated
                     *  accesses */
                    uint32_t          number;
                    uint8_t           asked;     /**< All is posted */
                    uint8_t           own_memhs; /**< `memhs` is in use */
                    /** Restarts after the failure of a lane */
                    uint8_t           retries;
                } rma;
                struct {
                    /** Operations that wait for the fence */
                    ucs_queue_head_t  held;
                    ucs_queue_elem_t  queue;     /**< With `unacked` */
                    /** Value to be acknowledged */
                    uint32_t          rma_issued;
                    /** Waits for the acknowledgement */
                    uint8_t           unacked;
                    uint8_t           fence;     /**< It is a fence */
                    ucp_request_t     *parent;   /**< A flush of the worker */
                    /** Of a parent: number under way */
                    unsigned          children;
                    uint8_t           closing;
                    /** Id of the endpoint, if the user's call returned
                     *  NO_RESOURCE for this flush; or 0 */
                    uint32_t          tried;
                    /** Id of the endpoint, after a remote flush of a lane
                     *  has started; or 0 */
                    uint32_t          asked;
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
            /** Rendezvous: the endpoint for replies */
            ucp_ep_h                   ep;
            size_t                     remaining; /**< Rendezvous bytes */
            /** Of a buffer that the peer may put to */
            ucp_memhs_t                memhs;
            void                       (*complete)(ucp_request_t *req,
                                                   ucs_status_t status);
            /** Rendezvous of generic data, or NULL */
            struct ucp_rndv_gather     *gather;
            /** The peer may put to the buffer */
            uint8_t                    offered;
            /** With FLAG_BY_RNDV: the scheme, a ucp_rndv_scheme_t */
            uint8_t                    way;
            /** With FLAG_BY_RNDV: index of the worker's interface that is
             *  used */
            uint8_t                    iface;
            /** Rendezvous: fragments that are being copied to staged memory */
            uint32_t                   copying;
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

/** Creates and destroys the pool of a worker. */
ucs_status_t ucp_request_pool_init(ucp_worker_h worker);
void ucp_request_pool_cleanup(ucp_worker_h worker);

/** Returns the user's request, or one of the pool, according to `param`.
 *  NULL: out of memory. Stores the user's data but does not set the
 *  callback: an operation that completes before UCP_REQUEST_FLAG_CALLBACK is
 *  set reports by its return value. */
ucp_request_t *ucp_request_get(ucp_worker_h worker,
                               const ucp_request_param_t *param);

/** Returns an internal request, which the user does not see. It is freed
 *  when it completes. */
ucp_request_t *ucp_request_get_internal(ucp_worker_h worker);

/** Marks a user's request as a flush, or with `closing` as a close. They
 *  have no buffer. */
static inline void ucp_request_is_flush(ucp_request_t *req, int closing)
{
    req->dt.length          = 0;
    req->dt.mem_type        = UCS_MEMORY_TYPE_UNKNOWN;
    req->send.flush.closing = (uint8_t)closing;
}

/** Frees a request that will not be completed. */
void ucp_request_put(ucp_request_t *req);

/** Releases the user's request: it is freed when it completes. Clears the
 *  flags in `without` first: without UCP_REQUEST_FLAG_CALLBACK the callback
 *  is not called. Takes the worker's lock. */
void ucp_request_let_go(ucp_request_t *req, unsigned without);

/** Assigns and removes the id by which a peer names the request. NULL for an
 *  id of a peer that is not in use. */
ucs_status_t ucp_request_id_add(ucp_request_t *req);
void ucp_request_id_del(ucp_request_t *req);
ucp_request_t *ucp_request_by_id(ucp_worker_h worker, uint64_t id);

/** Complete: set the status, call the callback, free the request if the user
 *  has released it. */
void ucp_request_complete_send(ucp_request_t *req, ucs_status_t status);
void ucp_request_complete_recv(ucp_request_t *req, ucs_status_t status);

/** The same as complete_recv, for callbacks that receive a length and no
 *  tag. */
void ucp_request_complete_recv_length(ucp_request_t *req, ucs_status_t status);

/** Adds the request to, and removes it from, the endpoint's list of requests
 *  that await a reply. */
void ucp_request_ep_add(ucp_request_t *req, ucp_ep_h ep);
void ucp_request_ep_del(ucp_request_t *req);

/**
 * Progresses a send until it is done or waits for send resources of its
 * endpoint. It waits behind the requests that already wait.
 */
void ucp_request_start(ucp_request_t *req);

/** True if the status is final. Any thread. */
static UCS_F_ALWAYS_INLINE int ucp_request_is_done(const ucp_request_t *req)
{
    return __atomic_load_n(&req->completed, __ATOMIC_ACQUIRE);
}

/** The return value of a send that was started. If it is not complete, its
 *  completion will call the user's callback. */
ucs_status_ptr_t
ucp_request_send_result(ucp_request_t *req, const ucp_request_param_t *param);

#endif
