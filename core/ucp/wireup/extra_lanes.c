/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Selects the lanes of an endpoint in addition to lane 0, which carries
 * messages: lanes that are at least a tenth faster at some operation, and lanes
 * that share large transfers.
 */
#include "ucp/wireup/search.h"

#include "ucp/proto/rails.h"

#include <math.h>

/* A further lane costs memory and set-up. It is added only if its time is below
 * this fraction of the best time without that lane. */
#define WORTH_A_LANE 0.9

#define RNDV_FEATURES (UCP_FEATURE_TAG | UCP_FEATURE_AM)
#define AMO_FEATURES  (UCP_FEATURE_AMO32 | UCP_FEATURE_AMO64)

/* The following functions return times of typical operations in seconds: over
 * the lane itself, or by messages over lane 0 (..._by_messages). */
static double large_message(const ucp_lane_config_t *lane)
{
    return ucp_lane_rndv_time(lane, UCP_LANE_LARGE);
}

static double large_by_messages(const ucp_lane_config_t *am)
{
    return ucp_lane_am_time(am, UCP_LANE_LARGE);
}

static double device_memory(const ucp_lane_config_t *lane)
{
    return ucp_lane_device_time(lane, UCP_LANE_LARGE);
}

/* For memory of the peer that only a device can access. With messages, the data
 * would also have to be copied between this memory and host memory. The
 * infinite time makes any lane that accesses such memory directly better. */
static double device_by_messages(const ucp_lane_config_t *am)
{
    return INFINITY;
}

static double small_rma(const ucp_lane_config_t *lane)
{
    return ucp_lane_rma_time(lane, UCP_LANE_SMALL);
}

static double small_by_messages(const ucp_lane_config_t *am)
{
    return ucp_lane_am_time(am, UCP_LANE_SMALL);
}

static double amo_by_messages(const ucp_lane_config_t *am)
{
    return 2 * ucp_lane_am_time(am, UCP_LANE_SMALL);
}

static const struct {
    /* UCP_FEATURE_*: the use matters if the context has one of them */
    uint64_t features;
    /* Seconds for the operation over a lane itself */
    double (*direct)(const ucp_lane_config_t *lane);
    /* Seconds for the operation by messages over lane 0 */
    double (*emulated)(const ucp_lane_config_t *am);
} uses[] = {
    {RNDV_FEATURES | UCP_FEATURE_RMA, large_message, large_by_messages},
    {UCP_FEATURE_RMA, small_rma, small_by_messages},
    {AMO_FEATURES, ucp_lane_amo_time, amo_by_messages},
    {RNDV_FEATURES | UCP_FEATURE_RMA, device_memory, device_by_messages},
};

enum { NUM_USES = sizeof(uses) / sizeof(uses[0]) };

/* Adds the fastest lane for a use, if its time is below WORTH_A_LANE times the
 * best time over existing lanes or by messages over lane 0. `use`: index in
 * uses[]. Returns the new number of lanes. */
static unsigned add_lane(const search_t *search, unsigned use,
                         ucp_selected_lane_t *lanes, unsigned num_lanes)
{
    const ucp_worker_iface_t *ifaces = search->worker->ifaces;
    double best = uses[use].emulated(&ifaces[lanes[0].iface_index].lane);
    unsigned num_equals = 0;
    uint8_t equals[UCP_MAX_RESOURCES];
    unsigned i;

    for (i = 0; i < num_lanes; ++i) {
        double time = uses[use].direct(&ifaces[lanes[i].iface_index].lane);

        best = (time < best) ? time : best;
    }
    best *= WORTH_A_LANE;
    for (i = 0; i < search->worker->num_ifaces; ++i) {
        double time = uses[use].direct(&ifaces[i].lane);
        int gain    = (time < best) - (time > best);

        if ((search->entry[i] == UNREACHABLE) ||
            ((gain == 0) && (num_equals == 0))) {
            continue;
        }
        if (gain == 0) {
            gain = ucp_wireup_prefer(search, i, equals[0]);
        }
        if (gain > 0) {
            best       = time;
            num_equals = 0;
        }
        if (gain >= 0) {
            equals[num_equals++] = (uint8_t)i;
        }
    }
    if (num_equals == 0) {
        return num_lanes;
    }
    lanes[num_lanes] = ucp_wireup_selected_lane(search,
                                                ucp_wireup_share(search, equals,
                                                                 num_equals));
    return num_lanes + 1;
}

/* Returns the number of lanes that large transfers may be divided among. */
static unsigned wanted_rails(ucp_worker_h worker)
{
    const ucp_config_options_t *options = &worker->context->options;
    uint64_t features                   = worker->context->features;
    unsigned wanted                     = 1;

    if (features & RNDV_FEATURES) {
        wanted = options->max_rndv_lanes;
    }
    if ((features & UCP_FEATURE_RMA) && (options->max_rma_lanes > wanted)) {
        wanted = options->max_rma_lanes;
    }
    return (wanted < UCP_MAX_RAILS) ? wanted : UCP_MAX_RAILS;
}

/* Returns the capabilities and costs of a selected lane: those of its
 * interface, and the peer's device that the lane is connected to. */
static ucp_lane_config_t config_of(const search_t *search,
                                   const ucp_selected_lane_t *selected)
{
    ucp_lane_config_t lane = search->worker->ifaces[selected->iface_index].lane;

    lane.remote_device = selected->remote_device;
    return lane;
}

/* Returns non-zero if a lane over the interface `index` can share transfers
 * with all lanes in `rails`. */
static int can_share(const search_t *search, unsigned index,
                     const ucp_selected_lane_t *rails, unsigned num_rails)
{
    double ratio = search->worker->context->options.max_lane_ratio;
    ucp_selected_lane_t selected = ucp_wireup_selected_lane(search, index);
    ucp_lane_config_t lane       = config_of(search, &selected), other;
    unsigned i;

    for (i = 0; i < num_rails; ++i) {
        other = config_of(search, &rails[i]);
        if (!ucp_rails_go_together(&other, &lane, ratio)) {
            return 0;
        }
    }
    return 1;
}

/* Adds to `rails` a lane over the fastest network interface that can share
 * transfers with all of them and reaches the peer with a nearness (see
 * ucp_wireup_nearness()) of at least `near`. Returns zero if there is none. */
static int add_rail(search_t *search, ucp_selected_lane_t *rails,
                    unsigned num_rails, int near)
{
    double best = INFINITY;
    unsigned i;

    for (i = 0; i < search->worker->num_ifaces; ++i) {
        const ucp_lane_config_t *lane = &search->worker->ifaces[i].lane;
        double time                   = large_message(lane);

        if (!lane->is_network || !(time < best)) {
            continue;
        }
        ucp_wireup_reach(search, i, rails, num_rails);
        if ((search->entry[i] != UNREACHABLE) && (search->near[i] >= near) &&
            can_share(search, i, rails, num_rails)) {
            best             = time;
            rails[num_rails] = ucp_wireup_selected_lane(search, i);
        }
    }
    return best < INFINITY;
}

/* Returns the index of the lane that is the fastest for large transfers. */
static unsigned best_lane(const search_t *search,
                          const ucp_selected_lane_t *lanes, unsigned num_lanes)
{
    double best    = INFINITY;
    unsigned found = UCP_AM_LANE;
    unsigned i;

    for (i = 0; i < num_lanes; ++i) {
        double time = large_message(
            &search->worker->ifaces[lanes[i].iface_index].lane);

        if (time < best) {
            best  = time;
            found = i;
        }
    }
    return found;
}

static int is_lane(const ucp_selected_lane_t *lanes, unsigned num_lanes,
                   const ucp_selected_lane_t *selected)
{
    unsigned i;

    for (i = 0; i < num_lanes; ++i) {
        if ((lanes[i].iface_index == selected->iface_index) &&
            (lanes[i].entry_index == selected->entry_index)) {
            return 1;
        }
    }
    return 0;
}

/* Adds lanes that share large transfers with the fastest lane for these. Each
 * uses devices of its own on both sides. Adds none if the peer is on this
 * machine: the processors copy the data there, and more lanes do not help. */
static unsigned add_rails(search_t *search, ucp_selected_lane_t *lanes,
                          unsigned num_lanes)
{
    unsigned wanted = wanted_rails(search->worker);
    ucp_selected_lane_t rails[UCP_MAX_RAILS];
    unsigned num_rails;
    int near;

    if ((wanted == 1) || ucp_address_is_local(search->peer)) {
        return num_lanes;
    }

    rails[0] = lanes[best_lane(search, lanes, num_lanes)];
    near     = search->near[rails[0].iface_index];
    for (num_rails = 1; (num_rails < wanted) && (num_lanes < UCP_MAX_LANES) &&
                        add_rail(search, rails, num_rails, near);
         ++num_rails) {
        if (!is_lane(lanes, num_lanes, &rails[num_rails])) {
            lanes[num_lanes++] = rails[num_rails];
        }
    }
    return num_lanes;
}

unsigned ucp_wireup_add_lanes(search_t *search, ucp_selected_lane_t *lanes,
                              unsigned num_lanes)
{
    ucp_worker_h worker = search->worker;
    uint64_t features   = worker->context->features;
    unsigned i, use;

    for (i = 0; i < worker->num_ifaces; ++i) {
        if (ucp_wireup_no_messages(&worker->ifaces[i]) != NULL) {
            ucp_wireup_reach(search, i, NULL, 0);
        }
    }
    for (use = 0; (use < NUM_USES) && (num_lanes < UCP_MAX_LANES); ++use) {
        if (features & uses[use].features) {
            num_lanes = add_lane(search, use, lanes, num_lanes);
        }
    }
    return add_rails(search, lanes, num_lanes);
}
