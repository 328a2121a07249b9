/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Get by active messages, the initiator's side: sends the request and stores
 * the data of the reply, which is one message or several in order. get_reply.c
 * has the side of the memory's owner.
 */
#include "ucp/rma/ack.h"
#include "ucp/rma/rkey.h"

#include "ucp/dt/dt.h"
#include "ucp/mem/table.h"
#include "ucp/order/queue.h"
#include "ucp/proto/fragment.h"
#include "ucp/stage/stage.h"
#include "ucp/stats/stats.h"
#include "ucp/wireup/introduce.h"
#include "ucs/debug/log.h"

#include <ucx/copy.h>

static size_t request_pack(void *dest, void *arg)
{
    const ucp_request_t *req = arg;
    ucp_rma_get_t *msg       = dest;

    msg->key     = ucp_le64(ucp_send_rma(req)->key);
    msg->address = ucp_le64(ucp_send_rma(req)->address);
    msg->length  = ucp_le64(req->dt.length);
    msg->sender  = ucp_ep_wire_end(req->send.ep);
    msg->request = ucp_le32(req->id);
    return sizeof(*msg);
}

_Static_assert(sizeof(ucp_rma_get_t) <= UCP_RMA_MAX_REQUEST, "it is sent");

static ucs_status_t am_init(ucp_request_t *req, uint32_t attr)
{
    return ucp_wireup_expect_reply(req);
}

static ucs_status_t am_progress(ucp_request_t *req)
{
    ucp_ep_h ep    = req->send.ep;
    ssize_t status = ucp_rma_send_request(req, UCP_AM_ID_GET, request_pack,
                                          sizeof(ucp_rma_get_t),
                                          UCX_SEND_FLAG_MORE);

    if (status == UCS_ERR_NO_RESOURCE) {
        return UCS_ERR_NO_RESOURCE;
    }
    if (status < 0) {
        ucp_rma_abort(req, (ucs_status_t)status);
        return UCS_OK;
    }
    ep->rma_fetch             = ++ep->rma_issued;
    ucp_send_rma(req)->number = ep->rma_issued;
    ucp_send_rma(req)->posted = 1;
    return UCS_OK;
}

const ucp_proto_t ucp_proto_get_am = {
    .name     = "get/am",
    .ops      = UCS_BIT(UCP_OP_GET),
    .query    = ucp_rma_query_am,
    .init     = am_init,
    .progress = am_progress,
    .abort    = ucp_rma_abort,
    .flags    = UCP_PROTO_FLAG_GET | UCP_PROTO_FLAG_MESSAGES,
    .counter  = UCP_STATS_GET_AM,
    .reply    = UCP_AM_ID_GET_REPLY,
};

/* Completes a get. Its reply also acknowledges the accesses that were sent
 * before the get. */
static void get_end(ucp_request_t *req, ucs_status_t status)
{
    ucp_ep_h ep     = req->send.ep;
    uint32_t number = ucp_send_rma(req)->number;

    ucp_rma_abort(req, status);
    ucp_rma_acked(ep, number);
}

ucs_status_t ucp_rma_get_reply_handler(void *arg, void *data, size_t length,
                                       unsigned flags)
{
    ucp_worker_h worker            = arg;
    const ucp_rma_get_reply_t *hdr = data;
    ucp_request_t *req             = NULL;
    ucs_status_t status;

    if (length >= sizeof(*hdr)) {
        req = ucp_proto_replied(worker, hdr->request, UCP_AM_ID_GET_REPLY);
    }
    if ((req == NULL) || !ucp_send_rma(req)->posted ||
        !ucp_rma_is_secret_of(req->send.ep, hdr->secret)) {
        ucs_debug("dropped the reply to a get of %zu bytes: no such get",
                  length);
        return UCS_OK;
    }

    length -= sizeof(*hdr);
    status = ucp_rma_wire_status(hdr->status);
    if ((status == UCS_OK) &&
        (length > req->dt.length - ucp_send_rma_data(req)->received)) {
        ucs_diag("ep %p: the reply to a get of %zu bytes has more",
                 req->send.ep, req->dt.length);
        status = UCS_ERR_IO_ERROR;
    }
    if (status == UCS_OK) {
        status = ucp_dt_iter_unpack_next(&req->dt,
                                         ucp_send_rma_data(req)->received,
                                         hdr + 1, length);
    }
    ucp_send_rma_data(req)->received += length;
    if ((status != UCS_OK) ||
        (ucp_send_rma_data(req)->received == req->dt.length)) {
        get_end(req, status);
    }
    return UCS_OK;
}
