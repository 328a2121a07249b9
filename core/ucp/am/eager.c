/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Eager protocols of active messages, sending side: the whole message as one
 * message of the transport, by am_short, am_bcopy or am_zcopy. am/multi.c
 * sends longer messages in fragments.
 */
#include "ucp/am/eager.h"

#include "ucp/dt/dt.h"
#include "ucp/wireup/introduce.h"
#include "ucs/debug/log.h"
#include "uct/base/md.h"

#include <string.h>

enum {
    /* One entry each for the payload, the user's header and the sender */
    MIN_ZCOPY_IOV = 3,
    MAX_ZCOPY_IOV = 16,
};

const ucp_eager_own_t ucp_am_eager_own = {
    .total     = sizeof(ucp_am_head_t) + sizeof(ucp_wire_end_t),
    .zcopy_hdr = sizeof(ucp_am_head_t),
    .min_iov   = MIN_ZCOPY_IOV,
};

static uint8_t message_id(const ucp_request_t *req)
{
    return ucp_send_am(req)->reply ? UCP_AM_ID_AM_REPLY : UCP_AM_ID_AM;
}

/* Packs the bytes after the payload: the user's header, and, if the sender
 * expects replies, the ids of its worker and endpoint. */
static size_t pack_tail(ucp_request_t *req, char *dest)
{
    size_t length = ucp_send_am(req)->header_length;
    ucp_wire_end_t end;

    if (length > 0) {
        memcpy(dest, ucp_send_am(req)->header, length);
    }
    if (ucp_send_am(req)->reply) {
        end = ucp_ep_wire_end(req->send.ep);
        memcpy(dest + length, &end, sizeof(end));
        length += sizeof(end);
    }
    return length;
}

void ucp_am_eager_end(ucp_request_t *req, ucs_status_t status)
{
    ucp_dt_iter_finish(&req->dt);
    ucp_am_send_drop_header(req);
    ucp_request_complete_send(req, status);
}

/* If the receiver's handler gets an endpoint for replies, first sends this
 * worker's address (message INTRODUCE), unless it was sent before: the receiver
 * creates that endpoint from it. */
static ucs_status_t eager_init(ucp_request_t *req, uint32_t attr)
{
    ucs_status_t status = ucp_send_am(req)->reply ?
                              ucp_wireup_introduce(req->send.ep) :
                              UCS_OK;

    if (status == UCS_OK) {
        ucp_eager_fetch(req, attr);
    }
    return status;
}

static void eager_abort(ucp_request_t *req, ucs_status_t status)
{
    if (ucp_send_am(req)->in_flight) {
        /* The transport still reads the buffer. The request completes when the
         * transport completes the send. */
        uct_completion_update_status(&req->send.comp, status);
        return;
    }
    ucp_am_eager_end(req, status);
}

/* ---------------------------------------------------------------- short -- */

static unsigned short_query(const ucp_proto_query_t *query,
                            ucp_proto_range_t *range)
{
    size_t own = sizeof(ucp_am_head_t);

    if (query->op == UCP_OP_AM_SEND_REPLY) {
        own += sizeof(ucp_wire_end_t);
    }
    return ucp_eager_query_short(query, own, range);
}

static ucs_status_t bcopy_progress(ucp_request_t *req);

static ucs_status_t short_progress(ucp_request_t *req)
{
    ucp_ep_h ep = req->send.ep;
    ucs_status_t status;

    status = ucp_am_short(ep, ucp_am_send_word(req), ucp_send_am(req)->header,
                          ucp_send_am(req)->header_length,
                          req->dt.u.contig.buffer, req->dt.length,
                          ucp_send_am(req)->reply);
    if (status == UCS_ERR_NO_RESOURCE) {
        return status;
    }
    if (status == UCS_ERR_UNSUPPORTED) {
        return bcopy_progress(req); /* The transport has no am_short_iov */
    }
    ucp_am_send_drop_header(req);
    return ucp_eager_short_sent(req, status, ucp_am_eager_end);
}

const ucp_proto_t ucp_proto_am_eager_short = {
    .name     = "am/short",
    .ops      = UCP_AM_OPS,
    .query    = short_query,
    .init     = eager_init,
    .progress = short_progress,
    .abort    = eager_abort,
    .flags    = UCP_PROTO_FLAG_SHORT | UCP_PROTO_FLAG_MESSAGES,
};

/* ---------------------------------------------------------------- bcopy -- */

static unsigned bcopy_query(const ucp_proto_query_t *query,
                            ucp_proto_range_t *range)
{
    return ucp_eager_query_bcopy(query, &ucp_am_eager_own, range);
}

static size_t bcopy_pack(void *dest, void *arg)
{
    ucp_request_t *req  = arg;
    ucp_am_head_t *head = dest;
    size_t length       = sizeof(*head);

    head->word = ucp_le64(ucp_am_send_word(req));
    length += ucp_dt_iter_pack_all(&req->dt, head + 1, req->dt.length);
    return length + pack_tail(req, (char *)dest + length);
}

static ucs_status_t bcopy_progress(ucp_request_t *req)
{
    return ucp_eager_bcopy(req, message_id(req), bcopy_pack, 0,
                           ucp_am_eager_end);
}

const ucp_proto_t ucp_proto_am_eager_bcopy = {
    .name         = "am/bcopy",
    .ops          = UCP_AM_OPS,
    .query        = bcopy_query,
    .init         = eager_init,
    .is_immediate = ucp_proto_always,
    .progress     = bcopy_progress,
    .abort        = eager_abort,
    .flags        = UCP_PROTO_FLAG_MESSAGES,
};

/* ---------------------------------------------------------------- zcopy -- */

static unsigned zcopy_query(const ucp_proto_query_t *query,
                            ucp_proto_range_t *range)
{
    return ucp_eager_query_zcopy(query, &ucp_am_eager_own, range);
}

static void zcopy_done(uct_completion_t *comp)
{
    ucp_request_t *req = ucs_container_of(comp, ucp_request_t, send.comp);

    ucp_send_am(req)->in_flight = 0;
    ucp_am_eager_end(req, comp->status);
}

static void add_segment(uct_iov_t *iov, size_t *count, const void *buffer,
                        size_t length)
{
    if (length > 0) {
        iov[(*count)++] = (uct_iov_t){
            .buffer = (void *)buffer,
            .length = length,
            .memh   = UCT_MEM_HANDLE_NULL,
            .count  = 1,
        };
    }
}

/* Fills in the iov entries: payload, user's header and, for replies, the
 * sender. Returns their number; 0 if the payload needs more entries than are
 * left for it. */
static size_t gather(ucp_request_t *req, uct_iov_t *iov)
{
    ucp_am_send_t *msg = ucp_send_am(req);
    size_t max_iov     = ucp_ep_config_am(req->send.ep->config)->max_iov;
    size_t count, length;

    max_iov = (max_iov < MAX_ZCOPY_IOV) ? max_iov : MAX_ZCOPY_IOV;
    count   = ucp_dt_iter_iov(&req->dt, req->dt.length, iov,
                              max_iov - (MIN_ZCOPY_IOV - 1), UCT_MEM_HANDLE_NULL,
                              &length);
    if (length < req->dt.length) {
        return 0;
    }

    add_segment(iov, &count, msg->header, msg->header_length);
    if (msg->reply) {
        msg->sender = ucp_ep_wire_end(req->send.ep);
        add_segment(iov, &count, &msg->sender, sizeof(ucp_wire_end_t));
    }
    return count;
}

static ucs_status_t zcopy_progress(ucp_request_t *req)
{
    ucp_am_head_t head = {ucp_le64(ucp_am_send_word(req))};
    uct_iov_t iov[MAX_ZCOPY_IOV];
    size_t count = gather(req, iov);
    ucs_status_t status;

    if (count == 0) {
        return bcopy_progress(req);
    }

    status = ucp_eager_zcopy(req, message_id(req), &head, sizeof(head), iov,
                             count, zcopy_done);
    if (status == UCS_ERR_NO_RESOURCE) {
        return status;
    }
    if (status == UCS_INPROGRESS) {
        ucp_send_am(req)->in_flight = 1;
    } else {
        ucp_am_eager_end(req, status);
    }
    return UCS_OK;
}

const ucp_proto_t ucp_proto_am_eager_zcopy = {
    .name     = "am/zcopy",
    .ops      = UCP_AM_OPS,
    .query    = zcopy_query,
    .init     = eager_init,
    .progress = zcopy_progress,
    .abort    = eager_abort,
    .flags    = UCP_PROTO_FLAG_MESSAGES,
};
