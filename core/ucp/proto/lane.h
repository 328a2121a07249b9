/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The time of typical operations over a lane, for the selection of lanes.
 */
#ifndef UCP_LANE_H
#define UCP_LANE_H

#include "ucp/base/lane.h"

/** The longest message with UCP's own headers and keys. UCP does not use the
 *  active messages of a transport whose limit is lower. */
enum { UCP_MIN_AM_BCOPY = 256 };

/** A lane that is to be created. */
typedef struct ucp_selected_lane {
    uint8_t iface_index; /**< Of the worker's */
    uint8_t entry_index; /**< Of the address's */
    uint8_t remote_md;   /**< The peer's domain, or UCP_NULL_MD */
    uint8_t to_ep;       /**< Connected endpoint to endpoint (handshake.h) */
    /** The peer's lane that it is the other half of, or UCP_NULL_LANE */
    uint8_t requested_lane;
    /** The first of the address's entries that is on the same device */
    uint8_t remote_device;
} ucp_selected_lane_t;

/** Sizes at which lanes are compared. */
#define UCP_LANE_SMALL 8
#define UCP_LANE_LARGE (1ul << 20)

/** Seconds for an operation, INFINITY if the lane does not support it: a
 *  zero-copy transfer of any host memory of the peer (rndv), or of its memory
 *  that only a device can access (device); a put or get of host memory by the
 *  fastest method (rma); a fetching atomic (amo); a message that the receiver
 *  copies out (am). */
double ucp_lane_device_time(const ucp_lane_config_t *lane, size_t length);
double ucp_lane_rndv_time(const ucp_lane_config_t *lane, size_t length);
double ucp_lane_rma_time(const ucp_lane_config_t *lane, size_t length);
double ucp_lane_amo_time(const ucp_lane_config_t *lane);
double ucp_lane_am_time(const ucp_lane_config_t *lane, size_t length);

/** Seconds per byte of a single message: its copies are made one after another.
 *  `cost`: of its method, without `copies` copies, which are added here. */
double ucp_lane_am_alone(const ucp_lane_am_t *am, const ucp_lane_cost_t *cost,
                         unsigned copies);

/** Seconds per byte of data in many messages, which both ends copy at the same
 *  time. */
double ucp_lane_am_stream(const ucp_lane_am_t *am);

/** The time that a message of `length` bytes waits between its ends while
 *  earlier ones are copied: the first of many messages adds it to the time
 *  of the stream. */
double ucp_lane_am_first(const ucp_lane_am_t *am, double length);

#endif
