/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rails: lanes that divide a large put or get among them, in proportion to
 * their bandwidths. Which lanes, and their shares, is computed once for
 * endpoints alike; where a piece goes follows from its place in the data, so
 * that a transfer under way keeps no state but how far it is.
 *
 *   data:   | round                 | round                 | rest     |
 *   round:  | rail 0        | r 1   |
 *
 * A round is as long as the rails' limits allow, all of the data if possible.
 */
#ifndef UCP_RAILS_H
#define UCP_RAILS_H

#include "ucp/proto/lane.h"

enum {
    UCP_MAX_RAILS      = 4,
    UCP_RAILS_WHOLE    = 1 << 16,     /**< All shares together */
    UCP_RAILS_MIN_PART = 16 * 1024,   /**< Bytes a rail; with fewer, the first
                                           rail does it all */
    UCP_RAILS_ALIGN    = 64,          /**< Of the places where data is cut */
    UCP_NULL_SLOT      = 0xff
};

typedef struct ucp_rail {
    uint8_t  lane;
    uint8_t  slot;       /**< Rails of one slot have their domains in common,
                              and so their registrations and keys */
    uint32_t end;        /**< Its share and those before it */
    size_t   min, max;   /**< Bytes of an operation */
    size_t   max_iov;
} ucp_rail_t;

typedef struct ucp_rails {
    uint8_t    num;       /**< 0: no lane can; 1: one does it all */
    uint8_t    num_slots;
    uint8_t    is_get;
    size_t     round;     /**< Bytes, at most */
    double     bandwidth; /**< Of all together */
    ucp_rail_t rail[UCP_MAX_RAILS];
} ucp_rails_t;

struct ucp_ep_config;

/** A lane by itself; none if it cannot put (or get) from place. */
void ucp_rails_single(const struct ucp_ep_config *config, unsigned lane,
                      int is_get, ucp_rails_t *rails);

/** The lane and those of `lanes` that go well beside it, at most `max`. */
void ucp_rails_fill(const struct ucp_ep_config *config, unsigned lane,
                    ucp_lane_map_t lanes, unsigned max, int is_get,
                    ucp_rails_t *rails);

/** May such lanes divide transfers among them? Both have devices of their own,
 *  at either end, and neither is much slower. */
int ucp_rails_go_together(const ucp_lane_config_t *a,
                          const ucp_lane_config_t *b, double max_ratio);

/** Lanes that are rails of these. */
ucp_lane_map_t ucp_rails_lanes(const ucp_rails_t *rails);

/** A piece of a transfer. */
typedef struct ucp_rails_piece {
    const ucp_rail_t *rail;
    size_t           length;
} ucp_rails_piece_t;

/** The piece of `length` bytes of data that begins at `offset`, which is within
 *  them. `lost`: lanes that are not to be used; NULL rail: there is no other. */
ucp_rails_piece_t ucp_rails_next(const ucp_rails_t *rails, size_t length,
                                 size_t offset, ucp_lane_map_t lost);

/** From how many bytes on data is divided, by more than one rail. */
static inline size_t ucp_rails_min(const ucp_rails_t *rails)
{
    return (size_t)rails->num * UCP_RAILS_MIN_PART;
}

/** Writes "lane 1" or "lanes 1 (60%), 2 (40%)". */
void ucp_rails_describe(const ucp_rails_t *rails, char *text, size_t max);

#endif
