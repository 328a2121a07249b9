/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Common code of the deprecated functions: a blocking wait, operations whose
 * request the user does not get (_nbi), and callbacks without user data.
 */
#ifndef UCP_COMPAT_WAIT_H
#define UCP_COMPAT_WAIT_H

#include "ucp/proto/ep.h"

extern const ucp_request_param_t ucp_compat_no_param;

/** Makes progress until the operation is complete; returns its status. */
ucs_status_t ucp_compat_wait(ucp_worker_h worker, ucs_status_ptr_t request);

/** Releases the request of an operation, which continues without it. Returns
 *  UCS_INPROGRESS if the operation is not complete, otherwise its status. */
ucs_status_t ucp_compat_forget(ucs_status_ptr_t request);

/** Returns parameters of an nbx function that make it call a deprecated
 *  callback. `cb` may be NULL: no callback. */
ucp_request_param_t ucp_compat_callback(ucp_send_callback_t cb);

#endif
