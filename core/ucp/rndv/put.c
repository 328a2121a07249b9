/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rendezvous by putting the data straight into the receive buffer.
 */
#include "ucp/rndv/rndv.h"

enum { MAX_PUT_IOV = 16 };

static void put_completed(uct_completion_t *comp)
{
    ucp_request_t *req = ucs_container_of(comp, ucp_request_t, send.comp);

    ucp_rndv_send_end(req, comp->status);
}

/* Takes back the count that kept the request alive while it was posting. */
static void all_posted(ucp_request_t *req, ucs_status_t status)
{
    req->send.tag.all_sent = 1;
    uct_completion_update_status(&req->send.comp, status);
    if (--req->send.comp.count == 0) {
        put_completed(&req->send.comp);
    }
}

static size_t done_pack(void *dest, void *arg)
{
    ucp_request_t *req    = arg;
    ucp_rndv_done_t *done = dest;

    done->recv_request = ucp_le32(req->send.tag.remote_id);
    done->status       = (int8_t)req->send.comp.status;
    return sizeof(*done);
}

/* Tells the receiver, after all the data: the fence keeps the order where the
 * transport itself does not. */
static ucs_status_t send_done(ucp_request_t *req)
{
    uct_ep_h am = req->send.ep->am;
    ssize_t packed;

    if (am->ops->fence(am, 0) == UCS_ERR_NO_RESOURCE) {
        return UCS_ERR_NO_RESOURCE;
    }
    packed = am->ops->am_bcopy(am, UCP_AM_ID_RNDV_DONE, done_pack, req, 0);
    if (packed == UCS_ERR_NO_RESOURCE) {
        return UCS_ERR_NO_RESOURCE;
    }
    all_posted(req, (packed < 0) ? (ucs_status_t)packed : UCS_OK);
    return UCS_OK;
}

void ucp_rndv_put_abort(ucp_request_t *req, ucs_status_t status)
{
    ucp_rndv_send_detach(req);
    if (req->send.tag.all_sent) {
        uct_completion_update_status(&req->send.comp, status);
    } else {
        all_posted(req, status);
    }
}

ucs_status_t ucp_rndv_put_progress(ucp_request_t *req)
{
    ucp_ep_h ep                   = req->send.ep;
    const ucp_ep_config_t *config = ep->config;
    uct_iov_t iov[MAX_PUT_IOV];
    size_t iovcnt, max_iov, length;
    ucs_status_t status;

    if (req->dt.offset == req->dt.length) {
        return send_done(req);
    }

    req->send.comp.func = put_completed;
    max_iov = (config->max_put_iov < MAX_PUT_IOV) ? config->max_put_iov :
                                                    MAX_PUT_IOV;
    iovcnt  = ucp_dt_iter_iov(&req->dt, config->max_put_zcopy, iov, max_iov,
                              UCT_MEM_HANDLE_NULL, &length);
    ++req->send.comp.count;
    status = ep->am->ops->put_zcopy(ep->am, iov, iovcnt,
                                    req->send.tag.address + req->dt.offset,
                                    req->send.tag.rkey.rkey, &req->send.comp);
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
