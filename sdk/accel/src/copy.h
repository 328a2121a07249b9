/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Structures of the copies of accel_copy and accel_ipc.
 *
 * A lane contains a device's queue and its resources. A copy is issued to the
 * lane as one or more steps; each step has a ticket: the number of the step,
 * counted from 1 since the queue was opened. After the steps of an operation
 * the queue writes the last ticket to a word in host memory. Progress polls
 * this word instead of the driver, whose query is slow (1.3 us for CUDA).
 *
 * user's iov --> steps --> queue_copy() ... queue_signal(ticket)
 *                  ^                             |
 *                  '-- progress: flag >= ticket <'
 *
 * Small copies that are posted while the queue is busy are gathered: their
 * steps are the last ones of the ring, and are not issued yet. When the issued
 * steps are complete, or before anything else is issued, they are issued in one
 * call of the driver, with one flag.
 *
 * Pageable host memory is copied through pinned bounce buffers: in a direct
 * copy from pageable memory, a driver would block the caller.
 */
#ifndef ACCEL_COPY_H
#define ACCEL_COPY_H

#include "mapping.h"
#include "md.h"

#include <ucx/count.h>
#include <ucx/pending.h>

enum {
    ACCEL_MAX_IOV        = 4,
    ACCEL_MAX_OPS        = 64,  /**< Maximum number of operations in flight */
    ACCEL_MAX_STEPS      = 256, /**< Maximum number of steps of a lane; a power
                                 *   of two */
    ACCEL_MAX_SHORT      = 8 * 1024,
    /** Larger copies are not gathered: the device takes longer for such a copy
     * than the driver takes to start it */
    ACCEL_MAX_GATHERED   = 16 * 1024,
    ACCEL_BOUNCE_SIZE    = 64 * 1024, /**< Larger buffers are not faster */
    ACCEL_BOUNCES        = 16,
    /** Size and number of the bounce buffers for small copies, many of which
     * may be in flight */
    ACCEL_SMALL_BOUNCE   = 4 * 1024,
    ACCEL_SMALL_BOUNCES  = ACCEL_MAX_BATCH,
    /** Polls of the flag without progress until the driver is queried for
     * errors */
    ACCEL_CHECK_POLLS    = 1024,
    ACCEL_NO_PROGRESS_ID = -1,
};

typedef struct accel_op accel_op_t;

/** A part of an operation: one copy of the queue, issued or gathered. */
typedef struct accel_step {
    accel_op_t *op;
    uint32_t ticket;
    char *bounce; /**< Bounce buffer of the step, or NULL */
    /** Destination of the bounce buffer's data, or NULL */
    char *to;
    size_t length;
} accel_step_t;

/** A device's queue and its resources. */
typedef struct accel_lane {
    int device;
    int is_open;
    unsigned num_opens; /**< Number of times that the queue was opened: more
                         *   than one after a failure */
    accel_queue_t *queue;
    /** Memory of the bounce buffers, of the buffer for short copies, and of the
     *  flag */
    char *memory;
    char *short_bounce;
    uint32_t *flag;
    uint32_t ticket;     /**< Ticket of the last step */
    uint32_t head, tail; /**< Number of steps that have ended, and number of all
                          *   steps so far. Step n is at index n %
                          *   ACCEL_MAX_STEPS */
    unsigned polls;      /**< Polls of the flag without progress */
    unsigned num_free, num_free_small;
    char *free[ACCEL_BOUNCES]; /**< Free bounce buffers */
    char *free_small[ACCEL_SMALL_BOUNCES];
    accel_step_t steps[ACCEL_MAX_STEPS];
    accel_batch_t gathered; /**< Copies of the newest steps, which are not
                             *   issued yet */
} accel_lane_t;

/** An operation, or a flush (is_flush), in the interface's list, oldest
 * first. */
struct accel_op {
    accel_op_t *next, *prev;
    uct_ep_h ep;
    uct_completion_t *comp;
    ucs_status_t status; /**< The first error */
    accel_lane_t *lane;
    accel_mapping_t *mapping; /**< Mapping of the peer's memory, or NULL */
    unsigned steps;           /**< Number of steps that are issued or gathered,
                               *   and not complete */
    int is_put;
    int is_flush;
    int is_issued;      /**< No step is left to issue */
    accel_kind_t there; /**< Kind of the memory at `address` */
    uint64_t address;   /**< Remote address of the next byte */
    uct_iov_t iov[ACCEL_MAX_IOV];
    size_t iovcnt;
    size_t index; /**< Position of the next byte to copy: entry of `iov`, block
                   *   of the entry, offset in the block */
    unsigned block;
    size_t offset;
    /** Kind of the memory of the entry at `index` */
    accel_kind_t here;
};

typedef struct accel_copy_iface {
    uct_iface_t super;
    accel_md_t *md;
    const ucx_host_t *host;
    uint64_t id;
    ucx_pending_queue_t pending;
    /** UCT_PROGRESS_SEND and UCT_PROGRESS_RECV, as set by progress_enable */
    _Atomic unsigned progress_flags;
    /** Id of the callback in the worker's progress; ACCEL_NO_PROGRESS_ID: no
     *  callback */
    int progress_id;
    /** If not NULL, it is called after the context of a device was lost */
    void (*lost)(struct accel_copy_iface *iface, int device);
    accel_op_t *oldest, *newest;
    accel_op_t *free_ops;
    unsigned num_waiting; /**< Number of operations that have steps which are
                           *   not issued yet */
    accel_op_t ops[ACCEL_MAX_OPS];
    accel_lane_t *lanes[ACCEL_MAX_DEVICES];
} accel_copy_iface_t;

/** The memory at the remote address of an operation. */
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
/** Waits for outstanding steps and releases all resources. */
void accel_lane_free(accel_lane_t *lane);

/** Takes a bounce buffer for `length` bytes; NULL: none is free. */
char *accel_lane_take_bounce(accel_lane_t *lane, size_t length);
void accel_lane_put_bounce(accel_lane_t *lane, char *bounce);
int accel_lane_has_bounce(const accel_lane_t *lane, size_t length);

/** Issues a copy, which gets the next ticket. The lane's context is current. */
int accel_lane_copy(accel_lane_t *lane, uint64_t to, uint64_t from,
                    size_t length);
/** Makes the queue write the last issued ticket to the flag after all issued
 * steps. */
int accel_lane_signal(accel_lane_t *lane);

static inline int accel_lane_reached(const accel_lane_t *lane, uint32_t ticket)
{
    return (int32_t)(__atomic_load_n(lane->flag, __ATOMIC_ACQUIRE) - ticket) >=
           0;
}

/** True if a copy of this length is gathered now instead of being issued. */
static inline int accel_lane_gathers(const accel_lane_t *lane, size_t length)
{
    return (lane->head != lane->tail) && (length <= ACCEL_MAX_GATHERED) &&
           (lane->gathered.count < ACCEL_MAX_BATCH);
}
/** Adds a copy to the gathered ones. UCS_ERR_BUSY: the copy and a gathered one
 * access the same memory, and at least one of the two writes it. They would
 * have no order. */
int accel_lane_gather(accel_lane_t *lane, uint64_t to, uint64_t from,
                      size_t length);
/** Issues the gathered copies, if there are any, and the write of their last
 * ticket. The lane's context is current. If the driver rejects a copy, its
 * operation gets the error as status. */
void accel_lane_issue_gathered(accel_lane_t *lane);

/** Queries the driver for a failure of the queue. */
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

/** Determines the kind of an entry's memory. The driver is not queried about
 * memory that a registration has pinned. */
int accel_op_find(const uct_iov_t *iov, accel_memory_t *memory);

/** Issues as many steps of an operation as the lane has space for. The caller
 * has entered the lane's context; this function leaves it. */
int accel_op_issue(accel_op_t *op, accel_scope_t *scope);

/** Gathers the only step of an operation. Returns zero if the operation has
 * several steps, the lane has no space for the step, or accel_lane_gather()
 * rejects it. */
int accel_op_gather(accel_op_t *op);

/** Stops an operation: issues no more steps; it completes after the issued
 *  steps. */
void accel_op_stop(accel_copy_iface_t *iface, accel_op_t *op,
                   ucs_status_t status);

/* ----------------------------------------------------------- copy_post.c -- */

/** Selects the lane for a copy: that of the destination's device, or of the
 * source's if the destination is host memory. */
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

/** Copies by the processor, if it can access the device's memory and is faster
 * than a queue. Returns whether it has copied. */
int accel_copy_touch(void *buffer, void *remote, const accel_memory_t *memory,
                     size_t length, int is_put);

ucs_status_t accel_copy_put_short(uct_ep_h ep, const void *buffer,
                                  unsigned length, uint64_t address,
                                  uct_rkey_t rkey);
ucs_status_t accel_copy_get_short(uct_ep_h ep, void *buffer, unsigned length,
                                  uint64_t address, uct_rkey_t rkey);

/* ------------------------------------------------------- copy_progress.c -- */

/** Enters the context of the lane to start a copy, and issues the gathered
 * copies. After a reset of the device, completes operations in flight with an
 * error and opens the lane again. */
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

/** Prepares an interface, whose memory is zeroed; the caller initializes
 * `super`. */
void accel_copy_iface_init(accel_copy_iface_t *iface, uct_md_h md);
/** Waits for all operations and releases the lanes. */
void accel_copy_iface_cleanup(accel_copy_iface_t *iface);

/** Slots of an interface. The worker polls the interface only while progress is
 * enabled and it has operations or pending requests, so that an idle interface
 * does not slow down host messages. */
void accel_progress_enable(uct_iface_h iface, unsigned flags);
void accel_progress_disable(uct_iface_h iface, unsigned flags);

/** Makes the worker poll the interface, if progress is enabled, because an
 * operation is about to start. UCS_ERR_NO_MEMORY: the callback could not be
 * added. */
ucs_status_t accel_poll_start(accel_copy_iface_t *iface);
/** Makes the worker stop polling the interface, because it is idle. */
void accel_poll_stop(accel_copy_iface_t *iface);

/** Lists the one device of both transports, which represents the driver. */
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
