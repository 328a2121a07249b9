/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The deprecated functions for tagged messages, implemented by the nbx
 * functions. Receives always return a request, so that the callback is always
 * called.
 */
#include "ucp/compat/wait.h"

/* ------------------------------------------------------------- sending -- */

static ucp_request_param_t send_param(ucp_datatype_t datatype,
                                      ucp_send_callback_t cb)
{
    ucp_request_param_t param = ucp_compat_callback(cb);

    param.op_attr_mask |= UCP_OP_ATTR_FIELD_DATATYPE;
    param.datatype = datatype;
    return param;
}

ucs_status_ptr_t ucp_tag_send_nb(ucp_ep_h ep, const void *buffer, size_t count,
                                 ucp_datatype_t datatype, ucp_tag_t tag,
                                 ucp_send_callback_t cb)
{
    ucp_request_param_t param = send_param(datatype, cb);

    return ucp_tag_send_nbx(ep, buffer, count, tag, &param);
}

ucs_status_ptr_t ucp_tag_send_sync_nb(ucp_ep_h ep, const void *buffer,
                                      size_t count, ucp_datatype_t datatype,
                                      ucp_tag_t tag, ucp_send_callback_t cb)
{
    ucp_request_param_t param = send_param(datatype, cb);

    /* The caller expects a request, even if the send completes at once */
    param.op_attr_mask |= UCP_OP_ATTR_FLAG_NO_IMM_CMPL;
    return ucp_tag_send_sync_nbx(ep, buffer, count, tag, &param);
}

ucs_status_t ucp_tag_send_nbr(ucp_ep_h ep, const void *buffer, size_t count,
                              ucp_datatype_t datatype, ucp_tag_t tag, void *req)
{
    ucp_request_param_t param = send_param(datatype, NULL);
    ucs_status_ptr_t ret;

    /* The caller may wait for the send before it does anything else, for
     * example before it posts a receive */
    param.op_attr_mask |= UCP_OP_ATTR_FIELD_REQUEST |
                          UCP_OP_ATTR_FLAG_FAST_CMPL;
    param.request = req;

    ret = ucp_tag_send_nbx(ep, buffer, count, tag, &param);
    return UCS_PTR_IS_PTR(ret) ? UCS_INPROGRESS : UCS_PTR_RAW_STATUS(ret);
}

/* ----------------------------------------------------------- receiving -- */

static void received(void *request, ucs_status_t status,
                     const ucp_tag_recv_info_t *info, void *user_data)
{
    ucp_tag_recv_callback_t cb = (ucp_tag_recv_callback_t)user_data;
    /* The deprecated callback may modify its argument, and `info` is
     * constant */
    ucp_tag_recv_info_t copy   = *info;

    cb(request, status, &copy);
}

static ucp_request_param_t recv_param(ucp_datatype_t datatype,
                                      ucp_tag_recv_callback_t cb)
{
    ucp_request_param_t param = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE |
                        UCP_OP_ATTR_FLAG_NO_IMM_CMPL,
        .datatype = datatype,
    };

    if (cb != NULL) {
        param.op_attr_mask |= UCP_OP_ATTR_FIELD_CALLBACK |
                              UCP_OP_ATTR_FIELD_USER_DATA;
        param.cb.recv   = received;
        param.user_data = (void *)cb;
    }
    return param;
}

ucs_status_ptr_t ucp_tag_recv_nb(ucp_worker_h worker, void *buffer,
                                 size_t count, ucp_datatype_t datatype,
                                 ucp_tag_t tag, ucp_tag_t tag_mask,
                                 ucp_tag_recv_callback_t cb)
{
    ucp_request_param_t param = recv_param(datatype, cb);

    return ucp_tag_recv_nbx(worker, buffer, count, tag, tag_mask, &param);
}

ucs_status_t ucp_tag_recv_nbr(ucp_worker_h worker, void *buffer, size_t count,
                              ucp_datatype_t datatype, ucp_tag_t tag,
                              ucp_tag_t tag_mask, void *req)
{
    ucp_request_param_t param = recv_param(datatype, NULL);
    ucs_status_ptr_t ret;

    param.op_attr_mask |= UCP_OP_ATTR_FIELD_REQUEST;
    param.request = req;
    ret = ucp_tag_recv_nbx(worker, buffer, count, tag, tag_mask, &param);
    return UCS_PTR_IS_ERR(ret) ? UCS_PTR_RAW_STATUS(ret) : UCS_OK;
}

ucs_status_ptr_t ucp_tag_msg_recv_nb(ucp_worker_h worker, void *buffer,
                                     size_t count, ucp_datatype_t datatype,
                                     ucp_tag_message_h message,
                                     ucp_tag_recv_callback_t cb)
{
    ucp_request_param_t param = recv_param(datatype, cb);

    return ucp_tag_msg_recv_nbx(worker, buffer, count, message, &param);
}
