/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The protocols of put and get on an endpoint without lanes, for memory that
 * only lanes can access (ucp_rma_config::by_cpu is 0). The request waits in the
 * endpoint's queue. When the endpoint has lanes, the key is opened for them and
 * the protocol is selected among those of the lanes.
 */
#include "ucp/rma/rkey.h"

static unsigned late_query(const ucp_proto_query_t *query,
                           ucp_proto_range_t *range)
{
    if (!query->config->unconnected || query->key->by_cpu) {
        return 0;
    }
    range->min  = 1;
    range->time = UCS_LINEAR_FUNC_ZERO; /* There is no other protocol */
    return 1;
}

const ucp_proto_t ucp_proto_put_late = {
    .name     = "put/late",
    .ops      = UCS_BIT(UCP_OP_PUT),
    .query    = late_query,
    .progress = ucp_rma_reroute,
    .abort    = ucp_rma_abort,
};

const ucp_proto_t ucp_proto_get_late = {
    .name     = "get/late",
    .ops      = UCS_BIT(UCP_OP_GET),
    .query    = late_query,
    .progress = ucp_rma_reroute,
    .abort    = ucp_rma_abort,
    .flags    = UCP_PROTO_FLAG_GET,
};
