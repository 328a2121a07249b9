/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * See eager.h.
 */
#include "ucp/eager/eager.h"

unsigned ucp_eager_limit(const ucp_proto_query_t *query,
                         ucp_proto_range_t *range)
{
    if (query->rndv_thresh == SIZE_MAX) {
        return 1;
    }
    if (query->rndv_thresh == 0) {
        return 0;
    }
    if (range->max >= query->rndv_thresh) {
        range->max = query->rndv_thresh - 1;
    }
    return 1;
}

unsigned ucp_eager_limit_copy(const ucp_proto_query_t *query,
                              ucp_proto_range_t *range)
{
    if ((query->zcopy_thresh != SIZE_MAX) && (query->zcopy_thresh > 0) &&
        (ucp_ep_config_am(query->config)->max_zcopy > 0) &&
        ucp_dt_class_is_touchable(query->dt_class) &&
        (range->max >= query->zcopy_thresh)) {
        range->max = query->zcopy_thresh - 1;
    }
    return ucp_eager_limit(query, range);
}

unsigned ucp_eager_limit_short(const ucp_proto_query_t *query,
                               ucp_proto_range_t *range)
{
    size_t end = query->config->short_end;

    if ((end > 0) && (range->max >= end)) {
        range->max = end - 1;
    }
    return ucp_eager_limit_copy(query, range);
}

ucs_status_ptr_t ucp_eager_deferred(ucp_ep_h ep, size_t length,
                                       const ucp_request_param_t *param)
{
    ucp_request_t *req;

    if (param->op_attr_mask & UCP_OP_ATTR_FLAG_FORCE_IMM_CMPL) {
        return NULL; /* the buffer is reusable: that suffices */
    }

    req = ucp_request_get(ep->worker, param);
    if (req == NULL) {
        /* The message is sent in any case, and the buffer is reusable: only the
         * notification of its completion is lost. */
        return NULL;
    }

    req->send.ep     = ep;
    req->dt.dt_class = UCP_DT_CLASS_CONTIG;
    req->dt.mem_type = UCS_MEMORY_TYPE_HOST;
    req->dt.length   = length;
    ucs_queue_push(&ep->worker->deferred, &req->send.queue);
    return ucp_request_send_result(req, param);
}
