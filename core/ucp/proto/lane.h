/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Estimated times of typical operations over a lane, by which the lanes of an
 * endpoint are selected; and the result of that selection.
 */
#ifndef UCP_LANE_H
#define UCP_LANE_H

#include "ucp/base/lane.h"

/** The longest message with UCP's own headers and keys. UCP does not use the
 *  active messages of a transport whose limit is lower. */
enum { UCP_MIN_AM_BCOPY = 256 };

/** A lane that is to be created. */
typedef struct ucp_selected_lane {
    uint8_t iface_index; /**< Index of the worker's interface */
    uint8_t entry_index; /**< Index of the entry in the peer's address
                          *   (ucp_address_info_t) */
    uint8_t remote_md;   /**< The peer's domain, or UCP_NULL_MD */
    uint8_t to_ep;       /**< Non-zero: connected endpoint to endpoint, which
                          *   needs a handshake (wireup/handshake.h) */
    /** The peer's lane to which this lane is connected, or UCP_NULL_LANE */
    uint8_t requested_lane;
    /** Identifies the peer's device: index of the first entry of the address
     *  that is on it */
    uint8_t remote_device;
} ucp_selected_lane_t;

/** Sizes at which lanes are compared. */
#define UCP_LANE_SMALL 8
#define UCP_LANE_LARGE (1ul << 20)

/** Seconds for an operation, or INFINITY if the lane does not support it.
 *  device: zero-copy transfer of memory of the peer that only a device can
 *  access; rndv: zero-copy transfer of any host memory of the peer; rma: put or
 *  get of host memory by the fastest method; amo: fetching atomic; am: message
 *  whose data the receiver copies from the transport's buffer. */
double ucp_lane_device_time(const ucp_lane_config_t *lane, size_t length);
double ucp_lane_rndv_time(const ucp_lane_config_t *lane, size_t length);
double ucp_lane_rma_time(const ucp_lane_config_t *lane, size_t length);
double ucp_lane_amo_time(const ucp_lane_config_t *lane);
double ucp_lane_am_time(const ucp_lane_config_t *lane, size_t length);

/** Seconds per byte of a single message, whose copies are made one after
 *  another. `cost`: that of the method of sending, without copies; `copies`:
 *  the number of copies whose time is added. */
double ucp_lane_am_alone(const ucp_lane_am_t *am, const ucp_lane_cost_t *cost,
                         unsigned copies);

/** Seconds per byte of data in many messages, which both sides copy at the same
 *  time. */
double ucp_lane_am_stream(const ucp_lane_am_t *am);

/** Returns the time that a message of `length` bytes waits between sender and
 *  receiver while earlier messages are copied. A series of messages takes this
 *  time once, in addition to the time for all of its bytes by
 *  ucp_lane_am_stream(). */
double ucp_lane_am_first(const ucp_lane_am_t *am, double length);

#endif
