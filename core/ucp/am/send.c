/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sends active messages: the short path, and the start of all protocols.
 */
#include "ucp/am/eager.h"
#include "ucp/am/multi.h"
#include "ucp/dt/dt.h"
#include "ucp/eager/eager.h"
#include "ucp/order/fence.h"
#include "ucp/proto/measure.h"
#include "ucp/rndv/rndv.h"
#include "ucp/wireup/introduce.h"

#include <stdlib.h>
#include <string.h>

ucs_status_t ucp_am_short_iov(ucp_ep_h ep, uint64_t word, const void *header,
                              size_t header_length, const void *buffer,
                              size_t length, int reply)
{
    ucp_am_head_t head    = {ucp_le64(word)};
    ucp_wire_end_t sender = {{{0}}};
    uct_iov_t iov[]       = {
        {.buffer = &head, .length = sizeof(head), .count = 1},
        {.buffer = (void *)buffer, .length = length, .count = 1},
        {.buffer = (void *)header, .length = header_length, .count = 1},
        {.buffer = &sender, .length = sizeof(sender), .count = 1}
    };
    uint8_t id = UCP_AM_ID_AM;

    if (reply) {
        sender = ucp_ep_wire_end(ep);
        id     = UCP_AM_ID_AM_REPLY;
    }
    return ep->am->ops->am_short_iov(ep->am, id, iov, reply ? 4 : 3);
}

void ucp_am_send_drop_header(ucp_request_t *req)
{
    if (ucp_send_am(req)->copied) {
        free((void *)ucp_send_am(req)->header);
        ucp_send_am(req)->copied = 0;
    }
}

/* The user may change the header before the message is sent. */
static ucs_status_t copy_header(ucp_request_t *req)
{
    ucp_am_send_t *msg = ucp_send_am(req);
    size_t length      = msg->header_length;
    void *copy;

    if (length == 0) {
        return UCS_OK;
    }

    copy = malloc(length);
    if (copy == NULL) {
        return UCS_ERR_NO_MEMORY;
    }

    memcpy(copy, msg->header, length);
    msg->header = copy;
    msg->copied = 1;
    return UCS_OK;
}

/* For a send that completes with a reply: a close waits for it from now
 * on. */
static ucs_status_t expect_reply(ucp_ep_h ep, ucp_request_t *req)
{
    ucs_status_t status = ucp_wireup_introduce(ep);

    if (status == UCS_OK) {
        status = ucp_request_id_add(req);
    }
    if (status == UCS_OK) {
        ucp_request_ep_add(req, ep);
    }
    return status;
}

/* The user wants to reuse the buffer as early as possible. */
enum {
    SOON = UCP_OP_ATTR_FLAG_FAST_CMPL | UCP_OP_ATTR_FLAG_FORCE_IMM_CMPL
};

/* The eager protocol for this length. */
static const ucp_proto_t *eager(ucp_ep_h ep, size_t length)
{
    return ucp_am_eager_fits(ep, length) ? &ucp_proto_am_eager_bcopy :
                                           &ucp_proto_am_multi;
}

/* Selects by the table of costs, unless the user's flags exclude that. */
static const ucp_proto_t *
select_proto(ucp_ep_h ep, const ucp_request_t *req, unsigned flags,
             const ucp_request_param_t *param)
{
    ucp_op_t op   = (flags & UCP_AM_SEND_FLAG_REPLY) ? UCP_OP_AM_SEND_REPLY :
                                                       UCP_OP_AM_SEND;
    size_t length = req->dt.length + ucp_send_am(req)->header_length;
    const ucp_proto_t *proto;

    if (flags & UCP_AM_SEND_FLAG_RNDV) {
        return &ucp_proto_am_rndv;
    }
    if (param->op_attr_mask & SOON) {
        /* The buffer is to be reusable soon: this excludes zero-copy and
         * rendezvous, even if they have lower latency. */
        return eager(ep, length);
    }

    ucp_measure_before(ep, length);
    proto = ucp_proto_find(&ucp_ep_config_for(ep->worker, ep->config, param)
                                    ->tables[op][req->dt.dt_class], length);
    return ((proto == &ucp_proto_am_rndv) &&
            (flags & UCP_AM_SEND_FLAG_EAGER)) ? eager(ep, length) : proto;
}

/* Starts the selected protocol; the request has its data. */
static ucs_status_t start_proto(ucp_ep_h ep, ucp_request_t *req,
                                unsigned flags,
                                const ucp_request_param_t *param)
{
    const ucp_proto_t *proto = select_proto(ep, req, flags, param);
    int rndv                 = (proto == &ucp_proto_am_rndv);
    int at_once              = !!(param->op_attr_mask &
                                  UCP_OP_ATTR_FLAG_FORCE_IMM_CMPL);
    ucs_status_t status      = UCS_OK;

    if (at_once && ((proto != &ucp_proto_am_eager_bcopy) ||
                    (ep->flags & UCP_EP_FLAGS_SLOW))) {
        return UCS_ERR_NO_RESOURCE;
    }

    req->send.ep    = ep;
    req->send.proto = proto;
    if (rndv) {
        if (flags & UCP_AM_SEND_FLAG_REPLY) {
            ucp_send_am(req)->wire |= UCP_AM_WIRE_REPLY;
        }
        ucp_rndv_send_init(req, param);
        status = expect_reply(ep, req);
    } else if (proto == &ucp_proto_am_multi) {
        status = ucp_am_multi_send_init(req, param->op_attr_mask & SOON);
    } else if (flags & UCP_AM_SEND_FLAG_REPLY) {
        status = ucp_wireup_introduce(ep);
    }
    if ((status == UCS_OK) && (flags & UCP_AM_SEND_FLAG_COPY_HEADER)) {
        status = copy_header(req);
    }
    if (status != UCS_OK) {
        goto err;
    }

    if (ucs_likely(!at_once)) {
        ucp_rma_fence_start_message(req);
        return UCS_OK;
    }
    status = proto->progress(req);
    if (status == UCS_OK) {
        return UCS_OK;
    }

    ucp_am_send_drop_header(req);
err:
    if (rndv) {
        ucp_rndv_send_cleanup(req);
        ucp_request_ep_del(req);
        ucp_request_id_del(req);
    }
    return status;
}

static ucs_status_ptr_t
start_send(ucp_ep_h ep, uint64_t word, const void *header, const void *buffer,
           size_t count, unsigned flags, const ucp_request_param_t *param)
{
    size_t header_length = ucp_am_word_header_length(word);
    ucp_request_t *req;
    ucs_status_t status;

    req = ucp_request_get(ep->worker, param);
    if (req == NULL) {
        return UCS_STATUS_PTR(UCS_ERR_NO_MEMORY);
    }

    status = ucp_dt_iter_begin(ep->worker, &req->dt, (void *)buffer, count,
                               param, 0);
    if (status != UCS_OK) {
        goto err;
    }

    ucp_send_am(req)->id            = (uint16_t)ucp_am_word_id(word);
    ucp_send_am(req)->wire          = (uint8_t)ucp_am_word_flags(word);
    ucp_send_am(req)->header        = header;
    ucp_send_am(req)->header_length = (uint32_t)header_length;
    ucp_send_am(req)->copied        = 0;
    ucp_send_am(req)->in_flight     = 0;
    ucp_send_am(req)->reply         = !!(flags & UCP_AM_SEND_FLAG_REPLY);
    status                          = start_proto(ep, req, flags, param);
    if (status == UCS_OK) {
        return ucp_request_send_result(req, param);
    }

    ucp_dt_iter_finish(&req->dt);
err:
    ucp_request_put(req);
    return UCS_STATUS_PTR(status);
}

/* Checks the arguments against limits of all protocols. */
static int is_send_valid(ucp_ep_h ep, unsigned id, const void *header,
                         size_t header_length, unsigned flags)
{
    unsigned both = UCP_AM_SEND_FLAG_EAGER | UCP_AM_SEND_FLAG_RNDV;
    size_t limit  = ucp_ep_config_am(ep->config)->max_bcopy;

    limit = (limit > UCP_AM_HEADER_RESERVE) ? limit - UCP_AM_HEADER_RESERVE : 0;
    return (id <= UINT16_MAX) && ((flags & both) != both) &&
           (header_length <= limit) &&
           ((header != NULL) || (header_length == 0));
}

/* Hot path: no allocation unless the transport delays the message. */
static UCS_F_ALWAYS_INLINE ucs_status_ptr_t
send_message(ucp_ep_h ep, unsigned id, const void *header, size_t header_length,
             const void *buffer, size_t count, unsigned flags, unsigned wire,
             const ucp_request_param_t *param)
{
    const unsigned slow  = UCP_AM_SEND_FLAG_REPLY | UCP_AM_SEND_FLAG_RNDV;
    ucp_worker_h worker  = ep->worker;
    ssize_t length       = ucp_dt_plain_length(count, param);
    ucs_status_ptr_t ret = NULL;
    ucs_status_t status;
    size_t short_end;

    ucp_worker_enter(worker);
    short_end = ep->config->am_short_end;
    if (ucs_likely((size_t)length < short_end) &&
        ucs_likely(header_length < short_end - (size_t)length) &&
        ucs_likely(!(flags & slow)) && ucs_likely(id <= UINT16_MAX) &&
        ucs_likely(!(param->op_attr_mask & UCP_OP_ATTR_FLAG_NO_IMM_CMPL)) &&
        ucs_likely(!(ep->flags & UCP_EP_FLAGS_SLOW)) &&
        ((header_length == 0) || (header != NULL))) {
        status = ucp_am_short(ep, ucp_am_word(id, wire, header_length), header,
                              header_length, buffer, (size_t)length, 0);
        if (ucs_likely(status == UCS_OK)) {
            goto out;
        }
        if (status == UCS_INPROGRESS) {
            ret = ucp_eager_deferred(ep, (size_t)length, param);
            goto out;
        }
        if ((status != UCS_ERR_NO_RESOURCE) &&
            (status != UCS_ERR_UNSUPPORTED)) {
            ret = UCS_STATUS_PTR(status);
            goto out;
        }
    }

    ret = is_send_valid(ep, id, header, header_length, flags) ?
          start_send(ep, ucp_am_word(id, wire, header_length), header, buffer,
                     count, flags, param) :
          UCS_STATUS_PTR(UCS_ERR_INVALID_PARAM);
out:
    ucp_worker_leave(worker);
    return ret;
}

ucs_status_ptr_t ucp_am_send_nbx(ucp_ep_h ep, unsigned id, const void *header,
                                 size_t header_length, const void *buffer,
                                 size_t count, const ucp_request_param_t *param)
{
    unsigned flags = (param->op_attr_mask & UCP_OP_ATTR_FIELD_FLAGS) ?
                     param->flags : 0;

    return send_message(ep, id, header, header_length, buffer, count, flags, 0,
                        param);
}

ucs_status_ptr_t ucp_am_send(ucp_ep_h ep, unsigned id, const void *header,
                             size_t header_length, const void *buffer,
                             size_t count, unsigned flags, unsigned wire,
                             const ucp_request_param_t *param)
{
    return send_message(ep, id, header, header_length, buffer, count, flags,
                        wire, param);
}
