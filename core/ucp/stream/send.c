/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ucp_stream_send_nbx, and the protocols of streams: short, buffered copy and
 * zero-copy. Longer data is sent in several messages, whose boundaries are not
 * visible at the receiver.
 */
#include "ucp/dt/dt.h"
#include "ucp/eager/eager.h"
#include "ucp/order/start.h"
#include "ucp/proto/ep.h"
#include "ucp/proto/fragment.h"
#include "ucp/stream/stream.h"
#include "ucs/debug/log.h"
#include "ucs/sys/math.h"

enum { MAX_ZCOPY_IOV = 16 };

static const size_t HEADER = sizeof(ucp_stream_head_t);

/* Returns the bytes of data in a message whose length is limited to `limit`. */
static size_t fragment_size(const ucp_ep_config_t *config, size_t limit)
{
    size_t wanted = (config->rndv_frag_size > 0) ? config->rndv_frag_size :
                                                   UCP_FRAGMENT_MAX;

    return ucs_min(wanted, limit - HEADER);
}

static size_t copy_size(const ucp_ep_config_t *config)
{
    return fragment_size(config, ucp_ep_config_am(config)->max_bcopy);
}

static int can_zcopy(const ucp_ep_config_t *config, unsigned dt_class)
{
    const ucp_lane_am_t *am = ucp_ep_config_am(config);

    return (am->max_zcopy > HEADER) && (am->max_hdr >= HEADER) &&
           (am->max_iov > 0) && ucp_dt_class_is_touchable(dt_class) &&
           !(config->lanes[UCP_AM_LANE].md_flags & UCT_MD_FLAG_NEED_MEMH);
}

/* Completes a send: called when all data was posted, or an error has occurred,
 * and the transport no longer uses the buffer. The endpoint may be freed
 * already. */
static void all_left(uct_completion_t *comp)
{
    ucp_request_t *req = ucs_container_of(comp, ucp_request_t, send.comp);

    ucp_dt_iter_finish(&req->dt);
    ucp_request_complete_send(req, comp->status);
}

/* ---------------------------------------------------------------- short -- */

static unsigned short_query(const ucp_proto_query_t *query,
                            ucp_proto_range_t *range)
{
    const ucp_lane_am_t *am     = ucp_ep_config_am(query->config);
    const ucp_lane_cost_t *cost = &am->cost_short;

    if ((query->dt_class != UCP_DT_CLASS_CONTIG) || (am->max_short <= HEADER)) {
        return 0;
    }

    range->max    = am->max_short - HEADER;
    range->time.c = cost->pre + cost->latency + cost->recv;
    range->time.m = 1.0 / cost->bandwidth + 2.0 / UCP_PROTO_MEMCPY_BANDWIDTH;
    if ((query->config->short_end > 0) &&
        (range->max >= query->config->short_end)) {
        range->max = query->config->short_end - 1;
    }
    return 1;
}

static ucs_status_t short_progress(ucp_request_t *req)
{
    ucp_ep_h ep = req->send.ep;
    ucs_status_t status;

    status = ep->am->ops->am_short(ep->am, UCP_AM_ID_STREAM,
                                   ucp_ep_stream(ep)->stream->key,
                                   req->dt.u.contig.buffer,
                                   (unsigned)req->dt.length);
    return ucp_eager_short_sent(req, status, ucp_request_posted);
}

const ucp_proto_t ucp_proto_stream_short = {
    .name     = "stream/short",
    .ops      = UCS_BIT(UCP_OP_STREAM_SEND),
    .query    = short_query,
    .progress = short_progress,
    .abort    = ucp_request_posted,
    .flags    = UCP_PROTO_FLAG_SHORT | UCP_PROTO_FLAG_MESSAGES,
};

/* -------------------------------------------------------- buffered copy -- */

static unsigned copy_query(const ucp_proto_query_t *query,
                           ucp_proto_range_t *range)
{
    const ucp_ep_config_t *config = query->config;
    const ucp_lane_cost_t *cost   = &ucp_ep_config_am(config)->cost_bcopy;

    if (can_zcopy(config, query->dt_class) && (query->zcopy_thresh > 0) &&
        (query->zcopy_thresh != SIZE_MAX)) {
        range->max = query->zcopy_thresh - 1;
    }
    range->time.c = UCP_PROTO_REQUEST_TIME + cost->pre + cost->latency +
                    cost->recv;
    range->time.m = 1.0 / cost->bandwidth + 2.0 / UCP_PROTO_MEMCPY_BANDWIDTH +
                    (cost->pre + cost->recv) / (double)copy_size(config);
    return 1;
}

static size_t pack(void *dest, void *arg)
{
    ucp_request_t *req = arg;
    ucp_ep_h ep        = req->send.ep;

    memcpy(dest, &ucp_ep_stream(ep)->stream->key, HEADER);
    return HEADER + ucp_dt_iter_pack_all(&req->dt, (char *)dest + HEADER,
                                         copy_size(ep->config));
}

static ucs_status_t copy_fragment(ucp_request_t *req)
{
    size_t before = req->dt.offset;

    return ucp_fragment_check(req, before,
                              ucp_fragment_copy(req, UCP_AM_ID_STREAM, pack,
                                                copy_size(
                                                    req->send.ep->config)));
}

/* Called with the status of a fragment. After the last fragment or an error,
 * nothing more is posted for the request. Returns the result of the progress
 * function. */
static ucs_status_t sent(ucp_request_t *req, ucs_status_t status)
{
    if (status == UCS_ERR_NO_RESOURCE) {
        return status;
    }
    if ((status == UCS_OK) && (req->dt.offset < req->dt.length)) {
        return UCS_INPROGRESS;
    }
    ucp_request_posted(req, status);
    return UCS_OK;
}

/* For data that the processor cannot access: data of one message may be copied
 * in the background (ucp_eager_fetch()); longer data is copied by a pipeline
 * when it is packed (ucp/stage). */
static ucs_status_t copy_init(ucp_request_t *req, uint32_t attr)
{
    if (req->dt.length <= copy_size(req->send.ep->config)) {
        ucp_eager_fetch(req, attr);
    }
    return UCS_OK;
}

static ucs_status_t copy_progress(ucp_request_t *req)
{
    ucs_status_t status;

    if (ucs_unlikely(ucp_dt_iter_is_fetched(&req->dt))) {
        status = ucp_eager_fetch_status(req);
        if (status != UCS_OK) {
            return sent(req, status);
        }
    }
    return sent(req, copy_fragment(req));
}

static int copy_is_immediate(const ucp_request_t *req)
{
    return req->dt.length <= copy_size(req->send.ep->config);
}

const ucp_proto_t ucp_proto_stream_copy = {
    .name         = "stream/copy",
    .ops          = UCS_BIT(UCP_OP_STREAM_SEND),
    .query        = copy_query,
    .init         = copy_init,
    .is_immediate = copy_is_immediate,
    .progress     = copy_progress,
    .abort        = ucp_request_posted,
    .flags        = UCP_PROTO_FLAG_MESSAGES,
};

/* ------------------------------------------------------------ zero-copy -- */

static size_t zcopy_size(const ucp_ep_config_t *config)
{
    return fragment_size(config, ucp_ep_config_am(config)->max_zcopy);
}

static unsigned zcopy_query(const ucp_proto_query_t *query,
                            ucp_proto_range_t *range)
{
    const ucp_ep_config_t *config = query->config;
    const ucp_lane_cost_t *cost   = &ucp_ep_config_am(config)->cost_zcopy;

    if (!can_zcopy(config, query->dt_class)) {
        return 0;
    }

    range->min    = (query->zcopy_thresh == SIZE_MAX) ?
                        1 :
                        ucs_max(query->zcopy_thresh, (size_t)1);
    range->time.c = UCP_PROTO_REQUEST_TIME + cost->pre + cost->post +
                    cost->latency + cost->recv;
    range->time.m = 1.0 / cost->bandwidth + 1.0 / UCP_PROTO_MEMCPY_BANDWIDTH +
                    (cost->pre + cost->post + cost->recv) /
                        (double)zcopy_size(config);
    return 1;
}

/* If the iov entries that fit into one zero-copy message have less data than a
 * buffered copy can carry, and more data follows, sends a buffered copy. */
static ucs_status_t zcopy_progress(ucp_request_t *req)
{
    ucp_ep_h ep                   = req->send.ep;
    const ucp_ep_config_t *config = ep->config;
    size_t max_iov                = ucp_ep_config_am(config)->max_iov;
    uct_iov_t iov[MAX_ZCOPY_IOV];
    size_t count, length;

    count = ucp_dt_iter_iov(&req->dt, zcopy_size(config), iov,
                            ucs_min(max_iov, (size_t)MAX_ZCOPY_IOV),
                            UCT_MEM_HANDLE_NULL, &length);
    if ((length < copy_size(config)) &&
        (length < req->dt.length - req->dt.offset)) {
        return sent(req, copy_fragment(req));
    }

    return sent(req, ucp_fragment_post(req, UCP_AM_ID_STREAM,
                                       &ucp_ep_stream(ep)->stream->key, HEADER,
                                       iov, count, length));
}

const ucp_proto_t ucp_proto_stream_place = {
    .name     = "stream/zcopy",
    .ops      = UCS_BIT(UCP_OP_STREAM_SEND),
    .query    = zcopy_query,
    .progress = zcopy_progress,
    .abort    = ucp_request_posted,
    .flags    = UCP_PROTO_FLAG_MESSAGES,
};

/* ---------------------------------------------------------------- start -- */

static ucs_status_t start(ucp_ep_h ep, ucp_request_t *req, uint32_t attr)
{
    const ucp_proto_t *proto;
    ucp_stream_t *stream;
    ucs_status_t status;

    if (ep->flags & UCP_EP_FLAG_FAILED) {
        return ep->fail_status;
    }

    stream = ucp_stream_of(ep, &status);
    if (stream == NULL) {
        return status;
    }

    req->send.comp.func   = all_left;
    /* one count for the request itself, dropped when all is posted */
    req->send.comp.count  = 1;
    req->send.comp.status = UCS_OK;
    if (req->dt.length == 0) {
        ucp_request_posted(req, UCS_OK);
        return UCS_OK;
    }

    status = ucp_stream_open(stream);
    if (status != UCS_OK) {
        return status;
    }
    proto = ucp_proto_of_message(ep->worker, ep->config, UCP_OP_STREAM_SEND,
                                 req->dt.dt_class, req->dt.length, attr);
    return ucp_proto_start(req, proto, attr);
}

static ucs_status_ptr_t start_send(ucp_ep_h ep, const void *buffer,
                                   size_t count,
                                   const ucp_request_param_t *param)
{
    ucs_status_t status;
    ucp_request_t *req = ucp_send_begin(ep, buffer, count, 0, param, &status);

    return (req == NULL) ?
               UCS_STATUS_PTR(status) :
               ucp_send_result(req, start(ep, req, param->op_attr_mask), param);
}

/* Hot path: a short message on an open stream needs no allocation, unless the
 * transport has no send resources or delays the message. */
ucs_status_ptr_t ucp_stream_send_nbx(ucp_ep_h ep, const void *buffer,
                                     size_t count,
                                     const ucp_request_param_t *param)
{
    ucp_worker_h worker  = ep->worker;
    ssize_t length       = ucp_dt_plain_length(count, param);
    ucs_status_ptr_t ret = NULL;
    const ucp_stream_t *stream;
    ucs_status_t status;

    ucp_worker_enter(worker);
    stream = ucp_ep_stream(ep)->stream;
    /* One comparison that is false for length 0, which sends nothing, and for
     * -1, which means that the data is not contiguous in host memory */
    if (ucs_likely((size_t)length - 1 < ep->config->stream_short_max) &&
        ucs_likely((stream != NULL) && (stream->key != 0)) &&
        ucp_dt_is_known_host(worker, buffer) &&
        ucs_likely(!(param->op_attr_mask & UCP_OP_ATTR_FLAG_NO_IMM_CMPL)) &&
        ucs_likely(!(ep->flags & UCP_EP_FLAGS_SLOW))) {
        status = ep->am->ops->am_short(ep->am, UCP_AM_ID_STREAM, stream->key,
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

    ret = start_send(ep, buffer, count, param);
out:
    ucp_worker_leave(worker);
    return ret;
}
