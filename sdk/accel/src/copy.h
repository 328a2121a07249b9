/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Copies on a device's queue, which the copy transport (copy_iface.c) and the
 * IPC transport (ipc_iface.c) share.
 *
 * An operation (accel_op_t) is one put_zcopy or get_zcopy. It consists of one
 * or more steps (accel_step_t); each step is one copy of the queue. A lane
 * (accel_lane_t) contains the queue of one device and its resources. Each copy,
 * also that of a short operation, has a ticket: the number of the copy in the
 * lane, from 1 since the queue was opened. After the steps of an operation, the
 * queue writes the last ticket to a word in host memory, the flag. Progress
 * polls the flag instead of the accelerator's driver (accel_driver), whose
 * query is slow (1.3 us for CUDA).
 *
 * user's iov --> steps --> queue_copy() ... queue_signal(ticket)
 *                  ^                             |
 *                  '-- progress: flag >= ticket <'
 *
 * A small copy that is posted while the queue is busy is gathered: it becomes a
 * step, but is not issued to the queue yet. The gathered steps are the newest
 * ones of the lane. They are issued together, with one write of the flag: when
 * all issued steps are complete, or before another step is issued. A driver
 * with queue_copy_batch() gets them in one call.
 *
 * Pageable host memory is copied through pinned bounce buffers, because a
 * driver would block the caller in a direct copy from or to pageable memory.
 */
#ifndef ACCEL_COPY_H
#define ACCEL_COPY_H

#include "mapping.h"
#include "md.h"

#include <ucx/count.h>
#include <ucx/pending.h>

enum {
    ACCEL_MAX_IOV       = 4,   /**< Maximum entries of the user's iov */
    ACCEL_MAX_OPS       = 64,  /**< Maximum number of operations in flight of
                                *   an interface */
    ACCEL_MAX_STEPS     = 256, /**< Maximum number of steps in flight of a
                                *   lane; a power of two */
    ACCEL_MAX_SHORT     = 8 * 1024, /**< Maximum bytes of a short operation */
    /** Maximum bytes of a gathered copy. Starting a larger copy takes the
     * driver less time than the copy takes the device, so gathering does not
     * help */
    ACCEL_MAX_GATHERED  = 16 * 1024,
    ACCEL_BOUNCE_SIZE   = 64 * 1024, /**< Bytes of a large bounce buffer; larger
                                      *   ones are not faster */
    ACCEL_BOUNCES       = 16, /**< Number of large bounce buffers of a lane */
    /** Bytes and number of the small bounce buffers of a lane, for small
     * copies, many of which may be in flight */
    ACCEL_SMALL_BOUNCE  = 4 * 1024,
    ACCEL_SMALL_BOUNCES = ACCEL_MAX_BATCH,
    /** Number of polls of the flag without a completed step after which the
     * driver is queried for errors */
    ACCEL_CHECK_POLLS   = 1024,
    ACCEL_NO_PROGRESS_ID = -1, /**< accel_copy_iface_t.progress_id without a
                                *   callback */
};

typedef struct accel_op accel_op_t;

/** A part of an operation: one copy of the queue, issued or gathered. */
typedef struct accel_step {
    accel_op_t *op;
    uint32_t ticket; /**< The step is complete when the flag has reached this */
    char *bounce;    /**< Bounce buffer of the step, or NULL */
    /** Address to which the processor copies the data of the bounce buffer
     * after the step, or NULL */
    char *to;
    size_t length; /**< Bytes */
} accel_step_t;

/** A device's queue and its resources. */
typedef struct accel_lane {
    int device;         /**< Ordinal of the device */
    int is_open;        /**< `queue` is open */
    unsigned num_opens; /**< Number of times that the queue was opened: more
                         *   than one after a failure */
    accel_queue_t *queue;
    /** Memory of the bounce buffers, of short_bounce, and of the flag */
    char *memory;
    char *short_bounce;  /**< The buffer for short operations */
    uint32_t *flag;      /**< Word to which the queue writes tickets */
    uint32_t ticket;     /**< Ticket of the last copy, issued or gathered */
    uint32_t head, tail; /**< Number of steps that have ended, and number of all
                          *   steps so far. Step n is at index n %
                          *   ACCEL_MAX_STEPS */
    unsigned polls;      /**< Number of polls of the flag since a step was
                          *   completed, or since the flag was last signaled */
    /** Numbers of free bounce buffers in `free` and in `free_small` */
    unsigned num_free, num_free_small;
    char *free[ACCEL_BOUNCES];             /**< Free large bounce buffers */
    char *free_small[ACCEL_SMALL_BOUNCES]; /**< Free small bounce buffers */
    accel_step_t steps[ACCEL_MAX_STEPS];
    accel_batch_t gathered; /**< Copies of the newest steps, which are not
                             *   issued yet */
} accel_lane_t;

/** An operation, or a flush (is_flush), in the interface's list, oldest first.
 * "Remote" memory is the memory at the remote address of the put or get, even
 * if it belongs to this process. A flush has no lane, mapping or steps. */
struct accel_op {
    accel_op_t *next, *prev;
    /** Only compared, because the user may have destroyed it. NULL: a flush of
     * the whole interface */
    uct_ep_h ep;
    uct_completion_t *comp;
    ucs_status_t status; /**< UCS_OK, or the first error */
    accel_lane_t *lane;
    accel_mapping_t *mapping; /**< Mapping of the peer's memory, or NULL */
    unsigned steps;           /**< Number of steps that are issued or gathered,
                               *   and not complete */
    int is_put;               /**< Non-zero: from `iov` to `address` */
    int is_flush;             /**< A flush: has no steps */
    int is_issued;            /**< No step is left to issue or to gather: all
                               *   steps were, or the operation was stopped */
    accel_kind_t there;       /**< Kind of the remote memory */
    uint64_t address;         /**< Remote address of the next byte to copy */
    uct_iov_t iov[ACCEL_MAX_IOV]; /**< Local memory */
    size_t iovcnt;
    /** Position in `iov` of the next byte to copy: entry, block of the entry,
     * offset in the block */
    size_t index;
    unsigned block;
    size_t offset;
    /** Kind of the local memory of the entry at `index` */
    accel_kind_t here;
};

/** An interface of the copy transport, and the first member of an interface of
 * the IPC transport. */
typedef struct accel_copy_iface {
    uct_iface_t super;
    accel_md_t *md;
    const ucx_host_t *host;
    /** The interface's address in the copy transport: unique in the PID
     *  namespace. The IPC transport does not use it */
    uint64_t id;
    ucx_pending_queue_t pending; /**< Pending requests of all endpoints */
    /** UCT_PROGRESS_SEND and UCT_PROGRESS_RECV, as set by progress_enable */
    _Atomic unsigned progress_flags;
    /** Id of the callback in the worker's progress; ACCEL_NO_PROGRESS_ID: no
     *  callback */
    int progress_id;
    /** Set by the IPC transport, otherwise NULL. Called after a lane of the
     * device has failed; `is_reset`: because its context was reset */
    void (*lost)(struct accel_copy_iface *iface, int device, int is_reset);
    accel_op_t *oldest, *newest; /**< List of the operations in flight */
    accel_op_t *free_ops;        /**< List of the operations not in flight */
    unsigned num_waiting; /**< Number of operations in flight without is_issued,
                           *   which wait for space in their lane */
    accel_op_t ops[ACCEL_MAX_OPS];
    /** By device; NULL: not used yet */
    accel_lane_t *lanes[ACCEL_MAX_DEVICES];
} accel_copy_iface_t;

/** The memory at the remote address of an operation that is to be started. */
typedef struct accel_target {
    uint64_t address; /**< Address that is valid in this process */
    accel_memory_t memory;
    accel_mapping_t *mapping; /**< Mapping of the memory, if it belongs to
                               *   another process; else NULL */
} accel_target_t;

/* --------------------------------------------------------- copy_lane.c -- */

/** Returns the lane of a device; opens it if necessary. */
int accel_lane_get(accel_copy_iface_t *iface, int device,
                   accel_lane_t **lane_p);
/** Waits for outstanding steps and frees the lane. */
void accel_lane_free(accel_lane_t *lane);

/** Takes a bounce buffer for `length` bytes; NULL: none is free. */
char *accel_lane_take_bounce(accel_lane_t *lane, size_t length);
void accel_lane_put_bounce(accel_lane_t *lane, char *bounce);
int accel_lane_has_bounce(const accel_lane_t *lane, size_t length);

/** Issues a copy, which gets the next ticket. The caller has entered the lane's
 * context. */
int accel_lane_copy(accel_lane_t *lane, uint64_t to, uint64_t from,
                    size_t length);
/** Makes the queue write the last issued ticket to the flag after all issued
 * copies. */
int accel_lane_signal(accel_lane_t *lane);

/** Returns whether the queue has written this ticket or a later one. */
static inline int accel_lane_reached(const accel_lane_t *lane, uint32_t ticket)
{
    return (int32_t)(__atomic_load_n(lane->flag, __ATOMIC_ACQUIRE) - ticket) >=
           0;
}

/** Returns whether a new copy of this length is to be gathered instead of being
 * issued. */
static inline int accel_lane_gathers(const accel_lane_t *lane, size_t length)
{
    return (lane->head != lane->tail) && (length <= ACCEL_MAX_GATHERED) &&
           (lane->gathered.count < ACCEL_MAX_BATCH);
}
/** Gathers a copy, which gets the next ticket. UCS_ERR_BUSY: the copy and a
 * gathered one access the same memory, and at least one of the two writes it.
 * They must not be in one batch, whose copies have no order. */
int accel_lane_gather(accel_lane_t *lane, uint64_t to, uint64_t from,
                      size_t length);
/** Issues the gathered copies, if there are any, and the write of their last
 * ticket. The caller has entered the lane's context. If the driver rejects a
 * copy, the error is stored in the status of the copy's operation. */
void accel_lane_issue_gathered(accel_lane_t *lane);

/** Queries the driver for a failure of the queue. Also signals the flag again
 * if an earlier write of the flag has failed. */
int accel_lane_check(accel_lane_t *lane);

/** Closes the lane after its context has failed. No step may be outstanding.
 * The next use opens the lane again. */
void accel_lane_fail(accel_copy_iface_t *iface, accel_lane_t *lane, int result);

/* ------------------------------------------------------------- copy_op.c -- */

/** Takes a free operation and makes it the newest. The caller has checked that
 *  there is a free operation. */
accel_op_t *accel_op_take(accel_copy_iface_t *iface);
/** Frees an operation without completing it. */
void accel_op_put(accel_copy_iface_t *iface, accel_op_t *op);
/** Frees an operation and completes it with its status. */
void accel_op_complete(accel_copy_iface_t *iface, accel_op_t *op);

/** Determines the kind and the device of an entry's memory. The driver is not
 * queried about memory that a registration (iov->memh) has pinned. */
int accel_op_find(const uct_iov_t *iov, accel_memory_t *memory);

/** Issues as many steps of an operation as the lane has space for. The caller
 * has entered the lane's context; this function leaves it. */
int accel_op_issue(accel_op_t *op, accel_scope_t *scope);

/** Gathers the only step of an operation. Returns zero if the operation has
 * several steps, the lane has no space for the step, or accel_lane_gather()
 * rejects it. */
int accel_op_gather(accel_op_t *op);

/** Stops an operation with an error: no further steps are made, and it
 *  completes after the steps that are issued or gathered. */
void accel_op_stop(accel_copy_iface_t *iface, accel_op_t *op,
                   ucs_status_t status);

/* ----------------------------------------------------------- copy_post.c -- */

/** Selects the lane for a copy: the lane of the destination's device or, if the
 * destination is host memory, of the source's device. */
int accel_copy_lane(accel_copy_iface_t *iface, const accel_memory_t *to_memory,
                    const accel_memory_t *from_memory, accel_lane_t **lane_p);

/** Moves *iov_p to the first entry that is not empty; returns the number of
 * entries from there on. */
size_t accel_copy_skip_empty(const uct_iov_t **iov_p, size_t iovcnt);

/** Starts a copy between `iov`, whose first entry is not empty, and the target.
 * The caller has checked that the interface has a free operation. */
ucs_status_t accel_copy_post(uct_ep_h ep, const uct_iov_t *iov, size_t iovcnt,
                             const accel_target_t *target, int is_put,
                             uct_completion_t *comp);

ucs_status_t accel_copy_put_zcopy(uct_ep_h ep, const uct_iov_t *iov,
                                  size_t iovcnt, uint64_t address,
                                  uct_rkey_t rkey, uct_completion_t *comp);
ucs_status_t accel_copy_get_zcopy(uct_ep_h ep, const uct_iov_t *iov,
                                  size_t iovcnt, uint64_t address,
                                  uct_rkey_t rkey, uct_completion_t *comp);
/* ---------------------------------------------------------- copy_short.c -- */

/** Lets the processor copy, if it can access the device's memory and is faster
 * than a queue (touch_limit() of the driver). Returns whether it has copied. */
int accel_copy_touch(void *buffer, void *remote, const accel_memory_t *memory,
                     size_t length, int is_put);

ucs_status_t accel_copy_put_short(uct_ep_h ep, const void *buffer,
                                  unsigned length, uint64_t address,
                                  uct_rkey_t rkey);
ucs_status_t accel_copy_get_short(uct_ep_h ep, void *buffer, unsigned length,
                                  uint64_t address, uct_rkey_t rkey);

/* ------------------------------------------------------- copy_progress.c -- */

/** Enters the context of the lane to start a copy, and issues the gathered
 * copies. If the device was reset, ends the operations in flight of the lane
 * with an error and opens the lane again. */
int accel_lane_start(accel_copy_iface_t *iface, accel_lane_t *lane,
                     accel_scope_t *scope);

/** Flushes one endpoint, or the whole interface if `ep` is NULL. */
ucs_status_t accel_copy_flush(accel_copy_iface_t *iface, uct_ep_h ep,
                              unsigned flags, uct_completion_t *comp);

unsigned accel_copy_progress(uct_iface_h iface);

/** Waits for all operations before the interface is closed. */
void accel_copy_finish(accel_copy_iface_t *iface);

static inline int accel_copy_is_idle(const accel_copy_iface_t *iface)
{
    return (iface->oldest == NULL) && ucx_pending_is_empty(&iface->pending);
}

/* -------------------------------------------------------- copy_iface.c -- */

/** Initializes the members of a zeroed interface, except `super`. */
void accel_copy_iface_init(accel_copy_iface_t *iface, uct_md_h md);
/** Waits for all operations and releases the lanes. */
void accel_copy_iface_cleanup(accel_copy_iface_t *iface);

/** The slots progress_enable and progress_disable. The worker polls an
 * interface only while progress is enabled and the interface has operations or
 * pending requests. Thus an idle interface does not slow down messages of
 * other transports. */
void accel_progress_enable(uct_iface_h iface, unsigned flags);
void accel_progress_disable(uct_iface_h iface, unsigned flags);

/** Makes the worker poll the interface, if progress is enabled, because an
 * operation is about to start. UCS_ERR_NO_MEMORY: the callback could not be
 * added. */
ucs_status_t accel_poll_start(accel_copy_iface_t *iface);
/** Makes the worker stop polling the interface, because it is idle. */
void accel_poll_stop(accel_copy_iface_t *iface);

/** Lists the UCT devices of both transports: one, which represents all devices
 * of the driver. */
ucs_status_t accel_query_devices(uct_md_h md, ucx_device_desc_t **devices_p,
                                 unsigned *num_p);

ucs_status_t accel_pending_add(uct_ep_h ep, uct_pending_req_t *request,
                               unsigned flags);
void accel_pending_purge(uct_ep_h ep, uct_pending_purge_callback_t callback,
                         void *arg);
ucs_status_t accel_iface_flush(uct_iface_h iface, unsigned flags,
                               uct_completion_t *comp);
ucs_status_t accel_ep_flush(uct_ep_h ep, unsigned flags,
                            uct_completion_t *comp);

#endif
