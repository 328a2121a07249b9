/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The start of the user's operations on an endpoint: common code of tagged and
 * active messages, streams, put, get and atomics.
 */
#ifndef UCP_START_H
#define UCP_START_H

#include "ucp/base/ep.h"
#include "ucp/base/worker.h"
#include "ucp/proto/proto.h"

/** Creates and initializes the request of a user's operation on a buffer.
 *  `is_get`: the operation writes to the buffer. On failure returns NULL, with
 *  the error in *status_p. */
ucp_request_t *ucp_send_begin(ucp_ep_h ep, const void *buffer, size_t count,
                              int is_get, const ucp_request_param_t *param,
                              ucs_status_t *status_p);

/** Returns UCP_OP_ATTR_* of the user's call as they hold for the data of `req`.
 *  FAST_CMPL holds below UCX_RNDV_SEND_NBR_THRESH only: to copy more takes
 *  longer than to wait until the receiver has read it. */
static UCS_F_ALWAYS_INLINE uint32_t
ucp_send_attr(const ucp_request_t *req, const ucp_request_param_t *param)
{
    uint32_t attr = param->op_attr_mask;

    if (ucs_unlikely(attr & UCP_OP_ATTR_FLAG_FAST_CMPL) &&
        (req->dt.length >=
         req->send.ep->worker->context->options.nbr_rndv_thresh)) {
        attr &= ~(uint32_t)UCP_OP_ATTR_FLAG_FAST_CMPL;
    }
    return attr;
}

/** Returns the result of the user's call. `status`: the result of
 *  ucp_proto_start(). If it is an error, frees the request. */
ucs_status_ptr_t ucp_send_result(ucp_request_t *req, ucs_status_t status,
                                 const ucp_request_param_t *param);

/**
 * Starts a request of the user by the protocol `proto`. If the endpoint has a
 * fence, the request may wait for it. The caller has set the endpoint, the
 * data, and what the protocol needs. `attr`: UCP_OP_ATTR_* that hold for it.
 * With UCP_OP_ATTR_FLAG_FORCE_IMM_CMPL the operation completes at once, or
 * UCS_ERR_NO_RESOURCE is returned. After an error the caller frees the request.
 * Returns UCS_ERR_UNSUPPORTED if `proto` is NULL.
 */
ucs_status_t ucp_proto_start(ucp_request_t *req, const ucp_proto_t *proto,
                             uint32_t attr);

#endif
