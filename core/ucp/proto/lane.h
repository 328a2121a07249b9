/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Estimated times of typical operations over a lane, by which the lanes of an
 * endpoint are selected; and ucp_selected_lane_t, the result of that selection.
 */
#ifndef UCP_LANE_H
#define UCP_LANE_H

#include "ucp/base/lane.h"

/** UCP uses the active messages of a transport only if am_bcopy supports at
 *  least this many bytes, because UCP's own headers and keys have to fit. */
enum { UCP_MIN_AM_BCOPY = 256 };

/** A lane of an endpoint, before it is created. */
typedef struct ucp_selected_lane {
    uint8_t iface_index; /**< Index in worker->ifaces */
    /** Index in ucp_address_info_t, the unpacked address of the peer */
    uint8_t entry_index;
    /** Index of the memory domain at the peer, or UCP_NULL_MD */
    uint8_t remote_md;
    /** Non-zero: the transport connects endpoint to endpoint, which needs a
     *  handshake (wireup/handshake.h) */
    uint8_t to_ep;
    /** Index of the peer's lane to which this lane is connected, or
     *  UCP_NULL_LANE */
    uint8_t requested_lane;
    /** Identifies the peer's device: index of the first entry in the peer's
     *  address that uses this device */
    uint8_t remote_device;
} ucp_selected_lane_t;

/** Sizes in bytes at which lanes are compared. */
#define UCP_LANE_SMALL 8
#define UCP_LANE_LARGE (1ul << 20)

/** Return the seconds for an operation, or INFINITY if the lane does not
 *  support it.
 *
 *  device  zero-copy of peer's memory that only a device can access
 *  rndv    zero-copy of any host memory of the peer
 *  rma     put or get of host memory, by the fastest method
 *  amo     atomic operation with a result
 *  am      message whose data the receiver copies from the transport's
 *  buffer */
double ucp_lane_device_time(const ucp_lane_config_t *lane, size_t length);
double ucp_lane_rndv_time(const ucp_lane_config_t *lane, size_t length);
double ucp_lane_rma_time(const ucp_lane_config_t *lane, size_t length);
double ucp_lane_amo_time(const ucp_lane_config_t *lane);
double ucp_lane_am_time(const ucp_lane_config_t *lane, size_t length);

/** Returns the seconds per byte of a single message, whose copies are made one
 *  after another. `cost`: the cost of the transport's call, without copies;
 *  `copies`: the number of copies whose time is added. */
double ucp_lane_am_alone(const ucp_lane_am_t *am, const ucp_lane_cost_t *cost,
                         unsigned copies);

/** Returns the seconds per byte of data in many messages in flight. Sender and
 *  receiver copy different messages at the same time. */
double ucp_lane_am_stream(const ucp_lane_am_t *am);

/** Returns the seconds that a message of `length` bytes needs in addition to
 *  ucp_lane_am_stream(): it waits between sender and receiver while earlier
 *  messages are copied. Of a row of messages only the first one adds this
 *  time. */
double ucp_lane_am_first(const ucp_lane_am_t *am, double length);

#endif
