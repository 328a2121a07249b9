/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ucp_tag_send_nbx and ucp_tag_send_sync_nbx: sends short messages at once and
 * without a request, and starts all others by the protocol that costs the
 * least.
 */
#include "ucp/dt/dt.h"
#include "ucp/eager/eager.h"
#include "ucp/learn/trial.h"
#include "ucp/order/start.h"
#include "ucp/proto/ep.h"
#include "ucp/proto/measure.h"
#include "ucp/tag/eager.h"
#include "ucp/tag/offload.h"

/* Starts a send by the protocol of the lowest cost, or by one that a trial
 * (learn/trial.h) measures. */
static ucs_status_ptr_t start_send(ucp_ep_h ep, const void *buffer,
                                   size_t count, ucp_tag_t tag, ucp_op_t op,
                                   const ucp_request_param_t *param)
{
    const ucp_proto_t *proto;
    ucp_request_t *req;
    ucs_status_t status;
    uint32_t attr;

    req = ucp_send_begin(ep, buffer, count, 0, param, &status);
    if (req == NULL) {
        return UCS_STATUS_PTR(status);
    }

    attr                         = ucp_send_attr(req, param);
    ucp_send_tag(req)->tag       = tag;
    ucp_send_tag(req)->all_sent  = 0;
    ucp_send_tag(req)->in_flight = 0;
    ucp_send_tag(req)->sync      = (op == UCP_OP_TAG_SEND_SYNC);
    if (ucs_unlikely(ep->config->tag_path == UCP_TAG_PATH_ASK)) {
        ucp_tag_offload_ask(ep);
    }
    ucp_measure_if_due(ep, req->dt.length);
    proto = ucp_proto_of_message(ep->worker, ep->config, op, req->dt.dt_class,
                                 req->dt.length, attr);
    if (op == UCP_OP_TAG_SEND) {
        proto = ucp_trial_message(req, op, req->dt.length, proto, attr);
    }
    status = ucp_proto_start(req, proto, attr);
    return ucp_send_result(req, status, param);
}

/* Hot path: a short message needs no allocation, unless the transport has no
 * send resources or delays the message. */
ucs_status_ptr_t ucp_tag_send_nbx(ucp_ep_h ep, const void *buffer, size_t count,
                                  ucp_tag_t tag,
                                  const ucp_request_param_t *param)
{
    ucp_worker_h worker  = ep->worker;
    ssize_t length       = ucp_dt_plain_length(count, param);
    ucs_status_ptr_t ret = NULL;
    ucs_status_t status;

    ucp_worker_enter(worker);
    if (ucs_likely((size_t)length < ep->config->tag_short_end) &&
        ucp_dt_is_known_host(worker, buffer) &&
        ucs_likely(!(param->op_attr_mask & UCP_OP_ATTR_FLAG_NO_IMM_CMPL)) &&
        ucs_likely(!(ep->flags & UCP_EP_FLAGS_SLOW))) {
        status = ep->am->ops->am_short(ep->am, UCP_AM_ID_EAGER, htole64(tag),
                                       buffer, (unsigned)length);
        if (ucs_likely(status == UCS_OK)) {
            ucp_measure_if_due(ep, (size_t)length);
            goto out;
        }
        if (status == UCS_INPROGRESS) {
            ret = ucp_eager_deferred(ep, (size_t)length, param);
            goto out;
        }
        if (status != UCS_ERR_NO_RESOURCE) {
            ret = UCS_STATUS_PTR(status);
            goto out;
        }
    }

    ret = start_send(ep, buffer, count, tag, UCP_OP_TAG_SEND, param);
out:
    ucp_worker_leave(worker);
    return ret;
}

ucs_status_ptr_t ucp_tag_send_sync_nbx(ucp_ep_h ep, const void *buffer,
                                       size_t count, ucp_tag_t tag,
                                       const ucp_request_param_t *param)
{
    ucs_status_ptr_t ret;

    if (param->op_attr_mask & UCP_OP_ATTR_FLAG_FORCE_IMM_CMPL) {
        /* A synchronous send needs a reply of the peer, and so cannot complete
         * in the call */
        return UCS_STATUS_PTR(UCS_ERR_NO_RESOURCE);
    }

    ucp_worker_enter(ep->worker);
    ret = start_send(ep, buffer, count, tag, UCP_OP_TAG_SEND_SYNC, param);
    ucp_worker_leave(ep->worker);
    return ret;
}
