/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The part of a flush that asks the peer about emulated accesses, and the
 * peer's answer. The rest of flushing stands in core/flush.c.
 */
#include "ucp/rma/rma.h"

#include "ucp/core/flush.h"
#include "ucp/wireup/introduce.h"
#include "ucs/debug/log.h"

static size_t question_pack(void *dest, void *arg)
{
    const ucp_request_t *req = arg;
    ucp_rma_flush_t *msg     = dest;

    msg->sender  = ucp_ep_wire_end(req->send.ep);
    msg->request = ucp_le32(req->id);
    return sizeof(*msg);
}

static ucs_status_t send_question(ucp_request_t *req)
{
    uct_ep_h am = req->send.ep->am;
    ucp_rma_flush_t msg;
    uint64_t header;
    ssize_t status;

    if (sizeof(msg) <= ucp_ep_config_am(req->send.ep->config)->max_short) {
        question_pack(&msg, req);
        memcpy(&header, &msg, sizeof(header));
        status = am->ops->am_short(am, UCP_AM_ID_RMA_FLUSH, header,
                                   (char *)&msg + sizeof(header),
                                   sizeof(msg) - sizeof(header));
    } else {
        status = am->ops->am_bcopy(am, UCP_AM_ID_RMA_FLUSH, question_pack, req,
                                   0);
    }
    return (status < 0) ? (ucs_status_t)status : UCS_OK;
}

ucs_status_t ucp_rma_flush_ask(ucp_request_t *req)
{
    ucp_ep_h ep = req->send.ep;
    ucs_status_t status;

    if ((ep->rma_issued == ep->rma_done) || (req->id != 0)) {
        return UCS_OK; /* nothing to ask, or it has been asked */
    }

    status = ucp_request_id_add(req);
    if (status != UCS_OK) {
        return status;
    }

    status = send_question(req);
    if (status != UCS_OK) {
        ucp_request_id_del(req);
        return status;
    }

    req->send.flush.rma_issued = ep->rma_issued;
    if (!(req->flags & UCP_REQUEST_FLAG_ON_EP)) {
        ucp_request_ep_add(req, ep);
    }
    ++req->send.comp.count;
    return UCS_OK;
}

ucs_status_t ucp_rma_flush_handler(void *arg, void *data, size_t length,
                                   unsigned flags)
{
    ucp_worker_h worker        = arg;
    const ucp_rma_flush_t *msg = data;
    ucs_status_t status;
    ucp_rma_ack_t ack;
    uint64_t header;
    ucp_ep_h ep;

    ep = (length == sizeof(*msg)) ? ucp_wireup_reply_ep(worker, &msg->sender) :
                                    NULL;
    if ((ep == NULL) || (ep->flags & UCP_EP_FLAG_FAILED)) {
        ucs_diag("dropped a flush of %zu bytes: nobody to answer to", length);
        return UCS_OK;
    }

    ack            = (ucp_rma_ack_t){
        msg->request, ep->rma_status,
        ucp_rma_secret(ucp_wire_end_secret(&msg->sender))
    };
    ep->rma_status = UCS_OK;
    status         = UCS_ERR_NO_RESOURCE;
    if (!(ep->flags & UCP_EP_FLAGS_SLOW) &&
        (ucp_ep_config_am(ep->config)->max_short >= sizeof(ack))) {
        memcpy(&header, &ack, sizeof(header));
        status = ep->am->ops->am_short(ep->am, UCP_AM_ID_RMA_ACK, header, NULL,
                                       0);
    }
    if (status == UCS_ERR_NO_RESOURCE) {
        status = ucp_ep_send_control(ep, UCP_AM_ID_RMA_ACK, &ack, sizeof(ack));
    }
    if (status < 0) {
        ucs_diag("ep %p: the peer's flush cannot be answered: %s", ep,
                 ucs_status_string(status));
    }
    return UCS_OK;
}

ucs_status_t ucp_rma_ack_handler(void *arg, void *data, size_t length,
                                 unsigned flags)
{
    ucp_worker_h worker      = arg;
    const ucp_rma_ack_t *ack = data;
    ucp_request_t *req       = NULL;

    if (length == sizeof(*ack)) {
        req = ucp_request_by_id(worker, ucp_le32_get(ack->request));
    }
    if ((req == NULL) || (req->flags & UCP_REQUEST_FLAG_RECV) ||
        (req->send.progress != ucp_flush_progress) ||
        !ucp_rma_is_secret_of(req->send.ep, ack->secret)) {
        ucs_debug("dropped the answer to a flush: no such flush");
        return UCS_OK;
    }

    req->send.ep->rma_done = req->send.flush.rma_issued;
    if (req->send.ep->rma_done == req->send.ep->rma_issued) {
        req->send.ep->flags &= ~UCP_EP_FLAG_ORDERED;
    }
    ucp_request_id_del(req);
    ucp_request_ep_del(req);
    uct_completion_update_status(&req->send.comp,
                                 ucp_rma_wire_status(ack->status));
    if (--req->send.comp.count == 0) {
        req->send.comp.func(&req->send.comp);
    }
    return UCS_OK;
}
