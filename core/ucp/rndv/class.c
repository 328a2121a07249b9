/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ucp_rndv_class: the messages and protocols by which the data of a rendezvous
 * is transferred, for tagged and active messages (ucp_class_t, see
 * base/class.h).
 */
#include "ucp/base/class.h"

#include "ucp/rndv/rndv.h"
#include "ucp/stats/stats.h"

static const ucp_class_message_t messages[] = {
    {UCP_AM_ID_RNDV_RTR, 0, 0, ucp_rndv_rtr_handler},
    {UCP_AM_ID_RNDV_DATA, UCP_STATS_RECV_FRAG_MSGS, sizeof(ucp_rndv_data_t),
     ucp_rndv_data_handler, &ucp_class_sent_by_operation},
    {UCP_AM_ID_RNDV_DONE, 0, 0, ucp_rndv_done_handler},
    {UCP_AM_ID_RNDV_ATS, 0, 0, ucp_rndv_ats_handler},
};

static const ucp_proto_t *const protos[] = {
    &ucp_proto_rndv_get,
    &ucp_proto_rndv_put,
    &ucp_proto_rndv_am,
};

const ucp_class_t ucp_rndv_class = {
    .name         = "rndv",
    .messages     = messages,
    .num_messages = sizeof(messages) / sizeof(messages[0]),
    .protos       = protos,
    .num_protos   = sizeof(protos) / sizeof(protos[0]),
};
