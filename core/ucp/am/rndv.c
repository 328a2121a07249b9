/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Active messages by rendezvous. The message AM_RNDV contains the head of an
 * active message, the announcement of the data (rndv/rndv.h), and the user's
 * header. The receiver calls the handler with a descriptor (desc.h) in place of
 * the data. The handler decides, or the user later:
 *
 *   receives  by ucp_am_recv_data_nbx
 *   drops     by ucp_am_data_release, or the handler returns UCS_OK: the send
 *             completes with UCS_OK
 *   rejects   the handler returns an error: the send completes with the error
 */
#include "ucp/am/eager.h"
#include "ucp/am/recv.h"
#include "ucp/dt/dt.h"
#include "ucp/rndv/rndv.h"
#include "ucp/stats/stats.h"
#include "ucp/wireup/introduce.h"
#include "ucs/debug/log.h"

#include <stdlib.h>
#include <string.h>

_Static_assert(sizeof(ucp_am_head_t) + UCP_RNDV_MAX_RTS <=
                   UCP_AM_HEADER_RESERVE,
               "the longest header fits beside it");

/* -------------------------------------------------------------- sending -- */

static unsigned rndv_query(const ucp_proto_query_t *query,
                           ucp_proto_range_t *range)
{
    return ucp_rndv_query(query, ucp_eager_max(query, &ucp_am_eager_own),
                          range);
}

static ucs_status_t rndv_init(ucp_request_t *req, uint32_t attr)
{
    if (ucp_send_am(req)->reply) {
        ucp_send_am(req)->wire |= UCP_AM_WIRE_REPLY;
    }
    return ucp_rndv_send_init(req, attr);
}

static size_t rts_pack(void *dest, void *arg)
{
    const ucp_request_t *req = arg;
    ucp_am_head_t *head      = dest;
    size_t header_length     = ucp_send_am(req)->header_length;
    size_t length            = sizeof(*head);

    head->word = ucp_le64(ucp_am_send_word(req));
    length += ucp_rndv_rts_pack(req, head + 1);
    if (header_length > 0) {
        memcpy((char *)dest + length, ucp_send_am(req)->header, header_length);
    }
    return length + header_length;
}

/* Sends the announcement, then frees the copy of the user's header, unless the
 * result is UCS_ERR_NO_RESOURCE: the announcement is then sent again later. The
 * members of the send are read before, because ucp_rndv_announce() may free the
 * request. `copied` is 0 during this call, so that rndv_abort() does not free
 * the copy, too, if the endpoint fails or is closed in the call: a message to
 * the own worker may call handlers there. */
static ucs_status_t rts_progress(ucp_request_t *req)
{
    ucp_am_send_t *msg = ucp_send_am(req);
    void *header       = (void *)msg->header;
    int copied         = msg->copied;
    ucs_status_t status;

    msg->copied = 0;
    status      = ucp_rndv_announce(req, UCP_AM_ID_AM_RNDV, rts_pack,
                                    UCP_STATS_AM_RNDV);
    if (status == UCS_ERR_NO_RESOURCE) {
        msg->copied = copied;
    } else if (copied) {
        free(header);
    }
    return status;
}

static void rndv_abort(ucp_request_t *req, ucs_status_t status)
{
    ucp_am_send_drop_header(req);
    ucp_rndv_send_end(req, status);
}

const ucp_proto_t ucp_proto_am_rndv = {
    .name     = "am/rndv",
    .ops      = UCP_AM_OPS,
    .query    = rndv_query,
    .init     = rndv_init,
    .progress = rts_progress,
    .abort    = rndv_abort,
    .flags    = UCP_PROTO_FLAG_MESSAGES | UCP_PROTO_FLAG_RNDV,
};

/* ---------------------------------------------------------- descriptors -- */

static ucs_status_t offer_desc(ucp_worker_h worker,
                               const ucp_am_handler_t *handler, uint64_t word,
                               const ucp_rndv_rts_t *rts, size_t rts_size,
                               const void *header)
{
    ucp_am_desc_t *desc = ucp_am_desc_get(ucp_worker_am(worker), rts_size);
    ucp_am_recv_param_t param = {.recv_attr = UCP_AM_RECV_ATTR_FLAG_RNDV};
    ucs_status_t status;

    if (desc == NULL) {
        ucs_error("rejected an active message of %lu bytes: out of memory",
                  ucp_rndv_rts_length(rts));
        return UCS_ERR_NO_MEMORY;
    }

    desc->rndv   = 1;
    desc->length = ucp_rndv_rts_length(rts);
    memcpy(ucp_am_desc_data(desc), rts, rts_size);
    if (ucp_am_word_flags(word) & UCP_AM_WIRE_REPLY) {
        param.recv_attr |= UCP_AM_RECV_ATTR_FIELD_REPLY_EP;
        param.reply_ep = ucp_am_reply_ep(worker, &rts->sender);
    }

    status = ucp_am_call(worker, handler, desc, header,
                         ucp_am_word_header_length(word), &param);
    if (status == UCS_INPROGRESS) {
        return UCS_INPROGRESS;
    }
    ucp_am_desc_free(ucp_worker_am(worker), desc);
    return (status == UCS_ERR_NO_ELEM) ? UCS_INPROGRESS : status;
}

ucs_status_t ucp_am_rndv_handler(void *arg, void *data, size_t length,
                                 unsigned flags)
{
    ucp_worker_h worker       = arg;
    const ucp_am_head_t *head = data;
    const ucp_am_handler_t *handler;
    const ucp_rndv_rts_t *rts;
    ucp_rndv_taken_t taken;
    size_t rts_size = 0;
    ucs_status_t status;
    const void *header;
    uint64_t word;

    if (length >= sizeof(*head)) {
        rts_size = ucp_rndv_rts_take(&taken, head + 1, length - sizeof(*head));
    }
    if (rts_size == 0) {
        ucs_diag("dropped an announcement of %zu bytes: wrong size", length);
        return UCS_OK;
    }

    rts  = &taken.rts;
    word = ucp_le64_get(head->word);
    if (ucp_am_word_header_length(word) != length - sizeof(*head) - rts_size) {
        ucs_diag("dropped an announcement of %zu bytes: wrong length of its"
                 " header",
                 length);
        return UCS_OK;
    }
    if (ucp_wireup_reply_ep(worker, &rts->sender) == NULL) {
        ucs_diag("dropped an announcement from an unknown sender");
        return UCS_OK;
    }

    header  = (const char *)(head + 1) + rts_size;
    handler = ucp_am_handler_find(worker, word);
    status  = ((handler == NULL) ||
              (ucp_am_word_flags(word) & UCP_AM_WIRE_OLD)) ?
                  /* A deprecated handler has no parameter for a descriptor */
                 UCS_ERR_REJECTED :
                  offer_desc(worker, handler, word, rts, rts_size, header);
    if (status != UCS_INPROGRESS) {
        ucp_rndv_reject(worker, rts, status);
    }
    return UCS_OK;
}

void ucp_am_rndv_reject(ucp_worker_h worker, ucp_am_desc_t *desc,
                        ucs_status_t status)
{
    ucp_rndv_reject(worker, (ucp_rndv_rts_t *)ucp_am_desc_data(desc), status);
}

static ucs_status_t recv_request(ucp_worker_h worker, void *buffer,
                                 size_t count, const ucp_request_param_t *param,
                                 ucp_request_t **req_p)
{
    ucs_status_t status;
    ucp_request_t *req;

    if (param->op_attr_mask & UCP_OP_ATTR_FLAG_FORCE_IMM_CMPL) {
        /* UCP_OP_ATTR_FLAG_FORCE_IMM_CMPL requests completion in this call, but
         * the data is still at the sender */
        return UCS_ERR_NO_RESOURCE;
    }

    req = ucp_request_get(worker, param);
    if (req == NULL) {
        return UCS_ERR_NO_MEMORY;
    }

    status = ucp_dt_iter_begin(worker, &req->dt, buffer, count, param, 1);
    if (status != UCS_OK) {
        ucp_request_put(req);
        return status;
    }

    req->flags |= UCP_REQUEST_FLAG_RECV;
    if (param->op_attr_mask & UCP_OP_ATTR_FIELD_CALLBACK) {
        req->flags |= UCP_REQUEST_FLAG_CALLBACK;
        req->recv.length_cb = param->cb.recv_am;
    }
    *req_p = req;
    return UCS_OK;
}

ucs_status_ptr_t ucp_am_rndv_recv(ucp_worker_h worker, ucp_am_desc_t *desc,
                                  void *buffer, size_t count,
                                  const ucp_request_param_t *param)
{
    ucp_request_t *req;
    ucs_status_t status;

    status = recv_request(worker, buffer, count, param, &req);
    if (status != UCS_OK) {
        ucp_am_rndv_reject(worker, desc, status);
        return UCS_STATUS_PTR(status);
    }

    ucp_rndv_recv_start(req, (ucp_rndv_rts_t *)ucp_am_desc_data(desc),
                        ucp_request_complete_recv_length);
    return ucp_request_user(req);
}
