/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rails: lanes that share a large put or get, in proportion to their
 * bandwidths. The lanes and their shares are computed once for all endpoints
 * with equal lanes. The data is divided into rounds, and each round into one
 * part for each rail. A chunk is what one operation of a lane transfers: a
 * part, or less. The rail of a chunk follows from its offset and the lanes that
 * have failed, so the only state of a transfer is the offset up to which it has
 * been posted.
 *
 *   data:   | round                 | round                 | rest     |
 *   round:  | rail 0        | r 1   |
 *
 * There are as few rounds as the maximum sizes of the operations permit; if
 * possible, one round is all of the data.
 */
#ifndef UCP_RAILS_H
#define UCP_RAILS_H

#include "ucp/proto/lane.h"

enum {
    UCP_MAX_RAILS      = 4,
    UCP_RAILS_WHOLE    = 1 << 16, /**< A share of 100 % */
    /** Data with fewer bytes than this times the number of rails is transferred
     *  by the first rail only */
    UCP_RAILS_MIN_PART = 16 * 1024,
    /** Parts of a round begin at multiples of this many bytes */
    UCP_RAILS_ALIGN    = 64,
};

typedef struct ucp_rail {
    uint8_t lane;
    /** Index of the registration of the local buffer and of the remote key:
     *  rails with the same memory domains on both sides use the same one */
    uint8_t slot;
    /** Sum of the shares of this rail and of all before it; UCP_RAILS_WHOLE is
     *  100 % */
    uint32_t end;
    /** Minimum and maximum number of bytes of one operation */
    size_t min, max;
    size_t max_iov;
} ucp_rail_t;

typedef struct ucp_rails {
    /** Number of rails. 0: no lane supports the operation; 1: the data is not
     *  divided */
    uint8_t num;
    uint8_t num_slots;
    uint8_t is_get;
    size_t round;     /**< Maximum number of bytes of a round */
    double bandwidth; /**< Sum over all rails in bytes per second */
    ucp_rail_t rail[UCP_MAX_RAILS];
} ucp_rails_t;

struct ucp_ep_config;

/** Makes `rails` consist of one lane; of none if the lane does not support put
 *  (or, with `is_get`, get) by zero-copy. */
void ucp_rails_single(const struct ucp_ep_config *config, unsigned lane,
                      int is_get, ucp_rails_t *rails);

/** Makes `rails` consist of `lane` and of those in `lanes` that can share
 *  transfers with it; at most `max` and UCP_MAX_RAILS rails. Of none if `lane`
 *  does not support put (or get) by zero-copy; of `lane` only if the peer is on
 *  this machine. */
void ucp_rails_fill(const struct ucp_ep_config *config, unsigned lane,
                    ucp_lane_map_t lanes, unsigned max, int is_get,
                    ucp_rails_t *rails);

/** Returns non-zero if two lanes may share transfers: both are network lanes
 *  that support zero-copy, they use different devices here and different
 *  devices at the peer, and their bandwidths differ by at most the factor
 *  `max_ratio` (0: by any factor). */
int ucp_rails_go_together(const ucp_lane_config_t *a,
                          const ucp_lane_config_t *b, double max_ratio);

/** The data that one operation of a lane transfers. */
typedef struct ucp_rails_chunk {
    const ucp_rail_t *rail;
    size_t length;
} ucp_rails_chunk_t;

/** Returns the chunk that begins at `offset` of a transfer of `length` bytes;
 *  `offset` is below `length`. `lost`: lanes that must not be used. The member
 *  `rail` of the result is NULL if no other lane remains. */
ucp_rails_chunk_t ucp_rails_next(const ucp_rails_t *rails, size_t length,
                                 size_t offset, ucp_lane_map_t lost);

/** Returns the minimum number of bytes of data that is divided among the
 *  rails. */
static inline size_t ucp_rails_min(const ucp_rails_t *rails)
{
    return (size_t)rails->num * UCP_RAILS_MIN_PART;
}

/** Writes to `text` the lanes and their shares: "lane 1" or "lanes 1 (60%), 2
 *  (40%)". */
void ucp_rails_describe(const ucp_rails_t *rails, char *text, size_t max);

#endif
