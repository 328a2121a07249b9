/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ucp_amo_class: what atomic operations contribute to every worker
 * (ucp_class_t, see base/class.h): messages and their handlers, and protocols.
 */
#include "ucp/base/class.h"

#include "ucp/amo/amo.h"
#include "ucp/stats/stats.h"

static const ucp_class_sent_t atomic_sent = {{UCP_CLASS_COUNTED,
                                              UCP_CLASS_COUNTED,
                                              UCP_CLASS_COUNTED},
                                             UCP_STATS_ATOMIC_AM};
static const ucp_class_sent_t reply_sent  = {{UCP_STATS_REPLY, UCP_STATS_REPLY,
                                              UCP_STATS_REPLY},
                                             0};

static const ucp_class_message_t messages[] = {
    {UCP_AM_ID_ATOMIC, UCP_STATS_RECV_ATOMIC, UCP_CLASS_NO_BYTES,
     ucp_amo_handler, &atomic_sent},
    {UCP_AM_ID_ATOMIC_REPLY, UCP_STATS_RECV_REPLY_MSGS,
     sizeof(ucp_amo_reply_t) - sizeof(ucp_le64_t), ucp_amo_reply_handler,
     &reply_sent},
};

static const ucp_proto_t *const protos[] = {
    &ucp_proto_amo_lane,
    &ucp_proto_amo_am,
};

const ucp_class_t ucp_amo_class = {
    .name         = "amo",
    .messages     = messages,
    .num_messages = sizeof(messages) / sizeof(messages[0]),
    .protos       = protos,
    .num_protos   = sizeof(protos) / sizeof(protos[0]),
};
