/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cuda_copy: structures.
 *
 * A lane is a device's stream with what belongs to it. A copy is issued to the
 * lane as one step or more; each step has a ticket. Behind the steps of an
 * operation the stream writes the last ticket into a word of host memory, so that
 * progress polls memory, and not the driver (1.3 us a query).
 *
 *   user's iov --> steps --> cuMemcpyAsync ... cuStreamWriteValue32(flag, ticket)
 *                    ^                                   |
 *                    '-- progress: flag >= ticket <------'
 *
 * Pageable host memory goes through pinned bounce buffers: the driver would make
 * the caller wait for it.
 */
#ifndef CUDA_COPY_H
#define CUDA_COPY_H

#include "md.h"
#include "memory.h"

#include <ucx/pending.h>

enum {
    CUDA_MAX_IOV      = 4,
    CUDA_MAX_OPS      = 64,          /**< Operations under way */
    CUDA_MAX_STEPS    = 256,         /**< Of a lane; a power of two */
    CUDA_MAX_SHORT    = 8 * 1024,
    CUDA_BOUNCE_SIZE  = 64 * 1024,   /**< Larger ones are no faster */
    CUDA_BOUNCES      = 16,
    CUDA_CHECK_POLLS  = 1024         /**< Fruitless polls of the flag after which
                                          the driver is asked for errors */
};

typedef struct cuda_op cuda_op_t;

/** A copy that the stream carries out. */
typedef struct cuda_step {
    cuda_op_t *op;
    uint32_t  ticket;
    char      *bounce;    /**< Its bounce buffer, or NULL */
    char      *to;        /**< Where its bytes go from the bounce buffer, or NULL */
    size_t    length;
} cuda_step_t;

/** A device's stream. */
typedef struct cuda_lane {
    int         device;
    int         is_open;
    CUcontext   context;
    CUstream    stream;
    char        *memory;       /**< Bounce buffers, that of short copies, flag */
    char        *short_bounce;
    uint32_t    *flag;
    CUdeviceptr flag_address;  /**< For the device */
    uint32_t    ticket;        /**< The last one that was issued */
    uint32_t    head, tail;    /**< Of the ring: count steps */
    unsigned    polls;         /**< Fruitless ones */
    unsigned    num_free;
    char        *free[CUDA_BOUNCES];
    cuda_step_t steps[CUDA_MAX_STEPS];
} cuda_lane_t;

/** An operation, or a flush (iovcnt 0), in the interface's list by age. */
struct cuda_op {
    cuda_op_t        *next, *prev;
    uct_ep_h         ep;
    uct_completion_t *comp;
    ucs_status_t     status;      /**< The first error */
    cuda_lane_t      *lane;
    unsigned         steps;       /**< Issued and not over */
    int              is_put;
    int              is_flush;
    int              is_issued;   /**< Wholly */
    cuda_kind_t      there;       /**< Memory at the address */
    uint64_t         address;     /**< Of the next byte */
    uct_iov_t        iov[CUDA_MAX_IOV];
    size_t           iovcnt;
    size_t           index;       /**< Of the next byte: iov, block, offset */
    unsigned         block;
    size_t           offset;
    cuda_kind_t      here;        /**< Memory of the current iov */
};

typedef struct cuda_copy_iface {
    uct_iface_t         super;
    cuda_md_t           *md;
    const ucx_host_t    *host;
    uint64_t            id;
    ucx_pending_queue_t pending;
    cuda_op_t           *oldest, *newest;
    cuda_op_t           *free_ops;
    unsigned            num_waiting;    /**< Operations not wholly issued */
    cuda_op_t           ops[CUDA_MAX_OPS];
    cuda_lane_t         *lanes[CUDA_MAX_DEVICES];
} cuda_copy_iface_t;

/* --------------------------------------------------------- copy_lane.c -- */

/** The lane of a device, opened if need be. */
CUresult cuda_lane_get(cuda_copy_iface_t *iface, int device,
                       cuda_lane_t **lane_p);
/** Waits for what is under way and releases everything. */
void cuda_lane_free(cuda_copy_iface_t *iface, cuda_lane_t *lane);

/** Takes the lane's context for a few calls. */
static inline CUresult cuda_lane_enter(cuda_lane_t *lane, cuda_scope_t *scope)
{
    return cuda_enter(scope, lane->context);
}

/** Issues the copy of a step that is to be filled in by the caller already; the
 *  context is the lane's. */
CUresult cuda_lane_copy(cuda_lane_t *lane, uint64_t to, uint64_t from,
                        size_t length);
/** Has the last ticket written behind all that was issued. */
CUresult cuda_lane_signal(cuda_lane_t *lane);

static inline int cuda_lane_reached(const cuda_lane_t *lane, uint32_t ticket)
{
    return (int32_t)(__atomic_load_n(lane->flag, __ATOMIC_ACQUIRE) - ticket) >=
           0;
}

/** Asks the driver whether the stream has failed. */
CUresult cuda_lane_check(cuda_lane_t *lane);

/** Nothing of it is under way any more, since its context has failed; the next
 *  use opens it anew. */
void cuda_lane_fail(cuda_copy_iface_t *iface, cuda_lane_t *lane,
                    CUresult result);

/* ----------------------------------------------------------- copy_op.c -- */

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

/** For an endpoint, or NULL for all of the interface. */
ucs_status_t cuda_copy_flush(cuda_copy_iface_t *iface, uct_ep_h ep,
                             unsigned flags, uct_completion_t *comp);

unsigned cuda_copy_progress(uct_iface_h iface);

/** Before the interface is closed: waits for everything. */
void cuda_copy_finish(cuda_copy_iface_t *iface);

#endif
