/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Eager protocols of tagged messages, sending side: the whole message as one
 * message of the transport, by am_short, am_bcopy or am_zcopy; and the
 * acknowledgement of synchronous sends. tag/multi.c sends longer messages in
 * fragments.
 */
#include "ucp/tag/eager.h"

#include "ucp/dt/dt.h"
#include "ucp/order/queue.h"
#include "ucp/wireup/introduce.h"
#include "ucs/debug/log.h"
#include "uct/base/md.h"

enum { MAX_ZCOPY_IOV = 16 };

const ucp_eager_own_t ucp_tag_eager_own = {
    .total     = sizeof(ucp_eager_sync_hdr_t),
    .zcopy_hdr = sizeof(ucp_eager_sync_hdr_t),
};

static size_t header_size(const ucp_request_t *req)
{
    return ucp_send_tag(req)->sync ? sizeof(ucp_eager_sync_hdr_t) :
                                     sizeof(ucp_eager_hdr_t);
}

static uint8_t message_id(const ucp_request_t *req)
{
    return ucp_send_tag(req)->sync ? UCP_AM_ID_EAGER_SYNC : UCP_AM_ID_EAGER;
}

static void pack_header(const ucp_request_t *req, void *dest)
{
    ucp_eager_sync_hdr_t *sync = dest;

    sync->tag = ucp_le64(ucp_send_tag(req)->tag);
    if (ucp_send_tag(req)->sync) {
        sync->sender  = ucp_ep_wire_end(req->send.ep);
        sync->request = ucp_le32(req->id);
    }
}

/* Called when the data is sent. A synchronous send waits for the
 * acknowledgement, unless that has arrived already. */
void ucp_tag_eager_sent(ucp_request_t *req, ucs_status_t status)
{
    ucp_dt_iter_finish(&req->dt);
    if (ucp_send_tag(req)->sync && (status == UCS_OK)) {
        ucp_send_tag(req)->all_sent = 1;
        if (req->id != 0) {
            return;
        }
    }
    ucp_request_ep_del(req);
    ucp_request_id_del(req);
    ucp_request_complete_send(req, status);
}

/* The `init` of bcopy and zcopy. A synchronous send gets an id, by which the
 * acknowledgement names it; a close of the endpoint waits for the
 * acknowledgement. */
static ucs_status_t eager_init(ucp_request_t *req, uint32_t attr)
{
    ucs_status_t status = ucp_send_tag(req)->sync ?
                              ucp_wireup_expect_reply(req) :
                              UCS_OK;

    if (status == UCS_OK) {
        ucp_eager_fetch(req, attr);
    }
    return status;
}

static void eager_abort(ucp_request_t *req, ucs_status_t status)
{
    ucp_send_tag(req)->sync = 0;
    if (ucp_send_tag(req)->in_flight) {
        /* The transport still uses the buffer: the request completes when the
         * transport completes the send, possibly after the endpoint is
         * freed. */
        ucp_request_ep_del(req);
        ucp_request_id_del(req);
        uct_completion_update_status(&req->send.comp, status);
        return;
    }
    ucp_tag_eager_sent(req, status);
}

/* ---------------------------------------------------------------- short -- */

static unsigned short_query(const ucp_proto_query_t *query,
                            ucp_proto_range_t *range)
{
    return ucp_eager_query_short(query, sizeof(ucp_eager_hdr_t), range);
}

static ucs_status_t short_progress(ucp_request_t *req)
{
    uct_ep_h am = req->send.ep->am;
    ucs_status_t status;

    status = am->ops->am_short(am, UCP_AM_ID_EAGER,
                               htole64(ucp_send_tag(req)->tag),
                               req->dt.u.contig.buffer,
                               (unsigned)req->dt.length);
    return ucp_eager_short_sent(req, status, ucp_request_complete_send);
}

const ucp_proto_t ucp_proto_tag_eager_short = {
    .name     = "eager/short",
    .ops      = UCS_BIT(UCP_OP_TAG_SEND),
    .query    = short_query,
    .progress = short_progress,
    .abort    = eager_abort,
    .flags    = UCP_PROTO_FLAG_SHORT | UCP_PROTO_FLAG_MESSAGES |
             UCP_PROTO_FLAG_TAG_AM,
};

/* ---------------------------------------------------------------- bcopy -- */

static unsigned bcopy_query(const ucp_proto_query_t *query,
                            ucp_proto_range_t *range)
{
    return ucp_eager_query_bcopy(query, &ucp_tag_eager_own, range);
}

static size_t bcopy_pack(void *dest, void *arg)
{
    ucp_request_t *req = arg;
    size_t header      = header_size(req);

    pack_header(req, dest);
    return header + ucp_dt_iter_pack_all(&req->dt, (char *)dest + header,
                                         req->dt.length);
}

static ucs_status_t bcopy_progress(ucp_request_t *req)
{
    return ucp_eager_bcopy(req, message_id(req), bcopy_pack,
                           ucp_send_tag(req)->sync ? UCX_SEND_FLAG_MORE : 0,
                           ucp_tag_eager_sent);
}

const ucp_proto_t ucp_proto_tag_eager_bcopy = {
    .name         = "eager/bcopy",
    .ops          = UCP_TAG_OPS,
    .query        = bcopy_query,
    .init         = eager_init,
    .is_immediate = ucp_proto_always,
    .progress     = bcopy_progress,
    .abort        = eager_abort,
    .flags        = UCP_PROTO_FLAG_MESSAGES | UCP_PROTO_FLAG_TAG_AM,
    .reply        = UCP_AM_ID_EAGER_SYNC_ACK,
};

/* ---------------------------------------------------------------- zcopy -- */

static unsigned zcopy_query(const ucp_proto_query_t *query,
                            ucp_proto_range_t *range)
{
    return ucp_eager_query_zcopy(query, &ucp_tag_eager_own, range);
}

static void zcopy_done(uct_completion_t *comp)
{
    ucp_request_t *req = ucs_container_of(comp, ucp_request_t, send.comp);

    ucp_send_tag(req)->in_flight = 0;
    ucp_tag_eager_sent(req, comp->status);
}

static ucs_status_t zcopy_progress(ucp_request_t *req)
{
    size_t max_iov = ucp_ep_config_am(req->send.ep->config)->max_iov;
    uct_iov_t iov[MAX_ZCOPY_IOV];
    ucp_eager_sync_hdr_t hdr;
    size_t iovcnt, length;
    ucs_status_t status;

    max_iov = (max_iov < MAX_ZCOPY_IOV) ? max_iov : MAX_ZCOPY_IOV;
    iovcnt  = ucp_dt_iter_iov(&req->dt, req->dt.length, iov, max_iov,
                              UCT_MEM_HANDLE_NULL, &length);
    if (length < req->dt.length) {
        /* more than max_iov entries: send a buffered copy */
        return bcopy_progress(req);
    }

    pack_header(req, &hdr);
    status = ucp_eager_zcopy(req, message_id(req), &hdr, header_size(req), iov,
                             iovcnt, zcopy_done);
    if (status == UCS_ERR_NO_RESOURCE) {
        return status;
    }
    if (status == UCS_INPROGRESS) {
        ucp_send_tag(req)->in_flight = 1;
    } else {
        ucp_tag_eager_sent(req, status);
    }
    return UCS_OK;
}

const ucp_proto_t ucp_proto_tag_eager_zcopy = {
    .name     = "eager/zcopy",
    .ops      = UCP_TAG_OPS,
    .query    = zcopy_query,
    .init     = eager_init,
    .progress = zcopy_progress,
    .abort    = eager_abort,
    .flags    = UCP_PROTO_FLAG_MESSAGES | UCP_PROTO_FLAG_TAG_AM,
    .reply    = UCP_AM_ID_EAGER_SYNC_ACK,
};

/* ------------------------------------------------------- acknowledgement -- */

void ucp_tag_eager_sync_ack(ucp_worker_h worker, const ucp_wire_end_t *sender,
                            ucp_le32_t request)
{
    ucp_eager_sync_ack_t ack = {request};
    ucp_ep_h ep              = ucp_wireup_reply_ep(worker, sender);
    ucs_status_t status      = UCS_ERR_NOT_CONNECTED;

    if (ep != NULL) {
        status = ucp_ep_send_control(ep, UCP_AM_ID_EAGER_SYNC_ACK, &ack,
                                     sizeof(ack));
    }
    if (status != UCS_OK) {
        ucs_diag("cannot acknowledge a synchronous send of worker %lx: %s",
                 ucp_le64_get(sender->worker_uuid), ucs_status_string(status));
    }
}

ucs_status_t ucp_tag_eager_sync_ack_handler(void *arg, void *data,
                                            size_t length, unsigned flags)
{
    ucp_worker_h worker             = arg;
    const ucp_eager_sync_ack_t *ack = data;
    ucp_request_t *req;

    req = (length == sizeof(*ack)) ?
              ucp_proto_replied(worker, ack->request,
                                UCP_AM_ID_EAGER_SYNC_ACK) :
              NULL;
    if ((req == NULL) || !ucp_send_tag(req)->sync) {
        ucs_debug("dropped an acknowledgement of %zu bytes: no such send",
                  length);
        return UCS_OK;
    }

    ucp_request_id_del(req);
    if (ucp_send_tag(req)->all_sent) {
        ucp_request_ep_del(req);
        ucp_request_complete_send(req, UCS_OK);
    }
    return UCS_OK;
}
