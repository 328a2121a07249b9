/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the protocols of put and get share: selection of the protocol for a
 * request, its start and completion, the message that requests an access, and
 * the new selection after the failure of a lane.
 */
#include "ucp/order/start.h"
#include "ucp/rma/rkey.h"

#include "ucp/dt/dt.h"
#include "ucp/learn/trial.h"
#include "ucp/proto/memhs.h"

void ucp_rma_abort(ucp_request_t *req, ucs_status_t status)
{
    if (ucp_send_rma(req)->own_memhs) {
        ucp_memhs_dereg(req->worker, &ucp_send_rma_data(req)->memhs);
        ucp_send_rma(req)->own_memhs = 0;
    }
    ucp_dt_iter_finish(&req->dt);
    ucp_request_id_del(req);
    ucp_request_ep_del(req);
    ucp_request_complete_send(req, status);
}

/* For memory that the processor cannot access: true if it is one block that the
 * lane of zero-copy can access, long enough for zero-copy. */
static int is_reachable(const ucp_request_t *req,
                        const ucp_rma_protos_t *protos)
{
    const ucp_rma_config_t *config = ucp_send_rma(req)->config;
    const ucp_lane_config_t *lane;

    if ((protos->zcopy == NULL) || !ucp_dt_iter_is_flat(&req->dt)) {
        return 0;
    }
    lane = &req->send.ep->config->lanes[protos->zcopy_lane];
    return ucp_lane_reaches(lane, req->dt.mem_type) &&
           (req->dt.length >=
            ((protos == &config->get) ? &lane->get : &lane->put)->min_zcopy);
}

/* Selects the protocol from the table, with two exceptions. Memory that only
 * the lane can access uses zero-copy. If the user wants to reuse the
 * buffer soon, the data is copied instead of zero-copy, provided that a lane
 * and not messages carries the copy. Returns NULL if there is no protocol. */
static const ucp_proto_t *select_proto(const ucp_request_t *req,
                                       const ucp_rma_protos_t *protos,
                                       uint32_t attr)
{
    const uint32_t soon = UCP_OP_ATTR_FLAG_FAST_CMPL |
                          UCP_OP_ATTR_FLAG_FORCE_IMM_CMPL;
    const ucp_proto_t *proto;

    if (ucs_unlikely(req->dt.dt_class == UCP_DT_CLASS_STAGED) &&
        is_reachable(req, protos)) {
        proto = protos->zcopy;
    } else {
        proto = ucp_proto_find(&protos->tables[req->dt.dt_class],
                               req->dt.length);
    }
    if (ucs_unlikely(attr & soon) && (proto == protos->zcopy) &&
        (protos->copy != NULL) &&
        !(protos->copy->flags & UCP_PROTO_FLAG_MESSAGES)) {
        return protos->copy;
    }
    return proto;
}

/* Selects the protocol of a transfer. For a large contiguous one, trials
 * (learn/trial.h) compare zero-copy with messages and select the faster one,
 * unless the user's call excludes one of them. */
static const ucp_proto_t *
learnt_proto(ucp_request_t *req, const ucp_rma_protos_t *protos, uint32_t attr)
{
    const uint32_t fixed = UCP_OP_ATTR_FLAG_FAST_CMPL |
                           UCP_OP_ATTR_FLAG_FORCE_IMM_CMPL |
                           UCP_OP_ATTR_FLAG_MULTI_SEND;
    const ucp_rma_config_t *config = ucp_send_rma(req)->config;
    const ucp_proto_t *proto       = select_proto(req, protos, attr);
    int is_get                     = (protos == &config->get);

    if (ucs_likely(req->dt.length < UCP_TRIAL_MIN) || (attr & fixed) ||
        (req->dt.dt_class != UCP_DT_CLASS_CONTIG) || (protos->zcopy == NULL) ||
        (protos->copy == NULL) ||
        !(protos->copy->flags & UCP_PROTO_FLAG_MESSAGES) ||
        ((proto != protos->zcopy) && (proto != protos->copy)) ||
        (req->dt.length <
         ucp_rma_lane(req->send.ep->config, protos->zcopy_lane, is_get)
             ->min_zcopy)) {
        return proto;
    }
    return ucp_trial_rma(req, is_get ? UCP_OP_GET : UCP_OP_PUT, config,
                         protos->zcopy, protos->copy, proto);
}

static void expect_fragments(ucp_request_t *req)
{
    req->send.comp.func   = ucp_rma_zcopy_completed;
    /* one count for the request itself, dropped when all fragments are
     * posted */
    req->send.comp.count  = 1;
    req->send.comp.status = UCS_OK;
}

static ucs_status_ptr_t fail_op(ucp_request_t *req, ucs_status_t status)
{
    req->flags |= UCP_REQUEST_FLAG_RELEASED;
    ucp_rma_abort(req, status);
    return UCS_STATUS_PTR(status);
}

ucs_status_ptr_t ucp_rma_start(ucp_request_t *req,
                               const ucp_rma_protos_t *protos,
                               const ucp_request_param_t *param)
{
    const uint32_t attr = param->op_attr_mask;
    ucs_status_t status;

    if (req->send.ep->flags & UCP_EP_FLAG_FAILED) {
        return fail_op(req, req->send.ep->fail_status);
    }
    if (req->dt.length == 0) {
        ucp_rma_abort(req, UCS_OK);
        return ucp_request_send_result(req, param);
    }

    expect_fragments(req);
    status = ucp_proto_start(req, learnt_proto(req, protos, attr), attr);
    return (status == UCS_OK) ? ucp_request_send_result(req, param) :
                                fail_op(req, status);
}

ssize_t ucp_rma_send_request(ucp_request_t *req, uint8_t id,
                             uct_pack_callback_t pack, size_t size,
                             unsigned flags)
{
    uct_ep_h am = req->send.ep->am;
    struct {
        ucp_le64_t key; /* the header, which is an argument of am_short */
        char rest[UCP_RMA_MAX_REQUEST - sizeof(ucp_le64_t)];
    } message;

    if (size > ucp_ep_config_am(req->send.ep->config)->max_short) {
        return am->ops->am_bcopy(am, id, pack, req, flags);
    }
    pack(&message, req);
    return am->ops->am_short(am, id, htole64(ucp_send_rma(req)->key),
                             message.rest,
                             (unsigned)(size - sizeof(message.key)));
}

/* ------------------------------------------------------------- failover -- */

ucs_status_t ucp_rma_select_again(ucp_request_t *req)
{
    ucp_rma_op_t *op               = ucp_send_rma(req);
    const ucp_rma_config_t *before = op->config;

    op->config = ucp_rkey_config(op->rkey, req->send.ep);
    if (op->config == NULL) {
        op->config = before;
        return UCS_ERR_NO_MEMORY;
    }
    if (op->own_memhs) {
        ucp_memhs_dereg(req->worker, &ucp_send_rma_data(req)->memhs);
        op->own_memhs = 0;
    }
    op->posted = 0;
    req->lane  = UCP_AM_LANE; /* Protocols by messages use lane 0 and do not
                               * set this member */
    expect_fragments(req);
    return ucp_proto_init(req, select_proto(req, ucp_rma_protos(req), 0), 0);
}

ucs_status_t ucp_rma_reroute(ucp_request_t *req)
{
    ucs_status_t status = (req->dt.offset > 0) ? UCS_ERR_CONNECTION_RESET :
                                                 ucp_rma_select_again(req);

    if (status != UCS_OK) {
        ucp_rma_abort(req, status);
        return UCS_OK;
    }
    return UCS_INPROGRESS;
}
