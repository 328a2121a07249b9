/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * See start.h.
 */
#include "ucp/order/start.h"

#include "ucp/order/fence.h"
#include "ucp/stats/stats.h"

static int can_start_at_once(const ucp_request_t *req, const ucp_proto_t *proto)
{
    return (proto->is_immediate != NULL) && proto->is_immediate(req) &&
           !(req->send.ep->flags & UCP_EP_FLAGS_SLOW);
}

ucs_status_t
ucp_proto_start(ucp_request_t *req, const ucp_proto_t *proto, uint32_t attr)
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
        ucp_rma_start_behind_fence(req);
        return UCS_OK;
    }
    if ((req->send.ep->flags & UCP_EP_FLAG_ORDERED) &&
        (ucp_rma_fence_check(req) != UCS_OK)) {
        return UCS_ERR_NO_RESOURCE;
    }
    return (proto->progress(req) == UCS_OK) ? UCS_OK : UCS_ERR_NO_RESOURCE;
}
