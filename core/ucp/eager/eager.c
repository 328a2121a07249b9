/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the eager protocols of tagged messages, active messages and streams
 * share: the sizes for which they are candidates, their costs, and sending one
 * message by am_short, am_bcopy or am_zcopy.
 */
#include "ucp/eager/eager.h"

#include "ucp/dt/dt.h"
#include "ucp/order/queue.h"
#include "ucp/stage/stage.h"
#include "ucs/debug/log.h"
#include "uct/base/md.h"

/* Limits the range of sizes of an eager protocol to sizes below
 * UCX_RNDV_THRESH, if the user has set it. Returns zero if no size is left. */
static unsigned limit(const ucp_proto_query_t *query, ucp_proto_range_t *range)
{
    if ((query->rndv_thresh != SIZE_MAX) &&
        (range->max >= query->rndv_thresh)) {
        if (query->rndv_thresh == 0) {
            return 0;
        }
        range->max = query->rndv_thresh - 1;
    }
    return range->min <= range->max;
}

/* As limit(), for protocols that copy the data: the sizes must also be below
 * UCX_ZCOPY_THRESH, if the user has set it to more than 0 and zero-copy is
 * possible. */
static unsigned limit_copy(const ucp_proto_query_t *query,
                           ucp_proto_range_t *range)
{
    if ((query->zcopy_thresh != SIZE_MAX) && (query->zcopy_thresh > 0) &&
        (ucp_ep_config_am(query->config)->max_zcopy > 0) &&
        ucp_dt_class_is_touchable(query->dt_class) &&
        (range->max >= query->zcopy_thresh)) {
        range->max = query->zcopy_thresh - 1;
    }
    return limit(query, range);
}

/* Returns the seconds per byte of a message of the transport. `copies`: number
 * of copies whose time is added to that of the transport's call. */
static double per_byte(const ucp_proto_query_t *query,
                       const ucp_lane_cost_t *cost, unsigned copies)
{
    const ucp_lane_am_t *am = ucp_ep_config_am(query->config);
    int is_am               = (query->op == UCP_OP_AM_SEND) ||
                (query->op == UCP_OP_AM_SEND_REPLY);

    return is_am ? ucp_lane_am_in_place(am, cost, copies - 1) :
                   ucp_lane_am_alone(am, cost, copies);
}

unsigned ucp_eager_query_short(const ucp_proto_query_t *query, size_t own,
                               ucp_proto_range_t *range)
{
    const ucp_lane_am_t *am     = ucp_ep_config_am(query->config);
    const ucp_lane_cost_t *cost = &am->cost_short;
    size_t end                  = query->config->short_end;

    if ((query->dt_class != UCP_DT_CLASS_CONTIG) || (am->max_short <= own)) {
        return 0;
    }

    range->max    = am->max_short - own;
    range->time.c = cost->pre + cost->latency + cost->recv;
    range->time.m = per_byte(query, cost, 2);
    if ((end > 0) && (range->max >= end)) {
        range->max = end - 1;
    }
    return limit_copy(query, range);
}

static size_t max_bcopy(const ucp_proto_query_t *query,
                        const ucp_eager_own_t *own)
{
    return ucp_ep_config_am(query->config)->max_bcopy - own->total;
}

unsigned ucp_eager_query_bcopy(const ucp_proto_query_t *query,
                               const ucp_eager_own_t *own,
                               ucp_proto_range_t *range)
{
    const ucp_lane_am_t *am     = ucp_ep_config_am(query->config);
    const ucp_lane_cost_t *cost = &am->cost_bcopy;

    range->max    = max_bcopy(query, own);
    range->time.c = UCP_PROTO_REQUEST_TIME + cost->pre + cost->latency +
                    cost->recv;
    range->time.m = per_byte(query, cost, 2);
    return limit_copy(query, range);
}

/* Returns the maximum length of the data of a message by zero-copy; 0 if
 * zero-copy is not supported. Data that is not contiguous may have more iov
 * entries than the transport accepts. It is then sent by buffered copy, so it
 * must also fit in a message of that kind. */
static size_t max_zcopy(const ucp_proto_query_t *query,
                        const ucp_eager_own_t *own)
{
    const ucp_lane_am_t *am = ucp_ep_config_am(query->config);
    size_t max              = am->max_zcopy;

    if ((max <= own->total) || (am->max_hdr < own->zcopy_hdr) ||
        (am->max_iov < own->min_iov) ||
        !ucp_dt_class_is_touchable(query->dt_class) ||
        (query->config->lanes[UCP_AM_LANE].md_flags & UCT_MD_FLAG_NEED_MEMH)) {
        return 0;
    }
    if ((query->dt_class != UCP_DT_CLASS_CONTIG) && (max > am->max_bcopy)) {
        max = am->max_bcopy;
    }
    return max - own->total;
}

unsigned ucp_eager_query_zcopy(const ucp_proto_query_t *query,
                               const ucp_eager_own_t *own,
                               ucp_proto_range_t *range)
{
    const ucp_lane_am_t *am     = ucp_ep_config_am(query->config);
    const ucp_lane_cost_t *cost = &am->cost_zcopy;

    range->min = 1;
    range->max = max_zcopy(query, own);
    if (range->max == 0) {
        return 0;
    }

    range->time.c = UCP_PROTO_REQUEST_TIME + cost->pre + cost->post +
                    cost->latency + cost->recv;
    range->time.m = per_byte(query, cost, 1);
    if ((query->zcopy_thresh != SIZE_MAX) &&
        (query->zcopy_thresh > range->min)) {
        range->min = query->zcopy_thresh;
    }
    return limit(query, range);
}

size_t ucp_eager_max(const ucp_proto_query_t *query, const ucp_eager_own_t *own)
{
    size_t copied = max_bcopy(query, own);
    size_t zcopy  = max_zcopy(query, own);

    /* Zero-copy is not used below zcopy_thresh: for sizes between the maximum
     * of a buffered copy and zcopy_thresh there would be no eager protocol */
    if ((query->zcopy_thresh != SIZE_MAX) &&
        (query->zcopy_thresh > copied + 1)) {
        return copied;
    }
    return (zcopy > copied) ? zcopy : copied;
}

ucs_status_t ucp_eager_short_sent(ucp_request_t *req, ucs_status_t status,
                                  ucp_eager_end_t end)
{
    if (status == UCS_ERR_NO_RESOURCE) {
        return status;
    }
    if (status == UCS_INPROGRESS) {
        ucs_queue_push(&req->worker->deferred, &req->send.queue);
    } else {
        end(req, status);
    }
    return UCS_OK;
}

static void fetched(ucp_stage_frag_t *frag)
{
    ucp_request_t *req = frag->req;

    frag->done = NULL;
    /* The request has completed in the meantime, for example because its
     * endpoint has failed */
    if (req == NULL) {
        ucp_stage_frag_put(frag);
    } else {
        ucp_ep_continue(req->send.ep);
    }
}

void ucp_eager_fetch(ucp_request_t *req, uint32_t attr)
{
    ucp_dt_iter_t *iter = &req->dt;
    ucp_stage_frag_t *frag;

    if (ucs_likely(iter->dt_class != UCP_DT_CLASS_STAGED) ||
        !ucp_dt_iter_is_flat(iter) ||
        (attr & UCP_OP_ATTR_FLAG_FORCE_IMM_CMPL)) {
        return;
    }
    frag = ucp_stage_gather(iter->u.iov.copier, iter->length, 0);
    if (frag == NULL) {
        return;
    }
    frag->req        = req;
    frag->place      = iter->place;
    frag->memory     = iter->u.iov.memory;
    frag->length     = iter->length;
    iter->fetched    = 1;
    iter->u.iov.frag = frag;
    ucp_stage_frag_start(frag, 0, fetched);
}

ucs_status_t ucp_eager_fetch_status(ucp_request_t *req)
{
    const ucp_stage_frag_t *frag = req->dt.u.iov.frag;

    if (frag->done != NULL) {
        req->lane = UCP_NULL_LANE;
        return UCS_ERR_NO_RESOURCE;
    }
    req->lane = UCP_AM_LANE;
    return frag->status;
}

ucs_status_t ucp_eager_bcopy(ucp_request_t *req, uint8_t id,
                             uct_pack_callback_t pack, unsigned flags,
                             ucp_eager_end_t end)
{
    uct_ep_h am           = req->send.ep->am;
    ucs_status_t is_ready = ucs_unlikely(ucp_dt_iter_is_fetched(&req->dt)) ?
                                ucp_eager_fetch_status(req) :
                                UCS_OK;
    ssize_t packed        = (is_ready == UCS_OK) ?
                                am->ops->am_bcopy(am, id, pack, req, flags) :
                                is_ready;

    if (packed == UCS_ERR_NO_RESOURCE) {
        return UCS_ERR_NO_RESOURCE;
    }
    if (packed < 0) {
        end(req, (ucs_status_t)packed);
    } else if (ucs_unlikely(req->dt.offset < req->dt.length)) {
        ucs_error(
            "%zu of %zu bytes could be packed: the receiver gets a shorter"
            " message",
            req->dt.offset, req->dt.length);
        end(req, UCS_ERR_IO_ERROR);
    } else {
        end(req, UCS_OK);
    }
    return UCS_OK;
}

ucs_status_t ucp_eager_zcopy(ucp_request_t *req, uint8_t id, const void *header,
                             size_t header_size, const uct_iov_t *iov,
                             size_t iovcnt, uct_completion_callback_t done)
{
    uct_ep_h am = req->send.ep->am;

    req->send.comp.func   = done;
    req->send.comp.count  = 1;
    req->send.comp.status = UCS_OK;
    return am->ops->am_zcopy(am, id, header, (unsigned)header_size, iov, iovcnt,
                             0, &req->send.comp);
}

ucs_status_ptr_t ucp_eager_deferred(ucp_ep_h ep, size_t length,
                                    const ucp_request_param_t *param)
{
    ucp_request_t *req;

    if (param->op_attr_mask & UCP_OP_ATTR_FLAG_FORCE_IMM_CMPL) {
        /* The user wants completion in this call. Completion means that the
         * buffer can be reused, which is the case. */
        return NULL;
    }

    req = ucp_request_get(ep->worker, param);
    if (req == NULL) {
        /* The message will be sent, and the buffer can be reused. Without
         * memory for a request, report the completion now. */
        return NULL;
    }

    req->send.ep     = ep;
    req->dt.dt_class = UCP_DT_CLASS_CONTIG;
    req->dt.mem_type = UCS_MEMORY_TYPE_HOST;
    req->dt.length   = length;
    ucs_queue_push(&ep->worker->deferred, &req->send.queue);
    return ucp_request_send_result(req, param);
}
