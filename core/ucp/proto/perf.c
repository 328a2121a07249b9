/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ucp_ep_evaluate_perf: the estimated time of a message. Programs use it to
 * select one of several endpoints.
 */
#include "ucp/proto/ep.h"

/* Returns the estimated time in seconds of a tagged message of contiguous data,
 * by the protocol that is selected for this length. */
static double message_time(ucp_ep_h ep, size_t length)
{
    const ucp_config_options_t *options = &ep->worker->context->options;
    ucp_proto_query_t query             = {
                    .op           = UCP_OP_TAG_SEND,
                    .dt_class     = UCP_DT_CLASS_CONTIG,
                    .config       = ep->config,
                    .zcopy_thresh = options->zcopy_thresh,
                    .rndv_thresh  = ep->config->is_local ? options->rndv_thresh.intra :
                                                           options->rndv_thresh.inter,
    };

    return ucs_linear_func_apply(ucp_proto_cost(&query, length),
                                 (double)length);
}

ucs_status_t ucp_ep_evaluate_perf(ucp_ep_h ep,
                                  const ucp_ep_evaluate_perf_param_t *param,
                                  ucp_ep_evaluate_perf_attr_t *attr)
{
    ucp_worker_h worker = ep->worker;
    ucs_status_t status = UCS_ERR_NOT_CONNECTED;

    if (!(param->field_mask & UCP_EP_PERF_PARAM_FIELD_MESSAGE_SIZE) ||
        !(attr->field_mask & UCP_EP_PERF_ATTR_FIELD_ESTIMATED_TIME)) {
        return UCS_ERR_INVALID_PARAM;
    }

    ucp_worker_enter(worker);
    if (!ep->config->unconnected) {
        attr->estimated_time = message_time(ep, param->message_size);
        status               = UCS_OK;
    }
    ucp_worker_leave(worker);
    return status;
}
