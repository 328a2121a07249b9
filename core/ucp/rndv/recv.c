/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The receiver's side of a rendezvous: answering an announcement.
 */
#include "ucp/rndv/rndv.h"

#include "ucp/tag/recv.h"
#include "ucp/wireup/introduce.h"
#include "ucs/debug/log.h"
#include "uct/base/md.h"

#include <string.h>

ucs_status_t ucp_rndv_rts_handler(void *arg, void *data, size_t length,
                                  unsigned flags)
{
    ucp_worker_h worker       = arg;
    const ucp_rndv_rts_t *rts = data;

    if (length != sizeof(*rts)) {
        ucs_diag("dropped an announcement of %zu bytes: wrong size", length);
        return UCS_OK;
    }
    if (ucp_wireup_reply_ep(worker, &rts->sender) == NULL) {
        ucs_diag("dropped an announcement by somebody who was not introduced");
        return UCS_OK;
    }

    if (ucp_tag_rndv_arrived(worker, ucp_le64_get(rts->tag),
                             ucp_le64_get(rts->length), rts,
                             sizeof(*rts)) != UCS_OK) {
        ucs_error("lost the announcement of a message of %lu bytes: out of"
                  " memory", ucp_le64_get(rts->length));
    }
    return UCS_OK;
}

void ucp_rndv_recv_end(ucp_request_t *req, ucs_status_t status)
{
    if (req->recv.memh != UCT_MEM_HANDLE_NULL) {
        uct_md_mem_dereg(req->recv.md, req->recv.memh);
        req->recv.memh = UCT_MEM_HANDLE_NULL;
    }
    ucp_dt_iter_finish(&req->dt);
    ucp_request_id_del(req);
    ucp_request_ep_del(req);
    ucp_request_complete_recv(req, status);
}

/* Registers a contiguous buffer and packs its key; returns the key's size, 0 if
 * the data has to come by active messages. */
static size_t pack_key(ucp_request_t *req, size_t length, void *key)
{
    ucp_ep_h ep                   = req->recv.ep;
    const ucp_ep_config_t *config = ep->config;
    ucs_status_t status;

    if ((req->dt.dt_class != UCP_DT_CLASS_CONTIG) ||
        (config->max_put_zcopy == 0) || (length < config->min_put_zcopy) ||
        !(config->md_flags & UCT_MD_FLAG_NEED_RKEY) ||
        (config->rkey_size > UCP_RNDV_MAX_RKEY) ||
        (config->rkey_size + sizeof(ucp_rndv_rtr_t) > config->max_bcopy)) {
        return 0;
    }

    req->recv.md = ucp_ep_lane_domain(ep)->md;
    status = uct_md_mem_reg(req->recv.md, req->dt.u.contig.buffer, length,
                            UCT_MD_MEM_ACCESS_REMOTE_PUT, &req->recv.memh);
    if (status != UCS_OK) {
        req->recv.memh = UCT_MEM_HANDLE_NULL;
        return 0;
    }

    status = uct_md_mkey_pack(req->recv.md, req->recv.memh, key);
    if (status != UCS_OK) {
        uct_md_mem_dereg(req->recv.md, req->recv.memh);
        req->recv.memh = UCT_MEM_HANDLE_NULL;
        return 0;
    }
    return config->rkey_size;
}

void ucp_rndv_recv_start(ucp_request_t *req, const void *data, size_t length)
{
    const ucp_rndv_rts_t *rts = data;
    char message[sizeof(ucp_rndv_rtr_t) + UCP_RNDV_MAX_RKEY];
    ucp_rndv_rtr_t *rtr = (ucp_rndv_rtr_t *)message;
    int fits            = (length <= req->dt.length);
    size_t key_size     = 0;
    ucs_status_t status;
    ucp_ep_h ep;

    req->recv.memh      = UCT_MEM_HANDLE_NULL;
    req->recv.remaining = length;

    /* it was there when the announcement came, but may have gone since */
    ep = ucp_wireup_reply_ep(req->worker, &rts->sender);
    if ((ep == NULL) || (ep->flags & UCP_EP_FLAG_FAILED)) {
        ucp_rndv_recv_end(req, UCS_ERR_CONNECTION_RESET);
        return;
    }

    req->recv.ep = ep;
    ucp_request_ep_add(req, ep);
    status = ucp_request_id_add(req);
    if (status != UCS_OK) {
        ucp_rndv_recv_end(req, status);
        return;
    }

    if (fits) {
        key_size = pack_key(req, length, rtr + 1);
    }
    rtr->send_request = rts->request;
    rtr->recv_request = ucp_le32(req->id);
    rtr->length       = ucp_le64(fits ? length : 0);
    rtr->address      = ucp_le64((key_size > 0) ?
                                 (uintptr_t)req->dt.u.contig.buffer : 0);

    status = ucp_ep_send_control(ep, UCP_AM_ID_RNDV_RTR, message,
                                 sizeof(*rtr) + key_size);
    if (ep->flags & UCP_EP_FLAG_FAILED) {
        return; /* the failure has ended the request */
    }
    if (status != UCS_OK) {
        ucp_rndv_recv_end(req, status);
    } else if (!fits) {
        ucp_rndv_recv_end(req, UCS_ERR_MESSAGE_TRUNCATED);
    } else if (length == 0) {
        ucp_rndv_recv_end(req, UCS_OK);
    }
}

ucs_status_t ucp_rndv_done_handler(void *arg, void *data, size_t length,
                                   unsigned flags)
{
    ucp_worker_h worker         = arg;
    const ucp_rndv_done_t *done = data;
    ucp_request_t *req          = NULL;

    if (length == sizeof(*done)) {
        req = ucp_request_by_id(worker, ucp_le32_get(done->recv_request));
    }
    if ((req == NULL) || !(req->flags & UCP_REQUEST_FLAG_RECV) ||
        ((done->status == UCS_OK) &&
         (req->recv.memh == UCT_MEM_HANDLE_NULL))) {
        ucs_debug("dropped the end of a transfer: no such receive");
        return UCS_OK;
    }

    ucp_rndv_recv_end(req, (done->status == UCS_OK) ? UCS_OK :
                                                      UCS_ERR_IO_ERROR);
    return UCS_OK;
}
