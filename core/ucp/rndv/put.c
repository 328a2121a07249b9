/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rendezvous by putting the data straight into the receive buffer.
 *
 * The receiver is told behind the data. On the lane of active messages a fence
 * keeps that order; on another one the data has to be there first:
 *
 *   same lane:    PUT ...  DONE                        wait for the puts
 *   another lane: PUT ...  FLUSH  wait for puts and flush  DONE
 */
#include "ucp/rndv/rndv.h"

enum { MAX_PUT_IOV = 16 };

enum { STEP_PUT, STEP_FLUSH, STEP_DONE };

static int is_same_lane(const ucp_request_t *req)
{
    return req->send.rndv.lane == UCP_AM_LANE;
}

static void put_completed(uct_completion_t *comp)
{
    ucp_request_t *req = ucs_container_of(comp, ucp_request_t, send.comp);

    if (!req->send.rndv.detached && !is_same_lane(req) &&
        (req->send.rndv.step != STEP_DONE)) {
        /* the data is there: time to say so */
        req->send.rndv.step   = STEP_DONE;
        req->send.rndv.posted = 0;
        req->send.comp.count  = 1;
        ucp_request_start(req);
        return;
    }
    ucp_rndv_send_end(req, comp->status);
}

static size_t done_pack(void *dest, void *arg)
{
    ucp_request_t *req    = arg;
    ucp_rndv_done_t *done = dest;

    done->recv_request = ucp_le32(req->send.rndv.remote_id);
    done->status       = (int8_t)req->send.comp.status;
    return sizeof(*done);
}

static ucs_status_t send_done(ucp_request_t *req)
{
    uct_ep_h am = req->send.ep->am;
    ssize_t packed;

    req->lane = UCP_AM_LANE;
    if (is_same_lane(req) &&
        (am->ops->fence(am, 0) == UCS_ERR_NO_RESOURCE)) {
        return UCS_ERR_NO_RESOURCE;
    }
    packed = am->ops->am_bcopy(am, UCP_AM_ID_RNDV_DONE, done_pack, req, 0);
    if (packed == UCS_ERR_NO_RESOURCE) {
        return UCS_ERR_NO_RESOURCE;
    }
    ucp_rndv_send_posted(req, (packed < 0) ? (ucs_status_t)packed : UCS_OK);
    return UCS_OK;
}

static ucs_status_t flush_data(ucp_request_t *req, uct_ep_h uct)
{
    ucs_status_t status;

    ++req->send.comp.count;
    status = uct->ops->flush(uct, UCT_FLUSH_FLAG_REMOTE, &req->send.comp);
    if (status != UCS_INPROGRESS) {
        --req->send.comp.count;
        if (status == UCS_ERR_NO_RESOURCE) {
            return status;
        }
        /* a transport without it has done what it says is done */
        if (status != UCS_ERR_UNSUPPORTED) {
            uct_completion_update_status(&req->send.comp, status);
        }
    }
    ucp_rndv_send_posted(req, UCS_OK);
    return UCS_OK;
}

/* Posts the next piece. */
static ucs_status_t put_piece(ucp_request_t *req, uct_ep_h uct)
{
    const ucp_lane_rma_t *put =
            &req->send.ep->config->lanes[req->send.rndv.lane].put;
    uct_iov_t iov[MAX_PUT_IOV];
    size_t iovcnt, max_iov, length;
    ucs_status_t status;

    max_iov = (put->max_iov < MAX_PUT_IOV) ? put->max_iov : MAX_PUT_IOV;
    iovcnt  = ucp_dt_iter_iov(&req->dt, ucp_rndv_piece(&req->dt, put), iov,
                              max_iov, req->send.rndv.memh, &length);
    ++req->send.comp.count;
    status = uct->ops->put_zcopy(uct, iov, iovcnt,
                                 req->send.rndv.address + req->dt.offset,
                                 req->send.rndv.rkey.rkey, &req->send.comp);
    if (status != UCS_INPROGRESS) {
        --req->send.comp.count;
        if (status == UCS_ERR_NO_RESOURCE) {
            return status;
        }
        if (status != UCS_OK) {
            /* the rest is not sent, and the receiver told so */
            uct_completion_update_status(&req->send.comp, status);
            req->dt.offset = req->dt.length;
            return UCS_INPROGRESS;
        }
    }

    ucp_dt_iter_advance(&req->dt, length);
    return UCS_INPROGRESS;
}

/* Registers our buffer where the lane wants that. */
static void begin(ucp_request_t *req)
{
    ucp_ep_h ep = req->send.ep;

    req->send.comp.func     = put_completed;
    req->send.rndv.md_index = (uint8_t)ucp_ep_lane_md_index(
            ep, req->send.rndv.lane);
    if (ucp_dt_iter_is_flat(&req->dt) &&
        !ucp_rndv_reg_local(ep, req->send.rndv.lane, req->dt.u.contig.buffer,
                            req->dt.length, UCT_MD_MEM_ACCESS_LOCAL_READ,
                            &req->send.rndv.memh)) {
        uct_completion_update_status(&req->send.comp, UCS_ERR_IO_ERROR);
        req->dt.offset = req->dt.length;
    }
}

ucs_status_t ucp_rndv_put_progress(ucp_request_t *req)
{
    uct_ep_h uct = ucp_ep_lane(req->send.ep, req->send.rndv.lane);

    req->lane = req->send.rndv.lane;
    if (req->send.comp.func != put_completed) {
        begin(req);
    }
    if (req->send.rndv.step == STEP_DONE) {
        return send_done(req);
    }
    if (req->dt.offset < req->dt.length) {
        return put_piece(req, uct);
    }
    if (is_same_lane(req)) {
        return send_done(req);
    }
    req->send.rndv.step = STEP_FLUSH;
    return flush_data(req, uct);
}
