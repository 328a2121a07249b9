/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Receives active messages: calls the user's handlers, in the transport's
 * callback, and gives the user the data that a handler has kept
 * (ucp_am_recv_data_nbx, ucp_am_data_release).
 */
#include "ucp/am/recv.h"

#include "ucp/dt/dt.h"
#include "ucp/stage/stage.h"
#include "ucp/wireup/introduce.h"
#include "ucs/debug/log.h"

#include <string.h>

/* -------------------------------------------------------------- arrival -- */

const ucp_am_handler_t *ucp_am_handler_find(ucp_worker_h worker, uint64_t word)
{
    const ucp_am_worker_t *am = ucp_worker_am(worker);
    unsigned id               = ucp_am_word_id(word);
    int old                   = !!(ucp_am_word_flags(word) & UCP_AM_WIRE_OLD);
    const ucp_am_handler_t *handler;

    if (ucs_likely(id < am->num_handlers)) {
        handler = &am->handlers[id];
        if (ucs_likely((handler->cb != NULL) &&
                       (!!(handler->flags & UCP_AM_HANDLER_OLD) == old))) {
            return handler;
        }
    }

    ucs_warn("dropped an active message with id %u: no handler is set for it"
             " by %s",
             id,
             old ? "ucp_worker_set_am_handler" :
                   "ucp_worker_set_am_recv_handler");
    return NULL;
}

ucp_ep_h ucp_am_reply_ep(ucp_worker_h worker, const ucp_wire_end_t *sender)
{
    ucp_ep_h ep = ucp_wireup_reply_ep(worker, sender);

    if (ep != NULL) {
        ep->flags |= UCP_EP_FLAG_EXPOSED;
    }
    return ep;
}

ucs_status_t ucp_am_call(ucp_worker_h worker, const ucp_am_handler_t *handler,
                         ucp_am_desc_t *desc, const void *header,
                         size_t header_length, ucp_am_recv_param_t *param)
{
    ucs_status_t status;

    status = handler->cb(handler->arg, header, header_length,
                         ucp_am_desc_data(desc), desc->length, param);
    if (desc->state == UCP_AM_DESC_TAKEN) {
        return UCS_ERR_NO_ELEM;
    }
    if (status == UCS_INPROGRESS) {
        ucp_am_desc_hold(ucp_worker_am(worker), desc);
    }
    return status;
}

/* Delivers data in the transport's buffer. The handler may keep it without a
 * copy. */
static ucs_status_t deliver_desc(ucp_worker_h worker,
                                 const ucp_am_handler_t *handler, char *payload,
                                 size_t length, size_t header_length,
                                 ucp_am_recv_param_t *param)
{
    ucp_am_desc_t *desc = ucp_am_desc_of(payload);
    ucs_status_t status;

    desc->length = length;
    desc->state  = UCP_AM_DESC_IN_CALL;
    desc->home   = UCP_AM_DESC_UCT;
    desc->rndv   = 0;
    param->recv_attr |= UCP_AM_RECV_ATTR_FLAG_DATA;
    status = ucp_am_call(worker, handler, desc, payload + length, header_length,
                         param);
    return (status == UCS_INPROGRESS) ? UCS_INPROGRESS : UCS_OK;
}

/* Delivers a copy of the data: the handler was set with
 * UCP_AM_FLAG_PERSISTENT_DATA and the transport's buffer cannot be kept, or the
 * data in this buffer is not aligned as the user wants. */
static UCS_F_NOINLINE void deliver_copy(ucp_worker_h worker,
                                        const ucp_am_handler_t *handler,
                                        const char *payload, size_t length,
                                        size_t header_length,
                                        ucp_am_recv_param_t *param)
{
    ucp_am_desc_t *desc = ucp_am_desc_get(ucp_worker_am(worker), length);

    if (desc == NULL) {
        ucp_worker_lost(worker, "an active message", length);
        return;
    }

    desc->length = length;
    memcpy(ucp_am_desc_data(desc), payload, length);
    param->recv_attr |= UCP_AM_RECV_ATTR_FLAG_DATA;
    if (ucp_am_call(worker, handler, desc, payload + length, header_length,
                    param) != UCS_INPROGRESS) {
        ucp_am_desc_free(ucp_worker_am(worker), desc);
    }
}

/* Hot path: calls the handler for a complete message. */
static UCS_F_ALWAYS_INLINE ucs_status_t deliver(ucp_worker_h worker,
                                                uint64_t word, char *payload,
                                                size_t length,
                                                ucp_ep_h reply_ep,
                                                unsigned flags)
{
    const ucp_am_handler_t *handler = ucp_am_handler_find(worker, word);
    size_t header_length            = ucp_am_word_header_length(word);
    uintptr_t misaligned            = (uintptr_t)payload &
                           ucp_worker_am(worker)->misaligned;
    ucp_am_recv_param_t param;

    if (ucs_unlikely(handler == NULL)) {
        return UCS_OK;
    }

    param.recv_attr = (reply_ep != NULL) ? UCP_AM_RECV_ATTR_FIELD_REPLY_EP : 0;
    param.reply_ep  = reply_ep;
    if ((flags & UCT_CB_PARAM_FLAG_DESC) && (misaligned == 0) &&
        (((uintptr_t)payload % _Alignof(ucp_am_desc_t)) == 0)) {
        return deliver_desc(worker, handler, payload, length, header_length,
                            &param);
    }
    if ((handler->flags & UCP_AM_FLAG_PERSISTENT_DATA) || (misaligned != 0)) {
        deliver_copy(worker, handler, payload, length, header_length, &param);
        return UCS_OK;
    }

    if (ucs_unlikely(handler->cb(handler->arg, payload + length, header_length,
                                 payload, length, &param) == UCS_INPROGRESS)) {
        ucs_error("the handler of active messages with id %u returned "
                  "UCS_INPROGRESS for data that it cannot keep: it has to "
                  "check UCP_AM_RECV_ATTR_FLAG_DATA, or be set with "
                  "UCP_AM_FLAG_PERSISTENT_DATA",
                  ucp_am_word_id(word));
    }
    return UCS_OK;
}

ucs_status_t ucp_am_handler(void *arg, void *data, size_t length,
                            unsigned flags)
{
    const ucp_am_head_t *head = data;
    uint64_t word;

    if (ucs_unlikely(length < sizeof(*head))) {
        ucs_diag("dropped an active message of %zu bytes: too short", length);
        return UCS_OK;
    }

    word = ucp_le64_get(head->word);
    length -= sizeof(*head);
    if (ucs_unlikely(ucp_am_word_header_length(word) > length)) {
        ucs_diag("dropped an active message: header of %zu bytes exceeds %zu",
                 ucp_am_word_header_length(word), length);
        return UCS_OK;
    }
    return deliver(arg, word, (char *)data + sizeof(*head),
                   length - ucp_am_word_header_length(word), NULL, flags);
}

ucs_status_t ucp_am_reply_handler(void *arg, void *data, size_t length,
                                  unsigned flags)
{
    const size_t own          = sizeof(ucp_am_head_t) + sizeof(ucp_wire_end_t);
    const ucp_am_head_t *head = data;
    ucp_wire_end_t sender;
    ucp_ep_h reply_ep;
    uint64_t word;

    if (length < own) {
        ucs_diag("dropped an active message of %zu bytes: too short", length);
        return UCS_OK;
    }

    word = ucp_le64_get(head->word);
    memcpy(&sender, (char *)data + length - sizeof(sender), sizeof(sender));
    length -= own;
    if (ucp_am_word_header_length(word) > length) {
        ucs_diag("dropped an active message: header of %zu bytes exceeds %zu",
                 ucp_am_word_header_length(word), length);
        return UCS_OK;
    }

    reply_ep = ucp_am_reply_ep(arg, &sender);
    if (reply_ep == NULL) {
        ucs_diag("dropped an active message that requests a reply: its sender "
                 "is unknown");
        return UCS_OK;
    }
    return deliver(arg, word, (char *)data + sizeof(*head),
                   length - ucp_am_word_header_length(word), reply_ep, flags);
}

/* --------------------------------------------- data that handlers kept -- */

static void placed(ucp_stage_frag_t *frag)
{
    ucp_request_t *req  = frag->req;
    ucs_status_t status = frag->status;

    ucp_stage_frag_put(frag);
    ucp_request_complete_recv_length(req, status);
}

/* For a user's buffer that the processor cannot access (for example of a GPU):
 * starts a copy of the received data in the background, where it is combined
 * with other small copies. Returns the request; NULL if no copy was started,
 * for example because no other small copies are in flight: the caller then
 * copies at once. */
static UCS_F_NOINLINE ucp_request_t *
unpack_later(ucp_worker_h worker, ucp_am_desc_t *desc, const ucp_dt_iter_t *dt,
             const ucp_request_param_t *param)
{
    ucp_stage_frag_t *frag;
    ucp_request_t *req;

    if (!ucp_dt_iter_is_flat(dt) || (desc->length > dt->length) ||
        (param->op_attr_mask & UCP_OP_ATTR_FLAG_FORCE_IMM_CMPL)) {
        return NULL;
    }
    frag = ucp_stage_gather(dt->u.iov.copier, desc->length, 1);
    if (frag == NULL) {
        return NULL;
    }
    req = ucp_request_get(worker, param);
    if (req == NULL) {
        ucp_stage_frag_put(frag);
        return NULL;
    }
    req->flags |= UCP_REQUEST_FLAG_RECV;
    if (param->op_attr_mask & UCP_OP_ATTR_FIELD_CALLBACK) {
        req->flags |= UCP_REQUEST_FLAG_CALLBACK;
        req->recv.length_cb = param->cb.recv_am;
    }
    req->dt               = *dt;
    req->recv.info.length = desc->length;
    memcpy(frag->data, ucp_am_desc_data(desc), desc->length);
    frag->req    = req;
    frag->place  = dt->place;
    frag->memory = dt->u.iov.memory;
    frag->length = desc->length;
    ucp_stage_frag_start(frag, 1, placed);
    return req;
}

/* Unpacks received data into the user's buffer. */
static ucs_status_ptr_t unpack(ucp_worker_h worker, ucp_am_desc_t *desc,
                               void *buffer, size_t count,
                               const ucp_request_param_t *param)
{
    int no_request     = !(param->op_attr_mask & UCP_OP_ATTR_FLAG_NO_IMM_CMPL);
    ucp_request_t *req = NULL;
    ucs_status_t status;
    ucp_dt_iter_t dt;

    status = ucp_dt_iter_begin(worker, &dt, buffer, count, param, 1);
    if (status != UCS_OK) {
        return UCS_STATUS_PTR(status);
    }

    if (dt.dt_class == UCP_DT_CLASS_STAGED) {
        req = unpack_later(worker, desc, &dt, param);
        if (req != NULL) {
            return ucp_request_user(req);
        }
    }
    if (!no_request) {
        req = ucp_request_get(worker, param);
        if (req == NULL) {
            ucp_dt_iter_finish(&dt);
            return UCS_STATUS_PTR(UCS_ERR_NO_MEMORY);
        }
        req->flags |= UCP_REQUEST_FLAG_RECV;
    }

    status = (desc->length <= dt.length) ?
                 ucp_dt_iter_unpack(&dt, 0, ucp_am_desc_data(desc),
                                    desc->length) :
                 UCS_ERR_MESSAGE_TRUNCATED;
    ucp_dt_iter_finish(&dt);
    if (param->op_attr_mask & UCP_OP_ATTR_FIELD_RECV_INFO) {
        *param->recv_info.length = desc->length;
    }
    if (no_request) {
        return UCS_STATUS_PTR(status);
    }

    req->dt               = dt;
    req->status           = status;
    req->completed        = 1;
    req->recv.info.length = desc->length;
    if (param->op_attr_mask & UCP_OP_ATTR_FIELD_CALLBACK) {
        param->cb.recv_am(ucp_request_user(req), status, desc->length,
                          req->user_data);
    }
    return ucp_request_user(req);
}

ucs_status_ptr_t ucp_am_recv_data_nbx(ucp_worker_h worker, void *data_desc,
                                      void *buffer, size_t count,
                                      const ucp_request_param_t *param)
{
    ucp_am_desc_t *desc = ucp_am_desc_of(data_desc);
    ucs_status_ptr_t ret;

    ucp_worker_enter(worker);
    ret = desc->rndv ? ucp_am_rndv_recv(worker, desc, buffer, count, param) :
                       unpack(worker, desc, buffer, count, param);
    ucp_am_desc_done(ucp_worker_am(worker), desc);
    ucp_worker_leave(worker);
    return ret;
}

void ucp_am_data_release(ucp_worker_h worker, void *data)
{
    ucp_am_desc_t *desc = ucp_am_desc_of(data);

    ucp_worker_enter(worker);
    if (desc->rndv) {
        ucp_am_rndv_reject(worker, desc, UCS_OK);
    }
    ucp_am_desc_done(ucp_worker_am(worker), desc);
    ucp_worker_leave(worker);
}

void ucp_am_worker_reject_held(ucp_worker_h worker)
{
    ucp_am_desc_t *desc;

    ucs_list_for_each(desc, &ucp_worker_am(worker)->held, link) {
        if (desc->rndv) {
            ucp_am_rndv_reject(worker, desc, UCS_ERR_CANCELED);
            desc->rndv = 0;
        }
    }
}
