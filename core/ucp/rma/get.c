/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ucp_get_nbx, and the protocols of get that use get_short and get_bcopy of a
 * lane. zcopy.c and am_get.c have the other protocols.
 */
#include "ucp/dt/dt.h"
#include "ucp/rma/symmetric.h"
#include "ucp/stats/stats.h"

static ucs_status_t short_progress(ucp_request_t *req)
{
    const ucp_rkey_t *rkey = ucp_send_rma(req)->rkey;
    unsigned lane          = ucp_send_rma(req)->config->get.short_lane;
    uct_ep_h uct           = ucp_ep_lane(req->send.ep, lane);
    ucs_status_t status;

    if (ucs_unlikely(req->send.ep->config->lost & UCS_BIT(lane))) {
        return ucp_rma_reroute(req);
    }

    req->lane = (uint8_t)lane;
    status    = uct->ops->get_short(uct, req->dt.u.contig.buffer,
                                    (unsigned)req->dt.length,
                                    ucp_send_rma(req)->address, rkey->keys[lane]);
    if (status == UCS_ERR_NO_RESOURCE) {
        return status;
    }
    ucp_rma_abort(req, status);
    return UCS_OK;
}

static void bcopy_unpack(void *arg, const void *data, size_t length)
{
    ucp_request_t *req = arg;
    ucs_status_t status;

    if (length > req->dt.length) {
        length = req->dt.length;
    }
    status = ucp_dt_iter_unpack(&req->dt, 0, data, length);
    uct_completion_update_status(&req->send.comp, status);
}

static void bcopy_completed(uct_completion_t *comp)
{
    ucp_request_t *req = ucs_container_of(comp, ucp_request_t, send.comp);

    ucp_rma_abort(req, comp->status);
}

static ucs_status_t bcopy_progress(ucp_request_t *req)
{
    const ucp_rkey_t *rkey = ucp_send_rma(req)->rkey;
    unsigned lane          = ucp_send_rma(req)->config->get.bcopy_lane;
    uct_ep_h uct           = ucp_ep_lane(req->send.ep, lane);
    ucs_status_t status;

    if (ucs_unlikely(req->send.ep->config->lost & UCS_BIT(lane))) {
        return ucp_rma_reroute(req);
    }

    req->lane           = (uint8_t)lane;
    req->send.comp.func = bcopy_completed;

    status = uct->ops->get_bcopy(uct, bcopy_unpack, req, req->dt.length,
                                 ucp_send_rma(req)->address, rkey->keys[lane],
                                 &req->send.comp);
    if (status == UCS_ERR_NO_RESOURCE) {
        return status;
    }
    if (status == UCS_INPROGRESS) {
        ucp_rma_uses_lane(req->send.ep, lane);
        return UCS_OK;
    }
    uct_completion_update_status(&req->send.comp, status);
    ucp_rma_abort(req, req->send.comp.status);
    return UCS_OK;
}

const ucp_proto_t ucp_proto_get_short = {
    .name         = "get/short",
    .ops          = UCS_BIT(UCP_OP_GET),
    .query        = ucp_rma_query_short,
    .is_immediate = ucp_proto_always,
    .progress     = short_progress,
    .abort        = ucp_rma_abort,
    .flags        = UCP_PROTO_FLAG_GET | UCP_PROTO_FLAG_SHORT,
};

const ucp_proto_t ucp_proto_get_bcopy = {
    .name     = "get/bcopy",
    .ops      = UCS_BIT(UCP_OP_GET),
    .query    = ucp_rma_query_bcopy,
    .progress = bcopy_progress,
    .abort    = ucp_rma_abort,
    .flags    = UCP_PROTO_FLAG_GET,
    .counter  = UCP_STATS_GET_BCOPY,
};

/* For a key that several peers share (symmetric.h): repeats the call with the
 * key of the endpoint's peer. The repeated call takes the worker's lock, which
 * is recursive, again. */
static UCS_F_NOINLINE ucs_status_ptr_t
get_shared(ucp_ep_h ep, void *buffer, size_t count, uint64_t remote_addr,
           ucp_rkey_h rkey, const ucp_request_param_t *param)
{
    ucp_rkey_h own = ucp_rkey_of_peer(rkey, ep);

    return (own == NULL) ?
               UCS_STATUS_PTR(UCS_ERR_INVALID_PARAM) :
               ucp_get_nbx(ep, buffer, count, remote_addr, own, param);
}

ucs_status_ptr_t ucp_get_nbx(ucp_ep_h ep, void *buffer, size_t count,
                             uint64_t remote_addr, ucp_rkey_h rkey,
                             const ucp_request_param_t *param)
{
    const uint32_t slow = UCP_OP_ATTR_FLAG_NO_IMM_CMPL;
    ucp_worker_h worker = ep->worker;
    const ucp_rma_config_t *config;
    ucs_status_ptr_t ret;
    ucp_request_t *req;
    ucs_status_t status;
    unsigned lane;
    uct_ep_h uct;

    ucp_worker_enter(worker);
    config = rkey->config;
    if (ucs_likely(count < config->get.short_end) && ucs_likely(count > 0) &&
        ucs_likely(!(param->op_attr_mask & slow)) && ucp_dt_is_plain(param) &&
        ucs_likely(!(ep->flags & UCP_RMA_EP_FLAGS_SLOW)) &&
        ucp_dt_is_known_host(worker, buffer) &&
        ucs_likely(config->ep_config == ep->config) &&
        ucs_likely(ucp_rkey_covers(rkey, remote_addr, count)) &&
        ucs_likely(rkey->prot & UCP_MEM_MAP_PROT_REMOTE_READ)) {
        lane   = config->get.short_lane;
        uct    = ucp_ep_lane(ep, lane);
        status = uct->ops->get_short(uct, buffer, (unsigned)count, remote_addr,
                                     rkey->keys[lane]);
        if (ucs_likely(status != UCS_ERR_NO_RESOURCE)) {
            ret = UCS_STATUS_PTR(status);
            goto out;
        }
    }

    if (ucs_unlikely(ucp_rkey_is_shared(rkey))) {
        ret = get_shared(ep, buffer, count, remote_addr, rkey, param);
        goto out;
    }
    req = ucp_rma_request(ep, buffer, count, remote_addr, rkey, 1, param,
                          &status);
    ret = (req == NULL) ?
              UCS_STATUS_PTR(status) :
              ucp_rma_start(req, &ucp_send_rma(req)->config->get, param);
out:
    ucp_worker_leave(worker);
    return ret;
}
