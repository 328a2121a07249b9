/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Endpoints: creation, the queue for send resources, and failure. ep_close.c
 * closes endpoints.
 */
#include "ucp/core/ep.h"

#include "ucp/cm/cm.h"
#include "ucp/core/ids.h"
#include "ucp/core/keepalive.h"
#include "ucp/core/stats.h"
#include "ucp/multi/multi.h"
#include "ucp/rma/ack.h"
#include "ucp/rma/fence.h"
#include "ucp/rndv/rndv.h"
#include "ucp/wireup/failover.h"
#include "ucp/wireup/handshake.h"
#include "ucp/wireup/introduce.h"
#include "ucs/debug/log.h"
#include "ucs/sys/guid.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* -------------------------------------------- waiting for send resources -- */

/* Sends queued requests, in order. UCS_ERR_NO_RESOURCE: some still wait. */
static ucs_status_t drain(ucp_ep_h ep)
{
    ucs_queue_elem_t *elem;
    ucp_request_t *req;
    ucs_status_t status;

    ep->flags |= UCP_EP_FLAG_DRAINING;
    while ((elem = ucs_queue_pull(&ep->waiting)) != NULL) {
        req = ucs_container_of(elem, ucp_request_t, send.queue);
        do {
            status = req->send.progress(req);
        } while (status == UCS_INPROGRESS);

        if (ep->flags & UCP_EP_FLAG_FAILED) {
            /* failed in a callback: the failure has ended all other requests */
            break;
        }
        if (status == UCS_ERR_NO_RESOURCE) {
            ucs_queue_push_head(&ep->waiting, elem);
            ep->flags &= ~UCP_EP_FLAG_DRAINING;
            return UCS_ERR_NO_RESOURCE;
        }
    }

    ep->flags &= ~(UCP_EP_FLAG_DRAINING | UCP_EP_FLAG_BLOCKED);
    return UCS_OK;
}

static uct_pending_req_t *room_of(ucp_ep_h ep, unsigned lane)
{
    return (lane == UCP_AM_LANE) ? &ep->room : &ep->more[lane - 1].room;
}

/*
 * Adds the endpoint to the pending queue of the lane that the first queued
 * request waits for. UCS_ERR_BUSY: the lane has send resources now.
 * UCS_ERR_NO_RESOURCE: it is the lane `from`, whose pending callback is running
 * and stays queued. UCS_OK: added, or the endpoint has failed.
 */
static ucs_status_t ask_for_room(ucp_ep_h ep, unsigned from)
{
    ucp_request_t *first = ucs_queue_head_elem_non_empty(
            &ep->waiting, ucp_request_t, send.queue);
    unsigned lane        = first->lane;
    uct_ep_h uct         = ucp_ep_lane(ep, lane);
    ucs_status_t status;

    if (lane == from) {
        ep->flags |= UCP_EP_FLAG_PENDING;
        return UCS_ERR_NO_RESOURCE;
    }

    status = uct->ops->pending_add(uct, room_of(ep, lane), 0);
    if (status == UCS_OK) {
        ep->flags |= UCP_EP_FLAG_PENDING;
    } else if (status != UCS_ERR_BUSY) {
        ucp_ep_fail(ep, status);
        status = UCS_OK;
    }
    return status;
}

static ucs_status_t lane_has_room(ucp_ep_h ep, unsigned lane)
{
    ucs_status_t status;

    ep->flags &= ~UCP_EP_FLAG_PENDING;
    while (drain(ep) != UCS_OK) {
        status = ask_for_room(ep, lane);
        if (status != UCS_ERR_BUSY) {
            return status;
        }
    }
    return UCS_OK;
}

static ucs_status_t am_has_room(uct_pending_req_t *self)
{
    return lane_has_room(ucs_container_of(self, ucp_ep_t, room), UCP_AM_LANE);
}

static ucs_status_t other_has_room(uct_pending_req_t *self)
{
    ucp_ep_lane_t *lane = ucs_container_of(self, ucp_ep_lane_t, room);

    return lane_has_room(lane->ep, (unsigned)(lane - lane->ep->more) + 1);
}

void ucp_ep_hold(ucp_ep_h ep)
{
    ep->flags |= UCP_EP_FLAG_BLOCKED | UCP_EP_FLAG_PENDING;
}

void ucp_ep_go_on(ucp_ep_h ep)
{
    ep->flags &= ~UCP_EP_FLAG_PENDING;
    while ((drain(ep) != UCS_OK) &&
           (ask_for_room(ep, UCP_NULL_LANE) == UCS_ERR_BUSY)) {
        /* send resources became available in the meantime */
    }
}

void ucp_ep_wait_for_room(ucp_ep_h ep, ucp_request_t *req)
{
    ucs_queue_push(&ep->waiting, &req->send.queue);
    ep->flags |= UCP_EP_FLAG_BLOCKED;
    if (ucs_unlikely(ep->stats != NULL)) {
        ucs_stats_add(ucp_stats_ep_record(ep->stats), UCP_STATS_WAITS, 1);
    }
    if (ep->flags & (UCP_EP_FLAG_PENDING | UCP_EP_FLAG_DRAINING)) {
        return;
    }

    while ((ask_for_room(ep, UCP_NULL_LANE) == UCS_ERR_BUSY) &&
           (drain(ep) != UCS_OK)) {
        /* the first request may wait for another lane now */
    }
}

/* ---------------------------------------------------- control messages -- */

typedef struct {
    const void *message;
    size_t     length;
} control_t;

static size_t control_pack(void *dest, void *arg)
{
    const control_t *control = arg;

    memcpy(dest, control->message, control->length);
    return control->length;
}

/* The peer waits for the message, so the endpoint cannot go on without it. */
static void fail_without_memory(ucp_ep_h ep)
{
    ucs_error("ep %p: out of memory for a message that its peer waits for; the"
              " endpoint fails", ep);
    ucp_ep_doom(ep, UCS_ERR_NO_MEMORY);
}

static ssize_t control_send(ucp_ep_h ep, uint8_t am_id, control_t *control)
{
    ssize_t packed;

    do {
        packed = ep->am->ops->am_bcopy(ep->am, am_id, control_pack, control, 0);
    } while ((packed == UCS_ERR_NO_MEMORY) && ucp_reserve_spend(ep->worker));
    if (packed == UCS_ERR_NO_MEMORY) {
        fail_without_memory(ep);
    }
    return packed;
}

static void control_abort(ucp_request_t *req, ucs_status_t status)
{
    free(req->send.control.message);
    ucp_request_complete_send(req, status);
}

static ucs_status_t control_progress(ucp_request_t *req)
{
    control_t control = {req->send.control.message, req->send.control.length};
    ssize_t packed    = control_send(req->send.ep, req->send.control.am_id,
                                     &control);

    if (packed == UCS_ERR_NO_RESOURCE) {
        return UCS_ERR_NO_RESOURCE;
    }
    control_abort(req, (packed < 0) ? (ucs_status_t)packed : UCS_OK);
    return UCS_OK;
}

/* Creates a request that sends a copy of the message. NULL: out of memory.
 * The endpoint then fails, because the peer waits for the message. */
static ucp_request_t *make_control(ucp_ep_h ep, uint8_t am_id,
                                   const void *message, size_t length)
{
    void *copy         = ucp_reserve_malloc(ep->worker, length);
    ucp_request_t *req = ucp_request_get_internal(ep->worker);

    if ((copy == NULL) || (req == NULL)) {
        goto err;
    }

    memcpy(copy, message, length);
    req->send.control.message = copy;
    req->send.control.length  = length;
    req->send.control.am_id   = am_id;
    req->send.ep              = ep;
    req->send.progress        = control_progress;
    req->send.abort           = control_abort;
    return req;

err:
    free(copy);
    if (req != NULL) {
        ucp_request_put(req);
    }
    fail_without_memory(ep);
    return NULL;
}

ucs_status_t ucp_ep_send_control(ucp_ep_h ep, uint8_t am_id,
                                 const void *message, size_t length)
{
    control_t control = {message, length};
    ucp_request_t *req;
    ssize_t packed;

    if (ep->flags & UCP_EP_FLAG_FAILED) {
        return ep->fail_status;
    }

    if (!(ep->flags & UCP_EP_FLAG_BLOCKED)) {
        /* Send at once, without coalescing: the peer may wait for this
         * message, and the user may not call progress again. */
        packed = control_send(ep, am_id, &control);
        if (packed >= 0) {
            return UCS_OK;
        }
        if (packed != UCS_ERR_NO_RESOURCE) {
            return (ucs_status_t)packed;
        }
    }

    req = make_control(ep, am_id, message, length);
    if (req == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    ucp_ep_wait_for_room(ep, req);
    return UCS_OK;
}

ucs_status_t ucp_ep_send_in_order(ucp_ep_h ep, uint8_t am_id,
                                  const void *message, size_t length)
{
    ucp_request_t *req;

    if (!(ep->flags & UCP_EP_FLAG_FENCING)) {
        return ucp_ep_send_control(ep, am_id, message, length);
    }

    req = make_control(ep, am_id, message, length);
    if (req == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    ucp_rma_fence_hold(ep, req);
    return UCS_OK;
}

/* ------------------------------------------------------------ creation -- */

/* Creates the lanes of a new endpoint. An endpoint for a peer's request has
 * the requested lanes, and requests none. */
static ucs_status_t make_lanes(ucp_worker_h worker,
                               const ucp_address_info_t *peer, uint16_t flags,
                               const ucp_wireup_request_t *request,
                               ucp_wireup_lanes_t *lanes)
{
    const ucp_select_params_t params = {
        .err_mode = !!(flags & UCP_EP_FLAG_ERR_MODE),
        .by_user  = !(flags & UCP_EP_FLAG_INTERNAL),
        .request  = request
    };

    return ucp_wireup_lanes_make(worker, peer, &params, lanes);
}

/* Returns the contents of a packed address; the caller frees them. */
static ucs_status_t unpack_address(const void *address, size_t length,
                                   ucp_address_info_t **peer_p)
{
    ucp_address_info_t *peer = malloc(sizeof(*peer));
    ucs_status_t status      = UCS_ERR_NO_MEMORY;

    if (peer != NULL) {
        status = ucp_address_unpack(address, length, peer);
    }
    if (status != UCS_OK) {
        free(peer);
        return status;
    }
    *peer_p = peer;
    return UCS_OK;
}

/* Sets the lanes of an endpoint, which has space for them. */
static ucs_status_t
adopt_lanes(ucp_ep_h ep, const ucp_address_info_t *peer,
            const ucp_wireup_lanes_t *lanes,
            const ucp_wireup_request_t *request)
{
    unsigned i;

    ep->config    = lanes->config;
    ep->peer_uuid = peer->uuid;
    if (peer->uuid != ep->worker->uuid) {
        ep->flags &= ~UCP_EP_FLAG_LOOPBACK;
    }
    ep->am        = lanes->uct[UCP_AM_LANE];
    for (i = 1; i < lanes->num; ++i) {
        ep->more[i - 1].uct       = lanes->uct[i];
        ep->more[i - 1].ep        = ep;
        ep->more[i - 1].room.func = other_has_room;
    }
    ucp_stats_ep_begin(ep, peer->name, lanes->uct);
    ucp_keepalive_watch(ep);
    return ucp_wireup_begin(ep, peer, lanes, request);
}

/* Creates an endpoint without lanes, with space for `num_lanes`. */
static ucp_ep_h make_ep(ucp_worker_h worker, unsigned num_lanes, uint16_t flags)
{
    ucp_ep_h ep;

    ep = calloc(1, sizeof(*ep) + (num_lanes - 1) * sizeof(ep->more[0]));
    if (ep == NULL) {
        return NULL;
    }

    ep->worker    = worker;
    ep->flags     = flags;
    ep->secret    = (uint32_t)ucs_generate_uuid();
    ep->room.func = am_has_room;
    ucs_queue_head_init(&ep->waiting);
    ucs_queue_head_init(&ep->rma_flushes);
    ucs_list_head_init(&ep->awaited);
    ucs_list_head_init(&ep->arriving);
    if (ucp_id_add(worker->ep_ids, ep, &ep->id) != UCS_OK) {
        free(ep);
        return NULL;
    }
    ucs_list_add_tail(&worker->eps, &ep->link);
    return ep;
}

ucs_status_t
ucp_ep_create_to_peer(ucp_worker_h worker, const ucp_address_info_t *peer,
                      uint16_t flags, const ucp_wireup_request_t *request,
                      ucp_ep_h *ep_p)
{
    ucp_wireup_lanes_t lanes;
    ucs_status_t status;
    ucp_ep_h ep;

    status = make_lanes(worker, peer, flags, request, &lanes);
    if (status != UCS_OK) {
        return status;
    }

    ep = make_ep(worker, lanes.num, flags);
    if (ep == NULL) {
        ucp_wireup_lanes_destroy(&lanes);
        return UCS_ERR_NO_MEMORY;
    }

    status = adopt_lanes(ep, peer, &lanes, request);
    if (status != UCS_OK) {
        ucp_ep_destroy_now(ep);
        return status;
    }
    *ep_p = ep;
    return UCS_OK;
}

ucs_status_t ucp_ep_create_to_address(ucp_worker_h worker,
                                      const void *address, size_t length,
                                      uint16_t flags, ucp_ep_h *ep_p)
{
    ucp_address_info_t *peer;
    ucs_status_t status;

    status = unpack_address(address, length, &peer);
    if (status == UCS_OK) {
        status = ucp_ep_create_to_peer(worker, peer, flags, NULL, ep_p);
        free(peer);
    }
    return status;
}

ucs_status_t ucp_ep_create_unconnected(ucp_worker_h worker, uint16_t flags,
                                       ucp_ep_h *ep_p)
{
    const ucp_ep_config_t *config;

    config = ucp_ep_config_unconnected(worker,
                                       !!(flags & UCP_EP_FLAG_ERR_MODE));
    *ep_p  = (config == NULL) ? NULL :
             make_ep(worker, UCP_MAX_LANES, flags);
    if (*ep_p == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    (*ep_p)->config = config;
    ucp_ep_hold(*ep_p);
    return UCS_OK;
}

ucs_status_t ucp_ep_connect(ucp_ep_h ep, const void *address, size_t length)
{
    ucp_wireup_lanes_t lanes;
    ucp_address_info_t *peer;
    ucs_status_t status;

    status = unpack_address(address, length, &peer);
    if (status != UCS_OK) {
        return status;
    }

    status = make_lanes(ep->worker, peer, ep->flags, NULL, &lanes);
    if (status == UCS_OK) {
        status = adopt_lanes(ep, peer, &lanes, NULL);
    }
    free(peer);
    return status;
}

/* ------------------------------------------------- the user's endpoints -- */

/* All bits of ucp_ep_params_field in ucp.h. */
enum { ALL_FIELDS = (UCP_EP_PARAM_FIELD_LOCAL_SOCK_ADDR << 1) - 1 };

/* True if the parameters name exactly one target. */
static int is_target_given(const ucp_ep_params_t *params)
{
    uint64_t mask  = params->field_mask;
    unsigned flags = (mask & UCP_EP_PARAM_FIELD_FLAGS) ? params->flags : 0;
    int client     = !!(flags & UCP_EP_PARAMS_FLAGS_CLIENT_SERVER);

    if (client != !!(mask & UCP_EP_PARAM_FIELD_SOCK_ADDR)) {
        return 0;
    }
    if (mask & UCP_EP_PARAM_FIELD_CONN_REQUEST) {
        return !client && !(mask & UCP_EP_PARAM_FIELD_REMOTE_ADDRESS);
    }
    return client ? !(mask & UCP_EP_PARAM_FIELD_REMOTE_ADDRESS) :
           ((mask & UCP_EP_PARAM_FIELD_REMOTE_ADDRESS) &&
            (params->address != NULL));
}

static int is_mode_known(const ucp_ep_params_t *params)
{
    return !(params->field_mask & UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE) ||
           (params->err_mode == UCP_ERR_HANDLING_MODE_NONE) ||
           (params->err_mode == UCP_ERR_HANDLING_MODE_PEER);
}

/* True if the endpoint may be its own reply endpoint, should it lead to its
 * own worker. */
static int may_loop(const ucp_ep_params_t *params)
{
    uint64_t mask = params->field_mask;

    return (mask & UCP_EP_PARAM_FIELD_REMOTE_ADDRESS) &&
           !((mask & UCP_EP_PARAM_FIELD_FLAGS) &&
             (params->flags & UCP_EP_PARAMS_FLAGS_NO_LOOPBACK));
}

static ucs_status_t
create_to_target(ucp_worker_h worker, const ucp_ep_params_t *params,
                 uint16_t flags, ucp_ep_h *ep_p)
{
    uint64_t mask = params->field_mask;
    ucs_status_t status;

    if (mask & UCP_EP_PARAM_FIELD_SOCK_ADDR) {
        return ucp_cm_connect(worker, params, flags, ep_p);
    }
    if (mask & UCP_EP_PARAM_FIELD_CONN_REQUEST) {
        return ucp_cm_accept(worker, params->conn_request, flags, ep_p);
    }

    status = ucp_ep_create_to_address(worker, params->address,
                                      ucp_address_length(params->address),
                                      flags, ep_p);
    if (status != UCS_OK) {
        return status;
    }
    /* connections above have a connection manager, which detects lost peers */
    status = ucp_keepalive_connect(*ep_p);
    if (status != UCS_OK) {
        ucp_ep_discard(*ep_p);
    }
    return status;
}

/* Sets the user's parameters in a new endpoint. */
static void take_params(ucp_ep_h ep, const ucp_ep_params_t *params)
{
    uint64_t mask = params->field_mask;

    if (mask & UCP_EP_PARAM_FIELD_USER_DATA) {
        ep->user_data = params->user_data;
    }
    if (mask & UCP_EP_PARAM_FIELD_ERR_HANDLER) {
        ep->err_cb  = params->err_handler.cb;
        ep->err_arg = params->err_handler.arg;
        if (!(mask & UCP_EP_PARAM_FIELD_USER_DATA)) {
            ep->user_data = params->err_handler.arg;
        }
    }
    if ((mask & UCP_EP_PARAM_FIELD_NAME) && (params->name != NULL)) {
        ep->name = strndup(params->name, UCP_ENTITY_NAME_MAX - 1);
    }
}

ucs_status_t ucp_ep_create(ucp_worker_h worker, const ucp_ep_params_t *params,
                           ucp_ep_h *ep_p)
{
    uint16_t flags = 0;
    ucs_status_t status;
    ucp_ep_h ep;

    status = ucp_context_check_fields(worker->context->is_newer,
                                      "ucp_ep_create", params->field_mask,
                                      ALL_FIELDS);
    if ((status == UCS_OK) &&
        (!is_target_given(params) || !is_mode_known(params))) {
        status = UCS_ERR_INVALID_PARAM;
    }
    if (status != UCS_OK) {
        if (params->field_mask & UCP_EP_PARAM_FIELD_CONN_REQUEST) {
            /* the call always consumes the request */
            ucp_cm_refuse(params->conn_request);
        }
        return status;
    }
    if ((params->field_mask & UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE) &&
        (params->err_mode == UCP_ERR_HANDLING_MODE_PEER)) {
        flags |= UCP_EP_FLAG_ERR_MODE;
    }
    if (may_loop(params)) {
        flags |= UCP_EP_FLAG_LOOPBACK;
    }

    ucp_worker_enter(worker);
    status = create_to_target(worker, params, flags, &ep);
    if (status == UCS_OK) {
        status = ucp_stream_ep_add(ep, params);
        if (status == UCS_OK) {
            take_params(ep, params);
            *ep_p = ep;
        } else {
            ucp_ep_discard(ep);
        }
    }
    ucp_worker_leave(worker);
    return status;
}

/* Bytes of the members that fit completely in `size` bytes. */
static size_t entry_bytes(size_t size)
{
    size_t member = sizeof(((ucp_transport_entry_t *)NULL)->transport_name);
    size_t all    = sizeof(ucp_transport_entry_t);

    return (size < all) ? size - (size % member) : all;
}

/* Lists the transports of the working lanes, as far as the caller's array
 * allows. A program that was built with another version of ucp.h has entries
 * of another size: only members that fit are filled, and nothing beyond them
 * is written. */
static void list_transports(ucp_ep_h ep, ucp_transports_t *transports)
{
    const ucp_ep_config_t *config = ep->config;
    size_t size                   = transports->entry_size;
    char *entries                 = (char *)transports->entries;
    unsigned count                = 0;
    unsigned lane;

    for (lane = 0; (lane < config->num_lanes) && !config->unconnected &&
                   (count < transports->num_entries); ++lane) {
        const ucp_resource_t *resource = ucp_worker_iface_resource(
                ep->worker, config->lanes[lane].iface_index);
        ucp_transport_entry_t entry    = {
            .transport_name = resource->tl_name,
            .device_name    = resource->dev_name
        };

        if (!(config->lost & UCS_BIT(lane))) {
            memcpy(entries + count * size, &entry, entry_bytes(size));
            ++count;
        }
    }
    transports->num_entries = count;
}

ucs_status_t ucp_ep_query(ucp_ep_h ep, ucp_ep_attr_t *attr)
{
    uint64_t sockaddrs = UCP_EP_ATTR_FIELD_LOCAL_SOCKADDR |
                         UCP_EP_ATTR_FIELD_REMOTE_SOCKADDR;
    ucp_worker_h worker = ep->worker;
    ucs_status_t status = UCS_OK;

    ucp_worker_enter(worker);
    if (attr->field_mask & UCP_EP_ATTR_FIELD_NAME) {
        if (ep->name != NULL) {
            snprintf(attr->name, sizeof(attr->name), "%s", ep->name);
        } else {
            snprintf(attr->name, sizeof(attr->name), "ep_%d_%u_%x",
                     (int)getpid(), worker->serial, ep->id);
        }
    }
    if (attr->field_mask & sockaddrs) {
        status = ucp_cm_query(ep, attr);
    }
    if (attr->field_mask & UCP_EP_ATTR_FIELD_TRANSPORTS) {
        list_transports(ep, &attr->transports);
    }
    if (attr->field_mask & UCP_EP_ATTR_FIELD_USER_DATA) {
        attr->user_data = ep->user_data;
    }
    ucp_worker_leave(worker);
    return status;
}

/* ----------------------------------------------------- failing, freeing -- */

/* Queued requests are in the endpoint's own queue, which ends them. */
static void purged(uct_pending_req_t *self, void *arg)
{
}

void ucp_ep_release_lanes(ucp_ep_h ep)
{
    uct_ep_h ucts[UCP_MAX_LANES];
    unsigned i;

    ep->flags &= ~UCP_EP_FLAG_PENDING;
    for (i = 0; i < ep->config->num_lanes; ++i) {
        ucts[i] = ucp_ep_lane(ep, i);
        if (i == UCP_AM_LANE) {
            ep->am = NULL;
        } else {
            ep->more[i - 1].uct = NULL;
        }
    }
    for (i = 0; i < ep->config->num_lanes; ++i) {
        if (ucts[i] != NULL) {
            uct_ep_pending_purge(ucts[i], purged, NULL);
            uct_ep_destroy(ucts[i]);
        }
    }
    ucp_wireup_release(ep);
}

static void cancel_lanes(ucp_ep_h ep)
{
    unsigned i;

    for (i = 0; (i < ep->config->num_lanes) && (ep->am != NULL); ++i) {
        uct_ep_flush(ucp_ep_lane(ep, i), UCT_FLUSH_FLAG_CANCEL, NULL);
    }
}

void ucp_ep_abort_requests(ucp_ep_h ep, ucs_status_t status)
{
    ucs_status_t arriving = status;
    ucs_queue_elem_t *elem;
    ucp_request_t *req;

    if ((ep->flags & UCP_EP_FLAG_LOOPBACK) && (status == UCS_ERR_CANCELED)) {
        /* the user has closed the sending end but has not cancelled receives */
        arriving = UCS_ERR_CONNECTION_RESET;
    }
    if (ep->flags & UCP_EP_FLAG_FENCING) {
        ucp_rma_fence_done(ep->fence);
    }
    while ((elem = ucs_queue_pull(&ep->waiting)) != NULL) {
        req = ucs_container_of(elem, ucp_request_t, send.queue);
        req->send.abort(req, status);
    }
    while (!ucs_list_is_empty(&ep->awaited)) {
        req = ucs_list_head(&ep->awaited, ucp_request_t, ep_link);
        if (req->flags & UCP_REQUEST_FLAG_RECV) {
            ucp_rndv_recv_end(req, arriving);
        } else {
            req->send.abort(req, status);
        }
    }
    ucp_multi_recv_abort(ep, arriving);
}

/* True if all accesses of the user are complete. The lanes still exist. */
static int is_settled(ucp_ep_h ep)
{
    unsigned i;

    if ((ep->rma_issued != ep->rma_done) || (ep->am == NULL) ||
        !ucs_queue_is_empty(&ep->waiting) ||
        (ep->flags & UCP_EP_FLAG_FENCING) || (ep->lost_status != UCS_OK)) {
        return 0;
    }
    for (i = 0; i < ep->config->num_lanes; ++i) {
        if ((ep->remote_lanes & UCS_BIT(i)) &&
            (uct_ep_flush(ucp_ep_lane(ep, i), UCT_FLUSH_FLAG_REMOTE, NULL) !=
             UCS_OK)) {
            return 0;
        }
    }
    return 1;
}

static void mark_failed(ucp_ep_h ep, ucs_status_t status)
{
    ep->settled     = is_settled(ep);
    ep->flags      |= UCP_EP_FLAG_FAILED;
    ep->fail_status = status;
}

static void end_failed(ucp_ep_h ep)
{
    cancel_lanes(ep);
    ucp_ep_release_lanes(ep);
    ucp_ep_abort_requests(ep, ep->fail_status);
    ucp_stream_ep_end(ep, ep->fail_status);
    ucp_cm_shut(ep, ep->fail_status);
}

void ucp_ep_shut(ucp_ep_h ep, ucs_status_t status)
{
    if (!(ep->flags & UCP_EP_FLAG_FAILED)) {
        mark_failed(ep, status);
        end_failed(ep);
    }
    ucp_ep_schedule(ep);
}

void ucp_ep_fail(ucp_ep_h ep, ucs_status_t status)
{
    if (!(ep->flags & UCP_EP_FLAG_FAILED)) {
        ucs_diag("ep %p to worker %lx failed: %s", ep, ep->peer_uuid,
                 ucs_status_string(status));
        /* set first, so that nothing below fails the endpoint again */
        mark_failed(ep, status);
        ucp_stats_ep_failed(ep);
        ucp_ep_last_word(ep);
        ucp_ep_excuse(ep);
        end_failed(ep);
        ucp_ep_schedule(ep);
    }
}

/* Work of an endpoint in progress, where no caller on the stack uses it. The
 * endpoint may be freed afterwards. */
static void scheduled(void *arg)
{
    ucp_ep_h ep = arg;

    ep->flags &= ~UCP_EP_FLAG_SCHEDULED;
    ucp_failover_suspects(ep);
    if (ucs_unlikely(ep->doom != UCS_OK)) {
        ucp_ep_fail(ep, ep->doom); /* no effect if it has failed already */
    }
    if (ep->flags & UCP_EP_FLAG_CLOSING) {
        ucp_ep_close_continue(ep);
    } else if (ep->flags & UCP_EP_FLAG_INTERNAL) {
        if ((ep->flags & UCP_EP_FLAG_FAILED) &&
            !(ep->flags & UCP_EP_FLAG_EXPOSED)) {
            ucp_ep_destroy_now(ep);
        }
    } else if ((ep->flags & UCP_EP_FLAG_FAILED) && (ep->err_cb != NULL) &&
               (ep->flags & UCP_EP_FLAG_ERR_MODE)) {
        ep->err_cb(ep->user_data, ep, ep->fail_status);
    }
}

void ucp_ep_schedule(ucp_ep_h ep)
{
    if (!(ep->flags & UCP_EP_FLAG_SCHEDULED)) {
        ep->flags |= UCP_EP_FLAG_SCHEDULED;
        uct_worker_oneshot_post(ep->worker->uct, &ep->schedule, scheduled, ep);
    }
}

void ucp_ep_doom(ucp_ep_h ep, ucs_status_t status)
{
    if (!(ep->flags & UCP_EP_FLAG_FAILED)) {
        ep->doom = status;
        ucp_ep_schedule(ep);
    }
}

void ucp_ep_destroy_now(ucp_ep_h ep)
{
    ucp_worker_h worker = ep->worker;

    if (ep->peer_ep_id != 0) {
        ucp_wireup_forget(ep);
    }
    ucp_rma_ack_forget(ep);
    ucp_cm_free(ep);
    if (ep->flags & UCP_EP_FLAG_SCHEDULED) {
        uct_worker_oneshot_cancel(worker->uct, scheduled, ep);
    }
    ucp_ep_release_lanes(ep);
    ucp_wireup_free(ep);
    ucp_stats_ep_end(ep);
    ucp_keepalive_forget(ep);
    ucp_stream_ep_del(ep);
    ucp_id_del(worker->ep_ids, ep->id);
    ucs_list_del(&ep->link);
    free(ep->name);
    free(ep);
}
