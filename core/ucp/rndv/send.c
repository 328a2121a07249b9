/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The sender's side of a rendezvous: announcing, and starting the transfer that
 * the receiver asks for.
 */
#include "ucp/rndv/rndv.h"

#include "ucs/debug/log.h"
#include "uct/base/md.h"

static int rndv_query(const ucp_proto_query_t *query, ucp_proto_range_t *range)
{
    const ucp_ep_config_t *config = query->config;
    const ucp_lane_cost_t *am     = &config->cost_bcopy;
    double message                = UCP_PROTO_REQUEST_TIME + am->pre +
                                    am->latency + am->recv;
    double reg                    = 0;

    /* the announcement and the answer, then the data */
    if ((config->max_put_zcopy > 0) &&
        (query->dt_class != UCP_DT_CLASS_GENERIC)) {
        if (config->md_flags & UCT_MD_FLAG_NEED_RKEY) {
            reg = config->reg_cost.c;
        }
        range->time.c = 3 * message + config->cost_put.pre +
                        config->cost_put.post + reg;
        range->time.m = 1.0 / config->cost_put.bandwidth;
    } else {
        range->time.c = 3 * message;
        range->time.m = 1.0 / am->bandwidth + 2.0 / UCP_PROTO_MEMCPY_BANDWIDTH;
    }
    if ((query->rndv_thresh != SIZE_MAX) && (query->rndv_thresh > 0)) {
        /* a threshold beyond what fits an eager message begins where that
         * ends: every size has a protocol */
        size_t eager = config->max_bcopy - 64;

        range->min = (query->rndv_thresh < eager) ? query->rndv_thresh : eager;
        range->time.c = 0;
        range->time.m = 0;
    }
    return 1;
}

void ucp_rndv_send_detach(ucp_request_t *req)
{
    if (req->send.tag.rkey.rkey != UCT_INVALID_RKEY) {
        uct_rkey_release(ucp_ep_lane_domain(req->send.ep)->component,
                         &req->send.tag.rkey);
        req->send.tag.rkey.rkey = UCT_INVALID_RKEY;
    }
    ucp_request_id_del(req);
    ucp_request_ep_del(req);
}

void ucp_rndv_send_end(ucp_request_t *req, ucs_status_t status)
{
    ucp_dt_iter_finish(&req->dt);
    ucp_rndv_send_detach(req);
    ucp_request_complete_send(req, status);
}

void ucp_rndv_send_fail(ucp_request_t *req, ucs_status_t status)
{
    ucp_ep_h ep          = req->send.ep;
    ucp_rndv_done_t done = {
        .recv_request = ucp_le32(req->send.tag.remote_id),
        .status       = (int8_t)status
    };

    ucp_rndv_send_end(req, status);
    if (ucp_ep_send_control(ep, UCP_AM_ID_RNDV_DONE, &done, sizeof(done)) !=
        UCS_OK) {
        ucs_debug("ep %p: the peer is not told of a failed transfer", ep);
    }
}

static size_t rts_pack(void *dest, void *arg)
{
    ucp_request_t *req  = arg;
    ucp_rndv_rts_t *rts = dest;

    rts->tag     = ucp_le64(req->send.tag.tag);
    rts->length  = ucp_le64(req->dt.length);
    rts->sender  = ucp_ep_wire_end(req->send.ep);
    rts->request = ucp_le32(req->id);
    return sizeof(*rts);
}

static ucs_status_t rts_progress(ucp_request_t *req)
{
    uct_ep_h am = req->send.ep->am;
    ssize_t packed;

    packed = am->ops->am_bcopy(am, UCP_AM_ID_RNDV_RTS, rts_pack, req,
                               UCX_SEND_FLAG_MORE);
    if (packed == UCS_ERR_NO_RESOURCE) {
        return UCS_ERR_NO_RESOURCE;
    }
    if (packed < 0) {
        ucp_rndv_send_end(req, (ucs_status_t)packed);
        return UCS_OK;
    }
    req->send.tag.all_sent = 1;
    return UCS_OK;
}

static void rndv_abort(ucp_request_t *req, ucs_status_t status)
{
    if (req->send.progress == ucp_rndv_put_progress) {
        ucp_rndv_put_abort(req, status);
    } else {
        ucp_rndv_send_end(req, status);
    }
}

const ucp_proto_t ucp_proto_tag_rndv = {
    .name     = "rndv",
    .query    = rndv_query,
    .progress = rts_progress,
    .abort    = rndv_abort
};

/* Unpacks the receiver's key; without one, or with one that this end cannot
 * use, the data goes by active messages. */
static int accept_key(ucp_request_t *req, const void *key, size_t size)
{
    ucp_ep_h ep = req->send.ep;
    ucs_status_t status;

    if ((size == 0) || (ep->config->max_put_zcopy == 0) ||
        !(ep->config->md_flags & UCT_MD_FLAG_NEED_RKEY) ||
        (req->dt.dt_class == UCP_DT_CLASS_GENERIC) ||
        (req->dt.length < ep->config->min_put_zcopy)) {
        return 0;
    }

    status = uct_rkey_unpack_sized(ucp_ep_lane_domain(ep)->component, key, size,
                                   UCS_SYS_DEVICE_ID_UNKNOWN,
                                   &req->send.tag.rkey);
    if (status != UCS_OK) {
        req->send.tag.rkey.rkey = UCT_INVALID_RKEY;
        ucs_diag("ep %p: cannot use the peer's remote key (%s); sending by"
                 " active messages", ep, ucs_status_string(status));
        return 0;
    }
    return 1;
}

ucs_status_t ucp_rndv_rtr_handler(void *arg, void *data, size_t length,
                                  unsigned flags)
{
    ucp_worker_h worker       = arg;
    const ucp_rndv_rtr_t *rtr = data;
    ucp_request_t *req        = NULL;
    uint64_t wanted;

    if (length >= sizeof(*rtr)) {
        req = ucp_request_by_id(worker, ucp_le32_get(rtr->send_request));
    }
    if ((req == NULL) || (req->flags & UCP_REQUEST_FLAG_RECV) ||
        (req->send.progress != rts_progress) || !req->send.tag.all_sent) {
        ucs_debug("dropped a request for data of %zu bytes: no such send",
                  length);
        return UCS_OK;
    }

    wanted = ucp_le64_get(rtr->length);
    if (wanted == 0) {
        ucp_rndv_send_end(req, UCS_OK);
        return UCS_OK;
    }
    req->send.tag.remote_id = ucp_le32_get(rtr->recv_request);
    if (wanted != req->dt.length) {
        ucs_diag("ep %p: the peer wants %lu bytes of a message of %zu",
                 req->send.ep, wanted, req->dt.length);
        ucp_rndv_send_fail(req, UCS_ERR_IO_ERROR);
        return UCS_OK;
    }

    req->send.tag.address   = ucp_le64_get(rtr->address);
    req->send.progress      = accept_key(req, rtr + 1, length - sizeof(*rtr)) ?
                              ucp_rndv_put_progress : ucp_rndv_am_progress;
    req->send.comp.count    = 1; /* ours, until everything is posted */
    req->send.comp.status   = UCS_OK;
    req->send.tag.all_sent  = 0;
    ucp_request_id_del(req);
    ucp_request_start(req);
    return UCS_OK;
}
