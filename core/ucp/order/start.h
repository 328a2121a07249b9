/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The start of the user's operations on an endpoint: common code of tagged and
 * active messages, streams, put, get and atomics.
 */
#ifndef UCP_START_H
#define UCP_START_H

#include "ucp/proto/proto.h"

/** Creates the request of an operation of an endpoint with its data. `is_get`:
 *  the operation writes the buffer. Returns NULL, with the error in *status_p,
 *  on failure. */
ucp_request_t *ucp_send_begin(ucp_ep_h ep, const void *buffer, size_t count,
                              int is_get, const ucp_request_param_t *param,
                              ucs_status_t *status_p);

/** Returns the result of the user's call. `status`: that of the start of the
 *  request, which is freed after an error. */
ucs_status_ptr_t ucp_send_result(ucp_request_t *req, ucs_status_t status,
                                 const ucp_request_param_t *param);

/**
 * Starts a request of the user with this protocol. If the endpoint has a fence,
 * the request waits for it. The caller has set the endpoint, the data, and what
 * the operation needs. `attr`: UCP_OP_ATTR_* of the user's call. With
 * UCP_OP_ATTR_FLAG_FORCE_IMM_CMPL the operation completes at once, or
 * UCS_ERR_NO_RESOURCE is returned. After an error the caller frees the request.
 * Returns UCS_ERR_UNSUPPORTED if `proto` is NULL.
 */
ucs_status_t ucp_proto_start(ucp_request_t *req, const ucp_proto_t *proto,
                             uint32_t attr);

#endif
