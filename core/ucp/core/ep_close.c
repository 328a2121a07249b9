/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Closing an endpoint.
 *
 *   force:  everything under way ends with CANCELED, the peer is told as far
 *           as that goes at once, the endpoint is freed from progress
 *   flush:  AWAITING  until the peer has answered what it must answer
 *                     (for emulated puts: a flush of its own)
 *           FLUSHING  farewell, then until the lane has taken everything
 *           freed     and the user's request completes
 * A failure on the way ends each of them with its status.
 */
#include "ucp/core/ep.h"
#include "ucp/core/flush.h"
#include "ucp/wireup/introduce.h"
#include "ucs/debug/log.h"

void ucp_ep_discard(ucp_ep_h ep)
{
    ucp_request_t *req = ep->close_req;

    ucp_wireup_farewell(ep);
    ep->close_req = NULL;
    ep->flags    |= UCP_EP_FLAG_CLOSING | UCP_EP_FLAG_FLUSHED;
    ucp_ep_shut(ep, UCS_ERR_CANCELED);
    if (req != NULL) {
        ucp_request_complete_send(req, UCS_ERR_CANCELED);
    }
}

static void start_flush(ucp_ep_h ep, ucp_request_t *req)
{
    ep->close_req = NULL;
    ucp_wireup_farewell(ep);
    ucp_flush_start(req, ep, 1);
}

void ucp_ep_close_continue(ucp_ep_h ep)
{
    ucp_request_t *req = ep->close_req;

    if (req == NULL) {
        if (ep->flags & UCP_EP_FLAG_FLUSHED) {
            /* a flush of the whole worker may have queued up behind ours */
            ucp_ep_abort_requests(ep, UCS_OK);
            ucp_ep_destroy_now(ep);
        }
        return;
    }

    if (ucs_list_is_empty(&ep->awaited)) {
        start_flush(ep, req);
    }
}

ucs_status_ptr_t ucp_ep_close_nbx(ucp_ep_h ep, const ucp_request_param_t *param)
{
    ucp_worker_h worker  = ep->worker;
    ucs_status_ptr_t ret = NULL;
    ucp_request_t *req;
    int force;

    ucp_worker_enter(worker);
    force = (param->op_attr_mask & UCP_OP_ATTR_FIELD_FLAGS) &&
            (param->flags & UCP_EP_CLOSE_FLAG_FORCE);
    if (force && (param->op_attr_mask & UCP_OP_ATTR_FLAG_NO_IMM_CMPL)) {
        ret = UCS_STATUS_PTR(UCS_ERR_INVALID_PARAM);
        goto out;
    }

    if (force || (ep->flags & UCP_EP_FLAG_FAILED)) {
        ucp_ep_discard(ep);
        goto out;
    }

    req = ucp_request_get(worker, param);
    if (req == NULL) {
        ret = UCS_STATUS_PTR(UCS_ERR_NO_MEMORY);
        goto out;
    }

    ep->flags     |= UCP_EP_FLAG_CLOSING;
    req->dt.length = 0;
    if (ucp_flush_emulated(ep) != UCS_OK) {
        ucs_warn("ep %p: closed without waiting for its puts: out of memory",
                 ep);
    }
    if (ucs_list_is_empty(&ep->awaited)) {
        start_flush(ep, req);
    } else {
        ep->close_req = req;
    }
    ret = ucp_request_send_result(req, param);
out:
    ucp_worker_leave(worker);
    return ret;
}
