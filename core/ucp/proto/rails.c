/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Divides large puts and gets among lanes (rails.h): selects the lanes that may
 * share a transfer, computes their shares by bandwidth, and finds the lane and
 * the length of each chunk.
 */
#include "ucp/proto/proto.h"

#include <stdio.h>
#include <string.h>

static const ucp_lane_rma_t *rma_of(const ucp_lane_config_t *lane, int is_get)
{
    return is_get ? &lane->get : &lane->put;
}

/* ------------------------------------------------------------- selection -- */

/* Returns the bandwidth of put or get by zero-copy, whichever is higher, in
 * bytes per second. */
static double bandwidth_of(const ucp_lane_config_t *lane)
{
    double put = (lane->put.max_zcopy > 0) ? lane->put.cost_zcopy.bandwidth : 0;
    double get = (lane->get.max_zcopy > 0) ? lane->get.cost_zcopy.bandwidth : 0;

    return (put > get) ? put : get;
}

int ucp_rails_go_together(const ucp_lane_config_t *a,
                          const ucp_lane_config_t *b, double max_ratio)
{
    double first = bandwidth_of(a), second = bandwidth_of(b);

    return a->is_network && b->is_network && (a->device != b->device) &&
           (a->remote_device != b->remote_device) && (first > 0) &&
           (second > 0) &&
           ((max_ratio == 0) ||
            ((first <= second * max_ratio) && (second <= first * max_ratio)));
}

/* Returns the slot (ucp_rail_t::slot) for a new lane: that of an earlier rail
 * with the same memory domains on both sides, otherwise a new slot. */
static uint8_t slot_of(const ucp_ep_config_t *config, ucp_rails_t *rails,
                       unsigned lane)
{
    const ucp_lane_config_t *a = &config->lanes[lane];
    unsigned i;

    for (i = 0; i < rails->num; ++i) {
        const ucp_lane_config_t *b = &config->lanes[rails->rail[i].lane];

        if ((a->md_index == b->md_index) && (a->remote_md == b->remote_md)) {
            return rails->rail[i].slot;
        }
    }
    return rails->num_slots++;
}

static void add(const ucp_ep_config_t *config, unsigned lane,
                ucp_rails_t *rails)
{
    const ucp_lane_rma_t *rma = rma_of(&config->lanes[lane], rails->is_get);
    ucp_rail_t *rail          = &rails->rail[rails->num];

    rail->lane    = (uint8_t)lane;
    rail->slot    = slot_of(config, rails, lane);
    rail->min     = rma->min_zcopy;
    rail->max     = rma->max_zcopy;
    rail->max_iov = rma->max_iov;
    ++rails->num;
}

/* Computes the shares of all rails, and the maximum length of a round. */
static void divide(const ucp_ep_config_t *config, ucp_rails_t *rails)
{
    double whole  = UCP_RAILS_WHOLE;
    double before = 0;
    double round  = (double)(SIZE_MAX / 4);
    uint32_t last = 0;
    unsigned i;

    rails->bandwidth = 0;
    for (i = 0; i < rails->num; ++i) {
        rails->bandwidth += rma_of(&config->lanes[rails->rail[i].lane],
                                   rails->is_get)
                                ->cost_zcopy.bandwidth;
    }
    for (i = 0; i < rails->num; ++i) {
        ucp_rail_t *rail = &rails->rail[i];
        double limit;

        before += rma_of(&config->lanes[rail->lane], rails->is_get)
                      ->cost_zcopy.bandwidth;
        rail->end = (i == rails->num - 1u) ?
                        UCP_RAILS_WHOLE :
                        (uint32_t)(whole * before / rails->bandwidth);
        /* Both ends of a part are aligned, which may make the part longer than
         * its share: leave space for twice the alignment. */
        limit     = (double)(rail->max - 2 * UCP_RAILS_ALIGN) * whole /
                (double)(rail->end - last);
        round = (limit < round) ? limit : round;
        last  = rail->end;
    }
    rails->round = (size_t)round / UCP_RAILS_ALIGN * UCP_RAILS_ALIGN;
}

void ucp_rails_single(const ucp_ep_config_t *config, unsigned lane, int is_get,
                      ucp_rails_t *rails)
{
    const ucp_lane_rma_t *rma = rma_of(&config->lanes[lane], is_get);

    memset(rails, 0, sizeof(*rails));
    rails->is_get = (uint8_t)is_get;
    if (rma->max_zcopy > 0) {
        add(config, lane, rails);
        rails->rail[0].end = UCP_RAILS_WHOLE;
        rails->bandwidth   = rma->cost_zcopy.bandwidth;
        rails->round       = rma->max_zcopy;
    }
}

/* Returns non-zero if the lane can carry parts of a transfer, and may share
 * transfers with all lanes in `rails`. */
static int fits(const ucp_ep_config_t *config, const ucp_rails_t *rails,
                unsigned lane)
{
    const uint64_t needs = UCT_MD_FLAG_NEED_MEMH | UCT_MD_FLAG_NEED_RKEY;
    const ucp_lane_config_t *own = &config->lanes[lane];
    const ucp_lane_rma_t *rma    = rma_of(own, rails->is_get);
    unsigned i;

    if ((rma->max_zcopy < UCP_RAILS_MIN_PART) ||
        (rma->min_zcopy > UCP_RAILS_ALIGN) ||
        !ucp_md_serves_any_memory(own->md_flags)) {
        return 0;
    }
    for (i = 0; i < rails->num; ++i) {
        const ucp_lane_config_t *other = &config->lanes[rails->rail[i].lane];

        if (!ucp_rails_go_together(other, own, config->max_lane_ratio) ||
            (other->mem_types != own->mem_types) ||
            ((other->md_flags ^ own->md_flags) & needs)) {
            return 0;
        }
    }
    return 1;
}

void ucp_rails_fill(const ucp_ep_config_t *config, unsigned lane,
                    ucp_lane_map_t lanes, unsigned max, int is_get,
                    ucp_rails_t *rails)
{
    unsigned best, i;

    ucp_rails_single(config, lane, is_get, rails);
    if (config->is_local || (rails->num == 0) ||
        (rails->rail[0].max < UCP_RAILS_MIN_PART) ||
        (rails->rail[0].min > UCP_RAILS_ALIGN)) {
        return;
    }

    lanes &= (ucp_lane_map_t) ~(UCS_BIT(lane) | config->lost);
    while ((rails->num < max) && (rails->num < UCP_MAX_RAILS)) {
        best = UCP_NULL_LANE;
        for (i = 0; i < config->num_lanes; ++i) {
            if ((lanes & UCS_BIT(i)) && fits(config, rails, i) &&
                ((best == UCP_NULL_LANE) ||
                 (bandwidth_of(&config->lanes[i]) >
                  bandwidth_of(&config->lanes[best])))) {
                best = i;
            }
        }
        if (best == UCP_NULL_LANE) {
            break;
        }
        add(config, best, rails);
    }
    if (rails->num > 1) {
        divide(config, rails);
    }
}

/* -------------------------------------------------------------- division -- */

/* Returns the first rail whose lane is not in `lost`, or NULL if there is
 * none. */
static const ucp_rail_t *any_left(const ucp_rails_t *rails, ucp_lane_map_t lost)
{
    unsigned i;

    for (i = 0; i < rails->num; ++i) {
        if (!(lost & UCS_BIT(rails->rail[i].lane))) {
            return &rails->rail[i];
        }
    }
    return NULL;
}

/* Returns how many of the `left` bytes a rail transfers in one operation.
 * Leaves at least rail->min bytes for the next operation, or none. */
static size_t take(const ucp_rail_t *rail, size_t left)
{
    if (left <= rail->max) {
        return left;
    }
    return (left - rail->max < rail->min) ? rail->max - rail->min : rail->max;
}

static size_t align_up(size_t value)
{
    return (value + UCP_RAILS_ALIGN - 1) / UCP_RAILS_ALIGN * UCP_RAILS_ALIGN;
}

/* Returns the offset in a round at which a rail's part ends. `round`: length of
 * the round in bytes. Does not overflow for any length. */
static size_t part_end(const ucp_rail_t *rail, size_t round)
{
    size_t end;

    if (rail->end == UCP_RAILS_WHOLE) {
        return round;
    }
    end = round / UCP_RAILS_WHOLE * rail->end +
          round % UCP_RAILS_WHOLE * rail->end / UCP_RAILS_WHOLE;
    return end / UCP_RAILS_ALIGN * UCP_RAILS_ALIGN;
}

static ucp_rails_chunk_t divided(const ucp_rails_t *rails, size_t length,
                                 size_t offset)
{
    /* Make all rounds about equally long, so that the last one is not very
     * short. */
    size_t count = (length - 1) / rails->round + 1;
    size_t round = align_up((length - 1) / count + 1);
    size_t start = offset / round * round;
    size_t end;
    unsigned i;

    if (round > length - start) {
        round = length - start;
    }
    for (i = 0;; ++i) {
        end = start + part_end(&rails->rail[i], round);
        if ((offset < end) || (i == rails->num - 1u)) {
            return (ucp_rails_chunk_t){&rails->rail[i], end - offset};
        }
    }
}

ucp_rails_chunk_t ucp_rails_next(const ucp_rails_t *rails, size_t length,
                                 size_t offset, ucp_lane_map_t lost)
{
    ucp_rails_chunk_t chunk = {&rails->rail[0], length - offset};

    if ((rails->num > 1) && (length >= ucp_rails_min(rails))) {
        chunk = divided(rails, length, offset);
    }
    if (lost & UCS_BIT(chunk.rail->lane)) {
        chunk.rail = any_left(rails, lost);
        if (chunk.rail == NULL) {
            return chunk;
        }
    }
    chunk.length = take(chunk.rail, chunk.length);
    return chunk;
}

UCS_F_COLD void ucp_rails_describe(const ucp_rails_t *rails, char *text,
                                   size_t max)
{
    uint32_t before = 0;
    size_t length;
    unsigned i;

    if (rails->num == 1) {
        snprintf(text, max, "lane %u", rails->rail[0].lane);
        return;
    }
    length = (size_t)snprintf(text, max, "lanes");
    for (i = 0; (i < rails->num) && (length < max); ++i) {
        length += (size_t)snprintf(text + length, max - length,
                                   "%s %u (%.0f%%)", (i > 0) ? "," : "",
                                   rails->rail[i].lane,
                                   100.0 * (rails->rail[i].end - before) /
                                       UCP_RAILS_WHOLE);
        before = rails->rail[i].end;
    }
}
