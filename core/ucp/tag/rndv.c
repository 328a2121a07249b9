/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tagged messages by rendezvous: the message RNDV_RTS, which announces the
 * data, and its handler; cancellation of an announced send. The folder rndv/
 * has the transfer of the data.
 */
#include "ucp/order/queue.h"
#include "ucp/tag/eager.h"
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

static size_t rts_pack(void *dest, void *arg)
{
    const ucp_request_t *req = arg;
    ucp_tag_rts_t *rts       = dest;

    rts->tag = ucp_le64(ucp_send_tag(req)->tag);
    return sizeof(rts->tag) + ucp_rndv_rts_pack(req, &rts->rndv);
}

static ucs_status_t rts_progress(ucp_request_t *req)
{
    return ucp_rndv_announce(req, UCP_AM_ID_RNDV_RTS, rts_pack,
                             UCP_STATS_TAG_RNDV);
}

/* Requests the receiver of an announced send to drop the announcement. The send
 * completes with UCS_ERR_CANCELED if it was not matched, otherwise as usual. */
static void withdraw(ucp_request_t *req)
{
    ucp_tag_rts_t rts = {
        .tag = ucp_le64(ucp_send_tag(req)->tag),
        .rndv =
            {
                .sender  = ucp_ep_wire_end(req->send.ep),
                .request = ucp_le32(req->id),
                .flags   = UCP_RNDV_RTS_WITHDRAW,
            },
    };

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
    .flags    = UCP_PROTO_FLAG_MESSAGES | UCP_PROTO_FLAG_RNDV,
};

ucs_status_t ucp_tag_rts_handler(void *arg, void *data, size_t length,
                                 unsigned flags)
{
    ucp_worker_h worker = arg;
    struct {
        ucp_le64_t tag;
        ucp_rndv_taken_t rndv;
    } taken; /* starts with the layout of ucp_tag_rts_t */

    if ((length < sizeof(ucp_tag_rts_t)) ||
        (ucp_rndv_rts_take(&taken.rndv, (char *)data + sizeof(taken.tag),
                           length - sizeof(taken.tag)) +
             sizeof(taken.tag) !=
         length)) {
        ucs_diag("dropped an announcement of %zu bytes: wrong size", length);
        return UCS_OK;
    }
    if (ucp_wireup_reply_ep(worker, &taken.rndv.rts.sender) == NULL) {
        ucs_diag("dropped an announcement from an unknown sender");
        return UCS_OK;
    }

    ucp_wire_take(&taken.tag, data, sizeof(taken.tag));
    if (taken.rndv.rts.flags & UCP_RNDV_RTS_WITHDRAW) {
        ucp_tag_rndv_withdrawn(worker, (ucp_tag_rts_t *)&taken);
        return UCS_OK;
    }

    if (ucp_tag_rndv_arrived(worker, (ucp_tag_rts_t *)&taken, length) !=
        UCS_OK) {
        ucs_error("lost the announcement of a message of %lu bytes: out of"
                  " memory",
                  ucp_rndv_rts_length(&taken.rndv.rts));
    }
    return UCS_OK;
}
