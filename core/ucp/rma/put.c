/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ucp_put_nbx, and the protocols of put that use put_short and put_bcopy of a
 * lane. zcopy.c and am_put.c have the other protocols.
 */
#include "ucp/rma/symmetric.h"

#include "ucp/dt/dt.h"
#include "ucp/stats/stats.h"
#include "ucp/wireup/introduce.h"
#include "ucs/debug/log.h"

static ucs_status_t short_progress(ucp_request_t *req)
{
    const ucp_rkey_t *rkey = ucp_send_rma(req)->rkey;
    ucp_ep_h ep            = req->send.ep;
    unsigned lane          = ucp_send_rma(req)->config->put.short_lane;
    uct_ep_h uct           = ucp_ep_lane(ep, lane);
    ucs_status_t status;

    if (ucs_unlikely(ep->config->lost & UCS_BIT(lane))) {
        return ucp_rma_reroute(req);
    }

    req->lane = (uint8_t)lane;
    status    = uct->ops->put_short(uct, req->dt.u.contig.buffer,
                                    (unsigned)req->dt.length,
                                    ucp_send_rma(req)->address, rkey->keys[lane]);
    if (status == UCS_ERR_NO_RESOURCE) {
        return status;
    }
    ucp_rma_changes_by_lane(ep, lane);
    ucp_rma_abort(req, (status == UCS_INPROGRESS) ? UCS_OK : status);
    return UCS_OK;
}

static size_t bcopy_pack(void *dest, void *arg)
{
    ucp_request_t *req = arg;
    unsigned lane      = ucp_send_rma(req)->config->put.bcopy_lane;

    return ucp_dt_iter_pack(&req->dt, dest,
                            req->send.ep->config->lanes[lane].put.max_bcopy);
}

static ucs_status_t bcopy_progress(ucp_request_t *req)
{
    const ucp_rkey_t *rkey = ucp_send_rma(req)->rkey;
    ucp_ep_h ep            = req->send.ep;
    unsigned lane          = ucp_send_rma(req)->config->put.bcopy_lane;
    uct_ep_h uct           = ucp_ep_lane(ep, lane);
    size_t before          = req->dt.offset;
    ssize_t packed;

    if (ucs_unlikely(ep->config->lost & UCS_BIT(lane))) {
        return ucp_rma_reroute(req);
    }

    req->lane = (uint8_t)lane;
    packed    = uct->ops->put_bcopy(uct, bcopy_pack, req,
                                    ucp_send_rma(req)->address + before,
                                    rkey->keys[lane]);
    if (packed == UCS_ERR_NO_RESOURCE) {
        return UCS_ERR_NO_RESOURCE;
    }

    ucp_rma_changes_by_lane(ep, lane);
    if (packed < 0) {
        ucp_rma_abort(req, (ucs_status_t)packed);
        return UCS_OK;
    }
    if (req->dt.offset == req->dt.length) {
        ucp_rma_abort(req, UCS_OK);
        return UCS_OK;
    }
    if (req->dt.offset != before) {
        return UCS_INPROGRESS;
    }
    ucs_error("no bytes could be packed at offset %zu of %zu", before,
              req->dt.length);
    ucp_rma_abort(req, UCS_ERR_IO_ERROR);
    return UCS_OK;
}

const ucp_proto_t ucp_proto_put_short = {
    .name         = "put/short",
    .ops          = UCS_BIT(UCP_OP_PUT),
    .query        = ucp_rma_query_short,
    .is_immediate = ucp_proto_always,
    .progress     = short_progress,
    .abort        = ucp_rma_abort,
    .flags        = UCP_PROTO_FLAG_SHORT,
};

static int bcopy_is_immediate(const ucp_request_t *req)
{
    const ucp_ep_config_t *config = req->send.ep->config;
    unsigned lane                 = ucp_send_rma(req)->config->put.bcopy_lane;

    return (req->dt.dt_class != UCP_DT_CLASS_GENERIC) &&
           (req->dt.length <= config->lanes[lane].put.max_bcopy);
}

const ucp_proto_t ucp_proto_put_bcopy = {
    .name         = "put/bcopy",
    .ops          = UCS_BIT(UCP_OP_PUT),
    .query        = ucp_rma_query_bcopy,
    .is_immediate = bcopy_is_immediate,
    .progress     = bcopy_progress,
    .abort        = ucp_rma_abort,
    .counter      = UCP_STATS_PUT_BCOPY,
};

/* Sends a few contiguous bytes without a request. UCS_ERR_NO_RESOURCE: the
 * caller has to use a request. Hot path. */
static UCS_F_ALWAYS_INLINE ucs_status_t try_short(ucp_ep_h ep,
                                                  const void *buffer,
                                                  size_t length,
                                                  uint64_t address,
                                                  const ucp_rkey_t *rkey)
{
    const ucp_rma_config_t *config = rkey->config;
    ucs_status_t status            = UCS_ERR_NO_RESOURCE;
    unsigned lane;
    uct_ep_h uct;

    if (ucs_unlikely(config->ep_config != ep->config) ||
        ucs_unlikely(!ucp_rkey_covers(rkey, address, length)) ||
        ucs_unlikely(!(rkey->prot & UCP_MEM_MAP_PROT_REMOTE_WRITE))) {
        return UCS_ERR_NO_RESOURCE;
    }
    if (ucs_likely(length < config->put.short_end)) {
        lane   = config->put.short_lane;
        uct    = ucp_ep_lane(ep, lane);
        status = uct->ops->put_short(uct, buffer, (unsigned)length, address,
                                     rkey->keys[lane]);
        ucp_rma_changes_by_lane(ep, lane);
    } else if ((length < config->am_put_end) &&
               (ep->flags & UCP_EP_FLAG_INTRODUCED)) {
        status = ucp_rma_am_put_short(ep, buffer, length, address, rkey->id);
    }
    /* UCS_INPROGRESS: the data is copied, so that the user may reuse the
     * buffer. */
    return (status == UCS_INPROGRESS) ? UCS_OK : status;
}

/* For a key that several peers share (symmetric.h): repeats the call with the
 * key of the endpoint's peer. The repeated call takes the worker's lock, which
 * is recursive, again. */
static UCS_F_NOINLINE ucs_status_ptr_t
put_shared(ucp_ep_h ep, const void *buffer, size_t count, uint64_t remote_addr,
           ucp_rkey_h rkey, const ucp_request_param_t *param)
{
    ucp_rkey_h own = ucp_rkey_of_peer(rkey, ep);

    return (own == NULL) ?
               UCS_STATUS_PTR(UCS_ERR_INVALID_PARAM) :
               ucp_put_nbx(ep, buffer, count, remote_addr, own, param);
}

ucs_status_ptr_t ucp_put_nbx(ucp_ep_h ep, const void *buffer, size_t count,
                             uint64_t remote_addr, ucp_rkey_h rkey,
                             const ucp_request_param_t *param)
{
    const uint32_t slow  = UCP_OP_ATTR_FLAG_NO_IMM_CMPL;
    ucp_worker_h worker  = ep->worker;
    ucs_status_ptr_t ret = NULL;
    ucp_request_t *req;
    ucs_status_t status;

    ucp_worker_enter(worker);
    if (ucs_likely(!(param->op_attr_mask & slow)) && ucp_dt_is_plain(param) &&
        ucs_likely(count > 0) && ucp_dt_is_known_host(worker, buffer) &&
        ucs_likely(!(ep->flags & UCP_RMA_EP_FLAGS_SLOW))) {
        status = try_short(ep, buffer, count, remote_addr, rkey);
        if (ucs_likely(status != UCS_ERR_NO_RESOURCE)) {
            ret = UCS_STATUS_PTR(status);
            goto out;
        }
    }

    if (ucs_unlikely(ucp_rkey_is_shared(rkey))) {
        ret = put_shared(ep, buffer, count, remote_addr, rkey, param);
        goto out;
    }
    req = ucp_rma_request(ep, (void *)buffer, count, remote_addr, rkey, 0,
                          param, &status);
    ret = (req == NULL) ?
              UCS_STATUS_PTR(status) :
              ucp_rma_start(req, &ucp_send_rma(req)->config->put, param);
out:
    ucp_worker_leave(worker);
    return ret;
}
