/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ucp_multi_class: the message that carries a fragment (ucp_class_t, see
 * base/class.h). Also makes the close of an endpoint wait for the missing
 * fragments of its peer's messages.
 */
#include "ucp/base/class.h"

#include "ucp/multi/multi.h"
#include "ucp/stats/stats.h"

static int ep_is_owed(ucp_ep_h ep)
{
    return ucp_ep_multi(ep)->arriving != NULL;
}

static const ucp_class_message_t messages[] = {
    {UCP_AM_ID_EAGER_FRAGMENT, UCP_STATS_RECV_FRAG_MSGS,
     sizeof(ucp_multi_fragment_t), ucp_multi_handler,
     &ucp_class_sent_by_operation},
};

const ucp_class_t ucp_multi_class = {
    .name         = "multi",
    .messages     = messages,
    .num_messages = sizeof(messages) / sizeof(messages[0]),
    .ep_is_owed   = ep_is_owed,
    .ep_abort     = ucp_multi_recv_abort,
};
