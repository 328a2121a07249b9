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

/** A transport is used for tag offload only if tag_rndv_request supports a
 *  header of at least this many bytes, because the announcement of a rendezvous
 *  has to fit. */
enum { UCP_MIN_TAG_HDR = 192 };

/** A lane that is selected for an endpoint and not created yet. */
typedef struct ucp_selected_lane {
    uint8_t iface_index; /**< Index in worker->ifaces */
    /** Index of the lane's entry in the peer's unpacked address
     *  (ucp_address_info_t) */
    uint8_t entry_index;
    /** Index of the memory domain at the peer, or UCP_NULL_MD */
    uint8_t remote_md;
    /** Non-zero: the transport connects endpoint to endpoint, which needs a
     *  handshake (wireup/handshake.h) */
    uint8_t to_ep;
    /** If the peer has requested this lane: the index of the lane at the peer;
     *  otherwise UCP_NULL_LANE */
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
 *  device  put or get by zero-copy of memory that only a device can access
 *  rndv    put or get by zero-copy of any host memory
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
 *  after another; if am->many is set, as ucp_lane_am_stream(). Used only if
 *  am->stream is unknown: `cost`, the cost of the transport's call without
 *  copies, and `copies`, the number of copies whose time is added. */
double ucp_lane_am_alone(const ucp_lane_am_t *am, const ucp_lane_cost_t *cost,
                         unsigned copies);

/** Bytes at the beginning of a message whose lines the processors' prefetchers do
 *  not load in advance. */
enum { UCP_LANE_AM_BEGIN = 1024 };

/** Returns the seconds by which each of the first UCP_LANE_AM_BEGIN bytes of a
 *  single message takes longer than those after them: between processors of one
 *  machine their lines arrive one after another. */
double ucp_lane_am_begin(const ucp_lane_config_t *lane);

/** As ucp_lane_am_alone(), if the receiver uses the data where the transport
 *  has placed it, as the handlers of active messages do. The time in which the
 *  handler reads the data is not included. */
double ucp_lane_am_in_place(const ucp_lane_am_t *am,
                            const ucp_lane_cost_t *cost, unsigned copies);

/** Returns the seconds per byte of data in many messages in flight. Sender and
 *  receiver copy different messages at the same time. */
double ucp_lane_am_stream(const ucp_lane_am_t *am);

/** Returns the seconds that a sequence of messages of `length` bytes each takes
 *  in addition to ucp_lane_am_stream(), once for the whole sequence: the
 *  receiver cannot copy while the sender copies the first message. */
double ucp_lane_am_first(const ucp_lane_am_t *am, double length);

/** Returns the seconds that each message of a sequence takes in addition to
 *  ucp_lane_am_stream(), if the bandwidth between the processors is known: half
 *  of the latency of the line that announces the message. The receiver
 *  prefetches the other half. */
double ucp_lane_am_fragment(const ucp_lane_am_t *am);

#endif
