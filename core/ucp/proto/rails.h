/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rails: lanes that share a large put or get, in proportion to their
 * bandwidths. The lanes and their shares are computed once for all endpoints
 * with equal lanes. The rail of a chunk follows from its offset, so that the
 * only state of a transfer is the offset up to which it has been posted.
 *
 *   data:   | round                 | round                 | rest     |
 *   round:  | rail 0        | r 1   |
 *
 * A round is as long as the limits of the rails permit; if possible, it is all
 * of the data.
 */
#ifndef UCP_RAILS_H
#define UCP_RAILS_H

#include "ucp/proto/lane.h"

enum {
    UCP_MAX_RAILS      = 4,
    UCP_RAILS_WHOLE    = 1 << 16, /**< The sum of all shares */
    /** Minimum bytes per rail; less data is transferred by the first rail */
    UCP_RAILS_MIN_PART = 16 * 1024,
    UCP_RAILS_ALIGN    = 64, /**< Parts of a round begin at multiples of this
                              *   many bytes */
};

typedef struct ucp_rail {
    uint8_t lane;
    /** Index of registration and key: rails with the same memory domains on
     *  both sides have the same slot */
    uint8_t slot;
    uint32_t end;    /**< Sum of the shares of this rail and of all before it,
                      *   in units of 1 / UCP_RAILS_WHOLE of a round */
    size_t min, max; /**< Limits of an operation, bytes */
    size_t max_iov;
} ucp_rail_t;

typedef struct ucp_rails {
    uint8_t num; /**< Number of rails; 0: no lane supports the operation; 1:
                  *   the data is not divided */
    uint8_t num_slots;
    uint8_t is_get;
    size_t round;     /**< Bytes of a round, at most */
    double bandwidth; /**< Sum of all rails, bytes per second */
    ucp_rail_t rail[UCP_MAX_RAILS];
} ucp_rails_t;

struct ucp_ep_config;

/** Fills the rails with one lane, or with none if it does not support zero-copy
 *  put (or get). */
void ucp_rails_single(const struct ucp_ep_config *config, unsigned lane,
                      int is_get, ucp_rails_t *rails);

/** Fills the rails with `lane` and with those of `lanes` that can share
 *  transfers with it, at most `max` rails. */
void ucp_rails_fill(const struct ucp_ep_config *config, unsigned lane,
                    ucp_lane_map_t lanes, unsigned max, int is_get,
                    ucp_rails_t *rails);

/** Returns non-zero if the lanes may share transfers: they use different
 *  devices on both sides, and their bandwidths differ by at most the factor
 *  `max_ratio` (0: by any factor). */
int ucp_rails_go_together(const ucp_lane_config_t *a,
                          const ucp_lane_config_t *b, double max_ratio);

/** A chunk of a transfer. */
typedef struct ucp_rails_chunk {
    const ucp_rail_t *rail;
    size_t length;
} ucp_rails_chunk_t;

/** Returns the chunk that begins at `offset` of `length` bytes of data;
 *  `offset` is below `length`. `lost`: lanes that must not be used; `rail` is
 *  NULL if no other lane is left. */
ucp_rails_chunk_t ucp_rails_next(const ucp_rails_t *rails, size_t length,
                                 size_t offset, ucp_lane_map_t lost);

/** Returns the smallest size of data that more than one rail shares. */
static inline size_t ucp_rails_min(const ucp_rails_t *rails)
{
    return (size_t)rails->num * UCP_RAILS_MIN_PART;
}

/** Writes "lane 1" or "lanes 1 (60%), 2 (40%)". */
void ucp_rails_describe(const ucp_rails_t *rails, char *text, size_t max);

#endif
