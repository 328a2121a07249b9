/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rendezvous by reading the data from the send buffer.
 *
 * An internal request performs the get. Meanwhile only this request can
 * complete the receive, because the transport may write to its buffer. If a get
 * fails and the peer is alive, another scheme is used.
 */
#include "ucp/rndv/rndv.h"

#include "ucp/wireup/failover.h"

#include "ucs/debug/log.h"

enum { MAX_GET_IOV = 16 };

static void acknowledge(ucp_ep_h ep, ucp_le32_t request, ucp_le32_t secret)
{
    ucp_rndv_ats_t ats = {request, secret, UCS_OK};

    if (ucp_ep_send_control(ep, UCP_AM_ID_RNDV_ATS, &ats, sizeof(ats)) !=
        UCS_OK) {
        ucs_debug("ep %p: the peer is not told that its data was fetched", ep);
    }
}

/* The transport has released all memory of the get. */
static void get_completed(uct_completion_t *comp)
{
    ucp_request_t *get  = ucs_container_of(comp, ucp_request_t, send.comp);
    ucp_request_t *recv = get->send.rndv.recv;
    ucp_le32_t request  = ucp_le32(get->send.rndv.remote_id);
    ucp_le32_t secret   = get->send.rndv.secret;
    unsigned rts_flags  = get->send.rndv.rts_flags;
    int detached        = get->send.rndv.detached;
    int copied          = (get->send.rndv.step != UCP_RNDV_GET_NOT_COPIED);
    ucp_ep_h ep         = get->send.ep;
    ucs_status_t status = comp->status;

    if (ucs_unlikely(status != UCS_OK) && ucp_rndv_retry(get)) {
        return;
    }

    ucp_rndv_rkeys_release(get);
    ucp_memhs_dereg(get->worker, &get->send.rndv.memhs);
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
        if (status != UCS_ERR_NO_RESOURCE) { /* resources may exist later */
            ucs_diag("ep %p: fetching %zu bytes failed (%s); they come another"
                     " way from now on", ep, recv->recv.info.length,
                     ucs_status_string(status));
            ep->flags |= UCP_EP_FLAG_NO_GET;
        }
        ucp_rndv_recv_ask(recv, ep, request, secret, rts_flags);
    }
}

static void get_abort(ucp_request_t *get, ucs_status_t status)
{
    get->send.rndv.detached = 1;
    ucp_rndv_retry_cancel(get);
    ucp_request_ep_del(get);
    if (get->send.rndv.posted) {
        uct_completion_update_status(&get->send.comp, status);
    } else {
        ucp_rndv_send_posted(get, status);
    }
}

static ucs_status_t get_progress(ucp_request_t *get)
{
    ucp_ep_h ep             = get->send.ep;
    ucp_rails_piece_t piece = ucp_rails_next(get->send.rndv.rails,
                                             get->dt.length, get->dt.offset,
                                             ucp_failover_avoid(ep));
    const ucp_rail_t *rail  = piece.rail;
    uct_iov_t iov[MAX_GET_IOV];
    size_t iovcnt, length;
    ucs_status_t status;
    uct_ep_h uct;

    if (ucs_unlikely(rail == NULL)) {
        ucp_rndv_send_posted(get, UCS_ERR_UNREACHABLE);
        return UCS_OK;
    }

    get->lane = rail->lane;
    uct       = ucp_ep_lane(ep, rail->lane);
    iovcnt    = ucp_dt_iter_iov(&get->dt, piece.length, iov,
                                (rail->max_iov < MAX_GET_IOV) ? rail->max_iov :
                                                                MAX_GET_IOV,
                                get->send.rndv.memhs.memh[rail->slot],
                                &length);
    ++get->send.comp.count;
    status = uct->ops->get_zcopy(uct, iov, iovcnt,
                                 get->send.rndv.address + get->dt.offset,
                                 get->send.rndv.rkeys[rail->slot].rkey,
                                 &get->send.comp);
    if (status != UCS_INPROGRESS) {
        --get->send.comp.count;
        if (status == UCS_ERR_NO_RESOURCE) {
            return status;
        }
        if (status != UCS_OK) {
            if (ucp_rndv_piece_refused(get, rail->lane, status)) {
                return UCS_INPROGRESS;
            }
            ucp_rndv_send_posted(get, status);
            return UCS_OK;
        }
    }

    ucp_dt_iter_advance(&get->dt, length);
    if (get->dt.offset < get->dt.length) {
        return UCS_INPROGRESS;
    }
    ucp_rndv_send_posted(get, UCS_OK);
    return UCS_OK;
}

/* True if the data needs an intermediate copy. */
static int is_staged(const ucp_request_t *recv, const ucp_lane_config_t *lane)
{
    return ucp_rndv_dt_class(&recv->dt, lane) == UCP_DT_CLASS_STAGED;
}

/* True if the found lanes can write to the receive's buffer. */
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
 * the request; NULL: none. */
static const ucp_rails_t *find_rails(ucp_request_t *get,
                                     const ucp_request_t *recv,
                                     const ucp_rndv_rts_t *rts)
{
    ucp_ep_h ep              = get->send.ep;
    const ucp_rails_t *rails = NULL;

    if (!(ep->flags & UCP_EP_FLAG_NO_GET) &&
        (recv->dt.dt_class != UCP_DT_CLASS_GENERIC)) {
        rails = ucp_rndv_keys_accept(get, rts + 1,
                                     ucp_le16_get(rts->keys_size), 1);
    }
    if ((rails != NULL) && !can_fetch(recv, ep, rails)) {
        ucp_rndv_rkeys_release(get);
        rails = NULL;
    }
    return rails;
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

    ucp_memhs_init(&get->send.rndv.memhs);
    if (ucp_dt_iter_is_flat(&recv->dt)) {
        if (!ucp_rndv_reg_local(ep, rails, &recv->dt,
                                recv->recv.info.length,
                                UCT_MD_MEM_ACCESS_LOCAL_WRITE,
                                &get->send.rndv.memhs)) {
            goto err_rkeys;
        }
    } else {
        ucp_memhs_none(rails, &get->send.rndv.memhs);
    }

    get->dt                  = recv->dt;
    get->dt.length           = recv->recv.info.length;
    get->send.progress       = is_staged(recv, &ep->config->lanes[
                                                 rails->rail[0].lane]) ?
                               ucp_rndv_staged_get_progress : get_progress;
    get->send.abort          = get_abort;
    get->send.comp.func      = get_completed;
    get->send.comp.count     = 1; /* dropped when all is posted */
    get->send.comp.status    = UCS_OK;
    get->send.rndv.rails     = (get->send.progress == get_progress) ? rails :
                               &ep->config->single_get[rails->rail[0].lane];
    get->send.rndv.address   = ucp_le64_get(rts->address);
    get->send.rndv.recv      = recv;
    get->send.rndv.remote_id = ucp_le32_get(rts->request);
    get->send.rndv.secret    = ucp_le32(ucp_wire_end_secret(&rts->sender));
    get->send.rndv.rts_flags = rts->flags;
    get->send.rndv.posted    = 0;
    get->send.rndv.detached  = 0;
    get->send.rndv.retries   = 0;
    get->send.rndv.retrying  = 0;
    get->send.rndv.step      = UCP_RNDV_GET_FETCHING;
    recv->recv.way           = UCP_RNDV_SCHEME_GET;
    recv->recv.iface         = ep->config->lanes[rails->rail[0].lane]
                                       .iface_index;
    ucp_request_ep_add(get, ep);
    ucp_request_start(get);
    return 1;

err_rkeys:
    ucp_rndv_rkeys_release(get);
err_get:
    ucp_request_put(get);
    return 0;
}
