/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Flushing an endpoint's lane, as a step of a close or for the user.
 */
#ifndef UCP_FLUSH_H
#define UCP_FLUSH_H

#include "ucp/core/ep.h"

/** Makes a flush of the request and starts it, behind what already waits. With
 *  `closing` the endpoint is freed when it is done. */
void ucp_flush_start(ucp_request_t *req, ucp_ep_h ep, int closing);

#endif
