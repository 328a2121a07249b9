/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Creates endpoints: to the worker of an address, for replies to a peer, and
 * without lanes, for connections whose address is not known yet.
 */
#include "ucp/wireup/create.h"

#include "ucp/base/ids.h"
#include "ucp/order/queue.h"
#include "ucp/stats/stats.h"
#include "ucp/wireup/handshake.h"
#include "ucp/wireup/keepalive.h"
#include "ucs/host/guid.h"

#include <stdlib.h>

/* Creates the lanes of a new endpoint. An endpoint that answers a peer's
 * request gets the requested lanes, and requests none itself. */
static ucs_status_t make_lanes(ucp_worker_h worker,
                               const ucp_address_info_t *peer, uint16_t flags,
                               const ucp_wireup_request_t *request,
                               ucp_wireup_lanes_t *lanes)
{
    const ucp_select_params_t params = {
        .err_mode = !!(flags & UCP_EP_FLAG_ERR_MODE),
        .by_user  = !(flags & UCP_EP_FLAG_INTERNAL),
        .request  = request,
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

/* Assigns the lanes to an endpoint, which has space for them, and starts the
 * handshake if some of them need one. */
static ucs_status_t adopt_lanes(ucp_ep_h ep, const ucp_address_info_t *peer,
                                const ucp_wireup_lanes_t *lanes,
                                const ucp_wireup_request_t *request)
{
    unsigned i;

    ep->config    = lanes->config;
    ep->peer_uuid = peer->uuid;
    if (peer->uuid != ep->worker->uuid) {
        ep->flags &= ~UCP_EP_FLAG_LOOPBACK;
    }
    ep->am = lanes->uct[UCP_AM_LANE];
    for (i = 1; i < lanes->num; ++i) {
        ep->more[i - 1].uct          = lanes->uct[i];
        ep->more[i - 1].ep           = ep;
        ep->more[i - 1].pending.func = ucp_ep_lane_resume;
    }
    ucp_stats_ep_begin(ep, peer->name, lanes->uct);
    ucp_keepalive_watch(ep);
    return ucp_wireup_begin(ep, peer, lanes, request);
}

/* Creates an endpoint without lanes, with space for `num_lanes`. */
static ucs_status_t make_ep(ucp_worker_h worker, unsigned num_lanes,
                            uint16_t flags, ucp_ep_h *ep_p)
{
    ucs_status_t status;
    ucp_ep_h ep;

    ep = calloc(1, sizeof(*ep) + (num_lanes - 1) * sizeof(ep->more[0]));
    if (ep == NULL) {
        return UCS_ERR_NO_MEMORY;
    }

    ep->worker = worker;
    ep->flags  = flags;
    ep->secret = (uint32_t)ucs_generate_uuid();
    ucp_ep_queue_init(ep);
    ucs_list_head_init(&ep->awaited);
    status = ucp_id_add(worker->ep_ids, ep, &ep->id);
    if (status != UCS_OK) {
        free(ep);
        return status;
    }
    ucs_list_add_tail(&worker->eps, &ep->link);
    *ep_p = ep;
    return UCS_OK;
}

ucs_status_t ucp_ep_create_to_peer(ucp_worker_h worker,
                                   const ucp_address_info_t *peer,
                                   uint16_t flags,
                                   const ucp_wireup_request_t *request,
                                   ucp_ep_h *ep_p)
{
    ucp_wireup_lanes_t lanes;
    ucs_status_t status;
    ucp_ep_h ep;

    status = make_lanes(worker, peer, flags, request, &lanes);
    if (status != UCS_OK) {
        return status;
    }

    status = make_ep(worker, lanes.num, flags, &ep);
    if (status != UCS_OK) {
        ucp_wireup_lanes_destroy(&lanes);
        return status;
    }

    status = adopt_lanes(ep, peer, &lanes, request);
    if (status != UCS_OK) {
        ucp_ep_destroy_now(ep);
        return status;
    }
    *ep_p = ep;
    return UCS_OK;
}

ucs_status_t ucp_ep_create_to_address(ucp_worker_h worker, const void *address,
                                      size_t length, uint16_t flags,
                                      ucp_ep_h *ep_p)
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
    ucs_status_t status;

    status = ucp_ep_config_unconnected(worker, !!(flags & UCP_EP_FLAG_ERR_MODE),
                                       &config);
    if (status == UCS_OK) {
        status = make_ep(worker, UCP_MAX_LANES, flags, ep_p);
    }
    if (status != UCS_OK) {
        return status;
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
