/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Transports: interfaces, which receive messages, and endpoints, which send
 * them.
 *
 * Threads: unless a slot says otherwise, the core calls the operations of one
 * interface and of its endpoints from one thread at a time, the thread that
 * drives its worker, and they must not block.
 */
#ifndef UCX_TRANSPORT_H
#define UCX_TRANSPORT_H

#include <uct/api/uct.h>
#include <ucx/abi.h>
#include <ucx/component.h>
#include <ucx/config.h>

UCX_BEGIN_DECLS

typedef struct ucx_iface_ops ucx_iface_ops_t;
typedef struct ucx_ep_ops ucx_ep_ops_t;

/** Handler of one active message id. */
typedef struct ucx_am_slot {
    uct_am_callback_t cb; /**< Never NULL: the default handler drops the
                           *   message */
    void *arg;
    uint64_t flags; /**< UCT_CB_FLAG_* */
} ucx_am_slot_t;

/**
 * Head of every interface; the plugin's state follows it. The plugin allocates
 * the whole object and initializes the head with ucx_iface_init().
 */
struct uct_iface {
    const ucx_iface_ops_t *ops; /**< The plugin's table, in which the core has
                                 *   filled missing slots */
    const ucx_ep_ops_t *ep_ops; /**< The same for the operations of its
                                 *   endpoints */
    uct_md_h md;
    uct_worker_h worker;
    void *host; /**< Private to the core */
    void *reserved[3];
    ucx_am_slot_t am[UCT_AM_ID_MAX];
};
typedef struct uct_iface uct_iface_t;

/**
 * Head of every endpoint. It contains the table of operations, so that a call
 * loads it directly from the endpoint. The plugin allocates the whole object
 * and initializes the head with ucx_ep_init(), once: the core may later replace
 * `ops` by a table that counts calls, or by one that rejects sends of a
 * cancelled endpoint.
 */
struct uct_ep {
    const ucx_ep_ops_t *ops;
    uct_iface_t *iface; /**< NULL for an endpoint of a connection
                                      manager */
};
typedef struct uct_ep uct_ep_t;

/** A device that a transport can use. */
typedef struct ucx_device_desc {
    char name[UCT_DEVICE_NAME_MAX];
    uct_device_type_t type;
    ucs_sys_device_t sys_dev; /**< System device, or
                               *   UCS_SYS_DEVICE_ID_UNKNOWN */
} ucx_device_desc_t;

/** Arguments of iface_open; valid during the call only. */
typedef struct ucx_iface_open_args {
    size_t size;
    uct_iface_t head;                 /**< For ucx_iface_init() */
    const uct_iface_params_t *params; /**< From the caller of uct_iface_open;
                                       *   check field_mask */
    const char *dev_name;             /**< Name of the device, one of
                                       *   query_devices */
    const void *config;               /**< Options of the transport; NULL if it
                                       *   has none */
    double keepalive_interval;        /**< Seconds, for ucx_iface_keepalive();
                                       *   INFINITY: no checks; 0: the caller of
                                       *   uct_iface_open has set no interval.
                                       *   Since 1.1 */
    unsigned flags;                   /**< UCX_IFACE_OPEN_*. Since 1.1 */
} ucx_iface_open_args_t;

enum {
    /** The caller only polls: it calls neither event_fd_get nor event_arm. If
     *  an event descriptor makes an interface slower, the interface may then
     *  have none, and does not set UCT_IFACE_FLAG_EVENT_FD */
    UCX_IFACE_OPEN_POLLED = 1u << 0,
};

/** Returns whether the caller of uct_iface_open only polls the interface. */
static inline int ucx_iface_is_polled(const ucx_iface_open_args_t *args)
{
    return UCX_TABLE_HAS(args, flags) && (args->flags & UCX_IFACE_OPEN_POLLED);
}

/** Seconds between two checks of an idle peer. A variable that the user set
 *  takes precedence over the parameter of uct_iface_open, which takes
 *  precedence over the default. `option` is a UCX_CONFIG_TIME: negative for
 *  "auto". */
static inline double ucx_iface_keepalive(const ucx_iface_open_args_t *args,
                                         double option, double dflt)
{
    if (option >= 0) {
        return option;
    }
    return (UCX_TABLE_HAS(args, keepalive_interval) &&
            (args->keepalive_interval > 0)) ?
               args->keepalive_interval :
               dflt;
}

static inline void ucx_iface_init(uct_iface_t *iface,
                                  const ucx_iface_open_args_t *args)
{
    *iface = args->head;
}

static inline void ucx_ep_init(uct_ep_t *ep, uct_iface_t *iface)
{
    ep->ops   = iface->ep_ops;
    ep->iface = iface;
}

/** Attributes of an interface, with those of the public query. */
typedef struct ucx_iface_attr {
    size_t size;
    uct_iface_attr_t base;   /**< Attributes that uct_iface_query returns */
    uint64_t flags;          /**< UCX_IFACE_FLAG_* */
    size_t max_inflight_eps; /**< Endpoints that can be busy at the
                              *   same time without loss of
                              *   performance; SIZE_MAX: any number */
} ucx_iface_attr_t;

enum {
    /** is_reachable tests whether the peer can be reached, instead of only
     *  comparing addresses. So callers may pass it addresses of peers in other
     *  network namespaces and containers. */
    UCX_IFACE_FLAG_TESTED_REACHABILITY = 1u << 0,
    /** Endpoints detect a lost peer by themselves and report it by
     *  iface_ep_failed even while nothing is sent, for example because the
     *  kernel reports the end of the connection. The core then does not call
     *  ep_check for keepalive. Not for a transport that probes idle peers: that
     *  is UCT_IFACE_FLAG_EP_KEEPALIVE. */
    UCX_IFACE_FLAG_DETECTS_FAILURE     = 1u << 1,
    /** Messages in a descriptor (UCT_CB_PARAM_FLAG_DESC) are aligned as
     *  am_alignment and am_align_offset of the parameters require. Since
     *  1.1 */
    UCX_IFACE_FLAG_ALIGNS_AM           = 1u << 2,
};

/** Operations whose cost `estimate` returns. */
typedef enum {
    UCX_OP_AM_SHORT,
    UCX_OP_AM_BCOPY,
    UCX_OP_AM_ZCOPY,
    UCX_OP_PUT_SHORT,
    UCX_OP_PUT_BCOPY,
    UCX_OP_PUT_ZCOPY,
    UCX_OP_GET_SHORT,
    UCX_OP_GET_BCOPY,
    UCX_OP_GET_ZCOPY,
    UCX_OP_ATOMIC_POST,
    UCX_OP_ATOMIC_FETCH,
    UCX_OP_TAG_SHORT,
    UCX_OP_TAG_BCOPY,
    UCX_OP_TAG_ZCOPY,
} ucx_op_t;

/** Query and result of `estimate`. The core sets the result from the public
 *  attributes before the call; a transport overwrites the values that it can
 *  estimate better. */
typedef struct ucx_perf {
    size_t size;
    /* Query */
    ucx_op_t op;
    ucs_memory_type_t local_mem_type, remote_mem_type;
    ucs_sys_device_t local_sys_dev, remote_sys_dev;
    uct_ep_h ep; /**< Endpoint of the operation; may be NULL */
    /* Result */
    double send_pre_overhead;      /**< Seconds of the sender before the data
                                    *   leaves */
    double send_post_overhead;     /**< Seconds of the sender after the data has
                                    *   left, for the completion */
    double recv_overhead;          /**< Seconds of the receiver */
    uct_ppn_bandwidth_t bandwidth; /**< Bytes per second */
    ucs_linear_func_t latency;     /**< Seconds, as a function of the number of
                                    *   endpoints */
    double stream_bandwidth;       /**< Bytes per second of data that is sent as
                                    *   many messages, including the copies at
                                    *   both ends. 0, the preset: `bandwidth`
                                    *   and the processors limit it */
} ucx_perf_t;

/** Arguments of is_reachable. The addresses come from a peer. */
typedef struct ucx_reachable_args {
    size_t size;
    const uct_device_addr_t *dev_addr; /**< dev_addr_length bytes; NULL: not
                                        *   given */
    size_t dev_addr_length;
    const uct_iface_addr_t *iface_addr; /**< iface_addr_length bytes; may be
                                         *   NULL */
    size_t iface_addr_length;
    char *reason; /**< If not NULL: receives the reason if the peer is not
                   *   reachable */
    size_t reason_size;
} ucx_reachable_args_t;


/**
 * A transport: constant data of the plugin.
 *
 * A copier is a transport that copies within the process: between host memory
 * and memory that the processor cannot access (a GPU's, for example). The core
 * recognizes a copier by its attributes: its device is UCT_DEVICE_TYPE_ACC, its
 * domain's access_mem_types contain host memory and other types, and it needs
 * neither registration nor remote keys. The core connects the copier's
 * endpoints to the interface's own address. A put writes to remote_addr, which
 * is an address of this process; a get reads from remote_addr. Both sides may
 * be memory of any type in access_mem_types, but the local buffer of a short
 * operation is host memory. rkey is UCT_INVALID_RKEY, or (since 1.1) the
 * nonzero `place` that the domain's mem_query has stored for memory that
 * contains the bytes at remote_addr: the copier then need not query its driver
 * about this memory again. The copier ignores other values of rkey. The core
 * uses
 *   put_short, get_short   the copy is complete when they return UCS_OK
 *   put_zcopy, get_zcopy   UCS_INPROGRESS: the completion is called from
 *                          progress, in any order; several may be outstanding
 * and requires, for every length, put_short or put_zcopy and get_short or
 * get_zcopy. While the core waits for copies, it calls progress, even if
 * progress is disabled. If the domain registers host memory (to pin it), the
 * core registers buffers that it uses often.
 */
struct ucx_transport {
    size_t size;
    const char *name;                 /**< Shorter than UCT_TL_NAME_MAX */
    const ucx_config_table_t *config; /**< Options of an interface, or NULL */

    /** Lists devices in an array from malloc() that the core frees. Any thread;
     *  may block. No device: UCS_OK with *num_p = 0. */
    ucs_status_t (*query_devices)(uct_md_h md, ucx_device_desc_t **devices_p,
                                  unsigned *num_p);

    /** Opens an interface; iface_ops->close frees it. Worker's thread; may
     *  block. Progress is disabled until progress_enable. UCS_ERR_NO_DEVICE:
     *  the device does not exist any more. */
    ucs_status_t (*iface_open)(uct_md_h md, const ucx_iface_open_args_t *args,
                               uct_iface_h *iface_p);
    const ucx_iface_ops_t *iface_ops;
    const ucx_ep_ops_t *ep_ops;
};


/**
 * Operations of an interface. Required: close, query, ep_create, flush and, if
 * it can connect to interfaces, get_device_address, get_address and
 * is_reachable. For a slot that is NULL or beyond `size` the core returns
 * UCS_ERR_UNSUPPORTED, unless the slot states another default.
 */
struct ucx_iface_ops {
    size_t size;

    /** Frees the interface, without waiting for peers. Called once; its
     *  endpoints are destroyed before. Messages that no completed flush covers
     *  may be lost. */
    void (*close)(uct_iface_h iface);

    /** Fills the members within the first attr->size bytes of `attr`, which are
     * zero before. An error fails the opening. */
    ucs_status_t (*query)(uct_iface_h iface, ucx_iface_attr_t *attr);

    /** Refines the cost of the operation perf->op. Default: the values that the
     *  core preset are kept. An error means that the operation is not
     *  available. */
    ucs_status_t (*estimate)(uct_iface_h iface, ucx_perf_t *perf);

    /** The next two slots write the address of the device or of the interface
     *  into the caller's buffer: attr.device_addr_len or attr.iface_addr_len
     *  bytes. */
    ucs_status_t (*get_device_address)(uct_iface_h iface,
                                       uct_device_addr_t *addr);
    ucs_status_t (*get_address)(uct_iface_h iface, uct_iface_addr_t *addr);

    /** Non-zero if a peer with these addresses is reachable. If a peer has
     *  several addresses, the core prefers the one with the largest result. May
     *  make a few system calls, but sends nothing. Default: 0. */
    int (*is_reachable)(uct_iface_h iface, const ucx_reachable_args_t *args);

    /** Creates an endpoint as uct_ep_create describes: connected if an address
     *  is given, otherwise connected later by connect_to_ep. The connection may
     *  be established asynchronously. Until then, sends are accepted or return
     *  UCS_ERR_NO_RESOURCE and can be queued by pending_add. The caller owns
     *  the endpoint until `destroy`. */
    ucs_status_t (*ep_create)(uct_iface_h iface, const uct_ep_params_t *params,
                              uct_ep_h *ep_p);

    /** Performs a bounded amount of work and returns the number of events. It
     *  makes no system call while the interface is idle, if possible. A
     *  callback of the user may call this slot again, while the outer call is
     *  on the stack: the inner call may return 0. Default: 0. */
    unsigned (*progress)(uct_iface_h iface);
    /** Adds the interface to the worker's progress, or removes it. `flags`:
     * UCT_PROGRESS_*. With UCT_PROGRESS_THREAD_SAFE any thread may call it.
     * With the default slots, the core may poll an idle interface less often.
     * An interface that has its own slots is always polled. */
    void (*progress_enable)(uct_iface_h iface, unsigned flags);
    void (*progress_disable)(uct_iface_h iface, unsigned flags);

    /** Completes as uct_iface_flush describes: when everything sent on all
     *  endpoints has left (UCT_FLUSH_FLAG_LOCAL) or has arrived. "Left" means
     *  that the message will be delivered even if the endpoint is destroyed and
     *  the interface closed now: a transport that retransmits waits for the
     *  peer's acknowledgement, because `destroy` and `close` do not wait.
     *  UCS_INPROGRESS: `comp`, if not NULL, is called once, from progress. */
    ucs_status_t (*flush)(uct_iface_h iface, unsigned flags,
                          uct_completion_t *comp);
    /** Orders operations before this call ahead of those after it, on all
     *  endpoints. */
    ucs_status_t (*fence)(uct_iface_h iface, unsigned flags);

    /** Stores a file descriptor. After event_arm has returned UCS_OK, the
     *  descriptor becomes readable when progress has work. The interface owns
     *  the descriptor; it stays the same until close. */
    ucs_status_t (*event_fd_get)(uct_iface_h iface, int *fd_p);
    /** Arms the descriptor for `events`, UCT_EVENT_*. UCS_ERR_BUSY: events are
     *  pending, call progress first. UCS_OK: the descriptor becomes readable
     *  also for an event that occurred after the last progress and before this
     *  call returned. */
    ucs_status_t (*event_arm)(uct_iface_h iface, unsigned events);

    /* Tag matching, as the functions uct_iface_tag_* describe. Messages of one
     * sender are matched in the order of sending. Each matches the receive that
     * was posted first among those that fit. Unexpected messages are reported
     * in the order of arrival, each as a whole (UCT_CB_PARAM_FLAG_FIRST without
     * UCT_CB_PARAM_FLAG_MORE). A receive that fits an unexpected message, and
     * is posted before the report of that message, must not match a later
     * message of the same sender. All callbacks are called from progress
     * only. */
    /** Posts a receive; `ctx` belongs to the interface until completed_cb or
     *  rndv_cb of `ctx` is called, or a forced cancel succeeds.
     *  UCS_ERR_EXCEEDS_LIMIT: no more receives can be posted. */
    ucs_status_t (*tag_recv_zcopy)(uct_iface_h iface, uct_tag_t tag,
                                   uct_tag_t tag_mask, const uct_iov_t *iov,
                                   size_t iovcnt, uct_tag_context_t *ctx);
    /** Cancels a receive; without `force` its completed_cb reports the
     *  result. After a successful call with `force`, the interface uses neither
     *  `ctx` nor the buffer. If it has already matched a message with the
     *  receive but not called tag_consumed_cb, it reports the message as
     *  unexpected. May be called from any callback. */
    ucs_status_t (*tag_recv_cancel)(uct_iface_h iface, uct_tag_context_t *ctx,
                                    int force);

    /** The next two slots answer a connection request of a deprecated sockaddr
     *  interface. The core calls one of them, once for each request. */
    ucs_status_t (*accept)(uct_iface_h iface, uct_conn_request_h request);
    ucs_status_t (*reject)(uct_iface_h iface, uct_conn_request_h request);

    /** Calls `tracer` for every message that is sent or received; NULL disables
     *  it. */
    ucs_status_t (*set_am_tracer)(uct_iface_h iface, uct_am_tracer_t tracer,
                                  void *arg);

    /** Allocates memory that is fast for this interface; mem_free releases it.
     *  Default: the domain allocates. UCS_ERR_NO_MEMORY: not available. */
    ucs_status_t (*mem_alloc)(uct_iface_h iface, size_t length, unsigned flags,
                              const char *name, uct_allocated_memory_t *mem);
    void (*mem_free)(uct_iface_h iface, const uct_allocated_memory_t *mem);
};


enum {
    /** am_bcopy: the transport may send the message later, in the next progress
     *  or flush, together with later messages. The caller does not report the
     *  completion of this message to its user before that. Without the flag the
     *  transport sends the message at once or, if a callback sends it, before
     *  the progress that runs the callback returns, because the caller may
     *  never call progress again. The value does not overlap the public
     *  UCT_SEND_FLAG_*. */
    UCX_SEND_FLAG_MORE = 1u << 16,
};

/**
 * Operations of an endpoint. Required: destroy.
 *
 * Status of a send operation:
 *   UCS_OK              complete; the caller may reuse the buffers
 *   UCS_INPROGRESS      zcopy, get, fetch: `comp` is called on completion.
 *                       am_short, am_short_iov, put_short: the data is copied
 *                       and leaves with the next progress or flush, together
 *                       with later messages. A caller that reports completion
 *                       to a user does so after that progress or flush; other
 *                       callers treat this status as UCS_OK.
 *   UCS_ERR_NO_RESOURCE nothing was sent; retry from the pending queue
 *   another error       nothing was sent
 * `comp` may be NULL. It is called once, by the worker's thread, and only after
 * UCS_INPROGRESS; until then the buffers belong to the transport. The caller
 * respects the limits that the interface's `query` returned. bcopy returns the
 * number of bytes packed, or an error.
 *
 * After `destroy`, operations may still use their buffers, and no completion
 * tells when that ends: the caller keeps the buffers until the interface is
 * closed. A caller that needs them earlier flushes before it destroys the
 * endpoint, with UCT_FLUSH_FLAG_CANCEL if it cannot wait for the peer, and
 * waits for the completions.
 *
 * An entry of an I/O vector is `count` blocks of `length` bytes, whose starts
 * are `stride` bytes apart. With a count of 1, `stride` is not set; with a
 * length or count of 0, `buffer` may be NULL. The core passes a count of 1, but
 * other users of UCT may pass any count: a transport that supports only 1
 * returns UCS_ERR_INVALID_PARAM for others.
 *
 * Limits of active messages (attr.cap.am) include the header: max_short
 * includes the 8 bytes of the header of am_short; min_zcopy and max_zcopy apply
 * to the sum of `header_length` and the bytes of all entries. `header_length`
 * is at most max_hdr, and `iovcnt` at most max_iov.
 *
 * Active messages of one endpoint arrive in the order of the calls that sent
 * them, whatever their kind, id and length: the receiver's handlers are called
 * in that order. Messages of different endpoints are unordered.
 */
struct ucx_ep_ops {
    size_t size;

    /* Active messages. `id` is below UCT_AM_ID_MAX. */
    /** Sends `header`, then `length` bytes of `payload`. */
    ucs_status_t (*am_short)(uct_ep_h ep, uint8_t id, uint64_t header,
                             const void *payload, unsigned length);
    /** Sends what `pack_cb` writes. `pack_cb` is called once before the slot
     * returns, but not at all if the slot returns UCS_ERR_NO_RESOURCE. `flags`:
     * UCT_SEND_FLAG_*, UCX_SEND_FLAG_MORE. */
    ssize_t (*am_bcopy)(uct_ep_h ep, uint8_t id, uct_pack_callback_t pack_cb,
                        void *arg, unsigned flags);
    /** Sends the header, which is copied before the call returns, and the
     *  buffers, which are sent without a copy. */
    ucs_status_t (*am_zcopy)(uct_ep_h ep, uint8_t id, const void *header,
                             unsigned header_length, const uct_iov_t *iov,
                             size_t iovcnt, unsigned flags,
                             uct_completion_t *comp);
    /** Sends the concatenated buffers, which are copied. `stride`, `count` and
     *  `memh` of the entries are not set: each entry is `length` bytes. */
    ucs_status_t (*am_short_iov)(uct_ep_h ep, uint8_t id, const uct_iov_t *iov,
                                 size_t iovcnt);

    /* Remote memory. `rkey` is from rkey_unpack of this component; the core
     * does not check remote_addr. Operations of one endpoint are unordered
     * without a fence. */
    /** Writes `length` bytes; the data is in the remote memory after a
     *  flush. */
    ucs_status_t (*put_short)(uct_ep_h ep, const void *buffer, unsigned length,
                              uint64_t remote_addr, uct_rkey_t rkey);
    /** Writes what `pack_cb` packs. */
    ssize_t (*put_bcopy)(uct_ep_h ep, uct_pack_callback_t pack_cb, void *arg,
                         uint64_t remote_addr, uct_rkey_t rkey);
    /** Writes the buffers without a copy. `comp` is called when they can be
     *  reused. */
    ucs_status_t (*put_zcopy)(uct_ep_h ep, const uct_iov_t *iov, size_t iovcnt,
                              uint64_t remote_addr, uct_rkey_t rkey,
                              uct_completion_t *comp);
    /** Reads into `buffer`. UCS_OK: the data is in the buffer. */
    ucs_status_t (*get_short)(uct_ep_h ep, void *buffer, unsigned length,
                              uint64_t remote_addr, uct_rkey_t rkey);
    /** Reads and passes the data to `unpack_cb`, in the call or from
     *  progress. */
    ucs_status_t (*get_bcopy)(uct_ep_h ep, uct_unpack_callback_t unpack_cb,
                              void *arg, size_t length, uint64_t remote_addr,
                              uct_rkey_t rkey, uct_completion_t *comp);
    /** Reads without a copy. `comp` is called when the data is in the
     *  buffers. */
    ucs_status_t (*get_zcopy)(uct_ep_h ep, const uct_iov_t *iov, size_t iovcnt,
                              uint64_t remote_addr, uct_rkey_t rkey,
                              uct_completion_t *comp);

    /* Ordering, completion, and the queue for sends without resources */
    /** Completes when everything sent on this endpoint is complete: messages
     *  have left, as the interface's flush defines it; put, get and atomics
     *  have been executed, and the data of a put is visible to the peer.
     *  Returns the status of a send operation. With UCT_FLUSH_FLAG_CANCEL all
     *  outstanding operations complete with UCS_ERR_CANCELED, from progress,
     *  also if the endpoint is destroyed before; UCS_OK: all have completed.
     *  Unless this call fails, the core rejects later sends of the endpoint and
     *  calls only flush, pending_purge, invalidate, get_address, is_connected,
     *  query_sockaddrs and destroy. */
    ucs_status_t (*flush)(uct_ep_h ep, unsigned flags, uct_completion_t *comp);
    /** Orders operations before this call ahead of those after it. */
    ucs_status_t (*fence)(uct_ep_h ep, unsigned flags);
    /** Queues `req` until a send may succeed. UCS_ERR_BUSY: a send may succeed
     * now; `req` is not queued. On a failed endpoint: UCS_ERR_BUSY, so that the
     * next send returns the error, or that error itself; `req` is not queued.
     * The transport owns req->priv while it is queued and calls req->func from
     * progress, never from inside a send. UCS_OK removes the request. Any other
     * status keeps it at the head of the endpoint's queue and stops the
     * dispatch for this endpoint for now; UCS_INPROGRESS means that the request
     * has sent a part of its data, an error that it has sent nothing. */
    ucs_status_t (*pending_add)(uct_ep_h ep, uct_pending_req_t *req,
                                unsigned flags);
    /** Removes all queued requests and passes each to `cb`, which may free
     *  it. */
    void (*pending_purge)(uct_ep_h ep, uct_pending_purge_callback_t cb,
                          void *arg);

    /* Atomics on naturally aligned words. `post` returns no value; `fetch` and
     * `cswap` store the previous value in *result when they complete, as a get
     * does. UCS_ERR_INVALID_ADDR: the word is not aligned. UCS_ERR_UNSUPPORTED:
     * `op` is not in the interface's masks. */
    ucs_status_t (*atomic32_post)(uct_ep_h ep, uct_atomic_op_t op,
                                  uint32_t value, uint64_t remote_addr,
                                  uct_rkey_t rkey);
    ucs_status_t (*atomic64_post)(uct_ep_h ep, uct_atomic_op_t op,
                                  uint64_t value, uint64_t remote_addr,
                                  uct_rkey_t rkey);
    ucs_status_t (*atomic32_fetch)(uct_ep_h ep, uct_atomic_op_t op,
                                   uint32_t value, uint32_t *result,
                                   uint64_t remote_addr, uct_rkey_t rkey,
                                   uct_completion_t *comp);
    ucs_status_t (*atomic64_fetch)(uct_ep_h ep, uct_atomic_op_t op,
                                   uint64_t value, uint64_t *result,
                                   uint64_t remote_addr, uct_rkey_t rkey,
                                   uct_completion_t *comp);
    ucs_status_t (*atomic_cswap32)(uct_ep_h ep, uint32_t compare, uint32_t swap,
                                   uint64_t remote_addr, uct_rkey_t rkey,
                                   uint32_t *result, uct_completion_t *comp);
    ucs_status_t (*atomic_cswap64)(uct_ep_h ep, uint64_t compare, uint64_t swap,
                                   uint64_t remote_addr, uct_rkey_t rkey,
                                   uint64_t *result, uct_completion_t *comp);

    /* Hardware tag matching, as the functions uct_ep_tag_* describe. `imm`
     * arrives with the message. They return the status of a send operation. */
    ucs_status_t (*tag_eager_short)(uct_ep_h ep, uct_tag_t tag,
                                    const void *data, size_t length);
    ssize_t (*tag_eager_bcopy)(uct_ep_h ep, uct_tag_t tag, uint64_t imm,
                               uct_pack_callback_t pack_cb, void *arg,
                               unsigned flags);
    ucs_status_t (*tag_eager_zcopy)(uct_ep_h ep, uct_tag_t tag, uint64_t imm,
                                    const uct_iov_t *iov, size_t iovcnt,
                                    unsigned flags, uct_completion_t *comp);
    /** Starts a rendezvous: returns an operation for tag_rndv_cancel, or an
     *  error as a pointer. `comp` is called when the peer has fetched the data
     *  or its receive is too short; with an error if the peer cannot fetch
     *  them. */
    ucs_status_ptr_t (*tag_rndv_zcopy)(uct_ep_h ep, uct_tag_t tag,
                                       const void *header,
                                       unsigned header_length,
                                       const uct_iov_t *iov, size_t iovcnt,
                                       unsigned flags, uct_completion_t *comp);
    /** Cancels an operation of tag_rndv_zcopy; its `comp` is not called. */
    ucs_status_t (*tag_rndv_cancel)(uct_ep_h ep, void *op);
    /** Sends a rendezvous request. The users of both interfaces then transfer
     *  the data; the transport does not. */
    ucs_status_t (*tag_rndv_request)(uct_ep_h ep, uct_tag_t tag,
                                     const void *header, unsigned header_length,
                                     unsigned flags);

    /* Lifetime */
    /** Frees the endpoint, without waiting. The caller has purged its pending
     *  queue. Accepted active messages are still delivered while the interface
     *  is open and progressed and the peer is alive, so the interface keeps
     *  messages that may have to be retransmitted. Other outstanding operations
     *  may end unfinished: their completions are not called any more, unless a
     *  flush has cancelled them. The caller flushes first if it needs the
     *  completions, or if it closes the interface. May be called from any
     *  callback of this endpoint. */
    void (*destroy)(uct_ep_h ep);
    /** Checks whether the peer is alive: UCS_OK, or UCS_INPROGRESS with `comp`
     *  later. A lost peer is reported by iface_ep_failed, from progress; the
     *  call that finds it may return UCS_OK, later calls return the error of
     *  the endpoint. Sends no message if the transport detects a lost peer by
     *  itself. */
    ucs_status_t (*check)(uct_ep_h ep, unsigned flags, uct_completion_t *comp);
    /** Makes the endpoint fail as if its peer were lost: outstanding operations
     *  complete with an error, and iface_ep_failed is called from progress. */
    ucs_status_t (*invalidate)(uct_ep_h ep, unsigned flags);

    /* Connection */
    /** Writes attr.ep_addr_len bytes into the caller's buffer. */
    ucs_status_t (*get_address)(uct_ep_h ep, uct_ep_addr_t *addr);
    /** Connects an endpoint that was created without an address to the peer's
     *  endpoint with these addresses, which come from the peer: check them
     *  within the lengths given. Both sides receive the address of the other
     *  side. The core does not send on an endpoint before it knows that both
     *  sides are connected; the peer may send as soon as this call returns. */
    ucs_status_t (*connect_to_ep)(uct_ep_h ep,
                                  const uct_device_addr_t *dev_addr,
                                  size_t dev_addr_length,
                                  const uct_ep_addr_t *ep_addr,
                                  size_t ep_addr_length);
    /** Non-zero if the endpoint is connected to the peer with these
     *  addresses. */
    int (*is_connected)(uct_ep_h ep, const uct_device_addr_t *dev_addr,
                        const uct_iface_addr_t *iface_addr,
                        const uct_ep_addr_t *ep_addr);
    /** Stores both addresses of the connection. UCS_ERR_NOT_CONNECTED: there is
     *  no connection yet. */
    ucs_status_t (*query_sockaddrs)(uct_ep_h ep, struct sockaddr_storage *local,
                                    struct sockaddr_storage *remote);

    /* Endpoints of a connection manager only; see <ucx/cm.h> */
    /** Client: sends private data and completes the connection. */
    ucs_status_t (*cm_connect)(uct_ep_h ep,
                               const uct_ep_connect_params_t *params);
    /** Client: notifies the server that the connection is established. */
    ucs_status_t (*cm_conn_notify)(uct_ep_h ep);
    /** Starts a disconnect; the disconnect callback reports that it is
     *  complete. */
    ucs_status_t (*cm_disconnect)(uct_ep_h ep, unsigned flags);
};

UCX_END_DECLS

#endif
