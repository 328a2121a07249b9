/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The deprecated functions for active messages (ucp_am_send_nb,
 * ucp_worker_set_am_handler), called the first generation here. They use the
 * code of the nbx functions: call_old(), a handler as of
 * ucp_worker_set_am_recv_handler, calls the user's handler of the first
 * generation. Messages of the first generation have the flag UCP_AM_WIRE_OLD,
 * so that only handlers of the first generation receive them.
 */
#include "ucp/am/am.h"
#include "ucp/proto/ep.h"

#include <stdlib.h>
#include <ucp/api/ucp_compat.h>

/* The argument of call_old(): the user's handler of the first generation, and
 * its argument. */
typedef struct {
    ucp_am_callback_t cb;
    void *arg;
} old_handler_t;

/* Calls the user's handler of the first generation. Messages of that generation
 * are never sent by rendezvous, so `data` is always the data. The user's
 * handler may set another handler, which frees `arg`, so `arg` is not read
 * after the call. */
static ucs_status_t call_old(void *arg, const void *header,
                             size_t header_length, void *data, size_t length,
                             const ucp_am_recv_param_t *param)
{
    const old_handler_t *old = arg;
    unsigned flags           = (param->recv_attr & UCP_AM_RECV_ATTR_FLAG_DATA) ?
                                   UCP_CB_PARAM_FLAG_DATA :
                                   0;
    ucp_ep_h reply_ep = (param->recv_attr & UCP_AM_RECV_ATTR_FIELD_REPLY_EP) ?
                            param->reply_ep :
                            NULL;

    return old->cb(old->arg, data, length, reply_ep, flags);
}

ucs_status_t ucp_worker_set_am_handler(ucp_worker_h worker, uint16_t id,
                                       ucp_am_callback_t cb, void *arg,
                                       uint32_t flags)
{
    old_handler_t *old;
    ucs_status_t status;

    if ((flags & ~(uint32_t)UCP_AM_FLAG_WHOLE_MSG) ||
        !(worker->context->features & UCP_FEATURE_AM)) {
        return UCS_ERR_INVALID_PARAM;
    }
    if (cb == NULL) {
        return ucp_am_handler_set(worker, id, NULL, NULL, 0);
    }

    old = malloc(sizeof(*old));
    if (old == NULL) {
        return UCS_ERR_NO_MEMORY;
    }

    old->cb  = cb;
    old->arg = arg;
    status   = ucp_am_handler_set(worker, id, call_old, old,
                                  flags | UCP_AM_HANDLER_OLD);
    if (status != UCS_OK) {
        free(old);
    }
    return status;
}

static void sent(void *request, ucs_status_t status, void *user_data)
{
    ((ucp_send_callback_t)user_data)(request, status);
}

ucs_status_ptr_t ucp_am_send_nb(ucp_ep_h ep, uint16_t id, const void *buffer,
                                size_t count, ucp_datatype_t datatype,
                                ucp_send_callback_t cb, unsigned flags)
{
    ucp_request_param_t param = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE,
        .datatype     = datatype,
    };

    if (cb != NULL) {
        param.op_attr_mask |= UCP_OP_ATTR_FIELD_CALLBACK |
                              UCP_OP_ATTR_FIELD_USER_DATA;
        param.cb.send   = sent;
        param.user_data = (void *)cb;
    }
    /* Never by rendezvous: eager messages arrive in order, and handlers of the
     * first generation can only receive eager data. */
    flags = (flags & ~(unsigned)UCP_AM_SEND_FLAG_RNDV) | UCP_AM_SEND_FLAG_EAGER;
    return ucp_am_send(ep, id, NULL, 0, buffer, count, flags, UCP_AM_WIRE_OLD,
                       &param);
}
