/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What eager protocols of all classes share.
 */
#ifndef UCP_EAGER_H
#define UCP_EAGER_H

#include "ucp/proto/ep.h"

/** Limits the range of a short protocol to the user's thresholds. Zero: the
 *  range is empty. */
unsigned ucp_eager_limit_short(const ucp_proto_query_t *query,
                               ucp_proto_range_t *range);

/** A user's thresholds replace the comparison of costs: limits the range of an
 *  eager protocol, or of one with a buffered copy. 0: the range is empty. */
unsigned ucp_eager_limit(const ucp_proto_query_t *query,
                         ucp_proto_range_t *range);
unsigned ucp_eager_limit_copy(const ucp_proto_query_t *query,
                              ucp_proto_range_t *range);

/** Creates the request of a short send that the transport delays until the next
 *  progress. */
ucs_status_ptr_t ucp_eager_deferred(ucp_ep_h ep, size_t length,
                                       const ucp_request_param_t *param);

#endif
