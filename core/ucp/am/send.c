/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ucp_am_send_nbx: checks the arguments, sends short messages at once and
 * without a request, and starts all others by the protocol with the lowest
 * cost, or by the one that the user's flags request.
 */
#include "ucp/am/eager.h"
#include "ucp/dt/dt.h"
#include "ucp/eager/eager.h"
#include "ucp/learn/trial.h"
#include "ucp/order/start.h"
#include "ucp/proto/measure.h"

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
              {.buffer = &sender, .length = sizeof(sender), .count = 1},
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

/* Copies the user's header for UCP_AM_SEND_FLAG_COPY_HEADER: the user may
 * change the original before the message is sent. */
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

/* Selects the protocol by the table of costs, by the user's flags
 * UCP_AM_SEND_FLAG_RNDV and UCP_AM_SEND_FLAG_EAGER, or by a trial
 * (learn/trial.h). */
static const ucp_proto_t *select_proto(ucp_ep_h ep, ucp_request_t *req,
                                       unsigned flags, uint32_t attr)
{
    ucp_op_t op   = (flags & UCP_AM_SEND_FLAG_REPLY) ? UCP_OP_AM_SEND_REPLY :
                                                       UCP_OP_AM_SEND;
    size_t length = req->dt.length + ucp_send_am(req)->header_length;
    const ucp_proto_t *proto;

    if (flags & UCP_AM_SEND_FLAG_RNDV) {
        return &ucp_proto_am_rndv;
    }
    if (!(attr & UCP_PROTO_ATTR_SOON)) {
        ucp_measure_if_due(ep, length);
    }
    proto = ucp_proto_of_message(ep->worker, ep->config, op, req->dt.dt_class,
                                 length, attr);
    if (!(proto->flags & UCP_PROTO_FLAG_RNDV)) {
        return proto;
    }
    return (flags & UCP_AM_SEND_FLAG_EAGER) ?
               ucp_proto_find(&ep->config->copied[op], length) :
               ucp_trial_message(req, op, req->dt.length, proto, attr);
}

static ucs_status_ptr_t start_send(ucp_ep_h ep, uint64_t word,
                                   const void *header, const void *buffer,
                                   size_t count, unsigned flags,
                                   const ucp_request_param_t *param)
{
    ucp_request_t *req;
    ucs_status_t status;
    uint32_t attr;

    req = ucp_send_begin(ep, buffer, count, 0, param, &status);
    if (req == NULL) {
        return UCS_STATUS_PTR(status);
    }

    attr                            = ucp_send_attr(req, param);
    ucp_send_am(req)->id            = (uint16_t)ucp_am_word_id(word);
    ucp_send_am(req)->wire          = (uint8_t)ucp_am_word_flags(word);
    ucp_send_am(req)->header        = header;
    ucp_send_am(req)->header_length = (uint32_t)ucp_am_word_header_length(word);
    ucp_send_am(req)->copied        = 0;
    ucp_send_am(req)->in_flight     = 0;
    ucp_send_am(req)->reply         = !!(flags & UCP_AM_SEND_FLAG_REPLY);
    if (flags & UCP_AM_SEND_FLAG_COPY_HEADER) {
        status = copy_header(req);
    }
    if (status == UCS_OK) {
        status = ucp_proto_start(req, select_proto(ep, req, flags, attr), attr);
        if (status != UCS_OK) {
            ucp_am_send_drop_header(req);
        }
    }
    return ucp_send_result(req, status, param);
}

/* Checks the arguments. The user's header must fit in one message beside UCP's
 * own headers, whichever protocol is selected. */
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

/* Hot path for short messages: no allocation, unless the transport cannot send
 * the message at once. */
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
        ucp_dt_is_known_host(worker, buffer) &&
        ((header_length == 0) || (header != NULL))) {
        status = ucp_am_short(ep, ucp_am_word(id, wire, header_length), header,
                              header_length, buffer, (size_t)length, 0);
        if (ucs_likely(status == UCS_OK)) {
            ucp_measure_if_due(ep, (size_t)length);
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
              start_send(ep, ucp_am_word(id, wire, header_length), header,
                         buffer, count, flags, param) :
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
                         param->flags :
                         0;

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
