/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The deprecated stream functions, with a datatype and a callback as arguments.
 */
#include "ucp/compat/wait.h"

#include <ucp/api/ucp_compat.h>

ucs_status_ptr_t ucp_stream_send_nb(ucp_ep_h ep, const void *buffer,
                                    size_t count, ucp_datatype_t datatype,
                                    ucp_send_callback_t cb, unsigned flags)
{
    ucp_request_param_t param = ucp_compat_callback(cb);

    param.op_attr_mask |= UCP_OP_ATTR_FIELD_DATATYPE;
    param.datatype = datatype;
    return ucp_stream_send_nbx(ep, buffer, count, &param);
}

static void received(void *request, ucs_status_t status, size_t length,
                     void *user_data)
{
    ((ucp_stream_recv_callback_t)user_data)(request, status, length);
}

ucs_status_ptr_t ucp_stream_recv_nb(ucp_ep_h ep, void *buffer, size_t count,
                                    ucp_datatype_t datatype,
                                    ucp_stream_recv_callback_t cb,
                                    size_t *length, unsigned flags)
{
    ucp_request_param_t param = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE | UCP_OP_ATTR_FIELD_FLAGS,
        .datatype     = datatype,
        .flags        = flags,
    };

    if (cb != NULL) {
        param.op_attr_mask |= UCP_OP_ATTR_FIELD_CALLBACK |
                              UCP_OP_ATTR_FIELD_USER_DATA;
        param.cb.recv_stream = received;
        param.user_data      = (void *)cb;
    }
    return ucp_stream_recv_nbx(ep, buffer, count, length, &param);
}
