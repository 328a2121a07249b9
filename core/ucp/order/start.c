/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The start of a user's operation on an endpoint (start.h): creation of the
 * request with the user's data, the first call of the protocol, and the result
 * of the user's call.
 */
#include "ucp/order/start.h"

#include "ucp/dt/dt.h"
#include "ucp/order/fence.h"
#include "ucp/stats/stats.h"

ucp_request_t *ucp_send_begin(ucp_ep_h ep, const void *buffer, size_t count,
                              int is_get, const ucp_request_param_t *param,
                              ucs_status_t *status_p)
{
    ucp_request_t *req = ucp_request_get(ep->worker, param);

    if (req == NULL) {
        *status_p = UCS_ERR_NO_MEMORY;
        return NULL;
    }

    req->send.ep    = ep;
    req->data_flags = 0;
    req->lead       = 0;
    *status_p = ucp_dt_iter_begin(ep->worker, &req->dt, (void *)buffer, count,
                                  param, is_get);
    if (*status_p != UCS_OK) {
        ucp_request_put(req);
        return NULL;
    }
    return req;
}

ucs_status_ptr_t ucp_send_result(ucp_request_t *req, ucs_status_t status,
                                 const ucp_request_param_t *param)
{
    if (ucs_likely(status == UCS_OK)) {
        return ucp_request_send_result(req, param);
    }
    ucp_dt_iter_finish(&req->dt);
    ucp_request_put(req);
    return UCS_STATUS_PTR(status);
}

static int can_start_at_once(const ucp_request_t *req, const ucp_proto_t *proto)
{
    return (proto->is_immediate != NULL) && proto->is_immediate(req) &&
           !(req->send.ep->flags & UCP_EP_FLAGS_SLOW);
}

ucs_status_t ucp_proto_start(ucp_request_t *req, const ucp_proto_t *proto,
                             uint32_t attr)
{
    const int at_once = !!(attr & UCP_OP_ATTR_FLAG_FORCE_IMM_CMPL);
    ucs_status_t status;

    if (ucs_unlikely(at_once) && (proto != NULL) &&
        !can_start_at_once(req, proto)) {
        return UCS_ERR_NO_RESOURCE;
    }
    status = ucp_proto_init(req, proto, attr);
    if (status != UCS_OK) {
        return status;
    }

    proto = req->send.proto;
    if (proto->counter != 0) {
        ucp_stats_sent(req->send.ep, proto->counter, req->dt.length);
    }
    if (ucs_likely(!at_once)) {
        ucp_start_behind_fence(req);
        return UCS_OK;
    }
    if ((req->send.ep->flags & UCP_EP_FLAG_ORDERED) &&
        (ucp_fence_check(req) != UCS_OK)) {
        return UCS_ERR_NO_RESOURCE;
    }
    return (proto->progress(req) == UCS_OK) ? UCS_OK : UCS_ERR_NO_RESOURCE;
}
