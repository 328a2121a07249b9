/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ucp_wireup_class: the messages by which endpoints are introduced, connected
 * and closed, their handlers, and the state of the wire-up in every worker
 * (ucp_class_t, see base/class.h).
 */
#include "ucp/base/class.h"

#include "ucp/wireup/fragments.h"
#include "ucp/wireup/handshake.h"
#include "ucp/wireup/introduce.h"
#include "ucp/wireup/keepalive.h"

static ucs_status_t worker_init(ucp_worker_h worker,
                                const ucp_worker_params_t *params)
{
    ucp_wireup_worker_init(worker);
    return UCS_OK;
}

static const ucp_class_message_t messages[] = {
    {UCP_AM_ID_INTRODUCE, 0, 0, ucp_wireup_introduce_handler},
    {UCP_AM_ID_FAREWELL, 0, 0, ucp_wireup_farewell_handler},
    {UCP_AM_ID_WIREUP_FRAGMENT, 0, 0, ucp_wireup_fragment_handler},
    {UCP_AM_ID_WIREUP_REQUEST, 0, 0, ucp_wireup_request_handler},
    {UCP_AM_ID_WIREUP_REPLY, 0, 0, ucp_wireup_reply_handler},
    {UCP_AM_ID_WIREUP_ACK, 0, 0, ucp_wireup_ack_handler},
    {UCP_AM_ID_KEEPALIVE, 0, 0, ucp_keepalive_handler},
};

const ucp_class_t ucp_wireup_class = {
    .name         = "wireup",
    .messages     = messages,
    .num_messages = sizeof(messages) / sizeof(messages[0]),
    .worker_init  = worker_init,
    .ep_leave     = ucp_wireup_leave,
};
