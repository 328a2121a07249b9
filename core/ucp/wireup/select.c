/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * See select.h.
 */
#include "ucp/wireup/select.h"

#include "ucs/datastruct/string_buffer.h"
#include "ucs/debug/log.h"

#include <math.h>
#include <string.h>

/* What a lane for active messages must do. */
#define AM_NEEDS \
    (UCT_IFACE_FLAG_AM_BCOPY | UCT_IFACE_FLAG_PENDING | UCT_IFACE_FLAG_CB_SYNC)

/* What wakes up a worker that sleeps when messages come. */
#define WAKEUP_NEEDS (UCT_IFACE_FLAG_EVENT_FD | UCT_IFACE_FLAG_EVENT_RECV)

/* A further lane costs memory and set-up: it has to be so much quicker than
 * what the endpoint can do without it. */
#define WORTH_A_LANE 0.9

#define RNDV_FEATURES (UCP_FEATURE_TAG | UCP_FEATURE_AM)
#define AMO_FEATURES  (UCP_FEATURE_AMO32 | UCP_FEATURE_AMO64)

enum { UNREACHABLE = UINT8_MAX };

/* What was found out about the worker's interfaces for one peer. */
typedef struct {
    ucp_worker_h              worker;
    const ucp_address_info_t  *peer;
    const ucp_select_params_t *params;
    int                       to_self;
    int                       has_aux;
    uint8_t                   entry[UCP_MAX_RESOURCES]; /* That it reaches */
    ucs_string_buffer_t       why;                      /* Reasons against */
} search_t;

static void
explain(search_t *search, const ucp_resource_t *resource, const char *reason)
{
    ucs_string_buffer_appendf(&search->why, "\n    %s/%s: %s",
                              resource->tl_name, resource->dev_name, reason);
}

/* ---------------------------------------------------------- reachability -- */

/* Its endpoints have to be connected to each other. */
static int is_to_ep(const ucp_worker_iface_t *wiface)
{
    return !(wiface->attr->base.cap.flags & UCT_IFACE_FLAG_CONNECT_TO_IFACE);
}

static const char *missing(const search_t *search, ucp_worker_iface_t *wiface,
                           const ucp_resource_t *resource)
{
    uint64_t flags = wiface->attr->base.cap.flags;

    if (is_to_ep(wiface) && !(flags & UCT_IFACE_FLAG_CONNECT_TO_EP)) {
        return "cannot connect to an address";
    }
    if (is_to_ep(wiface) && !search->params->may_ask) {
        return "has to be connected, which the peer did not ask for";
    }
    if (is_to_ep(wiface) && !search->has_aux) {
        return "has to be connected by way of another transport, and none"
               " reaches the peer";
    }
    if (search->params->err_mode && !search->to_self &&
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
        if (is_to_ep(wiface) && (entry->iface_index == UCP_NULL_IFACE)) {
            reason = "the peer does not say which interface to connect to";
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

    return (ucp_lane_choice_t){
        .iface_index = (uint8_t)index,
        .entry_index = entry,
        .remote_md   = search->peer->entries[entry].md_index,
        .to_ep       = (uint8_t)is_to_ep(&search->worker->ifaces[index]),
        .asked_lane  = UCP_NULL_LANE
    };
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

/* Why it cannot carry UCP's messages; NULL: it can. */
static const char *no_messages(const ucp_worker_iface_t *wiface)
{
    const uct_iface_attr_t *attr = &wiface->attr->base;

    if ((attr->cap.flags & AM_NEEDS) != AM_NEEDS) {
        return "lacks active messages";
    }
    if (attr->cap.am.max_bcopy < UCP_MIN_AM_BCOPY) {
        return "its messages are too short";
    }
    if ((wiface->worker->context->features & UCP_FEATURE_WAKEUP) &&
        ((attr->cap.event_flags & WAKEUP_NEEDS) != WAKEUP_NEEDS)) {
        return "cannot wake up a worker that sleeps";
    }
    return NULL;
}

/* Finds the best lane for active messages among those that need a handshake or
 * among those that need none; zero: none is better than *score. */
static int
best_messages(search_t *search, int to_ep, double *score,
              ucp_lane_choice_t *lane)
{
    ucp_worker_h worker = search->worker;
    int found           = 0;
    unsigned i;

    for (i = 0; i < worker->num_ifaces; ++i) {
        ucp_worker_iface_t *wiface = &worker->ifaces[i];
        const char *reason         = no_messages(wiface);
        double time;

        if (is_to_ep(wiface) != to_ep) {
            continue;
        }
        if (reason != NULL) {
            explain(search, ucp_worker_iface_resource(worker, i), reason);
            continue;
        }
        reach(search, i);
        if (search->entry[i] == UNREACHABLE) {
            continue;
        }
        time = am_score(worker->context, wiface);
        if (time > *score) {
            *score = time;
            *lane  = choice_of(search, i);
            found  = 1;
        }
    }
    return found;
}

/* The interface that the peer names for a lane, or NULL. */
static const ucp_worker_iface_t *
asked_iface(const search_t *search, const ucp_wireup_record_t *record)
{
    ucp_worker_h worker = search->worker;
    unsigned index      = record->receiver_iface;
    const ucp_worker_iface_t *wiface;

    if (index >= worker->num_ifaces) {
        return NULL;
    }
    wiface = &worker->ifaces[index];
    if (!(wiface->attr->base.cap.flags & UCT_IFACE_FLAG_CONNECT_TO_EP) ||
        ((record->lane == UCP_AM_LANE) && (no_messages(wiface) != NULL))) {
        return NULL;
    }
    return wiface;
}

/* The other side of a lane of the peer's. Zero: we have no such interface. */
static int take_asked(search_t *search, const ucp_wireup_record_t *record,
                      ucp_lane_choice_t *lane)
{
    const ucp_worker_iface_t *wiface = asked_iface(search, record);
    unsigned i;

    if (wiface == NULL) {
        ucs_string_buffer_appendf(&search->why, "\n    the peer asks for a lane"
                                  " over our interface %u, which does not do",
                                  record->receiver_iface);
        return 0;
    }

    *lane = (ucp_lane_choice_t){
        .iface_index = record->receiver_iface,
        .remote_md   = UCP_NULL_MD,
        .to_ep       = 1,
        .asked_lane  = record->lane
    };
    for (i = 0; i < search->peer->num_entries; ++i) {
        if (search->peer->entries[i].iface_index == record->sender_iface) {
            lane->entry_index = (uint8_t)i;
            lane->remote_md   = search->peer->entries[i].md_index;
        }
    }
    return 1;
}

/* The lane for active messages, `lanes[0]`, and all others that the peer asks
 * for; returns how many, zero: there is none for messages. */
static unsigned select_first(search_t *search, ucp_lane_choice_t *lanes,
                             ucp_lane_choice_t *aux)
{
    const ucp_wireup_request_t *request = search->params->request;
    const ucp_wireup_record_t *record   = NULL;
    unsigned num_lanes                  = 1;
    double score                        = -1;
    unsigned i;

    search->has_aux = best_messages(search, 0, &score, aux);
    lanes[UCP_AM_LANE] = *aux;
    if (request != NULL) {
        record = ucp_wireup_record_find(request->lanes, request->num_lanes,
                                        UCP_AM_LANE);
    }
    if (!search->has_aux ||
        ((record != NULL) &&
         !take_asked(search, record, &lanes[UCP_AM_LANE]))) {
        best_messages(search, 1, &score, lanes); /* for the reasons */
        return 0;
    }
    if (record == NULL) {
        best_messages(search, 1, &score, &lanes[UCP_AM_LANE]);
    }

    for (i = 0; (request != NULL) && (i < request->num_lanes); ++i) {
        if ((request->lanes[i].lane != UCP_AM_LANE) &&
            !take_asked(search, &request->lanes[i], &lanes[num_lanes++])) {
            return 0;
        }
    }
    return num_lanes;
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

static unsigned
add_lanes(search_t *search, ucp_lane_choice_t *lanes, unsigned num_lanes)
{
    ucp_worker_h worker = search->worker;
    uint64_t features   = worker->context->features;
    unsigned i, use;

    for (i = 0; i < worker->num_ifaces; ++i) {
        if (no_messages(&worker->ifaces[i]) != NULL) {
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

static void search_init(search_t *search, ucp_worker_h worker,
                        const ucp_address_info_t *peer,
                        const ucp_select_params_t *params)
{
    search->worker  = worker;
    search->peer    = peer;
    search->params  = params;
    search->to_self = (peer->uuid == worker->uuid);
    search->has_aux = 0;
    memset(search->entry, UNREACHABLE, sizeof(search->entry));
    ucs_string_buffer_init(&search->why);
}

ucs_status_t
ucp_wireup_select(ucp_worker_h worker, const ucp_address_info_t *peer,
                  const ucp_select_params_t *params,
                  ucp_lane_choice_t lanes[UCP_MAX_LANES],
                  unsigned *num_lanes_p, ucp_lane_choice_t *aux)
{
    search_t search;
    unsigned first;

    search_init(&search, worker, peer, params);
    first = select_first(&search, lanes, aux);
    if (first > 0) {
        *num_lanes_p = add_lanes(&search, lanes, first);
    } else {
        ucs_diag("no transport reaches worker %s (%lx):%s", peer->name,
                 peer->uuid, ucs_string_buffer_cstr(&search.why));
    }
    ucs_string_buffer_cleanup(&search.why);
    return (first > 0) ? UCS_OK : UCS_ERR_UNREACHABLE;
}

int ucp_wireup_select_aux(ucp_worker_h worker, const ucp_address_info_t *peer,
                          int err_mode, ucp_lane_choice_t *aux)
{
    const ucp_select_params_t params = {.err_mode = err_mode};
    double score                     = -1;
    search_t search;
    int found;

    search_init(&search, worker, peer, &params);
    found = best_messages(&search, 0, &score, aux);
    ucs_string_buffer_cleanup(&search.why);
    return found;
}
