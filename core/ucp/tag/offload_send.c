/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tag offload, the sender: the protocols that send tagged messages by the tag
 * slots of lane 0 (offload.h). Synchronous sends of any size use the
 * rendezvous: its announcement contains the request id to acknowledge, which an
 * eager message of the tag slots does not.
 */
#include "ucp/dt/dt.h"
#include "ucp/order/queue.h"
#include "ucp/stats/stats.h"
#include "ucp/tag/eager.h"
#include "ucp/tag/offload.h"
#include "ucp/tag/rndv.h"
#include "ucs/debug/log.h"

_Static_assert((int)UCP_TAG_MAX_RTS <= (int)UCP_MIN_TAG_HDR,
               "an announcement fits tag_rndv_request");

static const ucp_lane_tag_t *limits(const ucp_proto_query_t *query)
{
    return &query->config->lanes[UCP_AM_LANE].tag;
}

/* Returns UCS_OK if the request can be sent now. Otherwise the request waits in
 * the queue for the peer's agreement (ucp_ep_continue()). */
static ucs_status_t check_agreed(ucp_request_t *req)
{
    if (!ucp_tag_offload_is_agreed(req->send.ep)) {
        req->lane = UCP_NULL_LANE;
        return UCS_ERR_NO_RESOURCE;
    }
    req->lane = UCP_AM_LANE;
    return UCS_OK;
}

/* ---------------------------------------------------------------- eager -- */

static unsigned eager_query(const ucp_proto_query_t *query,
                            ucp_proto_range_t *range)
{
    const ucp_eager_own_t no_header = {0};
    unsigned num = ucp_eager_query_bcopy(query, &no_header, range);

    if (range->max > limits(query)->max_bcopy) {
        range->max = limits(query)->max_bcopy;
    }
    return num && (range->min <= range->max);
}

static size_t eager_pack(void *dest, void *arg)
{
    ucp_request_t *req = arg;

    return ucp_dt_iter_pack_all(&req->dt, dest, req->dt.length);
}

static ucs_status_t send_short(ucp_request_t *req, uct_ep_h am)
{
    return am->ops->tag_eager_short(am, ucp_send_tag(req)->tag,
                                    req->dt.u.contig.buffer, req->dt.length);
}

static ucs_status_t send_bcopy(ucp_request_t *req, uct_ep_h am)
{
    ucs_status_t status = ucs_unlikely(ucp_dt_iter_is_fetched(&req->dt)) ?
                              ucp_eager_fetch_status(req) :
                              UCS_OK;
    ssize_t packed;

    if (status != UCS_OK) {
        return status;
    }
    packed = am->ops->tag_eager_bcopy(am, ucp_send_tag(req)->tag, 0, eager_pack,
                                      req, 0);
    if (packed < 0) {
        return (ucs_status_t)packed;
    }
    if (ucs_unlikely(req->dt.offset < req->dt.length)) {
        ucs_error(
            "%zu of %zu bytes could be packed: the receiver gets a shorter"
            " message",
            req->dt.offset, req->dt.length);
        return UCS_ERR_IO_ERROR;
    }
    return UCS_OK;
}

static ucs_status_t eager_progress(ucp_request_t *req)
{
    ucp_ep_h ep               = req->send.ep;
    const ucp_lane_tag_t *tag = &ep->config->lanes[UCP_AM_LANE].tag;
    ucs_status_t status       = check_agreed(req);

    if (status != UCS_OK) {
        return status;
    }
    status = ((req->dt.dt_class == UCP_DT_CLASS_CONTIG) &&
              (req->dt.length <= tag->max_short)) ?
                 send_short(req, ep->am) :
                 send_bcopy(req, ep->am);
    if (status == UCS_ERR_NO_RESOURCE) {
        return status;
    }
    ucp_tag_eager_sent(req, status);
    return UCS_OK;
}

static ucs_status_t eager_init(ucp_request_t *req, uint32_t attr)
{
    ucp_eager_fetch(req, attr);
    return UCS_OK;
}

const ucp_proto_t ucp_proto_tag_offload_eager = {
    .name         = "offload/eager",
    .ops          = UCS_BIT(UCP_OP_TAG_SEND),
    .query        = eager_query,
    .init         = eager_init,
    .is_immediate = ucp_proto_always,
    .progress     = eager_progress,
    .abort        = ucp_tag_eager_sent,
    .flags        = UCP_PROTO_FLAG_MESSAGES | UCP_PROTO_FLAG_TAG_SLOT,
    .counter      = UCP_STATS_TAG_BCOPY,
};

/* ----------------------------------------------------------- rendezvous -- */

static unsigned rndv_query(const ucp_proto_query_t *query,
                           ucp_proto_range_t *range)
{
    const size_t max = limits(query)->max_bcopy;
    unsigned num     = ucp_rndv_query(query, max, range);

    if (query->op == UCP_OP_TAG_SEND_SYNC) {
        range->min = 0;
        return 1;
    }
    if ((query->rndv_thresh == SIZE_MAX) && (range->min > max)) {
        range->min = max + 1;
    }
    return num;
}

/* For sizes that do not fit an eager message, but are below the threshold of
 * the rendezvous that the user has set. */
static unsigned fetch_query(const ucp_proto_query_t *query,
                            ucp_proto_range_t *range)
{
    const size_t max = limits(query)->max_bcopy;

    if ((query->rndv_thresh == SIZE_MAX) || (query->rndv_thresh <= max)) {
        return 0;
    }
    (void)ucp_rndv_query(query, max, range);
    range->min = max + 1;
    if (query->rndv_thresh != UCP_PROTO_THRESH_NEVER) {
        range->max = query->rndv_thresh - 1;
    }
    return range->min <= range->max;
}

static ucs_status_t fetch_init(ucp_request_t *req, uint32_t attr)
{
    ucs_status_t status = ucp_rndv_send_init(req, attr);

    ucp_send_rndv(req)->rts_flags |= UCP_RNDV_RTS_FETCH;
    return status;
}

static ucs_status_t request_rndv(ucp_ep_h ep, ucp_tag_t tag, const void *rts,
                                 size_t length)
{
    return ep->am->ops->tag_rndv_request(ep->am, tag, rts, (unsigned)length, 0);
}

static ucs_status_t rndv_progress(ucp_request_t *req)
{
    char rts[UCP_TAG_MAX_RTS];
    ucs_status_t status = check_agreed(req);

    if (status != UCS_OK) {
        return status;
    }
    status = request_rndv(req->send.ep, ucp_send_tag(req)->tag, rts,
                          ucp_tag_rts_pack(rts, req));
    if (status == UCS_ERR_NO_RESOURCE) {
        return status;
    }
    if (status != UCS_OK) {
        ucp_rndv_send_end(req, status);
        return UCS_OK;
    }
    req->flags |= UCP_REQUEST_FLAG_ANNOUNCED;
    ucp_stats_sent(req->send.ep, UCP_STATS_TAG_RNDV, req->dt.length);
    return UCS_OK;
}

UCP_AREA_ACCESSOR(withdrawal_of, ucp_request_t, send.op, ucp_tag_rts_t)

/* Requests the receiver to drop an announcement. The request takes the path of
 * the announcement, so that it arrives after the announcement. */
static ucs_status_t withdraw_progress(ucp_request_t *req)
{
    const ucp_tag_rts_t *rts = withdrawal_of(req);
    ucs_status_t status = request_rndv(req->send.ep, ucp_le64_get(rts->tag),
                                       rts, sizeof(*rts));

    if (status != UCS_ERR_NO_RESOURCE) {
        ucp_request_complete_send(req, status);
        status = UCS_OK;
    }
    return status;
}

static const ucp_proto_t withdraw_proto = {
    .name     = "offload/withdraw",
    .progress = withdraw_progress,
    .abort    = ucp_request_complete_send,
};

/* Without memory for the message, the send is not cancelled. */
static void rndv_withdraw(ucp_request_t *req)
{
    ucp_request_t *message;

    if (ucp_send_rndv(req)->withdrawn) {
        return;
    }
    message = ucp_request_get_internal(req->worker);
    if (message == NULL) {
        return;
    }
    ucp_send_rndv(req)->withdrawn = 1;
    *withdrawal_of(message)       = ucp_tag_rts_withdrawal(req);
    message->send.ep              = req->send.ep;
    message->send.proto           = &withdraw_proto;
    ucp_request_start(message);
}

const ucp_proto_t ucp_proto_tag_offload_rndv = {
    .name     = "offload/rndv",
    .ops      = UCP_TAG_OPS,
    .query    = rndv_query,
    .init     = ucp_rndv_send_init,
    .progress = rndv_progress,
    .abort    = ucp_rndv_send_end,
    .withdraw = rndv_withdraw,
    .flags    = UCP_PROTO_FLAG_MESSAGES | UCP_PROTO_FLAG_RNDV |
             UCP_PROTO_FLAG_TAG_SLOT,
};

const ucp_proto_t ucp_proto_tag_offload_fetch = {
    .name     = "offload/fetch",
    .ops      = UCS_BIT(UCP_OP_TAG_SEND),
    .query    = fetch_query,
    .init     = fetch_init,
    .progress = rndv_progress,
    .abort    = ucp_rndv_send_end,
    .withdraw = rndv_withdraw,
    .flags    = UCP_PROTO_FLAG_MESSAGES | UCP_PROTO_FLAG_RNDV |
             UCP_PROTO_FLAG_TAG_SLOT,
};
