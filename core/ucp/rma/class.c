/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ucp_rma_class: what put and get contribute to every worker (ucp_class_t, see
 * base/class.h): messages and their handlers, protocols, set-up and clean-up.
 */
#include "ucp/base/class.h"

#include "ucp/rma/ack.h"
#include "ucp/rma/rkey.h"
#include "ucp/stats/stats.h"

static ucs_status_t worker_init(ucp_worker_h worker,
                                const ucp_worker_params_t *params)
{
    ucs_list_head_init(&ucp_worker_rma(worker)->shared_keys);
    ucp_worker_rma(worker)->unacked_cb = UCS_CALLBACKQ_ID_NULL;
    return UCS_OK;
}

/* Returns non-zero if accesses of peers are still to be acknowledged: the
 * worker must not sleep. Normally the call of progress that carries them out
 * also acknowledges them, but accesses of the worker to itself may be carried
 * out outside of progress. */
static int worker_is_busy(ucp_worker_h worker)
{
    return ucp_worker_rma(worker)->unacked != NULL;
}

/* Only PUT messages by am_short, which have no request, are counted when they
 * are sent. All other puts are counted when their request starts. */
static const ucp_class_sent_t put_sent = {{UCP_STATS_PUT_AM, UCP_CLASS_COUNTED,
                                           UCP_CLASS_COUNTED},
                                          0};
static const ucp_class_sent_t reply_sent = {{UCP_STATS_REPLY, UCP_STATS_REPLY,
                                             UCP_STATS_REPLY},
                                            0};

static const ucp_class_message_t messages[] = {
    {UCP_AM_ID_PUT, UCP_STATS_RECV_PUT_MSGS, sizeof(ucp_rma_put_t),
     ucp_rma_put_handler, &put_sent},
    {UCP_AM_ID_GET, UCP_STATS_RECV_GET, UCP_CLASS_NO_BYTES, ucp_rma_get_handler,
     &ucp_class_sent_by_operation},
    {UCP_AM_ID_GET_REPLY, UCP_STATS_RECV_REPLY_MSGS,
     sizeof(ucp_rma_get_reply_t), ucp_rma_get_reply_handler, &reply_sent},
    {UCP_AM_ID_RMA_ACK, 0, 0, ucp_rma_ack_handler},
};

static const ucp_proto_t *const protos[] = {
    &ucp_proto_put_short, &ucp_proto_put_bcopy, &ucp_proto_put_zcopy,
    &ucp_proto_put_am,    &ucp_proto_get_short, &ucp_proto_get_bcopy,
    &ucp_proto_get_zcopy, &ucp_proto_get_am,    &ucp_proto_put_late,
    &ucp_proto_get_late,
};

const ucp_class_t ucp_rma_class = {
    .name           = "rma",
    .messages       = messages,
    .num_messages   = sizeof(messages) / sizeof(messages[0]),
    .protos         = protos,
    .num_protos     = sizeof(protos) / sizeof(protos[0]),
    .worker_init    = worker_init,
    .worker_cleanup = ucp_rma_config_free_all,
    .worker_is_busy = worker_is_busy,
    .ep_detach      = ucp_rma_ack_forget,
};
