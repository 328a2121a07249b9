/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rendezvous by fetching the data from the send buffer.
 *
 * A request of its own does it on behalf of the receive, which waits for nobody
 * else meanwhile: as long as the transport writes to the buffer the receive is
 * not ended. A fetch that fails while the peer is there is made up for in
 * another way.
 */
#include "ucp/rndv/rndv.h"

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

/* The transport holds nothing of it any more. */
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

    ucp_rndv_rkey_release(&get->send.rndv.rkey);
    ucp_rndv_dereg(get->worker, get->send.rndv.md_index,
                   &get->send.rndv.memh);
    ucp_request_ep_del(get);
    ucp_request_complete_send(get, status); /* frees it */

    if (detached) {
        ucp_rndv_recv_end(recv, status);
    } else if (ep->flags & UCP_EP_FLAG_FAILED) {
        ucp_rndv_recv_end(recv, ep->fail_status);
    } else if ((status == UCS_OK) || !copied) {
        acknowledge(ep, request, secret);
        ucp_rndv_recv_end(recv, status);
    } else {
        if (status != UCS_ERR_NO_RESOURCE) { /* there may be some next time */
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
    ucp_request_ep_del(get);
    if (get->send.rndv.posted) {
        uct_completion_update_status(&get->send.comp, status);
    } else {
        ucp_rndv_send_posted(get, status);
    }
}

static ucs_status_t get_progress(ucp_request_t *get)
{
    uct_ep_h uct = ucp_ep_lane(get->send.ep, get->send.rndv.lane);
    const ucp_lane_rma_t *limits =
            &get->send.ep->config->lanes[get->send.rndv.lane].get;
    uct_iov_t iov[MAX_GET_IOV];
    size_t iovcnt, max_iov, length;
    ucs_status_t status;

    get->lane = get->send.rndv.lane;
    max_iov   = (limits->max_iov < MAX_GET_IOV) ? limits->max_iov : MAX_GET_IOV;
    iovcnt    = ucp_dt_iter_iov(&get->dt, ucp_rndv_piece(&get->dt, limits), iov,
                                max_iov, get->send.rndv.memh, &length);
    ++get->send.comp.count;
    status = uct->ops->get_zcopy(uct, iov, iovcnt,
                                 get->send.rndv.address + get->dt.offset,
                                 get->send.rndv.rkey.rkey, &get->send.comp);
    if (status != UCS_INPROGRESS) {
        --get->send.comp.count;
        if (status == UCS_ERR_NO_RESOURCE) {
            return status;
        }
        if (status != UCS_OK) {
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

/* Does the data have to stop on its way? */
static int is_staged(const ucp_request_t *recv, const ucp_lane_config_t *lane)
{
    return ucp_rndv_dt_class(&recv->dt, lane) == UCP_DT_CLASS_STAGED;
}

/* The lane by which the announced data can be fetched, its key in *rkey; or
 * UCP_NULL_LANE. */
static unsigned find_lane(ucp_request_t *recv, ucp_ep_h ep,
                          const ucp_rndv_rts_t *rts, uct_rkey_bundle_t *rkey)
{
    const ucp_lane_config_t *lane;
    unsigned index;

    if ((ep->flags & UCP_EP_FLAG_NO_GET) ||
        (recv->dt.dt_class == UCP_DT_CLASS_GENERIC)) {
        return UCP_NULL_LANE;
    }

    index = ucp_rndv_keys_accept(ep, rts + 1, ucp_le16_get(rts->keys_size), 1,
                                 rkey);
    if (index == UCP_NULL_LANE) {
        return UCP_NULL_LANE;
    }

    lane = &ep->config->lanes[index];
    if ((recv->recv.info.length < lane->get.min_zcopy) ||
        (is_staged(recv, lane) && !ucp_rndv_staged_get_can(recv, lane)) ||
        ((recv->dt.dt_class == UCP_DT_CLASS_IOV) &&
         ((lane->md_flags & UCT_MD_FLAG_NEED_MEMH) ||
          (lane->get.min_zcopy > 1)))) {
        ucp_rndv_rkey_release(rkey);
        return UCP_NULL_LANE;
    }
    return index;
}

int ucp_rndv_get_start(ucp_request_t *recv, ucp_ep_h ep,
                       const ucp_rndv_rts_t *rts)
{
    ucp_request_t *get;
    uct_rkey_bundle_t rkey;
    unsigned lane;

    lane = find_lane(recv, ep, rts, &rkey);
    if (lane == UCP_NULL_LANE) {
        return 0;
    }

    get = ucp_request_get_internal(recv->worker);
    if (get == NULL) {
        goto err_rkey;
    }

    if (ucp_dt_iter_is_flat(&recv->dt) &&
        !ucp_rndv_reg_local(ep, lane, recv->dt.u.contig.buffer,
                            recv->recv.info.length,
                            UCT_MD_MEM_ACCESS_LOCAL_WRITE,
                            &get->send.rndv.memh)) {
        goto err_get;
    } else if (!ucp_dt_iter_is_flat(&recv->dt)) {
        get->send.rndv.memh = UCT_MEM_HANDLE_NULL;
    }

    get->dt                  = recv->dt;
    get->dt.length           = recv->recv.info.length;
    get->send.ep             = ep;
    get->send.progress       = is_staged(recv, &ep->config->lanes[lane]) ?
                               ucp_rndv_staged_get_progress : get_progress;
    get->send.abort          = get_abort;
    get->send.comp.func      = get_completed;
    get->send.comp.count     = 1; /* ours, until everything is posted */
    get->send.comp.status    = UCS_OK;
    get->send.rndv.rkey      = rkey;
    get->send.rndv.address   = ucp_le64_get(rts->address);
    get->send.rndv.recv      = recv;
    get->send.rndv.remote_id = ucp_le32_get(rts->request);
    get->send.rndv.secret    = ucp_le32(ucp_wire_end_secret(&rts->sender));
    get->send.rndv.rts_flags = rts->flags;
    get->send.rndv.lane      = (uint8_t)lane;
    get->send.rndv.md_index  = (uint8_t)ucp_ep_lane_md_index(ep, lane);
    get->send.rndv.posted    = 0;
    get->send.rndv.detached  = 0;
    get->send.rndv.step      = UCP_RNDV_GET_FETCHING;
    ucp_request_ep_add(get, ep);
    ucp_request_start(get);
    return 1;

err_get:
    ucp_request_put(get);
err_rkey:
    ucp_rndv_rkey_release(&rkey);
    return 0;
}
