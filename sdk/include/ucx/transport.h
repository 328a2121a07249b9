/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Transports: interfaces that messages come in by, and endpoints that they go
 * out by. The tables here are the message path.
 *
 * Threads: everything of one interface and its endpoints is called by one
 * thread at a time, the one that drives its worker. Nothing here may block.
 */
#ifndef UCX_TRANSPORT_H
#define UCX_TRANSPORT_H

#include <uct/api/uct.h>
#include <ucx/abi.h>
#include <ucx/component.h>
#include <ucx/config.h>

UCX_BEGIN_DECLS

typedef struct ucx_iface_ops ucx_iface_ops_t;
typedef struct ucx_ep_ops    ucx_ep_ops_t;

/** Who is called for one active message id. */
typedef struct ucx_am_slot {
    uct_am_callback_t cb;     /**< Never NULL: the core presets one that drops */
    void              *arg;
    uint64_t          flags;  /**< UCT_CB_FLAG_* */
} ucx_am_slot_t;

/**
 * The head of every interface; the plugin's state follows it. The plugin
 * allocates the whole and sets the head with ucx_iface_init().
 */
struct uct_iface {
    const ucx_iface_ops_t *ops;     /**< The core's complete table */
    const ucx_ep_ops_t    *ep_ops;  /**< Likewise, for its endpoints */
    uct_md_h              md;
    uct_worker_h          worker;
    void                  *host;    /**< The core's */
    void                  *reserved[3];
    ucx_am_slot_t         am[UCT_AM_ID_MAX];
};
typedef struct uct_iface uct_iface_t;

/**
 * The head of every endpoint: one load reaches the operations. The plugin
 * allocates the whole and sets the head with ucx_ep_init(), once: the core may
 * put a table of its own in front later, which counts and calls the plugin's, or
 * one that rejects sends of a cancelled endpoint.
 */
struct uct_ep {
    const ucx_ep_ops_t *ops;
    uct_iface_t        *iface;   /**< NULL for an endpoint of a connection
                                      manager */
};
typedef struct uct_ep uct_ep_t;

/** One device that a transport can use. */
typedef struct ucx_device_desc {
    char              name[UCT_DEVICE_NAME_MAX];
    uct_device_type_t type;
    ucs_sys_device_t  sys_dev;   /**< Or UCS_SYS_DEVICE_ID_UNKNOWN */
} ucx_device_desc_t;

/** What iface_open is given; valid during the call only. */
typedef struct ucx_iface_open_args {
    size_t                   size;
    uct_iface_t              head;    /**< For ucx_iface_init() */
    const uct_iface_params_t *params; /**< As the caller of uct_iface_open gave
                                           them; look at field_mask */
    const char               *dev_name; /**< The device, checked against
                                             query_devices */
    const void               *config; /**< Options, or NULL */
    double                   keepalive_interval; /**< Seconds between two checks
                                             of an idle peer, as the caller of
                                             uct_iface_open gave them; INFINITY:
                                             none, 0: not given. Since 1.1 */
} ucx_iface_open_args_t;

/** Seconds between two checks of an idle peer. A variable that the user set
 *  comes first, then the parameter of uct_iface_open, then the default.
 *  `option` is a UCX_CONFIG_TIME: negative for "auto". */
static inline double
ucx_iface_keepalive(const ucx_iface_open_args_t *args, double option,
                    double dflt)
{
    if (option >= 0) {
        return option;
    }
    return (UCX_TABLE_HAS(args, keepalive_interval) &&
            (args->keepalive_interval > 0)) ? args->keepalive_interval : dflt;
}

static inline void
ucx_iface_init(uct_iface_t *iface, const ucx_iface_open_args_t *args)
{
    *iface = args->head;
}

static inline void ucx_ep_init(uct_ep_t *ep, uct_iface_t *iface)
{
    ep->ops   = iface->ep_ops;
    ep->iface = iface;
}

/** Attributes beside those of the public query. */
typedef struct ucx_iface_attr {
    size_t           size;
    uct_iface_attr_t base;             /**< What uct_iface_query returns */
    uint64_t         flags;            /**< UCX_IFACE_FLAG_* */
    size_t           max_inflight_eps; /**< Endpoints that can be busy at once
                                            without loss; SIZE_MAX: any */
} ucx_iface_attr_t;

enum {
    /** The address of is_reachable may be one that a peer in another network
     *  namespace or container sent: reachability was really tested. */
    UCX_IFACE_FLAG_TESTED_REACHABILITY = 1u << 0,
    /** Endpoints notice a lost peer on their own, without ep_check. */
    UCX_IFACE_FLAG_DETECTS_FAILURE     = 1u << 1
};

/** Kinds of operation that iface_estimate tells the cost of. */
typedef enum {
    UCX_OP_AM_SHORT, UCX_OP_AM_BCOPY, UCX_OP_AM_ZCOPY,
    UCX_OP_PUT_SHORT, UCX_OP_PUT_BCOPY, UCX_OP_PUT_ZCOPY,
    UCX_OP_GET_SHORT, UCX_OP_GET_BCOPY, UCX_OP_GET_ZCOPY,
    UCX_OP_ATOMIC_POST, UCX_OP_ATOMIC_FETCH,
    UCX_OP_TAG_SHORT, UCX_OP_TAG_BCOPY, UCX_OP_TAG_ZCOPY
} ucx_op_t;

/** The question and the answer of iface_estimate. The core presets the answer
 *  from the public attributes; a transport changes what it knows better. */
typedef struct ucx_perf {
    size_t              size;
    /* in */
    ucx_op_t            op;
    ucs_memory_type_t   local_mem_type, remote_mem_type;
    ucs_sys_device_t    local_sys_dev, remote_sys_dev;
    uct_ep_h            ep;               /**< May be NULL */
    /* out */
    double              send_pre_overhead;  /**< s, before the data goes */
    double              send_post_overhead; /**< s, on completion */
    double              recv_overhead;      /**< s, at the receiver */
    uct_ppn_bandwidth_t bandwidth;          /**< bytes/s */
    ucs_linear_func_t   latency;            /**< s, by number of endpoints */
    double              stream_bandwidth;   /**< bytes/s of data that comes in
                                                 many messages, with what it takes
                                                 the ends to copy it in and out;
                                                 preset to 0: as `bandwidth` and
                                                 the processors allow */
} ucx_perf_t;

/** What is_reachable is asked. The bytes are foreign. */
typedef struct ucx_reachable_args {
    size_t                  size;
    const uct_device_addr_t *dev_addr;    /**< dev_addr_length bytes, or NULL */
    size_t                  dev_addr_length;
    const uct_iface_addr_t  *iface_addr;  /**< May be NULL */
    size_t                  iface_addr_length;
    char                    *reason;      /**< If not NULL: where to say why
                                               not, reason_size bytes */
    size_t                  reason_size;
} ucx_reachable_args_t;


/**
 * A transport: constant data of the plugin.
 *
 * A copier is a transport that copies within the process: between ordinary
 * memory and memory that the processor may not touch (a GPU's, say). The core
 * knows it by what it tells: its device is UCT_DEVICE_TYPE_ACC, its domain's
 * access_mem_types have the host's type and others, and it needs neither
 * registration nor remote keys. Its endpoints are created to the interface's own
 * address. Put writes to remote_addr, an address of this process; get reads from
 * there; either side may be memory of any of those types, rkey counts for
 * nothing. The core makes use of
 *   put_short, get_short   copied when it returns UCS_OK
 *   put_zcopy, get_zcopy   UCS_INPROGRESS: the completion comes from progress,
 *                          in any order; several are under way at a time
 * and there has to be one of the two for any length each way. It calls progress
 * while it waits for copies, enabled or not. What it copies from and to often it
 * registers first, where the domain registers host memory (to pin it).
 */
struct ucx_transport {
    size_t                   size;
    const char               *name;    /**< Shorter than UCT_TL_NAME_MAX */
    const ucx_config_table_t *config;  /**< Options of an interface, or NULL */

    /** Lists devices in an array from malloc() that the core frees; none is
     *  UCS_OK with *num_p = 0. */
    ucs_status_t (*query_devices)(uct_md_h md, ucx_device_desc_t **devices_p,
                                  unsigned *num_p);

    /** Opens an interface. Progress is off until progress_enable. */
    ucs_status_t (*iface_open)(uct_md_h md, const ucx_iface_open_args_t *args,
                               uct_iface_h *iface_p);
    const ucx_iface_ops_t *iface_ops;
    const ucx_ep_ops_t    *ep_ops;
};


/**
 * Operations of an interface. Required: close, query, ep_create, flush and, if
 * it can connect to interfaces, get_device_address, get_address,
 * is_reachable. For a slot that is NULL or beyond `size` the core answers
 * UCS_ERR_UNSUPPORTED; the defaults that differ stand at the slot.
 */
struct ucx_iface_ops {
    size_t size;

    /** Frees the interface; its endpoints are destroyed already. */
    void (*close)(uct_iface_h iface);

    /** Fills what attr->size covers; it comes zeroed. */
    ucs_status_t (*query)(uct_iface_h iface, ucx_iface_attr_t *attr);

    /** Refines a cost; default: what the core preset stands. */
    ucs_status_t (*estimate)(uct_iface_h iface, ucx_perf_t *perf);

    /** Write attr.device_addr_len / iface_addr_len bytes. */
    ucs_status_t (*get_device_address)(uct_iface_h iface,
                                       uct_device_addr_t *addr);
    ucs_status_t (*get_address)(uct_iface_h iface, uct_iface_addr_t *addr);

    /** Non-zero if a peer with these addresses can be talked to; of several
     *  addresses those with the larger number are nearer, and the better
     *  guess. May cost a few system calls, sends nothing. Default: 0. */
    int (*is_reachable)(uct_iface_h iface, const ucx_reachable_args_t *args);

    /** Creates an endpoint as uct_ep_create describes: connected when an
     *  address is given, to be connected by connect_to_ep otherwise. The
     *  connection itself may come up later; sends before that are accepted or
     *  refused with UCS_ERR_NO_RESOURCE and go through the pending queue. */
    ucs_status_t (*ep_create)(uct_iface_h iface, const uct_ep_params_t *params,
                              uct_ep_h *ep_p);

    /** One round of progress: a bounded amount of work, no system call when
     *  nobody talks through the interface if that can be helped. Returns the
     *  number of events. Default: 0. */
    unsigned (*progress)(uct_iface_h iface);
    /** Joins / leaves the worker's progress. `flags`: UCT_PROGRESS_*. The
     *  default adds `progress` to the worker and removes it; then the core may
     *  leave while nobody talks through the interface, and call `progress` now
     *  and then instead. Whoever does more here is polled always. */
    void (*progress_enable)(uct_iface_h iface, unsigned flags);
    void (*progress_disable)(uct_iface_h iface, unsigned flags);

    /** Everything sent on all endpoints so far has left (LOCAL) or arrived,
     *  as uct_iface_flush describes. UCS_INPROGRESS: `comp`, if given, is
     *  called later. */
    ucs_status_t (*flush)(uct_iface_h iface, unsigned flags,
                          uct_completion_t *comp);
    ucs_status_t (*fence)(uct_iface_h iface, unsigned flags);

    /** An fd that polls readable when progress would find something, after
     *  event_arm said UCS_OK. It stays the same until close. */
    ucs_status_t (*event_fd_get)(uct_iface_h iface, int *fd_p);
    /** `events`: UCT_EVENT_*. UCS_ERR_BUSY: there is something already, call
     *  progress first. No event between the last progress and UCS_OK is lost. */
    ucs_status_t (*event_arm)(uct_iface_h iface, unsigned events);

    /* Hardware tag matching */
    ucs_status_t (*tag_recv_zcopy)(uct_iface_h iface, uct_tag_t tag,
                                   uct_tag_t tag_mask, const uct_iov_t *iov,
                                   size_t iovcnt, uct_tag_context_t *ctx);
    ucs_status_t (*tag_recv_cancel)(uct_iface_h iface, uct_tag_context_t *ctx,
                                    int force);

    /** Old sockaddr interfaces: answer a connection request. */
    ucs_status_t (*accept)(uct_iface_h iface, uct_conn_request_h request);
    ucs_status_t (*reject)(uct_iface_h iface, uct_conn_request_h request);

    /** Shows messages to `tracer` as they go by; NULL stops it. */
    ucs_status_t (*set_am_tracer)(uct_iface_h iface, uct_am_tracer_t tracer,
                                  void *arg);

    /** Memory that is cheap for this interface; default: the domain's. */
    ucs_status_t (*mem_alloc)(uct_iface_h iface, size_t length, unsigned flags,
                              const char *name, uct_allocated_memory_t *mem);
    void (*mem_free)(uct_iface_h iface, const uct_allocated_memory_t *mem);
};


enum {
    /** am_bcopy: nobody is told yet that it is done, so that it may leave with
     *  the next progress or flush, together with its followers. Without it the
     *  message leaves at once, or from a callback before the progress returns
     *  that called it: the caller may never make progress again. Above the
     *  public UCT_SEND_FLAG_*. */
    UCX_SEND_FLAG_MORE = 1u << 16
};

/**
 * Operations of an endpoint, the most frequent first. Required: destroy.
 *
 * Each send answers
 *   UCS_OK              done; the buffers are the caller's again
 *   UCS_INPROGRESS      zcopy, get, fetch: `comp` is called when done.
 *                       am_short, am_short_iov and put_short: taken and copied,
 *                       but it leaves with the next progress or flush, together
 *                       with its followers. Whoever reports completion to a
 *                       user waits for that progress; others may take it as
 *                       UCS_OK.
 *   UCS_ERR_NO_RESOURCE nothing was taken; try again from the pending queue
 *   another error       nothing was taken
 * Sizes are within what the interface's query promised: the caller checks.
 * bcopy returns the number of bytes packed, or an error.
 */
struct ucx_ep_ops {
    size_t size;

    /* Active messages */
    ucs_status_t (*am_short)(uct_ep_h ep, uint8_t id, uint64_t header,
                             const void *payload, unsigned length);
    ssize_t (*am_bcopy)(uct_ep_h ep, uint8_t id, uct_pack_callback_t pack_cb,
                        void *arg, unsigned flags);
    ucs_status_t (*am_zcopy)(uct_ep_h ep, uint8_t id, const void *header,
                             unsigned header_length, const uct_iov_t *iov,
                             size_t iovcnt, unsigned flags,
                             uct_completion_t *comp);
    ucs_status_t (*am_short_iov)(uct_ep_h ep, uint8_t id, const uct_iov_t *iov,
                                 size_t iovcnt);

    /* Remote memory */
    ucs_status_t (*put_short)(uct_ep_h ep, const void *buffer, unsigned length,
                              uint64_t remote_addr, uct_rkey_t rkey);
    ssize_t (*put_bcopy)(uct_ep_h ep, uct_pack_callback_t pack_cb, void *arg,
                         uint64_t remote_addr, uct_rkey_t rkey);
    ucs_status_t (*put_zcopy)(uct_ep_h ep, const uct_iov_t *iov, size_t iovcnt,
                              uint64_t remote_addr, uct_rkey_t rkey,
                              uct_completion_t *comp);
    ucs_status_t (*get_short)(uct_ep_h ep, void *buffer, unsigned length,
                              uint64_t remote_addr, uct_rkey_t rkey);
    ucs_status_t (*get_bcopy)(uct_ep_h ep, uct_unpack_callback_t unpack_cb,
                              void *arg, size_t length, uint64_t remote_addr,
                              uct_rkey_t rkey, uct_completion_t *comp);
    ucs_status_t (*get_zcopy)(uct_ep_h ep, const uct_iov_t *iov, size_t iovcnt,
                              uint64_t remote_addr, uct_rkey_t rkey,
                              uct_completion_t *comp);

    /* Order, completion, waiting for resources */
    /** As uct_ep_flush; with UCT_FLUSH_FLAG_CANCEL everything outstanding
     *  completes with UCS_ERR_CANCELED. Unless that fails, the core rejects
     *  later sends of the endpoint by itself; only flush, pending_purge,
     *  invalidate, addresses and destroy are still called. */
    ucs_status_t (*flush)(uct_ep_h ep, unsigned flags, uct_completion_t *comp);
    ucs_status_t (*fence)(uct_ep_h ep, unsigned flags);
    /** Queues `req` until a send has a chance again; UCS_ERR_BUSY: it has one
     *  now. Its function is called from progress, never from inside a send.
     *  It answers UCS_OK (remove me) or an error (keep me, stop for now). */
    ucs_status_t (*pending_add)(uct_ep_h ep, uct_pending_req_t *req,
                                unsigned flags);
    /** Takes every queued request out and shows each to `cb`. */
    void (*pending_purge)(uct_ep_h ep, uct_pending_purge_callback_t cb,
                          void *arg);

    /* Atomics */
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

    /* Hardware tag matching */
    ucs_status_t (*tag_eager_short)(uct_ep_h ep, uct_tag_t tag,
                                    const void *data, size_t length);
    ssize_t (*tag_eager_bcopy)(uct_ep_h ep, uct_tag_t tag, uint64_t imm,
                               uct_pack_callback_t pack_cb, void *arg,
                               unsigned flags);
    ucs_status_t (*tag_eager_zcopy)(uct_ep_h ep, uct_tag_t tag, uint64_t imm,
                                    const uct_iov_t *iov, size_t iovcnt,
                                    unsigned flags, uct_completion_t *comp);
    ucs_status_ptr_t (*tag_rndv_zcopy)(uct_ep_h ep, uct_tag_t tag,
                                       const void *header,
                                       unsigned header_length,
                                       const uct_iov_t *iov, size_t iovcnt,
                                       unsigned flags, uct_completion_t *comp);
    ucs_status_t (*tag_rndv_cancel)(uct_ep_h ep, void *op);
    ucs_status_t (*tag_rndv_request)(uct_ep_h ep, uct_tag_t tag,
                                     const void *header,
                                     unsigned header_length, unsigned flags);

    /* Life */
    /** Frees the endpoint. The pending queue is purged and flushed, or cancelled,
     *  by the caller before; what has been accepted is still delivered if the
     *  connection lives. May be called from any callback of this endpoint. */
    void (*destroy)(uct_ep_h ep);
    /** Is the peer alive? UCS_OK, or UCS_INPROGRESS with `comp` later; a dead
     *  peer reaches the error handler. Must not cost a message where the
     *  transport notices by itself. */
    ucs_status_t (*check)(uct_ep_h ep, unsigned flags, uct_completion_t *comp);
    /** From now on the endpoint fails as if its peer were gone. */
    ucs_status_t (*invalidate)(uct_ep_h ep, unsigned flags);

    /* Connection */
    ucs_status_t (*get_address)(uct_ep_h ep, uct_ep_addr_t *addr);
    /** Joins this endpoint, which was created without an address, to the peer's
     *  of these addresses: foreign bytes of the lengths given. Both ends are
     *  told the other's. The core sends nothing by an end before it knows that
     *  both are connected; the peer may do so as soon as this call returns. */
    ucs_status_t (*connect_to_ep)(uct_ep_h ep, const uct_device_addr_t *dev_addr,
                                  size_t dev_addr_length,
                                  const uct_ep_addr_t *ep_addr,
                                  size_t ep_addr_length);
    /** Non-zero if the endpoint leads to the peer with these addresses. */
    int (*is_connected)(uct_ep_h ep, const uct_device_addr_t *dev_addr,
                        const uct_iface_addr_t *iface_addr,
                        const uct_ep_addr_t *ep_addr);
    /** The two ends of the connection, where there are such. */
    ucs_status_t (*query_sockaddrs)(uct_ep_h ep,
                                    struct sockaddr_storage *local,
                                    struct sockaddr_storage *remote);

    /* Endpoints of a connection manager only; see <ucx/cm.h> */
    ucs_status_t (*cm_connect)(uct_ep_h ep, const uct_ep_connect_params_t *params);
    ucs_status_t (*cm_conn_notify)(uct_ep_h ep);
    ucs_status_t (*cm_disconnect)(uct_ep_h ep, unsigned flags);
};

UCX_END_DECLS

#endif
