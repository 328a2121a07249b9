/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rendezvous, receiver's side, by a get of the data from the send buffer.
 *
 * An internal request performs the get. Until it ends, only this request
 * completes the receive, because the transport may write to the receive buffer
 * until then. If a get fails but the endpoint does not, the receiver requests
 * the data by another scheme (RTR, see rndv.h).
 */
#include "ucp/rndv/rndv.h"

#include "ucp/wireup/failover.h"

#include "ucp/dt/dt.h"
#include "ucp/order/queue.h"
#include "ucp/proto/zcopy.h"
#include "ucs/debug/log.h"

static void acknowledge(ucp_ep_h ep, ucp_le32_t request, ucp_le32_t secret)
{
    ucp_rndv_ats_t ats = {request, secret, UCS_OK};

    if (ucp_ep_send_control(ep, UCP_AM_ID_RNDV_ATS, &ats, sizeof(ats)) !=
        UCS_OK) {
        ucs_debug("ep %p: cannot notify the peer that its data was fetched",
                  ep);
    }
}

/* Called when the transport has released all memory of the get. */
static void get_completed(uct_completion_t *comp)
{
    ucp_request_t *get  = ucs_container_of(comp, ucp_request_t, send.comp);
    ucp_request_t *recv = ucp_send_rndv(get)->recv;
    ucp_le32_t request  = ucp_le32(ucp_send_rndv(get)->remote_id);
    ucp_le32_t secret   = ucp_send_rndv(get)->secret;
    unsigned rts_flags  = ucp_send_rndv(get)->rts_flags;
    int detached        = ucp_send_rndv(get)->detached;
    int copied          = (ucp_send_rndv(get)->step != UCP_RNDV_GET_NOT_COPIED);
    ucp_ep_h ep         = get->send.ep;
    ucs_status_t status = comp->status;

    if (ucs_unlikely(status != UCS_OK) && ucp_rndv_retry(get)) {
        return;
    }

    ucp_rndv_rkeys_release(get);
    ucp_memhs_dereg(get->worker, &ucp_send_rndv(get)->memhs);
    ucp_request_ep_del(get);
    ucp_request_complete_send(get, status); /* frees the request */

    if (detached) {
        ucp_rndv_recv_end(recv, status);
    } else if (ep->flags & UCP_EP_FLAG_FAILED) {
        ucp_rndv_recv_end(recv, ep->fail_status);
    } else if ((status == UCS_OK) || !copied) {
        acknowledge(ep, request, secret);
        ucp_rndv_recv_end(recv, status);
    } else {
        /* NO_RESOURCE means that no fragment in host memory was free
         * (staged_get.c). Later gets may succeed, so do not set NO_GET */
        if (status != UCS_ERR_NO_RESOURCE) {
            ucs_diag("ep %p: fetching %zu bytes failed (%s); another scheme"
                     " is used from now on",
                     ep, recv->recv.info.length, ucs_status_string(status));
            ep->flags |= UCP_EP_FLAG_NO_GET;
        }
        ucp_rndv_recv_send_rtr(recv, ep, request, secret, rts_flags);
    }
}

static void get_abort(ucp_request_t *get, ucs_status_t status)
{
    ucp_send_rndv(get)->detached = 1;
    ucp_rndv_retry_cancel(get);
    ucp_request_ep_del(get);
    if (ucp_send_rndv(get)->posted) {
        uct_completion_update_status(&get->send.comp, status);
    } else {
        ucp_rndv_send_posted(get, status);
    }
}

static ucs_status_t get_progress(ucp_request_t *get)
{
    ucp_rndv_send_t *rndv   = ucp_send_rndv(get);
    ucp_rails_chunk_t chunk = ucp_rails_next(rndv->rails, get->dt.length,
                                             get->dt.offset,
                                             ucp_failover_avoid(get->send.ep));
    ucs_status_t status     = UCS_ERR_UNREACHABLE;

    if (ucs_likely(chunk.rail != NULL)) {
        status = ucp_zcopy_post(get, rndv->rails, &chunk,
                                rndv->address + get->dt.offset,
                                rndv->rkeys[chunk.rail->slot].rkey,
                                &rndv->memhs);
        if (status == UCS_ERR_NO_RESOURCE) {
            return status;
        }
        if ((status != UCS_OK) &&
            ucp_rndv_chunk_rejected(get, chunk.rail->lane, status)) {
            return UCS_INPROGRESS;
        }
    }
    if ((status == UCS_OK) && (get->dt.offset < get->dt.length)) {
        return UCS_INPROGRESS;
    }
    ucp_rndv_send_posted(get, status);
    return UCS_OK;
}

/* True if the lane cannot write to the receive's buffer: the data is read into
 * host memory and copied from there. */
static int is_staged(const ucp_request_t *recv, const ucp_lane_config_t *lane)
{
    return ucp_rndv_dt_class(&recv->dt, lane) == UCP_DT_CLASS_STAGED;
}

/* True if the data can be read by get over these lanes, into the receive's
 * buffer or by way of host memory. */
static int can_fetch(const ucp_request_t *recv, ucp_ep_h ep,
                     const ucp_rails_t *rails)
{
    const ucp_lane_config_t *lane = &ep->config->lanes[rails->rail[0].lane];

    return (recv->recv.info.length >= lane->get.min_zcopy) &&
           (!is_staged(recv, lane) || ucp_rndv_staged_get_can(recv, lane)) &&
           ((recv->dt.dt_class != UCP_DT_CLASS_IOV) ||
            (!(lane->md_flags & UCT_MD_FLAG_NEED_MEMH) &&
             (lane->get.min_zcopy <= 1)));
}

/* Finds the lanes for a get of the announced data and unpacks their keys into
 * the request. Returns NULL if there are none. */
static const ucp_rails_t *find_rails(ucp_request_t *get,
                                     const ucp_request_t *recv,
                                     const ucp_rndv_rts_t *rts)
{
    ucp_ep_h ep              = get->send.ep;
    const ucp_rails_t *rails = NULL;

    if (!(ep->flags & UCP_EP_FLAG_NO_GET) &&
        (recv->dt.dt_class != UCP_DT_CLASS_GENERIC)) {
        rails = ucp_rndv_keys_accept(get, rts + 1, ucp_le16_get(rts->keys_size),
                                     1);
    }
    if ((rails != NULL) && !can_fetch(recv, ep, rails)) {
        ucp_rndv_rkeys_release(get);
        rails = NULL;
    }
    return rails;
}

const ucp_proto_t ucp_proto_rndv_get = {
    .name     = "rndv/get",
    .ops      = UCS_BIT(UCP_OP_RNDV),
    .query    = ucp_rndv_query_get,
    .rails    = ucp_rndv_get_rails,
    .progress = get_progress,
    .abort    = get_abort,
    .flags    = UCP_PROTO_FLAG_GET,
};

static const ucp_proto_t staged_get_proto = {
    .name     = "rndv/get",
    .progress = ucp_rndv_staged_get_progress,
    .abort    = get_abort,
};

static void init_get(ucp_request_t *get, ucp_request_t *recv,
                     const ucp_rndv_rts_t *rts, const ucp_rails_t *rails)
{
    const ucp_ep_config_t *config = get->send.ep->config;
    unsigned lane                 = rails->rail[0].lane;
    ucp_rndv_send_t *rndv         = ucp_send_rndv(get);
    int staged                    = is_staged(recv, &config->lanes[lane]);

    get->dt               = recv->dt;
    get->dt.length        = recv->recv.info.length;
    get->send.proto       = staged ? &staged_get_proto : &ucp_proto_rndv_get;
    get->send.comp.func   = get_completed;
    /* one count for the get itself, dropped when all is posted */
    get->send.comp.count  = 1;
    get->send.comp.status = UCS_OK;

    rndv->rails     = staged ? &config->single_get[lane] : rails;
    rndv->address   = ucp_le64_get(rts->address);
    rndv->recv      = recv;
    rndv->remote_id = ucp_le32_get(rts->request);
    rndv->secret    = ucp_le32(ucp_wire_end_secret(&rts->sender));
    rndv->rts_flags = rts->flags;
    rndv->posted    = 0;
    rndv->detached  = 0;
    rndv->retries   = 0;
    rndv->retrying  = 0;
    rndv->step      = UCP_RNDV_GET_FETCHING;

    ucp_recv_rndv(recv)->proto = get->send.proto;
    ucp_recv_rndv(recv)->iface = config->lanes[lane].iface_index;
}

int ucp_rndv_get_start(ucp_request_t *recv, ucp_ep_h ep,
                       const ucp_rndv_rts_t *rts)
{
    ucp_request_t *get = ucp_request_get_internal(recv->worker);
    const ucp_rails_t *rails;

    if (get == NULL) {
        return 0;
    }

    get->send.ep = ep;
    rails        = find_rails(get, recv, rts);
    if (rails == NULL) {
        goto err_get;
    }

    if (!ucp_zcopy_register(ep, rails, &recv->dt, recv->recv.info.length,
                            &ucp_send_rndv(get)->memhs)) {
        goto err_rkeys;
    }

    init_get(get, recv, rts, rails);
    ucp_request_ep_add(get, ep);
    ucp_request_start(get);
    return 1;

err_rkeys:
    ucp_rndv_rkeys_release(get);
err_get:
    ucp_request_put(get);
    return 0;
}
