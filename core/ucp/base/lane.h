/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The capabilities and costs of an endpoint's lanes, read once from their
 * transports. A lane is one transport endpoint of an endpoint. Lane 0 carries
 * the active messages. Further lanes serve operations that lane 0 does not
 * support or is slower at, or carry a part of large transfers.
 */
#ifndef UCP_BASE_LANE_H
#define UCP_BASE_LANE_H

#include <stddef.h>
#include <stdint.h>
#include <ucs/datastruct/linear_func.h>
#include <uct/api/uct.h>

enum {
    UCP_MAX_LANES = 8,
    UCP_AM_LANE   = 0,
    /** Stands for "no lane": no lane serves an operation */
    UCP_NULL_LANE = 0xff,
    /** Stands for "unknown": the peer's memory domain is not known */
    UCP_NULL_MD   = 0xff,
};

/** A bit for each lane. */
typedef uint8_t ucp_lane_map_t;

/** The cost of one kind of operation over a lane, from the transport's estimate
 *  (ucx_perf_t). `pre` and `post` are the overheads of the sender before and
 *  after the transfer, `recv` is the overhead of the receiver. */
typedef struct ucp_lane_cost {
    double pre, post, recv; /**< Seconds */
    double bandwidth;       /**< Bytes per second */
    double latency;         /**< Seconds */
} ucp_lane_cost_t;

/** Limits of active messages in bytes; max_iov is a number of entries. A method
 *  (short, bcopy, zcopy) whose maximum is 0 is not supported. */
typedef struct ucp_lane_am {
    size_t max_short;
    size_t max_bcopy;
    size_t max_zcopy;
    size_t max_hdr; /**< Maximum bytes of the header of am_zcopy */
    size_t max_iov;
    ucp_lane_cost_t cost_short, cost_bcopy, cost_zcopy;
    /** Throughput of many messages in flight, in bytes per second, including
     *  all copies at both sides; 0: unknown */
    double stream;
    /** The costs above are those of one message among many in flight: the
     *  copies of the sender and of the receiver overlap */
    uint8_t many;
} ucp_lane_am_t;

/** Limits of tag offload in bytes. */
typedef struct ucp_lane_tag {
    size_t max_short; /**< Maximum of tag_eager_short; 0: not supported */
    /** Maximum of tag_eager_bcopy; 0: the lane is not used for tag offload */
    size_t max_bcopy;
} ucp_lane_tag_t;

/** Limits of put or get in bytes; max_iov is a number of entries. A method
 *  (short, bcopy, zcopy) whose maximum is 0 is not supported. */
typedef struct ucp_lane_rma {
    size_t max_short;
    size_t max_bcopy;
    size_t min_zcopy, max_zcopy;
    size_t max_iov;
    ucp_lane_cost_t cost_short, cost_bcopy, cost_zcopy;
} ucp_lane_rma_t;

typedef struct ucp_lane_config {
    uint8_t iface_index; /**< Index among the worker's interfaces */
    uint8_t md_index;    /**< Index among the context's domains */
    /** Index of the memory domain at the peer: the lane uses the remote keys
     *  that the peer packed with this domain; UCP_NULL_MD if unknown */
    uint8_t remote_md;
    /** Identifies the lane's device: index of the first resource of the context
     *  that uses this device. Lanes on one device share its bandwidth */
    uint8_t device;
    /** Identifies the peer's device: index of the first entry in the peer's
     *  address that uses this device */
    uint8_t remote_device;
    /** 1: the lane uses a network device; 0: it stays within this machine, for
     *  example by shared memory */
    uint8_t is_network;
    uint64_t caps;     /**< UCT_IFACE_FLAG_* */
    uint64_t md_flags; /**< UCT_MD_FLAG_* */
    /** Memory types (bits by ucs_memory_type_t) that the lane supports by
     *  zero-copy: mem_types in this process, remote_types at the peer */
    uint64_t mem_types;
    uint64_t remote_types;
    /** The lane can access memory of the peer only if the peer's processor
     *  cannot access it (for example memory of a GPU) */
    uint8_t is_device_only;
    size_t rkey_size; /**< Bytes of a packed remote key of this process's
                       *   memory */
    /** Bytes of a key of all memory of this process, which needs no
     *  registration; 0: there is none */
    size_t process_key_size;
    ucs_linear_func_t reg_cost;
    ucp_lane_am_t am;
    ucp_lane_tag_t tag;
    ucp_lane_rma_t put, get;
    struct {
        /** Supported atomics, bits by uct_atomic_op_t */
        uint64_t post32, post64;
        uint64_t fetch32, fetch64;
        ucp_lane_cost_t cost_post, cost_fetch;
    } amo;
} ucp_lane_config_t;

/** Returns non-zero if a domain gives access to arbitrary memory, which it
 *  registers first if a key is needed. Returns zero if it gives access only to
 *  memory that it has allocated. */
static inline int ucp_md_serves_any_memory(uint64_t md_flags)
{
    return (md_flags & UCT_MD_FLAG_REG) || !(md_flags & UCT_MD_FLAG_NEED_RKEY);
}

/** Returns non-zero if the lane supports zero-copy from and to memory of this
 *  type in this process, including memory that the processor cannot access. */
static inline int ucp_lane_reaches(const ucp_lane_config_t *lane,
                                   unsigned mem_type)
{
    return (lane->mem_types >> mem_type) & 1;
}

/** Returns non-zero if the lane can put to and get from memory of this type at
 *  the peer, including memory that the peer's processor cannot access. */
static inline int ucp_lane_reaches_remote(const ucp_lane_config_t *lane,
                                          unsigned mem_type)
{
    return (lane->remote_types >> mem_type) & 1;
}

/** Returns non-zero if the lane supports put or get on some memory of the
 *  peer. */
static inline int ucp_lane_can_rma(const ucp_lane_config_t *lane)
{
    return (lane->put.max_short | lane->put.max_bcopy | lane->put.max_zcopy |
            lane->get.max_short | lane->get.max_bcopy | lane->get.max_zcopy) !=
           0;
}

static inline int ucp_lane_can_amo(const ucp_lane_config_t *lane)
{
    return (lane->amo.post32 | lane->amo.post64 | lane->amo.fetch32 |
            lane->amo.fetch64) != 0;
}

#endif
