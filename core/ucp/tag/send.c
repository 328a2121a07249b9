/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sends tagged messages: the short path, and the start of all protocols.
 */
#include "ucp/dt/dt.h"
#include "ucp/eager/eager.h"
#include "ucp/order/fence.h"
#include "ucp/proto/ep.h"
#include "ucp/proto/measure.h"
#include "ucp/rndv/rndv.h"
#include "ucp/tag/eager.h"
#include "ucp/tag/multi.h"
#include "ucp/wireup/introduce.h"

/* The user wants to reuse the buffer as early as possible. */
enum {
    SOON = UCP_OP_ATTR_FLAG_FAST_CMPL | UCP_OP_ATTR_FLAG_FORCE_IMM_CMPL
};

/* For a send that completes with a reply. A close waits for it from now on,
 * even while it waits for send resources. */
static ucs_status_t expect_reply(ucp_ep_h ep, ucp_request_t *req)
{
    ucs_status_t status = ucp_wireup_introduce(ep);

    if (status == UCS_OK) {
        status = ucp_request_id_add(req);
    }
    if (status == UCS_OK) {
        ucp_request_ep_add(req, ep);
    }
    return status;
}

static const ucp_proto_t *
select_proto(ucp_ep_h ep, const ucp_dt_iter_t *dt, ucp_op_t op,
             const ucp_request_param_t *param)
{
    const ucp_ep_config_t *config = ucp_ep_config_for(ep->worker, ep->config,
                                                      param);

    if (param->op_attr_mask & SOON) {
        /* The buffer is to be reusable soon: this excludes zero-copy and
         * rendezvous, even if they have lower latency. */
        return ucp_tag_eager_fits(ep, dt->length) ?
               &ucp_proto_tag_eager_bcopy : &ucp_proto_tag_multi;
    }
    return ucp_proto_find(&config->tables[op][dt->dt_class], dt->length);
}

/* Prepares the request for its protocol. After an error, the caller cleans up
 * what a rendezvous has taken. */
static ucs_status_t
init_send(ucp_ep_h ep, ucp_request_t *req, const ucp_proto_t *proto,
          ucp_tag_t tag, ucp_op_t op, const ucp_request_param_t *param)
{
    ucs_status_t status = UCS_OK;

    req->send.ep                 = ep;
    req->send.proto              = proto;
    ucp_send_tag(req)->tag       = tag;
    ucp_send_tag(req)->all_sent  = 0;
    ucp_send_tag(req)->in_flight = 0;
    ucp_send_tag(req)->sync      = (op == UCP_OP_TAG_SEND_SYNC) &&
                              (proto != &ucp_proto_tag_rndv);
    if (proto == &ucp_proto_tag_rndv) {
        ucp_rndv_send_init(req, param);
    } else if (proto == &ucp_proto_tag_multi) {
        status = ucp_tag_multi_send_init(req, param->op_attr_mask & SOON);
    }

    if ((status == UCS_OK) && ((op == UCP_OP_TAG_SEND_SYNC) ||
                               (proto == &ucp_proto_tag_rndv))) {
        status = expect_reply(ep, req);
    }
    return status;
}

/* Starts the protocol that the table selects. */
static ucs_status_ptr_t
start_send(ucp_ep_h ep, const void *buffer, size_t count, ucp_tag_t tag,
           ucp_op_t op, const ucp_request_param_t *param)
{
    int at_once = !!(param->op_attr_mask & UCP_OP_ATTR_FLAG_FORCE_IMM_CMPL);
    const ucp_proto_t *proto;
    ucp_request_t *req;
    ucs_status_t status;

    req = ucp_request_get(ep->worker, param);
    if (req == NULL) {
        return UCS_STATUS_PTR(UCS_ERR_NO_MEMORY);
    }

    status = ucp_dt_iter_begin(ep->worker, &req->dt, (void *)buffer, count,
                               param, 0);
    if (status != UCS_OK) {
        goto err;
    }

    ucp_measure_before(ep, req->dt.length);
    proto = select_proto(ep, &req->dt, op, param);
    if (at_once && ((proto != &ucp_proto_tag_eager_bcopy) ||
                    (ep->flags & UCP_EP_FLAGS_SLOW))) {
        status = UCS_ERR_NO_RESOURCE;
        goto err_dt;
    }

    status = init_send(ep, req, proto, tag, op, param);
    if (status != UCS_OK) {
        goto err_finish;
    }

    if (ucs_unlikely(at_once)) {
        status = proto->progress(req);
        if (status != UCS_OK) {
            goto err_finish;
        }
    } else {
        ucp_rma_fence_start_message(req);
    }
    return ucp_request_send_result(req, param);

err_finish:
    if (proto == &ucp_proto_tag_rndv) {
        ucp_rndv_send_cleanup(req);
    }
err_dt:
    ucp_dt_iter_finish(&req->dt);
err:
    ucp_request_put(req);
    return UCS_STATUS_PTR(status);
}

/* Hot path: no allocation unless the transport delays the message. */
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
        ucs_likely(!(param->op_attr_mask & UCP_OP_ATTR_FLAG_NO_IMM_CMPL)) &&
        ucs_likely(!(ep->flags & UCP_EP_FLAGS_SLOW))) {
        status = ep->am->ops->am_short(ep->am, UCP_AM_ID_EAGER, htole64(tag),
                                       buffer, (unsigned)length);
        if (ucs_likely(status == UCS_OK)) {
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
        return UCS_STATUS_PTR(UCS_ERR_NO_RESOURCE); /* it waits for a peer */
    }

    ucp_worker_enter(ep->worker);
    ret = start_send(ep, buffer, count, tag, UCP_OP_TAG_SEND_SYNC, param);
    ucp_worker_leave(ep->worker);
    return ret;
}
