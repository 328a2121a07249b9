/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Copies, of cuda_copy and cuda_ipc: structures.
 *
 * A lane contains a device's stream and its resources. A copy is issued to the
 * lane as one or more steps; each step has a ticket. After the steps of an
 * operation the stream writes the last ticket to a word in host memory.
 * Progress polls this word instead of the driver, whose query takes 1.3 us.
 *
 * user's iov --> steps --> cuMemcpyAsync ... cuStreamWriteValue32(flag, ticket)
 *                  ^                                   |
 *                  '-- progress: flag >= ticket <------'
 *
 * Pageable host memory is copied through pinned bounce buffers: for a direct
 * copy the driver would block the caller.
 */
#ifndef CUDA_COPY_H
#define CUDA_COPY_H

#include "mapping.h"
#include "md.h"
#include "memory.h"

#include <ucx/pending.h>

enum {
    CUDA_MAX_IOV      = 4,
    CUDA_MAX_OPS      = 64,          /**< Operations in flight */
    CUDA_MAX_STEPS    = 256,         /**< Of a lane; a power of two */
    CUDA_MAX_SHORT    = 8 * 1024,
    CUDA_BOUNCE_SIZE  = 64 * 1024,   /**< Larger buffers are not faster */
    CUDA_BOUNCES      = 16,
    /** Polls of the flag without progress until the driver is queried for
     * errors */
    CUDA_CHECK_POLLS  = 1024,
    CUDA_NO_PROGRESS_ID = -1
};

typedef struct cuda_op cuda_op_t;

/** A copy that is issued to the stream. */
typedef struct cuda_step {
    cuda_op_t *op;
    uint32_t  ticket;
    char      *bounce;    /**< Its bounce buffer, or NULL */
    /** Destination of the bounce buffer's data, or NULL */
    char      *to;
    size_t    length;
} cuda_step_t;

/** A device's stream and its resources. */
typedef struct cuda_lane {
    int         device;
    int         is_open;
    CUcontext   context;
    /** Of this context: a reset of the device ends it, and creates another one
     * with the same handle. 0: not known */
    unsigned long long context_id;
    /** The calling thread had another context than this one */
    int         must_push;
    CUstream    stream;
    /** Bounce buffers, the one for short copies, flag */
    char        *memory;
    char        *short_bounce;
    uint32_t    *flag;
    CUdeviceptr flag_address;  /**< Device address */
    uint32_t    ticket;        /**< Of the last issued step */
    uint32_t    head, tail;    /**< Of the ring, as step counts */
    unsigned    polls;         /**< Without progress */
    unsigned    num_free;
    char        *free[CUDA_BOUNCES];
    cuda_step_t steps[CUDA_MAX_STEPS];
} cuda_lane_t;

/** An operation, or a flush (iovcnt 0), in the interface's list, oldest
 * first. */
struct cuda_op {
    cuda_op_t        *next, *prev;
    uct_ep_h         ep;
    uct_completion_t *comp;
    ucs_status_t     status;      /**< The first error */
    cuda_lane_t      *lane;
    cuda_mapping_t   *mapping;    /**< Of the peer's memory, or NULL */
    unsigned         steps;       /**< Issued and not complete */
    int              is_put;
    int              is_flush;
    int              is_issued;   /**< Completely */
    cuda_kind_t      there;       /**< Kind of the memory at `address` */
    uint64_t         address;     /**< Of the next byte */
    uct_iov_t        iov[CUDA_MAX_IOV];
    size_t           iovcnt;
    size_t           index;       /**< Of the next byte: entry, block, offset */
    unsigned         block;
    size_t           offset;
    /** Kind of the memory of the current entry */
    cuda_kind_t      here;
};

typedef struct cuda_copy_iface {
    uct_iface_t         super;
    cuda_md_t           *md;
    const ucx_host_t    *host;
    uint64_t            id;
    ucx_pending_queue_t pending;
    /** UCT_PROGRESS_SEND, RECV: as set by progress_enable */
    _Atomic unsigned    progress_flags;
    /** Of its callback in the worker's progress; CUDA_NO_PROGRESS_ID: none */
    int                 progress_id;
    /** Called after the context of a device was lost, unless NULL */
    void                (*lost)(struct cuda_copy_iface *iface, int device);
    cuda_op_t           *oldest, *newest;
    cuda_op_t           *free_ops;
    unsigned            num_waiting;    /**< Operations not completely issued */
    cuda_op_t           ops[CUDA_MAX_OPS];
    cuda_lane_t         *lanes[CUDA_MAX_DEVICES];
} cuda_copy_iface_t;

/** The memory at the remote address of an operation. */
typedef struct cuda_target {
    uint64_t       address;   /**< Valid in this process */
    cuda_memory_t  memory;
    cuda_mapping_t *mapping;  /**< If it belongs to another process */
} cuda_target_t;

/* --------------------------------------------------------- copy_lane.c -- */

/** Returns the lane of a device; opens it if necessary. */
CUresult cuda_lane_get(cuda_copy_iface_t *iface, int device,
                       cuda_lane_t **lane_p);
/** Waits for outstanding steps and releases all resources. */
void cuda_lane_free(cuda_copy_iface_t *iface, cuda_lane_t *lane);

/** Makes the lane's context current until cuda_leave().
 * CUDA_ERROR_CONTEXT_IS_DESTROYED: the device was reset, and the lane's stream is
 * gone. */
CUresult cuda_lane_enter(cuda_lane_t *lane, cuda_scope_t *scope);

/** The same to start a copy: after a reset of the device, completes what is under
 * way with an error and opens the lane again. */
CUresult cuda_lane_start(cuda_copy_iface_t *iface, cuda_lane_t *lane,
                         cuda_scope_t *scope);

/** Issues the copy of a step. The caller has filled in the step; the lane's
 * context is current. */
CUresult cuda_lane_copy(cuda_lane_t *lane, uint64_t to, uint64_t from,
                        size_t length);
/** Issues the write of the last ticket, after all issued steps. */
CUresult cuda_lane_signal(cuda_lane_t *lane);

static inline int cuda_lane_reached(const cuda_lane_t *lane, uint32_t ticket)
{
    return (int32_t)(__atomic_load_n(lane->flag, __ATOMIC_ACQUIRE) - ticket) >=
           0;
}

/** Queries the driver for a failure of the stream. */
CUresult cuda_lane_check(cuda_lane_t *lane);

/** Closes the lane after a failure of its context: no step is outstanding any
 * more. The next use opens the lane again. */
void cuda_lane_fail(cuda_copy_iface_t *iface, cuda_lane_t *lane,
                    CUresult result);

/* --------------------------------------------- copy_op.c, copy_short.c -- */

/** Selects the lane for a copy: that of the destination's device, or of the
 * source's if the destination is host memory. */
CUresult cuda_copy_lane(cuda_copy_iface_t *iface,
                        const cuda_memory_t *to_memory,
                        const cuda_memory_t *from_memory,
                        cuda_lane_t **lane_p);

/** Moves *iov_p to the first entry that has bytes; returns the number of
 * entries from there on. */
size_t cuda_copy_skip_empty(const uct_iov_t **iov_p, size_t iovcnt);

/** Starts a copy between `iov`, whose first entry has bytes, and the target. The
 * interface has a free operation. */
ucs_status_t cuda_copy_post(uct_ep_h ep, const uct_iov_t *iov, size_t iovcnt,
                            const cuda_target_t *target, int is_put,
                            uct_completion_t *comp);

ucs_status_t cuda_copy_put_zcopy(uct_ep_h ep, const uct_iov_t *iov,
                                 size_t iovcnt, uint64_t address,
                                 uct_rkey_t rkey, uct_completion_t *comp);
ucs_status_t cuda_copy_get_zcopy(uct_ep_h ep, const uct_iov_t *iov,
                                 size_t iovcnt, uint64_t address,
                                 uct_rkey_t rkey, uct_completion_t *comp);
ucs_status_t cuda_copy_put_short(uct_ep_h ep, const void *buffer,
                                 unsigned length, uint64_t address,
                                 uct_rkey_t rkey);
ucs_status_t cuda_copy_get_short(uct_ep_h ep, void *buffer, unsigned length,
                                 uint64_t address, uct_rkey_t rkey);

/** Flushes one endpoint, or the whole interface if `ep` is NULL. */
ucs_status_t cuda_copy_flush(cuda_copy_iface_t *iface, uct_ep_h ep,
                             unsigned flags, uct_completion_t *comp);

unsigned cuda_copy_progress(uct_iface_h iface);

static inline int cuda_copy_is_idle(const cuda_copy_iface_t *iface)
{
    return (iface->oldest == NULL) && ucx_pending_is_empty(&iface->pending);
}

/* -------------------------------------------------------- copy_iface.c -- */

/** Prepares an interface, whose memory is zeroed; the caller initializes
 * `super`. */
void cuda_copy_iface_init(cuda_copy_iface_t *iface, uct_md_h md);
/** Waits for all operations and releases the lanes. */
void cuda_copy_iface_cleanup(cuda_copy_iface_t *iface);

/** The slots. The worker polls the interface while it is enabled and has
 * operations or pending requests, so that an idle one costs host messages
 * nothing. */
void cuda_progress_enable(uct_iface_h iface, unsigned flags);
void cuda_progress_disable(uct_iface_h iface, unsigned flags);

/** Has the worker poll the interface, if enabled, for an operation that is about
 * to start. UCS_ERR_NO_MEMORY: not possible. */
ucs_status_t cuda_poll_start(cuda_copy_iface_t *iface);
/** The interface is idle: the worker polls it no more. */
void cuda_poll_stop(cuda_copy_iface_t *iface);

/** The one device of both transports: the driver's. */
ucs_status_t cuda_query_devices(uct_md_h md, ucx_device_desc_t **devices_p,
                                unsigned *num_p);

ucs_status_t cuda_pending_add(uct_ep_h ep, uct_pending_req_t *request,
                              unsigned flags);
void cuda_pending_purge(uct_ep_h ep, uct_pending_purge_callback_t callback,
                        void *arg);
ucs_status_t cuda_iface_flush(uct_iface_h iface, unsigned flags,
                              uct_completion_t *comp);
ucs_status_t cuda_ep_flush(uct_ep_h ep, unsigned flags,
                           uct_completion_t *comp);

/** Waits for all operations before the interface is closed. */
void cuda_copy_finish(cuda_copy_iface_t *iface);

#endif
