/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * See select.h.
 */
#include "ucp/wireup/select.h"

#include "ucs/datastruct/string_buffer.h"
#include "ucs/debug/log.h"

#include <math.h>
#include <string.h>

/* What the lane for active messages must do. */
#define AM_NEEDS \
    (UCT_IFACE_FLAG_AM_BCOPY | UCT_IFACE_FLAG_PENDING | \
     UCT_IFACE_FLAG_CONNECT_TO_IFACE | UCT_IFACE_FLAG_CB_SYNC)

/* A further lane costs memory and set-up: it has to be so much quicker than
 * what the endpoint can do without it. */
#define WORTH_A_LANE 0.9

#define RNDV_FEATURES (UCP_FEATURE_TAG | UCP_FEATURE_AM)
#define AMO_FEATURES  (UCP_FEATURE_AMO32 | UCP_FEATURE_AMO64)

enum { UNREACHABLE = UINT8_MAX };

/* What was found out about the worker's interfaces for one peer. */
typedef struct {
    ucp_worker_h             worker;
    const ucp_address_info_t *peer;
    int                      err_mode;
    int                      to_self;
    uint8_t                  entry[UCP_MAX_RESOURCES]; /* That it reaches */
    ucs_string_buffer_t      why;                      /* Reasons against */
} search_t;

static void
explain(search_t *search, const ucp_resource_t *resource, const char *reason)
{
    ucs_string_buffer_appendf(&search->why, "\n    %s/%s: %s",
                              resource->tl_name, resource->dev_name, reason);
}

/* ---------------------------------------------------------- reachability -- */

static const char *missing(const search_t *search, ucp_worker_iface_t *wiface,
                           const ucp_resource_t *resource)
{
    uint64_t flags = wiface->attr->base.cap.flags;

    if (!(flags & UCT_IFACE_FLAG_CONNECT_TO_IFACE)) {
        return "cannot connect to an address";
    }
    if (search->err_mode && !search->to_self &&
        !(flags & UCT_IFACE_FLAG_ERRHANDLE_PEER_FAILURE)) {
        return "cannot report a lost peer";
    }
    if (resource->loopback_only && !search->to_self) {
        return "reaches this worker only";
    }
    return NULL;
}

/* Finds the first of the peer's addresses that the interface reaches. */
static void reach(search_t *search, unsigned index)
{
    ucp_worker_iface_t *wiface     = &search->worker->ifaces[index];
    const ucp_resource_t *resource = ucp_worker_iface_resource(search->worker,
                                                               index);
    const char *reason             = missing(search, wiface, resource);
    char detail[128];
    unsigned i;

    search->entry[index] = UNREACHABLE;
    if (reason != NULL) {
        explain(search, resource, reason);
        return;
    }

    reason = "the peer has no such transport";
    for (i = 0; i < search->peer->num_entries; ++i) {
        const ucp_address_entry_t *entry = &search->peer->entries[i];

        if (strcmp(entry->tl_name, resource->tl_name) != 0) {
            continue;
        }
        detail[0] = '\0';
        if (uct_iface_is_reachable_sized(
                    wiface->iface, (const uct_device_addr_t *)entry->dev_addr,
                    entry->dev_addr_length,
                    (const uct_iface_addr_t *)entry->iface_addr,
                    entry->iface_addr_length, detail, sizeof(detail))) {
            search->entry[index] = (uint8_t)i;
            return;
        }
        reason = (detail[0] != '\0') ? detail : "cannot reach it";
    }
    explain(search, resource, reason);
}

static ucp_lane_choice_t choice_of(const search_t *search, unsigned index)
{
    uint8_t entry = search->entry[index];

    return (ucp_lane_choice_t){(uint8_t)index, entry,
                               search->peer->entries[entry].md_index};
}

/* ------------------------------------------------- the lane for messages -- */

/* Half of it counts: messages that matter most are small ones, but of two
 * networks the one with more bandwidth is usually the better one. */
static double am_score(ucp_context_h context, ucp_worker_iface_t *wiface)
{
    const uct_iface_attr_t *attr = &wiface->attr->base;
    double small = attr->overhead + attr->latency.c +
                   attr->latency.m * (double)context->estimated_num_eps;
    double bandwidth = attr->bandwidth.dedicated +
                       attr->bandwidth.shared /
                       (double)context->estimated_num_ppn;

    return 1.0 / (small + 4096.0 / bandwidth);
}

static int has_messages(const ucp_worker_iface_t *wiface)
{
    return (wiface->attr->base.cap.flags & AM_NEEDS) == AM_NEEDS;
}

/* Finds the best lane for active messages; zero: none. */
static int select_am(search_t *search, ucp_lane_choice_t *lane)
{
    ucp_worker_h worker = search->worker;
    double best         = -1;
    unsigned i;

    for (i = 0; i < worker->num_ifaces; ++i) {
        ucp_worker_iface_t *wiface = &worker->ifaces[i];
        double score;

        if (!has_messages(wiface)) {
            explain(search, ucp_worker_iface_resource(worker, i),
                    "lacks active messages");
            continue;
        }
        reach(search, i);
        if (search->entry[i] == UNREACHABLE) {
            continue;
        }
        score = am_score(worker->context, wiface);
        if (score > best) {
            best  = score;
            *lane = choice_of(search, i);
        }
    }
    return best >= 0;
}

/* --------------------------------------------------------- further lanes -- */

/* Typical operations: what they take by the lane itself, and by messages over
 * the first lane. */
static double large_message(const ucp_lane_config_t *lane)
{
    return ucp_lane_rndv_time(lane, UCP_LANE_LARGE);
}

static double large_by_messages(const ucp_lane_config_t *am)
{
    return ucp_lane_am_time(am, UCP_LANE_LARGE);
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
    uint64_t features;   /* Any of these makes use of it */
    double   (*direct)(const ucp_lane_config_t *lane);
    double   (*emulated)(const ucp_lane_config_t *am);
} uses[] = {
    {RNDV_FEATURES | UCP_FEATURE_RMA, large_message, large_by_messages},
    {UCP_FEATURE_RMA, small_rma, small_by_messages},
    {AMO_FEATURES, ucp_lane_amo_time, amo_by_messages}
};

enum { NUM_USES = sizeof(uses) / sizeof(uses[0]) };

/* Adds a lane if one serves this use so much better than those that are there. */
static unsigned add_lane(const search_t *search, unsigned use,
                         ucp_lane_choice_t *lanes, unsigned num_lanes)
{
    const ucp_worker_iface_t *ifaces = search->worker->ifaces;
    double best                      = uses[use].emulated(
                                        &ifaces[lanes[0].iface_index].lane);
    int found                        = 0;
    unsigned i;

    for (i = 0; i < num_lanes; ++i) {
        best = fmin(best,
                    uses[use].direct(&ifaces[lanes[i].iface_index].lane));
    }
    best *= WORTH_A_LANE;
    for (i = 0; i < search->worker->num_ifaces; ++i) {
        double time = uses[use].direct(&ifaces[i].lane);

        if ((search->entry[i] != UNREACHABLE) && (time < best)) {
            best             = time;
            lanes[num_lanes] = choice_of(search, i);
            found            = 1;
        }
    }
    return num_lanes + (unsigned)found;
}

static unsigned add_lanes(search_t *search, ucp_lane_choice_t *lanes)
{
    ucp_worker_h worker = search->worker;
    uint64_t features   = worker->context->features;
    unsigned num_lanes  = 1;
    unsigned i, use;

    for (i = 0; i < worker->num_ifaces; ++i) {
        if (!has_messages(&worker->ifaces[i])) {
            reach(search, i);
        }
    }
    for (use = 0; (use < NUM_USES) && (num_lanes < UCP_MAX_LANES); ++use) {
        if (features & uses[use].features) {
            num_lanes = add_lane(search, use, lanes, num_lanes);
        }
    }
    return num_lanes;
}

ucs_status_t
ucp_wireup_select(ucp_worker_h worker, const ucp_address_info_t *peer,
                  int err_mode, ucp_lane_choice_t lanes[UCP_MAX_LANES],
                  unsigned *num_lanes_p)
{
    search_t search = {
        .worker   = worker,
        .peer     = peer,
        .err_mode = err_mode,
        .to_self  = (peer->uuid == worker->uuid)
    };
    int found;

    ucs_string_buffer_init(&search.why);
    found = select_am(&search, &lanes[UCP_AM_LANE]);
    if (found) {
        *num_lanes_p = add_lanes(&search, lanes);
    } else {
        ucs_diag("no transport reaches worker %s (%lx):%s", peer->name,
                 peer->uuid, ucs_string_buffer_cstr(&search.why));
    }
    ucs_string_buffer_cleanup(&search.why);
    return found ? UCS_OK : UCS_ERR_UNREACHABLE;
}
