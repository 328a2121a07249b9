/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the deprecated functions share, for example a blocking wait (wait.h).
 */
#include "ucp/compat/wait.h"

const ucp_request_param_t ucp_compat_no_param = {.op_attr_mask = 0};

ucs_status_t ucp_compat_wait(ucp_worker_h worker, ucs_status_ptr_t request)
{
    ucs_status_t status;

    if (!UCS_PTR_IS_PTR(request)) {
        return UCS_PTR_RAW_STATUS(request);
    }
    while ((status = ucp_request_check_status(request)) == UCS_INPROGRESS) {
        ucp_worker_progress(worker);
    }
    ucp_request_free(request);
    return status;
}

ucs_status_t ucp_compat_forget(ucs_status_ptr_t request)
{
    if (!UCS_PTR_IS_PTR(request)) {
        return UCS_PTR_RAW_STATUS(request);
    }
    ucp_request_free(request);
    return UCS_INPROGRESS;
}

static void call_old(void *request, ucs_status_t status, void *user_data)
{
    ucp_send_callback_t cb = (ucp_send_callback_t)user_data;

    cb(request, status);
}

ucp_request_param_t ucp_compat_callback(ucp_send_callback_t cb)
{
    ucp_request_param_t param = {.op_attr_mask = 0};

    if (cb != NULL) {
        param.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK |
                             UCP_OP_ATTR_FIELD_USER_DATA;
        param.cb.send   = call_old;
        param.user_data = (void *)cb;
    }
    return param;
}
