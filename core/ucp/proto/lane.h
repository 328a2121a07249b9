/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What an endpoint's lanes can do and what that costs, read once from their
 * transports. A lane is one transport endpoint of an endpoint; number 0 carries
 * the active messages, further ones what that one cannot do or not as fast.
 */
#ifndef UCP_LANE_H
#define UCP_LANE_H

#include <stddef.h>
#include <stdint.h>
#include <ucs/datastruct/linear_func.h>
#include <uct/api/uct.h>

enum {
    UCP_MAX_LANES = 8,
    UCP_AM_LANE   = 0,
    UCP_NULL_LANE = 0xff,  /**< No lane for that */
    UCP_NULL_MD   = 0xff   /**< The peer does not say which domain */
};

/** A bit for each lane. */
typedef uint8_t ucp_lane_map_t;

/** The cost of one kind of operation over a lane. */
typedef struct ucp_lane_cost {
    double pre, post, recv;   /**< Seconds */
    double bandwidth;         /**< Bytes per second */
    double latency;           /**< Seconds */
} ucp_lane_cost_t;

/** Active messages; limits of 0: not by that way. */
typedef struct ucp_lane_am {
    size_t          max_short;
    size_t          max_bcopy;
    size_t          max_zcopy;
    size_t          max_hdr;      /**< Of a zcopy message */
    size_t          max_iov;
    ucp_lane_cost_t cost_short, cost_bcopy, cost_zcopy;
    double          stream;       /**< Bytes per second in many messages, all
                                       copying at both ends counted; 0: not
                                       known */
    uint8_t         many;         /**< The costs are those of one of many
                                       messages in flight: both ends copy at
                                       the same time */
} ucp_lane_am_t;

/** Put or get; limits of 0: not by that way. */
typedef struct ucp_lane_rma {
    size_t          max_short;
    size_t          max_bcopy;
    size_t          min_zcopy, max_zcopy;
    size_t          max_iov;
    ucp_lane_cost_t cost_short, cost_bcopy, cost_zcopy;
} ucp_lane_rma_t;

typedef struct ucp_lane_config {
    uint8_t           iface_index;  /**< Of the worker */
    uint8_t           md_index;     /**< Of the context */
    uint8_t           remote_md;    /**< Of the peer's context: keys that the
                                         peer packed with it are for this lane;
                                         or UCP_NULL_MD */
    uint8_t           device;       /**< The first of the context's resources
                                         that is on the same device: lanes of
                                         one share its bandwidth */
    uint8_t           remote_device; /**< Likewise of the peer's address */
    uint8_t           is_network;   /**< The device's bandwidth counts, not the
                                         processor's */
    uint64_t          caps;         /**< UCT_IFACE_FLAG_* */
    uint64_t          md_flags;     /**< UCT_MD_FLAG_* */
    uint64_t          mem_types;    /**< Of memory that it moves from and to its
                                         place: bits by ucs_memory_type_t */
    size_t            rkey_size;    /**< Of this side's keys */
    ucs_linear_func_t reg_cost;
    ucp_lane_am_t     am;
    ucp_lane_rma_t    put, get;
    struct {
        uint64_t      post32, post64;    /**< Operations, by bit */
        uint64_t      fetch32, fetch64;
        ucp_lane_cost_t cost_post, cost_fetch;
    } amo;
} ucp_lane_config_t;

/** Any memory of the peer's can be reached, registered by its owner first where
 *  a key is needed: not only what the transport has allocated. */
static inline int ucp_md_serves_any_memory(uint64_t md_flags)
{
    return (md_flags & UCT_MD_FLAG_REG) || !(md_flags & UCT_MD_FLAG_NEED_RKEY);
}

/** It moves such memory from and to its place, whether or not the processor may
 *  touch it. */
static inline int ucp_lane_reaches(const ucp_lane_config_t *lane,
                                   unsigned mem_type)
{
    return (lane->mem_types >> mem_type) & 1;
}

/** It can put or get some memory of the peer's; change it atomically. */
static inline int ucp_lane_can_rma(const ucp_lane_config_t *lane)
{
    return (lane->put.max_short | lane->put.max_bcopy | lane->put.max_zcopy |
            lane->get.max_short | lane->get.max_bcopy |
            lane->get.max_zcopy) != 0;
}

static inline int ucp_lane_can_amo(const ucp_lane_config_t *lane)
{
    return (lane->amo.post32 | lane->amo.post64 | lane->amo.fetch32 |
            lane->amo.fetch64) != 0;
}

/** Sizes by which lanes are compared. */
#define UCP_LANE_SMALL 8
#define UCP_LANE_LARGE (1ul << 20)

/** Seconds that a transfer of any memory of the peer's takes from place
 *  (rndv), by the quickest way (rma); a fetching atomic; a message that the
 *  receiver copies out. INFINITY: it cannot. */
double ucp_lane_rndv_time(const ucp_lane_config_t *lane, size_t length);
double ucp_lane_rma_time(const ucp_lane_config_t *lane, size_t length);
double ucp_lane_amo_time(const ucp_lane_config_t *lane);
double ucp_lane_am_time(const ucp_lane_config_t *lane, size_t length);

/** Seconds that each byte of a message takes that comes alone: the copies are
 *  made one after another. `cost`: of its kind, which leaves `copies` to us. */
double ucp_lane_am_alone(const ucp_lane_am_t *am, const ucp_lane_cost_t *cost,
                         unsigned copies);

/** Likewise of data in many messages, which both ends copy at the same time. */
double ucp_lane_am_stream(const ucp_lane_am_t *am);

/** The time that a message of `length` bytes lies between its ends while those
 *  before it are copied: what the first of many costs beside the stream. */
double ucp_lane_am_first(const ucp_lane_am_t *am, double length);

#endif
