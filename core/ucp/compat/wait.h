/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the old forms of operations have in common: waiting, doing without a
 * request, and callbacks that know no user data.
 */
#ifndef UCP_COMPAT_WAIT_H
#define UCP_COMPAT_WAIT_H

#include "ucp/core/ep.h"

extern const ucp_request_param_t ucp_compat_no_param;

/** Makes progress until the operation is over; returns how it ended. */
ucs_status_t ucp_compat_wait(ucp_worker_h worker, ucs_status_ptr_t request);

/** Leaves the operation to itself: UCS_INPROGRESS if it is under way. */
ucs_status_t ucp_compat_forget(ucs_status_ptr_t request);

/** Parameters with an old callback, which may be NULL. */
ucp_request_param_t ucp_compat_callback(ucp_send_callback_t cb);

#endif
