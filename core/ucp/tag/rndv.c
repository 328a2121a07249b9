/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tagged messages by rendezvous: the message RNDV_RTS, which announces the
 * data, and its handler; cancellation of an announced send. The folder rndv/
 * has the transfer of the data.
 */
#include "ucp/learn/lead.h"
#include "ucp/order/queue.h"
#include "ucp/tag/eager.h"
#include "ucp/tag/fetch.h"
#include "ucp/tag/match.h"
#include "ucp/tag/recv.h"
#include "ucp/tag/rndv.h"
#include "ucp/stats/stats.h"
#include "ucp/wireup/introduce.h"
#include "ucs/debug/log.h"

static unsigned rndv_query(const ucp_proto_query_t *query,
                           ucp_proto_range_t *range)
{
    return ucp_rndv_query(query, ucp_eager_max(query, &ucp_tag_eager_own),
                          range);
}

size_t ucp_tag_rts_pack(void *dest, void *arg)
{
    const ucp_request_t *req = arg;
    ucp_tag_rts_t *rts       = dest;

    rts->tag = ucp_le64(ucp_send_tag(req)->tag);
    return sizeof(rts->tag) + ucp_rndv_rts_pack(req, &rts->rndv);
}

static ucs_status_t rts_progress(ucp_request_t *req)
{
    return ucp_rndv_announce(req, UCP_AM_ID_RNDV_RTS, ucp_tag_rts_pack,
                             UCP_STATS_TAG_RNDV);
}

ucp_tag_rts_t ucp_tag_rts_withdrawal(const ucp_request_t *req)
{
    return (ucp_tag_rts_t){
        .tag = ucp_le64(ucp_send_tag(req)->tag),
        .rndv =
            {
                .sender  = ucp_ep_wire_end(req->send.ep),
                .request = ucp_le32(req->id),
                .flags   = UCP_RNDV_RTS_WITHDRAW,
            },
    };
}

/* Requests the receiver of an announced send to drop the announcement. The send
 * completes with UCS_ERR_CANCELED if it was not matched, otherwise as usual. */
static void withdraw(ucp_request_t *req)
{
    const ucp_tag_rts_t rts = ucp_tag_rts_withdrawal(req);

    if (ucp_send_rndv(req)->withdrawn) {
        return;
    }
    /* If memory is short, the send is not cancelled. */
    ucp_send_rndv(req)->withdrawn = (ucp_ep_send_control(req->send.ep,
                                                         UCP_AM_ID_RNDV_RTS,
                                                         &rts, sizeof(rts)) ==
                                     UCS_OK);
}

const ucp_proto_t ucp_proto_tag_rndv = {
    .name     = "rndv",
    .ops      = UCP_TAG_OPS,
    .query    = rndv_query,
    .init     = ucp_rndv_send_init,
    .progress = rts_progress,
    .abort    = ucp_rndv_send_end,
    .withdraw = withdraw,
    .flags    = UCP_PROTO_FLAG_MESSAGES | UCP_PROTO_FLAG_RNDV |
             UCP_PROTO_FLAG_TAG_AM,
};

/* Matches a checked announcement with a receive. If none is posted, fetches the
 * data (UCP_RNDV_RTS_FETCH) or stores the announcement. */
static ucs_status_t arrived(ucp_worker_h worker, const ucp_tag_rts_t *rts,
                            size_t size)
{
    ucp_tag_t tag      = ucp_le64_get(rts->tag);
    size_t length      = ucp_rndv_rts_length(&rts->rndv);
    ucp_request_t *req = ucp_tag_expected_match(ucp_worker_tag(worker), tag);

    if (req != NULL) {
        req->recv.info.sender_tag = tag;
        req->recv.info.length     = length;
        ucp_rndv_recv_start(req, &rts->rndv, ucp_request_complete_recv);
        return UCS_OK;
    }
    if ((rts->rndv.flags & UCP_RNDV_RTS_FETCH) && ucp_tag_fetch(worker, rts)) {
        return UCS_OK;
    }
    if (ucp_tag_keep_early(worker, UCP_RECV_DESC_RNDV, tag, length, rts, size,
                           size) != UCS_OK) {
        ucp_worker_lost(worker, "a tagged message", length);
        return UCS_ERR_NO_MEMORY;
    }
    return UCS_OK;
}

static int is_announcement_of(const ucp_recv_desc_t *desc,
                              const ucp_rndv_rts_t *rts)
{
    const ucp_tag_rts_t *kept = (const ucp_tag_rts_t *)(desc + 1);

    return (desc->kind == UCP_RECV_DESC_RNDV) &&
           (memcmp(&kept->rndv.sender, &rts->sender, sizeof(rts->sender)) ==
            0) &&
           (memcmp(&kept->rndv.request, &rts->request, sizeof(rts->request)) ==
            0);
}

/* Called when the sender cancels. If the announcement is in the queue of
 * unexpected messages, drops and rejects it. */
static void withdrawn(ucp_worker_h worker, const ucp_tag_rts_t *rts)
{
    ucp_tag_t tag = ucp_le64_get(rts->tag);
    ucp_recv_desc_t *desc;

    ucs_list_for_each(desc, ucp_tag_unexpected_of(ucp_worker_tag(worker), tag),
                      by_key[0]) {
        if (is_announcement_of(desc, &rts->rndv)) {
            ucp_tag_unexpected_remove(ucp_worker_tag(worker), desc);
            ucp_tag_unexpected_free(desc);
            ucp_rndv_reject(worker, &rts->rndv, UCS_ERR_CANCELED);
            return;
        }
    }
}

/* A checked copy of an announcement: starts with the layout of
 * ucp_tag_rts_t. */
typedef struct {
    ucp_le64_t tag;
    ucp_rndv_taken_t rndv;
} taken_t;

/* Copies and checks an announcement, and notes the method by which the peer
 * leads. Returns zero, with a log line, if it is invalid. */
static int take(ucp_worker_h worker, const void *data, size_t length,
                taken_t *taken)
{
    ucp_ep_h ep;

    if ((length < sizeof(ucp_tag_rts_t)) ||
        (ucp_rndv_rts_take(&taken->rndv,
                           (const char *)data + sizeof(taken->tag),
                           length - sizeof(taken->tag)) +
             sizeof(taken->tag) !=
         length)) {
        ucs_diag("dropped an announcement of %zu bytes: wrong size", length);
        return 0;
    }
    ep = ucp_wireup_reply_ep(worker, &taken->rndv.rts.sender);
    if (ep == NULL) {
        ucs_diag("dropped an announcement from an unknown sender");
        return 0;
    }
    ucp_wire_take(&taken->tag, data, sizeof(taken->tag));
    ucp_lead_received(ep, ucp_rndv_rts_length(&taken->rndv.rts),
                      taken->rndv.rts.lead);
    return 1;
}

ucs_status_t ucp_tag_rts_handler(void *arg, void *data, size_t length,
                                 unsigned flags)
{
    ucp_worker_h worker = arg;
    taken_t taken;

    if (!take(worker, data, length, &taken)) {
        return UCS_OK;
    }
    if (taken.rndv.rts.flags & UCP_RNDV_RTS_WITHDRAW) {
        withdrawn(worker, (ucp_tag_rts_t *)&taken);
        return UCS_OK;
    }

    if (arrived(worker, (ucp_tag_rts_t *)&taken, length) != UCS_OK) {
        ucs_error("lost the announcement of a message of %lu bytes: out of"
                  " memory",
                  ucp_rndv_rts_length(&taken.rndv.rts));
    }
    return UCS_OK;
}

int ucp_tag_rts_matched(ucp_request_t *req, const void *data, size_t length)
{
    taken_t taken;

    if (!take(req->worker, data, length, &taken)) {
        return 0;
    }
    if (taken.rndv.rts.flags & UCP_RNDV_RTS_WITHDRAW) {
        withdrawn(req->worker, (ucp_tag_rts_t *)&taken);
        return 0;
    }
    req->recv.info.sender_tag = ucp_le64_get(taken.tag);
    req->recv.info.length     = ucp_rndv_rts_length(&taken.rndv.rts);
    ucp_rndv_recv_start(req, &taken.rndv.rts, ucp_request_complete_recv);
    return 1;
}
