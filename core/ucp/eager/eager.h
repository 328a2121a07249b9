/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What eager protocols of all classes share.
 */
#ifndef UCP_EAGER_H
#define UCP_EAGER_H

#include "ucp/proto/ep.h"

/** What the eager messages of a class have beside the data. */
typedef struct ucp_eager_own {
    size_t total;     /**< Bytes, at most */
    size_t zcopy_hdr; /**< Zero-copy: bytes that precede the data */
    size_t min_iov;   /**< Zero-copy: iov entries that it needs */
} ucp_eager_own_t;

/** Queries of protocols for one message of the transport: short, with `own`
 *  bytes beside the data; buffered copy; zero-copy. A user's thresholds replace
 *  the comparison of costs. */
unsigned ucp_eager_query_short(const ucp_proto_query_t *query, size_t own,
                               ucp_proto_range_t *range);
unsigned ucp_eager_query_bcopy(const ucp_proto_query_t *query,
                               const ucp_eager_own_t *own,
                               ucp_proto_range_t *range);
unsigned ucp_eager_query_zcopy(const ucp_proto_query_t *query,
                               const ucp_eager_own_t *own,
                               ucp_proto_range_t *range);

/** Maximum length of the data of a message that is sent eagerly as one message
 *  of the transport, in bytes. */
size_t
ucp_eager_max(const ucp_proto_query_t *query, const ucp_eager_own_t *own);

/** Creates the request of a short send that the transport delays until the next
 *  progress. */
ucs_status_ptr_t ucp_eager_deferred(ucp_ep_h ep, size_t length,
                                       const ucp_request_param_t *param);

#endif
