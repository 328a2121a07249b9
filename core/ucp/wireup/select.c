/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Selects lane 0, which carries messages, and the auxiliary link for a
 * handshake: which interfaces reach the peer, and which of them is the fastest
 * for small messages. requested.c sets the lanes that a peer requests,
 * extra_lanes.c adds the other lanes.
 */
#include "ucp/wireup/absent.h"
#include "ucp/wireup/search.h"

#include "ucs/debug/log.h"

#include <string.h>

/* Capabilities that a lane for active messages needs. */
#define AM_NEEDS \
    (UCT_IFACE_FLAG_AM_BCOPY | UCT_IFACE_FLAG_PENDING | UCT_IFACE_FLAG_CB_SYNC)

/* Capabilities that wake a sleeping worker when a message arrives. */
#define WAKEUP_NEEDS (UCT_IFACE_FLAG_EVENT_FD | UCT_IFACE_FLAG_EVENT_RECV)

static void explain(search_t *search, const ucp_resource_t *resource,
                    const char *reason)
{
    if (search->explains) {
        ucs_string_buffer_appendf(&search->why, "%s %s/%s (%s)",
                                  ucs_string_buffer_length(&search->why) ? "," :
                                                                           "",
                                  resource->tl_name, resource->dev_name,
                                  reason);
    }
}

/* ---------------------------------------------------------- reachability -- */

/* Returns non-zero if the interface supports only endpoints that are connected
 * to an endpoint of the peer. */
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
    if (is_to_ep(wiface) && !search->params->by_user) {
        return "has to be connected, which the peer did not request";
    }
    if (is_to_ep(wiface) && !search->has_aux) {
        return "has to be connected over another transport, and none"
               " reaches the peer";
    }
    if (search->params->err_mode && !search->to_self &&
        !(flags & UCT_IFACE_FLAG_ERRHANDLE_PEER_FAILURE)) {
        return "cannot report a lost peer";
    }
    if (resource->loopback_only && !search->to_self) {
        return "reaches this worker only";
    }
    if (resource->aux_only && !search->for_aux) {
        return "is there to connect others (UCX_TLS=...:aux)";
    }
    return NULL;
}

/* Returns the index of the peer's first entry on the device of entry `index`;
 * entries of one device have equal device addresses. */
static uint8_t device_of(const ucp_address_info_t *peer, unsigned index)
{
    const ucp_address_entry_t *own = &peer->entries[index];
    unsigned i;

    for (i = 0; i < index; ++i) {
        const ucp_address_entry_t *entry = &peer->entries[i];

        if ((entry->dev_addr_length == own->dev_addr_length) &&
            (memcmp(entry->dev_addr, own->dev_addr, own->dev_addr_length) ==
             0)) {
            break;
        }
    }
    return (uint8_t)i;
}

/* Returns non-zero if one of the lanes uses the device of this entry. */
static int is_taken(const search_t *search, unsigned entry,
                    const ucp_selected_lane_t *lanes, unsigned num_lanes)
{
    uint8_t device = device_of(search->peer, entry);
    unsigned i;

    for (i = 0; i < num_lanes; ++i) {
        if (lanes[i].remote_device == device) {
            return 1;
        }
    }
    return 0;
}

int ucp_wireup_nearness(const search_t *search, unsigned index,
                        unsigned entry_index, char *detail, size_t detail_size,
                        const char **reason_p)
{
    ucp_worker_iface_t *wiface       = &search->worker->ifaces[index];
    const ucp_address_entry_t *entry = &search->peer->entries[entry_index];
    int near;

    if (is_to_ep(wiface) && (entry->iface_index == UCP_NULL_IFACE)) {
        *reason_p = "the peer does not say which interface to connect to";
        return 0;
    }

    detail[0] = '\0';
    near      = uct_iface_is_reachable_sized(
             wiface->iface, (const uct_device_addr_t *)entry->dev_addr,
             entry->dev_addr_length, (const uct_iface_addr_t *)entry->iface_addr,
             entry->iface_addr_length, detail, search->explains ? detail_size : 0);
    if (near == 0) {
        *reason_p = (detail[0] != '\0') ? detail : "cannot reach it";
    }
    return near;
}

void ucp_wireup_reach(search_t *search, unsigned index,
                      const ucp_selected_lane_t *lanes, unsigned num_lanes)
{
    const ucp_resource_t *resource = ucp_worker_iface_resource(search->worker,
                                                               index);
    const char *reason = missing(search, &search->worker->ifaces[index],
                                 resource);
    int possible       = (reason == NULL);
    uint16_t code      = ucp_address_tl_code(resource->tl_name);
    char detail[128];
    unsigned i;
    int near;

    search->entry[index] = UNREACHABLE;
    search->near[index]  = 0;
    if (possible) {
        reason = "the peer has no such transport";
    }
    for (i = 0; possible && (i < search->peer->num_entries); ++i) {
        if (search->peer->entries[i].tl_code != code) {
            continue;
        }
        if (is_taken(search, i, lanes, num_lanes)) {
            reason = "other lanes lead to what it could reach";
            continue;
        }
        near = ucp_wireup_nearness(search, index, i, detail, sizeof(detail),
                                   &reason);
        if (near > search->near[index]) {
            search->near[index]  = near;
            search->entry[index] = (uint8_t)i;
        }
    }
    if (search->entry[index] == UNREACHABLE) {
        explain(search, resource, reason);
    }
}

ucp_selected_lane_t ucp_wireup_selected_lane(const search_t *search,
                                             unsigned index)
{
    uint8_t entry = search->entry[index];

    return (ucp_selected_lane_t){
        .iface_index    = (uint8_t)index,
        .entry_index    = entry,
        .remote_md      = search->peer->entries[entry].md_index,
        .to_ep          = (uint8_t)is_to_ep(&search->worker->ifaces[index]),
        .requested_lane = UCP_NULL_LANE,
        .remote_device  = device_of(search->peer, entry),
    };
}

/* ------------------------------------------------- the lane for messages -- */

/* Returns how good an interface is for lane 0; higher is better. The result is
 * 1 / time, with the time of a small message plus that of 4096 bytes at the
 * interface's bandwidth: of two networks with similar latencies, the one with
 * more bandwidth is usually better. */
static double am_score(ucp_context_h context, ucp_worker_iface_t *wiface)
{
    const uct_iface_attr_t *attr = &wiface->attr->base;
    double small                 = attr->overhead + attr->latency.c +
                   attr->latency.m * (double)context->estimated_num_eps;
    double bandwidth = attr->bandwidth.dedicated +
                       attr->bandwidth.shared /
                           (double)context->estimated_num_ppn;

    return 1.0 / (small + 4096.0 / bandwidth);
}

const char *ucp_wireup_no_messages(const ucp_worker_iface_t *wiface)
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

/* Compares nearness to the peer, then distance to the worker's processors, then
 * the priority that the transport declares. */
int ucp_wireup_prefer(const search_t *search, unsigned index, unsigned other)
{
    const ucp_worker_iface_t *ours   = &search->worker->ifaces[index];
    const ucp_worker_iface_t *theirs = &search->worker->ifaces[other];

    if (search->near[index] != search->near[other]) {
        return (search->near[index] > search->near[other]) ? 1 : -1;
    }
    if (ours->cpu_distance != theirs->cpu_distance) {
        return (ours->cpu_distance < theirs->cpu_distance) ? 1 : -1;
    }
    return (ours->attr->base.priority > theirs->attr->base.priority) -
           (ours->attr->base.priority < theirs->attr->base.priority);
}

unsigned ucp_wireup_share(const search_t *search, const uint8_t *equals,
                          unsigned num_equals)
{
    size_t local_id = search->worker->context->node_local_id;
    unsigned i;

    for (i = 0; i < num_equals; ++i) {
        if (!search->worker->ifaces[equals[i]].lane.is_network) {
            /* Not a network device: there is no gain in spreading the processes
             * over these interfaces */
            return equals[0];
        }
    }
    return equals[(local_id == SIZE_MAX) ? 0 : local_id % num_equals];
}

/* Finds the best lane for active messages, either among the interfaces that
 * need a handshake (`to_ep`) or among those that need none. Returns zero if
 * none has a score above *score; otherwise raises *score to that of the
 * lane. */
static int best_messages(search_t *search, int to_ep, double *score,
                         ucp_selected_lane_t *lane)
{
    ucp_worker_h worker = search->worker;
    unsigned num_equals = 0;
    uint8_t equals[UCP_MAX_RESOURCES];
    unsigned i;
    int gain;

    for (i = 0; i < worker->num_ifaces; ++i) {
        ucp_worker_iface_t *wiface = &worker->ifaces[i];
        const char *reason         = ucp_wireup_no_messages(wiface);
        double time;

        if (is_to_ep(wiface) != to_ep) {
            continue;
        }
        if (reason != NULL) {
            explain(search, ucp_worker_iface_resource(worker, i), reason);
            continue;
        }
        ucp_wireup_reach(search, i, NULL, 0);
        if (search->entry[i] == UNREACHABLE) {
            continue;
        }
        time = am_score(worker->context, wiface);
        gain = (time > *score) - (time < *score);
        if ((gain == 0) && (num_equals > 0)) {
            gain = ucp_wireup_prefer(search, i, equals[0]);
        } else if (gain == 0) {
            continue; /* The caller already has a lane with this score: keep
                       * that lane */
        }
        if (gain > 0) {
            *score     = time;
            num_equals = 0;
        }
        if (gain >= 0) {
            equals[num_equals++] = (uint8_t)i;
        }
    }
    if (num_equals == 0) {
        return 0;
    }
    *lane = ucp_wireup_selected_lane(search, ucp_wireup_share(search, equals,
                                                              num_equals));
    return 1;
}

/* Finds an interface for the handshake, and sets search->has_aux if there is
 * one. Returns non-zero and sets *score if this interface may also carry
 * lane 0; zero if it is for the handshake only, or if there is none. */
static int find_aux(search_t *search, double *score, ucp_selected_lane_t *aux)
{
    double aux_score = -1;

    search->has_aux = best_messages(search, 0, score, aux);
    if (search->has_aux) {
        return 1;
    }

    if (search->explains) {
        ucs_string_buffer_reset(&search->why);
    }
    search->for_aux = 1;
    search->has_aux = best_messages(search, 0, &aux_score, aux);
    search->for_aux = 0;
    return 0;
}

/* Selects the lane for active messages, `lanes[0]`, and all lanes that the peer
 * requests. Returns their number; zero if there is no lane for messages, or if
 * a requested lane is not possible. */
static unsigned select_first(search_t *search, ucp_selected_lane_t *lanes,
                             ucp_selected_lane_t *aux)
{
    const ucp_wireup_request_t *request = search->params->request;
    const ucp_wireup_record_t *record   = NULL;
    unsigned num_lanes                  = 1;
    double score                        = -1;
    unsigned i;
    int found;

    found              = find_aux(search, &score, aux);
    lanes[UCP_AM_LANE] = *aux;
    if (request != NULL) {
        record = ucp_wireup_record_find(request->lanes, request->num_lanes,
                                        UCP_AM_LANE);
    }
    if (!search->has_aux ||
        ((record != NULL) &&
         !ucp_wireup_take_requested(search, record, &lanes[UCP_AM_LANE]))) {
        /* The selection has failed. If search->explains is set, this call
         * appends why the interfaces that need a handshake are rejected; its
         * result is not used */
        best_messages(search, 1, &score, lanes);
        return 0;
    }
    if ((record == NULL) &&
        !best_messages(search, 1, &score, &lanes[UCP_AM_LANE]) && !found) {
        return 0;
    }

    for (i = 0; (request != NULL) && (i < request->num_lanes); ++i) {
        if ((request->lanes[i].lane != UCP_AM_LANE) &&
            !ucp_wireup_take_requested(search, &request->lanes[i],
                                       &lanes[num_lanes++])) {
            return 0;
        }
    }
    return num_lanes;
}

static void search_init(search_t *search, ucp_worker_h worker,
                        const ucp_address_info_t *peer,
                        const ucp_select_params_t *params)
{
    search->worker   = worker;
    search->peer     = peer;
    search->params   = params;
    search->to_self  = (peer->uuid == worker->uuid);
    search->has_aux  = 0;
    search->for_aux  = 0;
    search->explains = 0;
    memset(search->entry, UNREACHABLE, sizeof(search->entry));
    memset(search->near, 0, sizeof(search->near));
}

/* Repeats a failed selection to collect the reasons, and logs them. Collecting
 * them costs more than the selection itself, so it is done only on failure. */
static void log_reasons(ucp_worker_h worker, const ucp_address_info_t *peer,
                        const ucp_select_params_t *params)
{
    ucp_selected_lane_t lanes[UCP_MAX_LANES], aux;
    search_t search;

    search_init(&search, worker, peer, params);
    search.explains = 1;
    ucs_string_buffer_init(&search.why);
    select_first(&search, lanes, &aux);
    ucp_wireup_append_absent(worker, peer, &search.why);
    /* A peer's request may contain anything: it must not cause log messages of
     * level ERROR. */
    ucs_log(params->by_user ? UCS_LOG_LEVEL_ERROR : UCS_LOG_LEVEL_DIAG,
            "no transport reaches worker %s:%s; on either side UCX_TLS and "
            "UCX_NET_DEVICES choose from what `ucx-plugins list` shows",
            peer->name, ucs_string_buffer_cstr(&search.why));
    ucs_string_buffer_cleanup(&search.why);
}

ucs_status_t ucp_wireup_select(ucp_worker_h worker,
                               const ucp_address_info_t *peer,
                               const ucp_select_params_t *params,
                               ucp_selected_lane_t lanes[UCP_MAX_LANES],
                               unsigned *num_lanes_p, ucp_selected_lane_t *aux)
{
    search_t search;
    unsigned first;

    search_init(&search, worker, peer, params);
    first = select_first(&search, lanes, aux);
    if (first == 0) {
        log_reasons(worker, peer, params);
        return UCS_ERR_UNREACHABLE;
    }
    *num_lanes_p = ucp_wireup_add_lanes(&search, lanes, first);
    return UCS_OK;
}

int ucp_wireup_select_aux(ucp_worker_h worker, const ucp_address_info_t *peer,
                          int err_mode, ucp_selected_lane_t *aux)
{
    const ucp_select_params_t params = {.err_mode = err_mode};
    double score                     = -1;
    search_t search;

    search_init(&search, worker, peer, &params);
    search.for_aux = 1;
    return best_messages(&search, 0, &score, aux);
}
