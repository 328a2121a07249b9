/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ucp_am_class: what active messages contribute to every worker (ucp_class_t,
 * see base/class.h): messages and their handlers, protocols, set-up and
 * clean-up.
 */
#include "ucp/base/class.h"

#include "ucp/am/am.h"
#include "ucp/am/eager.h"
#include "ucp/am/multi.h"
#include "ucp/am/recv.h"
#include "ucp/rndv/rndv.h"
#include "ucp/stats/stats.h"

static ucs_status_t worker_init(ucp_worker_h worker,
                                const ucp_worker_params_t *params)
{
    return ucp_am_worker_init(ucp_worker_am(worker), params);
}

static void worker_cleanup(ucp_worker_h worker)
{
    ucp_am_worker_cleanup(ucp_worker_am(worker));
}

/* Requests headroom before received messages for ucp_am_desc_t. Streams store a
 * descriptor of the same size there, so the headroom is needed if active
 * messages or streams are enabled. */
static void layout(ucp_worker_h worker, uct_iface_params_t *params)
{
    if (worker->context->features & (UCP_FEATURE_AM | UCP_FEATURE_STREAM)) {
        params->field_mask |= UCT_IFACE_PARAM_FIELD_RX_HEADROOM |
                              UCT_IFACE_PARAM_FIELD_AM_ALIGNMENT |
                              UCT_IFACE_PARAM_FIELD_AM_ALIGN_OFFSET;
        ucp_am_receive_layout(ucp_worker_am(worker), params);
    }
}

static const char *describe(const ucp_request_t *req, char *text, size_t max)
{
    if (!(req->flags & UCP_REQUEST_FLAG_BY_RNDV) ||
        (ucp_recv_rndv(req)->complete != ucp_request_complete_recv_length)) {
        return NULL;
    }
    ucp_rndv_describe(req, text, max);
    return "am_recv";
}

static const ucp_class_sent_t am_sent = {
    {UCP_STATS_AM_SHORT, UCP_STATS_AM_BCOPY, UCP_STATS_AM_ZCOPY}, 0};

static const ucp_class_message_t messages[] = {
    {UCP_AM_ID_AM, UCP_STATS_RECV_AM_MSGS, sizeof(ucp_am_head_t),
     ucp_am_handler, &am_sent},
    {UCP_AM_ID_AM_REPLY, UCP_STATS_RECV_AM_MSGS,
     sizeof(ucp_am_head_t) + sizeof(ucp_wire_end_t), ucp_am_reply_handler,
     &am_sent},
    {UCP_AM_ID_AM_RNDV, 0, 0, ucp_am_rndv_handler},
};

static const ucp_proto_t *const protos[] = {
    &ucp_proto_am_eager_short, &ucp_proto_am_eager_bcopy,
    &ucp_proto_am_eager_zcopy, &ucp_proto_am_multi,
    &ucp_proto_am_rndv,
};

const ucp_class_t ucp_am_class = {
    .name           = "am",
    .messages       = messages,
    .num_messages   = sizeof(messages) / sizeof(messages[0]),
    .protos         = protos,
    .num_protos     = sizeof(protos) / sizeof(protos[0]),
    .multi          = &ucp_am_multi_receiver,
    .worker_init    = worker_init,
    .worker_stop    = ucp_am_worker_reject_held,
    .worker_end     = ucp_am_worker_release_held,
    .worker_cleanup = worker_cleanup,
    .layout         = layout,
    .describe       = describe,
};
